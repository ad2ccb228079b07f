-- Loads the plugin and learns to multiply three columns by 2, -1 and 0.5.
--   CRESCENT_PLUGIN_PATH=build crescent train.lua
local cr = require "crescent"
cr.plugins.load "acme.table"

local x = cr.random.normal { 256, 3 }
local model = cr.Sequential { cr.layers.TableScale { initializer = "ones", input_shape = { 3 } } }
model:compile { optimizer = cr.optimizers.SGD { learning_rate = 0.5 }, loss = "mse" }
model:fit(x, x * cr.tensor { 2, -1, 0.5 }, { epochs = 30, batch_size = 32, verbose = 0 })

local learned_weights = model:get_weights()[1]:totable()
print(string.format("learned %.3f %.3f %.3f", table.unpack(learned_weights)))
for i, expected in ipairs { 2, -1, 0.5 } do
  assert(math.abs(learned_weights[i] - expected) < 1e-3)
end
