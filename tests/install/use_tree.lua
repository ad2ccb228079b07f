-- use_tree.lua FOLDER: loads the core, a plugin, the device and a format from the installed tree in
-- FOLDER and uses them.
local tree = arg[1]
local cr = require "crescent"
local model = cr.Sequential { cr.layers.Dense(2, { input_shape = { 3 } }) }
model:compile { optimizer = "adam", loss = "mse" }
local x, y = cr.ones { 4, 3 }, cr.zeros { 4, 2 }
model:fit(x, y, { epochs = 1, verbose = 0 })

local temporary = os.tmpname()
local path = temporary .. ".h5"
model:save(path)
local loaded_model = cr.models.load_model(path)
os.remove(path)
os.remove(temporary)
assert(cr.ops.max(cr.ops.abs(loaded_model:predict(x) - model:predict(x))):item() == 0)

for line in io.lines "/proc/self/maps" do
  local file = line:match "/%S*$" or ""
  if file:match "crescent" and file:match "%.so" then
    assert(file:sub(1, #tree) == tree, file .. " is not from " .. tree)
  end
end
print "ok installed tree"
