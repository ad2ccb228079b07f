-- Loads the plugin, trains its layer to multiply three columns by 2, -1 and 0.5, then saves the
-- model and loads it again.
--   CRESCENT_PLUGIN_PATH=build crescent train.lua
local cr = require "crescent"
cr.plugins.load "acme.scale"

local x = cr.random.normal { 256, 3 }
local y = x * cr.tensor { 2, -1, 0.5 }

local model = cr.Sequential { cr.layers.Scale { initializer = "ones", input_shape = { 3 } } }
model:compile { optimizer = cr.optimizers.SGD { learning_rate = 0.5 }, loss = "mse" }
model:fit(x, y, { epochs = 30, batch_size = 32, verbose = 0 })

local learned_weights = model:get_weights()[1]:totable()
print(string.format("learned %.3f %.3f %.3f", table.unpack(learned_weights)))
for i, expected in ipairs { 2, -1, 0.5 } do
  assert(math.abs(learned_weights[i] - expected) < 1e-3)
end

local temporary_path = os.tmpname()
local path = temporary_path .. ".h5"
model:save(path)
local loaded_model = cr.models.load_model(path)
os.remove(path)
os.remove(temporary_path)
assert(loaded_model.layers[1]:get_config().initializer)
assert(cr.ops.max(cr.ops.abs(loaded_model:predict(x) - model:predict(x))):item() == 0)

-- The help of the class shows the text of the file scale.examples.
for _, class in ipairs(cr.listing().classes) do
  if class.name == "Scale" then assert(class.example:find "cr.layers.Scale") end
end
print "ok acme.scale"
