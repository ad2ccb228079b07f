-- An array comes back as it was written, by the name of the file and by its first bytes.
--   CRESCENT_PLUGIN_PATH=build crescent test.lua
local cr = require "crescent"

local name = os.tmpname()
local path = name .. ".plain"
local x = cr.random.normal { 3, 4 }
cr.data.write(path, x)
assert(cr.ops.max(cr.ops.abs(cr.data.read(path) - x)):item() == 0)
os.rename(path, name)
assert(cr.ops.max(cr.ops.abs(cr.data.read(name) - x)):item() == 0)
os.remove(name)
print "ok acme.plain"
