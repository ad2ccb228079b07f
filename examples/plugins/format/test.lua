-- An array that was written to a file is read back unchanged. For writing, the format is chosen by
-- the ending of the file name; for reading a file without a known ending, by its first bytes.
--   CRESCENT_PLUGIN_PATH=build crescent test.lua
local cr = require "crescent"

local temporary_path = os.tmpname()
local npy_path, plain_path = temporary_path .. ".npy", temporary_path .. ".plain"
local x = cr.random.normal { 3, 4 }
cr.data.write_npy(npy_path, x)
assert(os.execute(("'%s' convert '%s' '%s'"):format(arg[-1], npy_path, plain_path)))
assert(cr.ops.max(cr.ops.abs(cr.data.read(plain_path) - x)):item() == 0)
cr.data.write_npy(npy_path, cr.tensor { 1, 0 / 0, -1 / 0 })
assert(os.execute(("'%s' convert '%s' '%s'"):format(arg[-1], npy_path, plain_path)))
assert(tostring(cr.data.read(plain_path)) == tostring(cr.data.read(npy_path)))
cr.data.write_npy(npy_path, x)
assert(os.execute(("'%s' convert '%s' '%s'"):format(arg[-1], npy_path, plain_path)))
os.rename(plain_path, temporary_path)
assert(cr.ops.max(cr.ops.abs(cr.data.read(temporary_path) - x)):item() == 0)
os.remove(npy_path)
os.remove(temporary_path)
print "ok acme.plain"
