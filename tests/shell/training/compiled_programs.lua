-- Compiled programs stay within a memory budget and are compiled again when needed; evaluate uses
-- folded batch normalization and prepacked weights, which are updated after every change of the
-- weights.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
cr.random.seed(3)

-- the budget is kept for any number of sequence lengths
local budget = cr.config.memory().program_cache
cr.config.set_program_cache(3000000)
local sequence_model = cr.Sequential { layers.LSTM(4, { input_shape = { -1, 3 } }),
  layers.Dense(1) }
sequence_model:compile { optimizer = "sgd", loss = "mse" }
for n = 1, 40 do
  sequence_model:predict_on_batch(cr.zeros { 2, n, 3 })
  sequence_model:train_on_batch(cr.zeros { 2, n, 3 }, cr.zeros { 2, 1 })
  assert(cr.config.memory().program_bytes <= 3000000)
end
cr.config.set_program_cache(budget)
check.fails(function()
  cr.config.set_program_cache(-1)
end, "expected a number of bytes >= 0, got -1")

-- clear_session frees all compiled programs; models still work afterwards
local x = cr.random.normal { 2, 5, 3 }
local old_predictions = sequence_model:predict_on_batch(x)
assert(cr.config.memory().programs > 0)
cr.clear_session()
check.same(cr.config.memory().programs, 0)
check.near(sequence_model:predict_on_batch(x), old_predictions:totable(), 0)

-- evaluate gives the same as for a model that runs op by op, after every way to change weights
local function new_model(eager)
  local model = cr.Sequential {
    layers.Conv2D(8, 3, { input_shape = { 8, 8, 3 } }), layers.BatchNormalization(),
    layers.Activation "relu",
    layers.Flatten(), layers.Dense(2),
  }
  model:compile { optimizer = "sgd", loss = "mse", run_eagerly = eager }
  return model
end
local compiled_model, eager_model = new_model(false), new_model(true)
local images, targets = cr.random.normal { 32, 8, 8, 3 }, cr.random.normal { 32, 2 }
for round = 1, 3 do
  compiled_model:fit(images, targets, { epochs = 1, batch_size = 16, verbose = 0 })
  eager_model:set_weights(compiled_model:get_weights())
  local loss = eager_model:evaluate(images, targets, { verbose = 0 })
  check.near(compiled_model:evaluate(images, targets, { verbose = 0 }), loss, 1e-4)
  check.near(compiled_model:evaluate(images, targets, { batch_size = 20, verbose = 0 }), loss,
    1e-4)
end
local weights = compiled_model:get_weights()
for i, weight in ipairs(weights) do weights[i] = weight * 1.5 end
compiled_model:set_weights(weights)
eager_model:set_weights(weights)
check.near(compiled_model:evaluate(images, targets, { verbose = 0 }),
  eager_model:evaluate(images, targets, { verbose = 0 }), 1e-3)
print "ok compiled_programs"
