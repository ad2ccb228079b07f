-- What matches nothing is told, with what was probably meant: keys of tables, patterns, labels,
-- names of what is watched; and what a trace has read is looked at again when it changes.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
cr.utils.set_random_seed(1)
local x, y = cr.ones { 8, 2 }, cr.ones { 8, 1 }
local function fresh(options)
  local model = cr.Sequential { layers.Dense(1, { input_shape = { 2 }, name = "d" }) }
  options = options or {}
  options.loss = options.loss or "mse"
  model:compile(options)
  return model
end

do -- options that are empty, a rate that is read
  local model = fresh { optimizer = "sgd" }
  local loss = model:test_on_batch(x, y)
  check.near(model:test_on_batch(x, y, {}), loss, 1e-6)
  check.near(model:test_on_batch(x, y, { sample_weight = nil }), loss, 1e-6)
  check.near(model:train_on_batch(x, y, {}), loss, 1e-6)
  check.same(cr.data.dataset(x, y, {}).samples, 8)
  model.learning_rate = 0.5
  check.near(model.learning_rate:item(), 0.5)
  check.near(model.optimizer.learning_rate:item(), 0.5)
  model:compile { loss = "mse", optimizer = cr.optimizers.SGD {
    cr.optimizers.schedules.ExponentialDecay(0.25, 1, 0.5) } }
  model:train_on_batch(x, y)
  check.near(model.learning_rate:item(), model.optimizer.learning_rate:item())
  check.fails(function() return cr.Sequential { layers.Dense(1) }.learning_rate end, "compile")
  local dense = layers.Dense(1)
  assert(dense.activity_regularizer == nil)
  dense.activity_regularizer = "l2"
  assert(dense.activity_regularizer.class_name == "L2")
end
