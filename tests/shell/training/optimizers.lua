-- Optimizers written in Lua: an update rule for one variable, with state, options and schedules.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/training"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"

local L = cr.layers
local x, y = cr.random.normal { 32, 4 }, cr.random.normal { 32, 1 }

local MomentumOptimizer = cr.optimizers.Optimizer:subclass("Heavy", { { "learning_rate", 0.05 },
  { "momentum", 0.9, "What of the last update stays." } })
function MomentumOptimizer:slots() return { "momentum" } end
function MomentumOptimizer:update_step(gradient, variable, learning_rate, state)
  local update = state.momentum * self.momentum - gradient * learning_rate
  state.momentum:assign(update)
  variable:assign_add(update)
end

local function train_with(optimizer, options)
  cr.utils.set_random_seed(3)
  local model = cr.Sequential { L.Dense(3, { input_shape = { 4 } }), L.Dense(1) }
  model:compile { optimizer = optimizer, loss = "mse",
    run_eagerly = options and options.eagerly }
  model:fit(x, y, { verbose = 0, epochs = 3, shuffle = false, batch_size = 8 })
  return model
end
local function check_same_weights(a, b, tolerance)
  for i, weight in ipairs(a:get_weights()) do check.near(weight, b:get_weights()[i], tolerance) end
end

do -- the rule of SGD in Lua gives the same weights as SGD, compiled and eager
  local sgd = train_with(cr.optimizers.SGD(0.05, 0.9))
  check_same_weights(train_with(MomentumOptimizer()), sgd, 1e-6)
  check_same_weights(train_with(MomentumOptimizer(), { eagerly = true }), sgd, 1e-6)
  check_same_weights(train_with "Heavy", sgd, 1e-6)
  check_same_weights(train_with(MomentumOptimizer { clipnorm = 0.1, weight_decay = 0.01 }),
    train_with(cr.optimizers.SGD { learning_rate = 0.05, momentum = 0.9, clipnorm = 0.1,
      weight_decay = 0.01 }), 1e-6)
end

do -- the options that all optimizers have
  check.near(MomentumOptimizer(0.2).learning_rate.value, 0.2)
  assert(MomentumOptimizer(0.2, 0.5).momentum == 0.5)
  check.near(MomentumOptimizer { lr = 0.3 }.learning_rate.value, 0.3)
  local schedule = cr.optimizers.schedules.ExponentialDecay(0.1, 1, 0.5)
  local model = train_with(MomentumOptimizer(schedule))
  assert(model.optimizer.learning_rate:item() < 0.1)
end

do -- the optimizer is saved with its state, and training continues
  for _, ending in ipairs { ".h5", ".keras" } do
    local model = train_with(MomentumOptimizer { momentum = 0.8 })
    local path = check.temporary(ending)
    model:save(path)
    local loaded_model = cr.models.load_model(path)
    assert(loaded_model.optimizer.momentum == 0.8)
    for _, either_model in ipairs { model, loaded_model } do
      either_model:fit(x, y, { verbose = 0, shuffle = false })
    end
    check_same_weights(loaded_model, model, 0)
    os.remove(path)
  end
end

do -- the number of the step, and slots that do not start with zeros
  local AnchorOptimizer = cr.optimizers.Optimizer:subclass "Counting"
  function AnchorOptimizer:slots() return { "anchor" } end
  function AnchorOptimizer:initial_slot(name, variable) return variable.value * 1 end
  function AnchorOptimizer:update_step(gradient, variable, learning_rate, state)
    variable:assign(state.anchor + state.step)
  end
  local variable, optimizer = cr.Variable(cr.tensor { 5., 7 }), AnchorOptimizer()
  for _ = 1, 2 do optimizer:apply_gradients({ cr.ones { 2 } }, { variable }) end
  check.near(variable.value, { 7, 9 })
end

-- Averages of cells whose weights have the same path: each weight gets its own, also in
-- evaluations.
do
  local recurrent_model = cr.Sequential { cr.Input { shape = { 4, 3 } },
    cr.layers.Bidirectional(cr.layers.LSTM(2, { return_sequences = true })),
    cr.layers.Bidirectional(cr.layers.LSTM(1)) }
  local averaging_optimizer = cr.optimizers.SGD { 0.5, use_ema = true, ema_momentum = 0.5 }
  recurrent_model:compile { optimizer = averaging_optimizer, loss = "mse" }
  local function check_averages()
    for i, weight in ipairs(recurrent_model.trainable_weights) do
      check.near(weight.value, averaging_optimizer.variables[2 + i].value)
    end
  end
  local inputs, targets = cr.random.normal { 8, 4, 3 }, cr.random.normal { 8, 2 }
  local options = { epochs = 2, batch_size = 4, verbose = 0, validation_data = { inputs, targets },
    callbacks = { cr.callbacks.SwapEMAWeights() } }
  recurrent_model:fit(inputs, targets, options)
  check_averages()
  recurrent_model:train_on_batch(inputs, targets)
  averaging_optimizer:finalize_variable_values(recurrent_model.trainable_weights)
  check_averages()
end

local EmptyOptimizer = cr.optimizers.Optimizer:subclass "Nothing"
check.fails(function() train_with(EmptyOptimizer()) end, "no update_step()")
check.fails(function() cr.optimizers.Optimizer() end, "derive a class")
local WrongSlotsOptimizer = cr.optimizers.Optimizer:subclass "WrongSlots"
function WrongSlotsOptimizer:slots() return 3 end
function WrongSlotsOptimizer:update_step() end
check.fails(function() train_with(WrongSlotsOptimizer()) end,
  "WrongSlots: slots(): expected a list of names, got 3")
function WrongSlotsOptimizer:slots() return { "a", "a" } end
check.fails(function() train_with(WrongSlotsOptimizer()) end,
  'slots(): expected names of their own, got ["a", "a"]')
function WrongSlotsOptimizer:slots() return { "step" } end
check.fails(function() train_with(WrongSlotsOptimizer()) end,
  "state.step is the number of the step")
function WrongSlotsOptimizer:slots() return {} end
function WrongSlotsOptimizer:update_step(gradient, variable, rate)
  return variable - gradient * rate
end
check.fails(function() train_with(WrongSlotsOptimizer()) end,
  "update_step(): expected nothing, got a tensor",
  "variable:assign(value)")
do -- `iterations` counts updates; with accumulation several batches make one update
  local slow_model = train_with(cr.optimizers.SGD { gradient_accumulation_steps = 3 })
  assert(slow_model.optimizer.iterations:item() == 4
    and slow_model.optimizer.variables[1]:item() == 12)
  local scaled_model = train_with(cr.optimizers.LossScaleOptimizer(
    cr.optimizers.SGD { gradient_accumulation_steps = 5 }))
  assert(scaled_model.optimizer.iterations:item() == 2)
  assert(train_with(cr.optimizers.SGD()).optimizer.iterations:item() == 12)
end
do -- ScheduleFreeAdamW predicts with averaged weights
  local model = train_with(cr.optimizers.ScheduleFreeAdamW { weight_decay = 0.1 })
  local weight, averaged_point = model.trainable_weights[1], nil
  for _, variable in ipairs(model.optimizer.variables) do
    if variable.path == weight.path .. "/momentum" then averaged_point = variable end
  end
  local training_weights = model:get_weights()[1]
  model.optimizer:swap_to_eval()
  check.near(weight * 0.9 + averaged_point * 0.1, training_weights, 1e-6)
  assert(cr.ops.max(cr.ops.abs(weight - training_weights)):item() > 1e-6)
  model.optimizer:train()
  check.near(weight, training_weights, 1e-6)
end

-- an option `decay` of a Lua class belongs to the class and is not the decay of Keras 2
do
  local DecayedOptimizer = cr.optimizers.Optimizer:subclass("SlowDescent", { { "decay", 0.9 } })
  function DecayedOptimizer:update_step(g, v, rate) v:assign(v - rate * self.decay * g) end
  local a, b = cr.random.uniform({ 4, 3 }, { seed = 1 }), cr.ones { 4, 2 }
  local model = cr.Sequential { cr.layers.Dense(2, { input_shape = { 3 } }) }
  model:compile { optimizer = DecayedOptimizer { learning_rate = 0.5, decay = 0.25 }, loss = "mse" }
  model:fit(a, b, { verbose = 0 })
  local loaded_models = {}
  for _, ending in ipairs { ".keras", ".h5" } do
    local path = check.temporary(ending)
    model:save(path)
    local loaded_model = cr.models.load_model(path)
    check.near(loaded_model.optimizer:get_config().decay, 0.25)
    check.near(loaded_model.optimizer:get_config().learning_rate, 0.5)
    loaded_models[#loaded_models + 1] = loaded_model
    os.remove(path)
  end
  local expected_losses = model:fit(a, b, { verbose = 0 }).history.loss
  for _, loaded_model in ipairs(loaded_models) do
    check.same(loaded_model:fit(a, b, { verbose = 0 }).history.loss, expected_losses)
  end
end

do -- tensors without axes are numbers: rates and sizes may be computed
  local model = cr.Sequential { cr.layers.Dense(cr.tensor(2), { input_shape = { 3 } }) }
  check.same(model.layers[1].units, 2)
  model:compile { optimizer = cr.optimizers.SGD { learning_rate = cr.tensor(0.5) }, loss = "mse" }
  model.learning_rate = model.learning_rate * 0.5
  check.near(model.learning_rate.value, 0.25)
  model.optimizer.learning_rate = model.optimizer.learning_rate / 2
  check.near(model.learning_rate.value, 0.125)
  check.near(cr.layers.Dropout(cr.tensor(0.25)).rate, 0.25)
  check.fails(function() model.learning_rate = cr.ones { 1 } end, "expected a number", "(1,)")
  check.fails(function() model.learning_rate = cr.tensor "a" end, "expected a number")
  check.fails(function() cr.layers.Dense(cr.tensor(2.5)) end, "'units'", "expected an integer")
  check.fails(function() cr.layers.Dense(cr.ones { 1 }) end, "expected an integer, got <Tensor>")
  check.fails(function() x = cr.zeros { cr.tensor(1.5) } end, "expected an integer")
end

-- weights that are excluded from weight decay keep their values where the gradient is zero
for _, class in ipairs { "SGD", "RMSprop", "Adam", "AdamW", "Adadelta", "Adagrad", "Adamax",
  "Adafactor", "Nadam", "Lion" } do
  local optimizer = cr.optimizers[class] { learning_rate = 1.0, weight_decay = 0.25 }
  optimizer:exclude_from_weight_decay { var_names = { "bias" } }
  local kernel, bias = cr.Variable(2.0, { name = "kernel" }), cr.Variable(2.0, { name = "bias" })
  optimizer:apply({ cr.tensor(0.0), cr.tensor(0.0) }, { kernel, bias })
  check.near(kernel, 1.5, 1e-6, class)
  check.near(bias, 2.0, 0, class)
end

-- A variable in var_list is excluded, but not another variable with the same path. A configuration
-- names excluded variables by their paths.
do
  local plain_variable, excluded_variable = cr.Variable(2.0), cr.Variable(2.0)
  local optimizer = cr.optimizers.Adam { learning_rate = 1.0, weight_decay = 0.004 }
  optimizer:exclude_from_weight_decay { var_list = { excluded_variable } }
  optimizer:apply({ cr.tensor(0.0), cr.tensor(0.0) }, { plain_variable, excluded_variable })
  check.near(plain_variable, 1.992, 1e-6)
  check.near(excluded_variable, 2.0, 0)
  local copy = cr.optimizers.Adam(optimizer:get_config())
  copy:apply({ cr.tensor(0.0) }, { excluded_variable })
  check.near(excluded_variable, 2.0, 0)
end

do -- a LossScaleOptimizer scales alone: the inner optimizer loses its own factor (as Keras 3.15)
  local loss_scaling = cr.optimizers.LossScaleOptimizer(
    cr.optimizers.SGD { learning_rate = 0.5, loss_scale_factor = 100 })
  local variable = cr.Variable { 1.0, 2, 3, 4 }
  assert(loss_scaling:scale_loss(cr.tensor(2.0)):item() == 2 * loss_scaling.initial_scale)
  loss_scaling:apply({ cr.tensor { 1.0, 6, 7, 2 } * loss_scaling.initial_scale }, { variable })
  check.near(variable, { 0.5, -1, -0.5, 3 }, 0)
  assert(loss_scaling.inner_optimizer:get_config().loss_scale_factor == nil)
  for option, value in pairs { clipnorm = 1, weight_decay = 0.1, use_ema = true,
    gradient_accumulation_steps = 2, loss_scale_factor = 2 } do
    check.fails(function()
      cr.optimizers.LossScaleOptimizer(cr.optimizers.SGD(), { [option] = value })
    end, "inner_optimizer")
  end
  assert(cr.optimizers.LossScaleOptimizer(cr.optimizers.SGD(), { dynamic = true }))
  check.fails(function()
    cr.optimizers.LossScaleOptimizer(cr.optimizers.SGD(), { dynamic = false })
  end, "dynamic: expected true", "loss_scale_factor")
end

-- the learning rate can be set to a schedule, after which numbers are refused, as in Keras
do
  local halving_schedule = cr.optimizers.schedules.ExponentialDecay(1.0, 1, 0.5)
  local sgd = cr.optimizers.SGD(0.25)
  local loss_scaling = cr.optimizers.LossScaleOptimizer(cr.optimizers.SGD(0.25), 1)
  for _, optimizer in ipairs { sgd, loss_scaling, MomentumOptimizer(0.25, 0) } do
    local weight = cr.Variable(8.0)
    local apply_gradient = cr.compiled(function(gradient)
      optimizer:apply({ gradient }, { weight })
      return weight.value
    end)
    check.near(apply_gradient(cr.tensor(4.0)), 7, 1e-6)
    optimizer.learning_rate = halving_schedule
    check.near(optimizer.learning_rate.value, 0.5, 1e-6)
    check.near(apply_gradient(cr.tensor(4.0)), 5, 1e-6)
    check.near(apply_gradient(cr.tensor(4.0)), 4, 1e-6)
    check.fails(function() optimizer.learning_rate = 0.1 end, "learning rate is not settable")
  end
  local model = cr.Sequential { L.Dense(1, { input_shape = { 4 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  model.learning_rate = halving_schedule
  model:fit(x, y, { verbose = 0 })
  check.near(model.learning_rate.value, 1)
  local path = check.temporary ".keras"
  model:save(path)
  local rate = cr.models.load_model(path).optimizer:get_config().learning_rate
  check.same(rate.class_name, "ExponentialDecay")
  os.remove(path)
end

do -- a constraint that is set later holds after the next update
  local model = cr.Sequential { L.Dense(1, { input_shape = { 4 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  model:fit(x, y, { verbose = 0 })
  local kernel = model.layers[1].kernel
  kernel:assign(cr.ops.full({ 4, 1 }, -5))
  kernel.constraint = cr.constraints.NonNeg()
  model:fit(x, y, { verbose = 0 })
  check.same(kernel:totable(), { { 0 }, { 0 }, { 0 }, { 0 } })
  kernel:assign(cr.ops.full({ 4, 1 }, -5))
  kernel.constraint = nil
  model:fit(x, y, { verbose = 0 })
  assert(cr.ops.max(kernel):item() < 0)
  kernel.constraint = "unit_norm"
  assert(tostring(kernel.constraint):find "UnitNorm")
end

do -- a warning names the variables without a gradient, which keep their values
  local ok, text = check.run [[
    local used_variable, unused_variable = cr.Variable({ 1, 2 }, { name = "used" }),
      cr.Variable(3, { name = "idle" })
    cr.optimizers.SGD(1.0):apply({ cr.ones { 2 }, false }, { used_variable, unused_variable })
    print(used_variable[1], unused_variable:item())
  ]]
  assert(ok, text)
  assert(text:find("Gradients do not exist for variables idle", 1, true), text)
  assert(text:find "0%.0%s+3", text)
end

-- options that contradict each other are refused when the optimizer is made
check.fails(function() cr.optimizers.SGD { clipnorm = 0.1, clipvalue = 0.1 } end, "only one of")
check.fails(function() MomentumOptimizer { clipnorm = 0.1, global_clipnorm = 0.1 } end,
  "only one of")
check.fails(function() cr.optimizers.SGD { gradient_accumulation_steps = 1 } end, ">= 2")

do -- apply without variables changes those with which the optimizer was built
  local first_variable, second_variable = cr.Variable { 1.0, 2 }, cr.Variable(3.0)
  for _, optimizer in ipairs { cr.optimizers.SGD(1.0),
    cr.optimizers.LossScaleOptimizer(cr.optimizers.SGD(1.0), 1) } do
    first_variable:assign { 1, 2 }
    second_variable:assign(3)
    optimizer:build { first_variable, second_variable }
    optimizer:apply { cr.ones { 2 }, cr.tensor(2.0) }
    check.near(first_variable, { 0, 1 })
    check.near(second_variable, 1)
    check.fails(function() optimizer:apply { cr.ones { 2 } } end,
      "expected a gradient for each of 2")
  end
end

do -- a regularizer that is set later adds to the loss
  local model = cr.Sequential { L.Dense(1, { input_shape = { 4 }, kernel_initializer = "ones" }) }
  model:compile { optimizer = cr.optimizers.SGD(0.0), loss = "mse" }
  local loss = model:evaluate(x, y, { verbose = 0 })
  model.layers[1].kernel.regularizer = cr.regularizers.L1(0.5)
  check.near(model:evaluate(x, y, { verbose = 0 }), loss + 2, 1e-5)
  model.layers[1].kernel.regularizer = nil
  check.near(model:evaluate(x, y, { verbose = 0 }), loss, 1e-6)
end

check.fails(function() cr.optimizers.Lion { beta_1 = 0.0 } end, "beta_1", "above 0")

print "ok optimizers"
