-- Inspection of models: model:trace, model:gradient_norms, model:find_learning_rate, and fit's
-- option watch.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

cr.random.seed(3)
local x = cr.random.normal { 24, 3 }
local y = x:sum({ 1 }, true)

-- The rows of a trace are the outputs of the layers, in the order in which these run.
local encoder = cr.Sequential({ layers.Dense(4, { name = "inner", activation = "relu",
  input_shape = { 3 } }) }, { name = "encoder" })
local i = cr.Input { shape = { 3 }, name = "i" }
local shared_layer = layers.Dense(3, { name = "shared" })
local output = layers.Dense(1, { name = "out" })(encoder(shared_layer(shared_layer(i))))
local model = cr.Model({ inputs = i, outputs = output })
local trace = model:trace(x)
local names = {}
for k, row in ipairs(trace) do names[k] = row.layer .. ":" .. row.call end
check.same(names,
  { "shared:1", "shared:2", "encoder/inner:1", "encoder:1", "out:1" })
local hidden = encoder(shared_layer(shared_layer(x)))
local row, numbers = trace[3], hidden:reshape { -1 }:totable()
local sum, zero_count, least_value, most_value = 0, 0, math.huge, -math.huge
for _, value in ipairs(numbers) do
  sum, zero_count = sum + value, zero_count + (value == 0 and 1 or 0)
  least_value, most_value = math.min(least_value, value), math.max(most_value, value)
end
check.same(row.shape, { 24, 4 })
assert(row.class == "Dense" and row.dtype == "float32" and row.nan == 0 and row.inf == 0)
check.near(row.min, least_value)
check.near(row.max, most_value)
check.near(row.mean, sum / #numbers)
check.near(row.zeros, zero_count / #numbers)
assert(zero_count > 0)
check.near(row.std, ops.std(hidden):item(), 1e-4)

-- The outputs of a layer by its name or path; for a layer that is called twice, a list.
check.near(trace["encoder/inner"]:reshape { -1 }, numbers)
check.near(trace.inner:reshape { -1 }, numbers)
check.near(trace.out:reshape { -1 }, model:predict(x):reshape { -1 })
assert(#trace.shared == 2)
check.near(trace.shared[1]:reshape { -1 }, shared_layer(x):reshape { -1 })
check.fails(function() return trace.iner end, "no layer 'iner' was called",
  "did you mean 'inner'")
assert(trace[6] == nil and trace[1].value == nil)
local partial_trace = model:trace(x, { layers = { "inner", "out" }, values = true,
  statistics = false })
assert(#partial_trace == 2 and partial_trace[1].min == nil)
check.near(partial_trace[1].value:reshape { -1 }, numbers)
check.fails(function() model:trace(x, { layers = "Out" }) end, "no layer 'Out'")

-- A trace prints as a table of limited width, without columns that would be empty.
local text = tostring(trace)
assert(text:find("shared call 2 (Dense)", 1, true) and text:find("(24, 4)", 1, true), text)
assert(not text:find "NaN" and not text:find "Dtype")
for line in text:gmatch "[^\n]+" do assert(#line <= 100, line) end
for line in tostring(model:trace(x, { line_length = 60 })):gmatch "[^\n]+" do
  assert(#line <= 60, line)
end
local broken_data = x:totable()
broken_data[2][1], broken_data[3][1] = 0 / 0, math.huge
local broken_trace = model:trace(cr.tensor(broken_data))
assert(broken_trace[1].nan > 0 and tostring(broken_trace):find "NaN")
-- the minimum is that of the finite elements
assert(broken_trace[1].min and broken_trace[1].min == broken_trace[1].min)

-- In training mode dropout is active, but neither the random state nor moving averages change.
local noisy_model = cr.Sequential { layers.Dropout(0.5, { input_shape = { 3 }, name = "drop" }),
  layers.BatchNormalization() }
local old_weights = noisy_model:get_weights()
assert(noisy_model:trace(x)[1].zeros == 0)
local training_trace = noisy_model:trace(x, { training = true })
assert(training_trace[1].zeros > 0.2)
check.near(training_trace.drop:reshape { -1 }, noisy_model:trace(x,
  { training = true }).drop:reshape { -1 })
for k, weight in ipairs(noisy_model:get_weights()) do
  check.same(weight:totable(), old_weights[k]:totable())
end

-- Layers of Lua classes, layers with several outputs, and layers that scan.
local TwoOutputs = cr.layers.Layer:subclass "TwoOutputs"
function TwoOutputs:call(inputs) return inputs * 2, inputs + 1 end
local TwoOutputModel = cr.Model:subclass "OwnTraced"
function TwoOutputModel:init()
  self.first = layers.Dense(2, { name = "first" })
  self.two = TwoOutputs { name = "two" }
end
function TwoOutputModel:call(inputs)
  local outputs = self.two(self.first(inputs))
  return outputs[1] + outputs[2]
end
local own_model = TwoOutputModel {}
local own_trace = own_model:trace(x)
check.same({ own_trace[1].layer, own_trace[2].layer, own_trace[3].layer },
  { "first", "two", "two" })
assert(own_trace[2].output == 1 and own_trace[3].output == 2 and #own_trace.two == 2)
check.near((own_trace.two[2] - 1) * 2, own_trace.two[1]:totable())
local recurrent_model = cr.Sequential { layers.LSTM(2, { input_shape = { 4, 3 }, name = "lstm" }) }
local steps = cr.random.normal { 5, 4, 3 }
check.same(recurrent_model:trace(steps)[1].shape, { 5, 2 })

-- The norms equal those of gradients from a tape, and the model does not change.
model:compile { optimizer = "adam", loss = "mse" }
local weights = model:get_weights()
local norms = model:gradient_norms(x, y, { batch_size = 24 })
local loss
local tape = cr.GradientTape(function()
  loss = ops.mean(ops.square(model(x, { training = true }) - y))
end)
local gradients = tape:gradient(loss, model.trainable_weights)
local function norm(t) return math.sqrt(ops.sum(t * t):item()) end
check.near(norms.loss, loss:item())
assert(#norms.weights == 6 and #norms.layers == 3)
for k, weight_norm in ipairs(norms.weights) do
  check.near(weight_norm.gradient, norm(gradients[k]), 1e-4)
  check.near(weight_norm.weight, norm(weights[k]), 1e-4)
  assert(weight_norm.weight == 0 or math.abs(
    weight_norm.ratio - weight_norm.gradient / weight_norm.weight) < 1e-9)
end
assert(norms.weights[1].name == "shared/kernel" and norms.layers[1].name == "shared")
check.near(norms.layers[1].gradient,
  math.sqrt(norms.weights[1].gradient ^ 2 + norms.weights[2].gradient ^ 2))
assert(tostring(norms):find("shared/kernel", 1, true))
for k, weight in ipairs(model:get_weights()) do
  check.same(weight:totable(), weights[k]:totable())
end
assert(model.optimizer.iterations:item() == 0)

-- fit with `watch` writes the same norms to logs and history
local watched_history = model:fit(x, y, { batch_size = 24, epochs = 2, verbose = 0, shuffle = false,
  watch = { "gradients", "weights" } }).history
check.near(watched_history["gradient_norm/shared"][1], norms.layers[1].gradient, 1e-4)
check.near(watched_history["weight_norm/out"][1], norms.layers[3].weight, 1e-4)
assert(#watched_history.loss == 2 and #watched_history["gradient_norm/inner"] == 2)
local seen_logs
model:fit(x, y, { verbose = 0, watch = "gradients", callbacks = cr.callbacks.LambdaCallback {
  on_train_batch_end = function(_, logs) seen_logs = logs end } })
assert(seen_logs["gradient_norm/out"] > 0 and seen_logs["weight_norm/out"] == nil)
check.fails(function() model:fit(x, y, { verbose = 0, watch = "gradient" }) end, "watch",
  "gradients", "gradient")
-- the norms appear beside the logs of a custom train_step
local TapeStepModel = cr.Model:subclass "WatchedStep"
function TapeStepModel:init() self.dense = layers.Dense(1, { name = "dense" }) end
function TapeStepModel:call(inputs) return self.dense(inputs) end
function TapeStepModel:train_step(data)
  local step_loss
  local step_tape = cr.GradientTape(function()
    step_loss = ops.mean(ops.square(self(data.x, { training = true }) - data.y))
  end)
  self.optimizer:apply_gradients(step_tape:gradient(step_loss, self.trainable_weights),
    self.trainable_weights)
  return { loss = step_loss }
end
local step_model = TapeStepModel {}
step_model:compile { optimizer = "sgd" }
local step_history = step_model:fit(x, y, { verbose = 0, watch = "gradients" }).history
assert(step_history.loss[1] > 0 and step_history["gradient_norm/dense"][1] > 0)

-- The learning-rate range test: the model does not change, the rates grow, and the suggested rate
-- is one of them.
local rate = model.optimizer.learning_rate:item()
weights = model:get_weights()
local iterations = model.optimizer.iterations:item()
local curve = model:find_learning_rate(x, y, { from = 1e-5, to = 10, steps = 60, batch_size = 12 })
assert(#curve.rates == #curve.losses and #curve.rates == #curve.averages)
assert(#curve.rates > 10 and #curve.rates <= 60 and math.abs(curve.rates[1] - 1e-5) < 1e-9)
for k = 2, #curve.rates do assert(curve.rates[k] > curve.rates[k - 1]) end
assert(curve.suggestion > 1e-5 and curve.suggestion < 10)
assert(tostring(curve):find "falls fastest", tostring(curve))
for k, weight in ipairs(model:get_weights()) do
  check.same(weight:totable(), weights[k]:totable())
end
assert(model.optimizer.learning_rate:item() == rate)
assert(model.optimizer.iterations:item() == iterations)
assert(model.optimizer:get_config().learning_rate == 0.001)
-- training a quadratic in one weight diverges for rates beyond 2 / curvature, where the test ends
local linear_model = cr.Sequential { layers.Dense(1, { use_bias = false,
  kernel_initializer = "zeros", input_shape = { 1 } }) }
linear_model:compile { optimizer = "sgd", loss = "mse" }
local ones = cr.ones { 32, 1 }
local noisy_targets = cr.random.normal({ 32, 1 }, 3)
local diverging_curve = linear_model:find_learning_rate(ones, noisy_targets,
  { batch_size = 8, from = 1e-3, to = 1000, steps = 100 })
assert(#diverging_curve.rates < 100 and diverging_curve.rates[#diverging_curve.rates] > 1
  and diverging_curve.suggestion < 1)
check.fails(function() model:find_learning_rate(x, y, { from = 1, to = 0.1 }) end, "from", "to")
model:compile { optimizer = cr.optimizers.SGD(cr.optimizers.schedules.ExponentialDecay(0.1, 10,
  0.9)), loss = "mse" }
check.fails(function() model:find_learning_rate(x, y) end, "schedule")
