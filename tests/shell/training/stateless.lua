-- Stateless calls of layers, optimizers and metrics, compared with calls that use state and with
-- numbers of Keras 3.15.1.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
cr.utils.set_random_seed(1)

local function values_of(variables)
  local values = {}
  for i, variable in ipairs(variables) do values[i] = variable.value:clone() end
  return values
end
local function check_all(got, expected, tolerance, what)
  assert(#got == #expected, what .. ": another length")
  for i = 1, #expected do check.near(got[i], expected[i], tolerance, what .. "[" .. i .. "]") end
end

local x = cr.tensor { { 1, 2, 3 }, { 0, 1, -1 } }
local model = cr.Sequential {
  layers.Dense(2, { kernel_initializer = "ones", kernel_regularizer = cr.regularizers.L2(0.1),
    input_shape = { 3 } }),
  layers.BatchNormalization(),
  layers.Dropout(0.5),
}
local trainable_values = { cr.tensor { { 1, 2 }, { 3, 4 }, { 5, 6 } } / 4, cr.tensor { 0.5, -0.5 },
  cr.tensor { 2, 1 }, cr.tensor { 0, 1 } }
local seed_state = model.non_trainable_variables[3].value
local fixed_values = { cr.tensor { 1, 2 }, cr.tensor { 3, 4 }, seed_state }

do -- the loss of Keras, whose states of metrics have other places
  local input = cr.Input { shape = { 3 } }
  local first = layers.Dense(2, { name = "a", kernel_regularizer = cr.regularizers.L2(0.1) })(input)
  local net = cr.Model(input, { first, layers.BatchNormalization { name = "b" } (first) })
  net:compile { loss = { "mse", "mae" }, optimizer = "sgd", metrics = { { "mse" }, {} } }
  local y = cr.tensor { { 1, 0 }, { 0, 1 } }
  net:fit(x, { y, y }, { verbose = 0 })
  local fixed_values, metric_values = { cr.tensor { 1, 2 }, cr.tensor { 3, 4 } }, {}
  for i, variable in ipairs(net.metrics_variables) do
    metric_values[i] = cr.zeros(variable.shape)
  end
  local before = values_of(net.variables)
  local metrics_before = values_of(net.metrics_variables)
  local predicted = net:stateless_call(trainable_values, fixed_values, x, { training = true })
  local loss, state = net:stateless_compute_loss(trainable_values, fixed_values, metric_values, x,
    { y, y }, predicted)
  check.near(loss, 19.88117790222168)
  check_all(state[1], trainable_values, 0, "trainable")
  check_all(state[2], fixed_values, 0, "non-trainable")
  local changed = {}
  for _, value in ipairs(state[3]) do
    if value:item() ~= 0 then changed[#changed + 1] = value:item() end
  end
  check.near(changed, { 35.625, 2, 2.9998533725738525, 2 })
  check_all(values_of(net.variables), before, 0, "variables")
  check_all(values_of(net.metrics_variables), metrics_before, 0, "metrics")
  check.fails(function() net:stateless_compute_loss({}, fixed_values, metric_values, x) end,
    "a value for each of the 4 trainable_variables, got 0")
end

do -- the values of Keras; the model does not change
  assert(#model.variables == 7 and #model.non_trainable_variables == 3)
  assert(#model.weights == 6 and #model.non_trainable_weights == 2)
  local old_values = values_of(model.variables)
  local y, state, losses = model:stateless_call(trainable_values, fixed_values, x,
    { return_losses = true })
  check.near(y, { { 5.772541046142578, 3.2497189044952393 },
    { -1.1545082330703735, -0.49981260299682617 } }, 1e-5)
  check_all(state, fixed_values, 0, "state")
  check_all(losses, { 0.5687500238418579 }, 1e-6, "losses")
  check_all(values_of(model.variables), old_values, 0, "the model")
  check.near(model.losses[1], 0.1 * 6, 1e-6)

  local normalization = model.layers[2]
  local z, moments = normalization:stateless_call({ trainable_values[3], trainable_values[4] },
    { fixed_values[1], fixed_values[2] }, cr.tensor { { 1, 2 }, { 3, 5 } }, { training = true })
  check.near(z, { { -1.9990007877349854, 0.00022214651107788086 },
    { 1.9990007877349854, 1.9997777938842773 } }, 1e-5)
  check_all(moments, { { 1.01, 2.015 }, { 2.98, 3.9825 } }, 1e-6, "moments")
end

do -- random numbers depend on the given state of the generator, which a call advances
  local dropout = layers.Dropout(0.5)
  local ones = cr.ones { 64 }
  dropout(ones)
  local state = values_of(dropout.non_trainable_variables)
  local a, next_state = dropout:stateless_call({}, state, ones, { training = true })
  local b = dropout:stateless_call({}, state, ones, { training = true })
  local c = dropout:stateless_call({}, next_state, ones, { training = true })
  check.near(a, b, 0)
  assert(ops.any(ops.not_equal(a, c)):item())
  check.near(dropout(ones, { training = true }), a, 0)
end

do -- stateless_call in a compiled function, and in a loop that carries the state of a layer
  local step = cr.compiled(function(weights, state, input)
    return model:stateless_call(weights, state, input, { training = true })
  end)
  local y, state = model:stateless_call(trainable_values, fixed_values, x, { training = true })
  local compiled_y, compiled_state = step(trainable_values, fixed_values, x)
  check.near(compiled_y, y, 1e-5)
  check_all(compiled_state, state, 1e-5, "state")
  local normalization = layers.BatchNormalization()
  normalization(cr.zeros { 2, 2 })
  local batches = cr.random.normal { 5, 4, 2 }
  local last_moments = ops.scan(function(moments, batch)
    local z, next_moments = normalization:stateless_call(
      { normalization.gamma, normalization.beta }, moments, batch, { training = true })
    return next_moments, z
  end, values_of(normalization.non_trainable_variables), batches)
  local old_values = values_of(normalization.non_trainable_variables)
  for i = 1, 5 do normalization(batches[i], { training = true }) end
  check_all(last_moments, values_of(normalization.non_trainable_variables), 1e-5, "a loop")
  check.near(old_values[1], { 0, 0 }, 0)
end

do -- stateless_apply of an optimizer
  local optimizer = cr.optimizers.Adam(0.1)
  optimizer:build { model.trainable_variables[1], model.trainable_variables[2] }
  local gradients = { cr.ones { 3, 2 }, cr.tensor { 1, -2 } }
  local weights, state = { trainable_values[1], trainable_values[2] },
    values_of(optimizer.variables)
  local old_values = values_of(model.variables)
  for _ = 1, 2 do weights, state = optimizer:stateless_apply(state, gradients, weights) end
  check.near(weights[1], { { 0.05, 0.3 }, { 0.55, 0.8 }, { 1.05, 1.3 } }, 1e-5)
  check.near(weights[2], { 0.3, -0.3 }, 1e-5)
  assert(state[1]:item() == 2 and optimizer.iterations:item() == 0)
  check.near(state[5], { 0.19, -0.38 }, 1e-5)
  check_all(values_of(model.variables), old_values, 0, "the model")
end

-- three stateless updates of every optimizer, compiled and eager, equal updates with state
for _, row in ipairs { { "SGD", { momentum = 0.9, nesterov = true } }, { "RMSprop" }, { "AdamW" },
  { "Adadelta" }, { "Adagrad" }, { "Adamax" }, { "Adafactor" }, { "Nadam" }, { "Ftrl" }, { "Lion" },
  { "Lamb" }, { "Muon" }, { "ScheduleFreeAdamW" },
  { "SGD", { global_clipnorm = 0.5, use_ema = true, ema_overwrite_frequency = 2,
    learning_rate = cr.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5) } },
  { "Adam", { gradient_accumulation_steps = 2, weight_decay = 0.1, clipvalue = 0.3 } } } do
  local optimizer = cr.optimizers[row[1]](row[2] or {})
  local variables = { cr.Variable(cr.random.normal { 4, 3 }, { name = "a" }),
    cr.Variable(cr.random.normal { 3 }, { name = "b" }) }
  optimizer:build(variables)
  local weights, state = values_of(variables), values_of(optimizer.variables)
  local apply = cr.compiled(function(...) return optimizer:stateless_apply(...) end)
  for i = 1, 3 do
    local gradients = { cr.random.normal { 4, 3 }, cr.random.normal { 3 } }
    local compiled_weights = apply(state, gradients, weights)
    weights, state = optimizer:stateless_apply(state, gradients, weights)
    check_all(compiled_weights, weights, 1e-5, row[1] .. ", compiled")
    optimizer:apply(gradients, variables)
    check_all(weights, values_of(variables), 1e-5, row[1])
    check_all(state, values_of(optimizer.variables), 1e-5, row[1] .. ", its state")
  end
end

do -- metrics of Crescent, and a metric written in Lua
  local metric = cr.metrics.MeanSquaredError()
  local state = metric:stateless_reset_state()
  check_all(state, { 0, 0 }, 0, "a new state")
  state = metric:stateless_update_state(state, cr.tensor { { 1 }, { 2 } },
    cr.tensor { { 3 }, { 2 } })
  check.near(metric:stateless_result(state), 2, 1e-6)
  assert(metric:result():item() == 0)
  local mean = cr.metrics.Mean()
  state = mean:stateless_update_state({ 4, 2 }, cr.tensor { 5, 7 })
  check_all(state, { 16, 4 }, 1e-6, "a mean")
  check.near(cr.compiled(function(a, b) return mean:stateless_result { a, b } end)(
    cr.tensor(9.0), cr.tensor(3.0)), 3, 1e-6)

  local MaximumMetric = cr.metrics.Metric:subclass "Largest"
  function MaximumMetric:init() self.largest = self:add_variable("largest", {}) end
  function MaximumMetric:update_state(y)
    self.largest:assign(ops.maximum(self.largest, ops.max(y)))
  end
  function MaximumMetric:result() return self.largest.value end
  local largest = MaximumMetric()
  state = largest:stateless_update_state({ 1.5 }, cr.tensor { 1, 3 })
  check.near(largest:stateless_result(state), 3, 0)
  assert(largest:result():item() == 0)
end

do -- meta-learning: the gradient through a step of SGD, compared with finite differences
  local net = cr.Sequential { layers.Dense(4, { activation = "tanh", input_shape = { 1 } }),
    layers.Dense(1) }
  local inner_optimizer = cr.optimizers.SGD(0.1)
  inner_optimizer:build(net.trainable_variables)
  local inner_state = values_of(inner_optimizer.variables)
  local function loss_of(weights, a, b)
    return ops.mean(ops.square(net:stateless_call(weights, {}, a) - b))
  end
  local function outer_loss(weights, a, b)
    local tape, loss = nil, nil
    tape = cr.GradientTape(function(t)
      for _, weight in ipairs(weights) do t:watch(weight) end
      loss = loss_of(weights, a, b)
    end)
    local adapted_weights = inner_optimizer:stateless_apply(inner_state,
      tape:gradient(loss, weights), weights)
    return loss_of(adapted_weights, -a, -b)
  end
  local meta_gradients = cr.compiled(function(weights, a, b)
    local loss
    local tape = cr.GradientTape(function(t)
      for _, weight in ipairs(weights) do t:watch(weight) end
      loss = outer_loss(weights, a, b)
    end)
    return tape:gradient(loss, weights)
  end)
  local a = cr.random.normal { 8, 1 }
  local b = ops.sin(a)
  local weights = values_of(net.trainable_variables)
  local gradients = meta_gradients(weights, a, b)
  for k, weight in ipairs(weights) do
    local direction = cr.random.normal(weight.shape)
    local function moved_loss(step)
      local moved_weights = { table.unpack(weights) }
      moved_weights[k] = weight + direction * step
      return outer_loss(moved_weights, a, b):item()
    end
    check.near(ops.sum(gradients[k] * direction):item(), (moved_loss(1e-2) - moved_loss(-1e-2))
      / 2e-2, 5e-3,
      "the gradient of weight " .. k)
  end
  -- the outer optimizer learns with these gradients
  local outer_optimizer = cr.optimizers.Adam(0.05)
  outer_optimizer:build(net.trainable_variables)
  local outer_state, first_loss = values_of(outer_optimizer.variables),
    outer_loss(weights, a, b):item()
  for _ = 1, 30 do
    weights, outer_state = outer_optimizer:stateless_apply(outer_state,
      meta_gradients(weights, a, b),
      weights)
  end
  assert(outer_loss(weights, a, b):item() < first_loss / 2)
end

do -- gradients with respect to variables that are given as values
  local dense = layers.Dense(1, { use_bias = false })
  dense(cr.zeros { 1, 2 })
  local given_kernel = cr.Variable(cr.tensor { { 2 }, { 3 } })
  local y
  local tape = cr.GradientTape(function()
    y = dense:stateless_call({ given_kernel }, {}, cr.tensor { { 5, 7 } })
  end)
  check.near(tape:gradient(y, given_kernel), { { 5 }, { 7 } }, 0)
  assert(tape:gradient(y, dense.kernel) == false)
end

do -- mixed precision: values of float32 are cast as variables are
  local dense = layers.Dense(2, { dtype = "mixed_bfloat16" })
  dense(cr.zeros { 1, 3 })
  local y = dense:stateless_call({ cr.ones { 3, 2 } * 1.001, cr.zeros { 2 } }, {}, cr.ones { 1, 3 })
  check.same(y.dtype, "bfloat16")
  check.near(y, { { 3, 3 } }, 0)
end

-- errors for invalid arguments
check.fails(function() model:stateless_call({ trainable_values[1] }, fixed_values, x) end,
  "Argument `trainable_variables` must be a list of tensors corresponding 1:1 to "
    .. "Sequential().trainable_variables. Received list with length 1, but expected 4 variables.")
check.fails(function() model:stateless_call(trainable_values, {}, x) end,
  "Argument `non_trainable_variables`", "length 0, but expected 3")
check.fails(function() layers.Dense(1):stateless_call({}, {}, x) end,
  "To call stateless_call, Dense must be built")
check.fails(function() model:stateless_call(trainable_values, fixed_values) end, "then inputs")
check.fails(function()
  model:stateless_call({ x, trainable_values[2], trainable_values[3], trainable_values[4] },
    fixed_values, x)
end, "Invalid variable value in StatelessScope", "kernel", "(3, 2)", "(2, 3)")
check.fails(function() cr.optimizers.SGD():stateless_apply({}, {}, {}) end,
  "To call `stateless_apply`, SGD must be built")
check.fails(function() cr.metrics.Mean():stateless_result { 1 } end,
  "Argument `metric_variables`", "length 1, but expected 2")

do -- errors leave no other values behind
  local FailingMetric = cr.metrics.Metric:subclass "FailingMetric"
  local failing = FailingMetric()
  check.fails(function() failing:stateless_result() end, "result")
  FailingMetric.result = function() error "no result" end
  check.fails(function() failing:stateless_result {} end, "no result")
  check.fails(function() cr.metrics.Mean():stateless_result() end, "expected 2 variables")
  check.fails(function() cr.metrics.Mean():stateless_update_state() end, "expected 2 variables")
  check.near(cr.layers.Dense(1, { kernel_initializer = "ones" })(cr.ones { 1, 2 }), { { 2 } })
end

print "ok stateless"
