-- fit{nan = "locate" | "stop"}: handling of a loss or a gradient that is not finite.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

cr.random.seed(3)
local x = cr.random.uniform({ 40, 3 }, 0.5, 1)
local y = x:sum({ 1 }, true)

--- Runs f and returns the message of its error.
local function error_message(f)
  local ok, text = pcall(f)
  assert(not ok, "expected an error")
  return tostring(text)
end
local function expect_texts(text, ...)
  for _, part in ipairs { ... } do assert(text:find(part, 1, true), part .. " in:\n" .. text) end
end
local function check_same_weights(model, old_weights)
  for k, weight in ipairs(model:get_weights()) do
    check.same(weight:totable(), old_weights[k]:totable())
  end
end

local LogLayer = layers.Layer:subclass "LogOf"
function LogLayer:call(inputs) return ops.log(inputs) end
local RootLayer = layers.Layer:subclass "RootOf"
function RootLayer:call(inputs) return ops.sqrt(inputs) end
local function model_with_layer(layer, options)
  local model = cr.Sequential {
    layers.Dropout(0.1, { input_shape = { 3 } }), layer, layers.Dense(1, { name = "out" }),
  }
  options = options or {}
  options.optimizer, options.loss = options.optimizer or "sgd", "mse"
  model:compile(options)
  return model
end

-- If all numbers are finite, training gives the same weights with and without the option.
for _, watch in ipairs { "none", "gradients" } do
  local plain_model, checked_model = model_with_layer(layers.Dense(4, { activation = "tanh" })), nil
  cr.random.seed(5)
  plain_model = model_with_layer(layers.Dense(4, { activation = "tanh" }), { optimizer = "adam" })
  local a = plain_model:fit(x, y, { epochs = 3, batch_size = 8, verbose = 0 }).history.loss
  cr.random.seed(5)
  checked_model = model_with_layer(layers.Dense(4, { activation = "tanh" }), { optimizer = "adam" })
  local b = checked_model:fit(x, y, { epochs = 3, batch_size = 8, verbose = 0, nan = "locate",
    watch = watch ~= "none" and watch or nil }).history.loss
  check.same(a, b)
  check_same_weights(checked_model, plain_model:get_weights())
end

-- Gradients whose sum exceeds float32 are finite nevertheless.
local steep_model = cr.Sequential { layers.Dense(2,
  { use_bias = false, kernel_initializer = "zeros",
  input_shape = { 3 } }) }
steep_model:compile { optimizer = cr.optimizers.SGD(1e-38),
  loss = function(_, p) return p * 3e38 end }
steep_model:fit(cr.ones { 8, 3 }, cr.zeros { 8, 2 }, { verbose = 0, nan = "locate" })
check.near(steep_model:get_weights()[1]:reshape { -1 }, { -1.5, -1.5, -1.5, -1.5, -1.5, -1.5 },
  1e-3)

-- A forward pass that fails: the logarithm of a negative number in row 3 of batch 2, which is row
-- 11 of the data.
local data = x:totable()
data[11][2] = -1
local bad_data = cr.tensor(data)
local options = { batch_size = 8, verbose = 0, shuffle = false, nan = "locate", epochs = 2 }
for _, eager in ipairs { false, true } do
  local model = cr.Sequential { LogLayer { name = "logs", input_shape = { 3 } },
    layers.Dense(1, { name = "out" }) }
  model:compile { optimizer = "adam", loss = "mse", run_eagerly = eager }
  model:train_on_batch(x, y)
  local first_weights = model:get_weights()
  local weights_before_error = {}
  local text = error_message(function()
    model:fit(bad_data, y, { batch_size = 8, verbose = 0, shuffle = false, nan = "locate",
      callbacks = cr.callbacks.LambdaCallback {
        on_train_batch_end = function(batch)
          weights_before_error = model:get_weights()
          assert(batch == 0)
        end } })
  end)
  expect_texts(text, "batch 2 of epoch 1", "the loss is not finite", "logs", "forward", "op log",
    "nan in 1 of 24 elements", "row 3 of the batch (11 of the data)", "Input 1: (8, 3) from -1 to",
    "The weights are as they were before this batch")
  check_same_weights(model, weights_before_error)
  assert(model.optimizer.iterations:item() == 2)
  assert(ops.abs(weights_before_error[1] - first_weights[1]):sum():item() > 0)
end

-- With shuffled samples, the error still names the row of the data.
local shuffled_model = cr.Sequential { LogLayer { input_shape = { 3 } }, layers.Dense(1) }
shuffled_model:compile { optimizer = "sgd", loss = "mse" }
expect_texts(error_message(function()
  shuffled_model:fit(bad_data, y, { batch_size = 8, verbose = 0, nan = "locate" })
end), "(11 of the data)")

-- Only the gradient is not finite: the derivative of a square root at 0.
data[11][2] = 0
local root_model = cr.Sequential { layers.Dense(3, { name = "before", use_bias = false,
  kernel_initializer = "identity", input_shape = { 3 } }), RootLayer { name = "root" },
  layers.Dense(1, { name = "out" }) }
root_model:compile { optimizer = "sgd", loss = "mse" }
local old_weights = root_model:get_weights()
local zero_data = cr.zeros { 8, 3 }
local text = error_message(function()
  root_model:fit(zero_data, cr.ones { 8, 1 }, { verbose = 0, nan = "locate" })
end)
expect_texts(text, "the gradient of before/kernel is not finite", "root (backward)")
check_same_weights(root_model, old_weights)

-- Numbers that are not finite in the data, in the weights, or in the loss.
data[11][2] = 0 / 0
local dense_model = model_with_layer(layers.Dense(4))
expect_texts(error_message(function() dense_model:fit(cr.tensor(data), y, options) end),
  "in the data, x",
  "row 3 of the batch (11 of the data)")
local targets = y:totable()
targets[2][1] = math.huge
expect_texts(error_message(function() dense_model:fit(x, cr.tensor(targets), options) end),
  "in the data, y",
  "row 2 of the batch")
local weights = dense_model:get_weights()
local nan_weights = weights[1]:totable()
nan_weights[1][1] = 0 / 0
dense_model:set_weights { cr.tensor(nan_weights), table.unpack(weights, 2) }
expect_texts(error_message(function() dense_model:fit(x, y, options) end), "in the weight dense",
  "/kernel")
local odd_model = cr.Sequential { layers.Dense(1, { input_shape = { 3 } }) }
odd_model:compile { optimizer = "sgd",
  loss = function(t, p) return ops.log(t - t) * 0 + ops.square(t - p) end }
expect_texts(error_message(function() odd_model:fit(x, y, options) end), "the loss is not finite",
  "What is infinite there:", "op log")

-- A custom train_step, and several losses.
local OwnModel = cr.Model:subclass "OwnNanStep"
function OwnModel:init() self.dense = layers.Dense(1, { name = "dense" }) end
function OwnModel:call(inputs) return ops.log(self.dense(inputs) * 0) end
function OwnModel:train_step(inputs)
  local loss
  local tape = cr.GradientTape(function()
    loss = self:compute_loss(inputs.x, inputs.y, self(inputs.x, { training = true }))
  end)
  self.optimizer:apply_gradients(tape:gradient(loss, self.trainable_weights),
    self.trainable_weights)
  return { loss = loss }
end
local own_model = OwnModel {}
own_model:compile { optimizer = "sgd", loss = "mse" }
expect_texts(error_message(function() own_model:fit(x, y, options) end), "the loss is not finite",
  "op log")

-- "stop" ends the run as stop_training does, with the weights before the faulty batch.
local net = cr.Sequential { LogLayer { input_shape = { 3 } }, layers.Dense(1) }
net:compile { optimizer = "sgd", loss = "mse" }
local weights_at_end
local history = net:fit(bad_data, y, { batch_size = 8, verbose = 0, shuffle = false, nan = "stop",
  epochs = 3, callbacks = cr.callbacks.LambdaCallback {
    on_train_batch_end = function() weights_at_end = net:get_weights() end } })
assert(#history.history.loss == 1 and history.history.loss[1] == history.history.loss[1])
check_same_weights(net, weights_at_end)
check.fails(function() net:fit(x, y, { nan = "find" }) end, "nan", "locate", "stop")

-- LossScaleOptimizer, which itself skips steps that are not finite, still does so.
local scaled_model = cr.Sequential { layers.Dense(1, { input_shape = { 3 } }) }
scaled_model:compile { loss = "mse", optimizer = cr.optimizers.LossScaleOptimizer {
  inner_optimizer = cr.optimizers.SGD(0.01), initial_scale = 1e38 } }
scaled_model:fit(x * 100, y, { verbose = 0, batch_size = 8, nan = "locate" })
assert(scaled_model.optimizer.dynamic_scale:item() < 1e38)
