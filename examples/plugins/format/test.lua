-- An array comes back as it was written: the program finds the format by the ending of a name, and
-- by the first bytes of a file whose name says nothing.
--   CRESCENT_PLUGIN_PATH=build crescent test.lua
local cr = require "crescent"

local name = os.tmpname()
local array, path = name .. ".npy", name .. ".plain"
local x = cr.random.normal { 3, 4 }
cr.data.write_npy(array, x)
assert(os.execute(("'%s' convert '%s' '%s'"):format(arg[-1], array, path)))
assert(cr.ops.max(cr.ops.abs(cr.data.read(path) - x)):item() == 0)
os.rename(path, name)
assert(cr.ops.max(cr.ops.abs(cr.data.read(name) - x)):item() == 0)
os.remove(array)
os.remove(name)
print "ok acme.plain"
