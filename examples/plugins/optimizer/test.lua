-- A step of the optimizer Signs changes a weight by the learning rate, whatever the gradient, and
-- training with it makes the loss smaller.
--   CRESCENT_PLUGIN_PATH=build crescent test.lua
local cr = require "crescent"

local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
model:compile { optimizer = cr.optimizers.Signs { learning_rate = 0.01 }, loss = "mse" }
local old_weights = model:get_weights()[1]
local x, y = cr.ones { 4, 3 }, cr.ones { 4, 1 } * 5
local first_loss = model:evaluate(x, y, { verbose = 0 })
model:train_on_batch(x, y)
local step = cr.ops.max(cr.ops.abs(model:get_weights()[1] - old_weights)):item()
assert(math.abs(step - 0.01) < 1e-5, step)
model:fit(x, y, { epochs = 20, verbose = 0 })
assert(model:evaluate(x, y, { verbose = 0 }) < first_loss)
print "ok acme.signs"
