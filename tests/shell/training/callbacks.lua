-- Callbacks made of functions, lists of callbacks, and hooks called by a custom training loop.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/training"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"

local x = cr.random.normal { 16, 2 }
local y = x:sum(-1, true)
local function new_model(optimizer)
  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
  model:compile { optimizer = optimizer or cr.optimizers.SGD(0.1), loss = "mse" }
  return model
end

do -- LambdaCallback calls its functions with the number of the epoch or batch, and the logs
  local hook_calls = {}
  local function recorder(name)
    return function(a, b)
      hook_calls[#hook_calls + 1] = name .. (math.type(a) == "integer" and a or "")
        .. ((b or a).loss and "+" or "")
    end
  end
  local model = new_model()
  model:fit(x, y, { epochs = 1, verbose = 0, batch_size = 8,
    callbacks = cr.callbacks.LambdaCallback {
    on_epoch_begin = recorder "epoch", on_epoch_end = recorder "end",
    on_train_begin = recorder "begin",
    on_train_batch_begin = recorder "batch", on_train_batch_end = recorder "done" } })
  check.same(hook_calls, { "begin", "epoch0", "batch0", "done0+", "batch1", "done1+", "end0+" })
  local predict_count = 0
  model:predict(x, { callbacks = { cr.callbacks.LambdaCallback { on_predict_batch_end = function()
    predict_count = predict_count + 1
  end } } })
  assert(predict_count == 1)
  check.fails(function()
    cr.callbacks.LambdaCallback { on_epoch_begin = 3 }
  end, "on_epoch_begin", "expected a function")
  check.fails(function()
    cr.callbacks.LambdaCallback { on_epoch_start = print }
  end, "on_epoch_start", "did you mean")
end

do -- the outputs of each batch of predict, nested as those of the model
  local input = cr.Input { shape = { 2 } }
  local model = cr.Model { inputs = input,
    outputs = { a = cr.layers.Dense(1)(input), b = input * 2 } }
  local OutputCollector = cr.callbacks.Callback:subclass "OutputCollector"
  local batch_outputs, function_call_count = {}, 0
  function OutputCollector:on_predict_batch_end(batch, logs)
    assert(batch == #batch_outputs and (self.model or model).name == model.name)
    batch_outputs[#batch_outputs + 1] = logs.outputs
  end
  local whole_outputs = model:predict(x, { batch_size = 6, verbose = 0, callbacks = {
    OutputCollector(),
    cr.callbacks.LambdaCallback { on_predict_batch_end = function(_, logs)
      function_call_count = function_call_count + logs.outputs.a.shape[1]
    end } } })
  assert(#batch_outputs == 3 and function_call_count == 16)
  -- outputs of the first batches have not changed while later batches ran
  for name, outputs in pairs(
    whole_outputs) do
    check.same(cr.ops.concatenate({ batch_outputs[1][name], batch_outputs[2][name],
      batch_outputs[3][name] }, 0):totable(),
      outputs:totable())
  end
  OutputCollector():on_predict_batch_end(#batch_outputs, { outputs = x })
  check.same(batch_outputs[4]:totable(), x:totable())
end

do -- every callback has the model and the parameters of its run
  local model = new_model()
  local history = model:fit(x, y, { epochs = 2, batch_size = 4, verbose = 0 })
  assert(history.model.name == model.name)
  assert(history.params.epochs == 2 and history.params.steps == 4 and history.params.verbose == 0)
  assert(cr.callbacks.TerminateOnNaN().model == nil)
end

do -- LearningRateScheduler sets the learning rate of each epoch
  local model = new_model()
  local history = model:fit(x, y, { epochs = 3, verbose = 0,
    callbacks = { cr.callbacks.LearningRateScheduler(function(epoch, rate)
      return epoch == 0 and rate or rate / 2
    end) } })
  check.near(history.history.learning_rate, { 0.1, 0.05, 0.025 })
  check.fails(function()
    model:fit(x, y, { verbose = 0, callbacks = { cr.callbacks.LearningRateScheduler(function()
      return "much"
    end) } })
  end, "The output of the `schedule` function should be a float. Got: ")
  check.fails(function()
    cr.callbacks.LearningRateScheduler(0.5)
  end, "schedule", "expected a function")
end

do -- a custom training loop calls the hooks of a list of callbacks
  local hook_calls = {}
  local LoopCallback = cr.callbacks.Callback:subclass "Mine"
  function LoopCallback:on_epoch_end(epoch, logs)
    hook_calls[#hook_calls + 1] = { epoch, logs.loss, self.model ~= nil }
    logs.extra = 7
  end
  local model = new_model()
  local callback_list = cr.callbacks.CallbackList { callbacks = { LoopCallback {} },
    add_history = true,
    model = model }
  assert(#callback_list.callbacks == 2)
  callback_list:on_train_begin()
  for epoch = 0, 1 do
    callback_list:on_epoch_begin(epoch)
    callback_list:on_train_batch_begin(0)
    callback_list:on_train_batch_end(0, { loss = 1 })
    local logs = { loss = 0.5 - epoch / 4 }
    callback_list:on_epoch_end(epoch, logs)
    assert(logs.extra == 7)
  end
  callback_list:on_train_end()
  check.same(hook_calls, { { 0, 0.5, true }, { 1, 0.25, true } })
  check.near(callback_list.callbacks[2].history.loss, { 0.5, 0.25 })
end

do -- losses, metrics and activations called as functions
  local t, p = cr.tensor { { 1, 2 }, { 0, 0 } }, cr.tensor { { 1, 4 }, { 0, 1 } }
  check.near(cr.losses.mean_squared_error(t, p), { 2, 0.5 })
  check.near(cr.losses.huber(t, p, { delta = 0.5 }), { 0.4375, 0.1875 })
  check.near(cr.losses.huber(t, p, 0.5), { 0.4375, 0.1875 })
  check.near(cr.metrics.binary_accuracy(cr.tensor { { 1 }, { 0 } }, cr.tensor { { 0.7 }, { 0.6 } }),
    { { 1 }, { 0 } })
  check.near(cr.metrics.huber(t, p), { 0.75, 0.25 })
  check.near(cr.activations.leaky_relu(cr.tensor { -1, 2 }, 0.5), { -0.5, 2 })
  check.near(cr.activations.relu(cr.tensor { -1, 0.5, 9 },
    { max_value = 6, threshold = 1, negative_slope = 0.1 }), { -0.2, -0.05, 6 })
  check.near(cr.activations.softmax(cr.tensor { { 0, 0 }, { 0, 1 } }, 0),
    { { 0.5, 0.26894 }, { 0.5, 0.73106 } })
  check.fails(function() cr.losses.huber(t, p, { dleta = 1 }) end, "dleta", "delta")
  check.fails(function() cr.losses.huber(t) end, "expected y_true and y_pred")
  local dense = cr.layers.Dense(2,
    { activation = cr.activations.elu { alpha = 0.5 }, input_shape = { 2 } })
  local rebuilt_dense = cr.layers.Dense:from_config(dense:get_config())
  check.same(rebuilt_dense:get_config().activation,
    { class_name = "elu", config = { alpha = 0.5 } })
  assert(cr.layers.Dense(2, { activation = cr.activations.elu() }):get_config().activation == "elu")
end

local function two_layers()
  return cr.Sequential { cr.layers.Dense(2, { name = "first", input_shape = { 2 } }),
    cr.layers.Dense(1, { name = "second" }) }
end

do -- learning rates and weight decay for single weights
  local function train_once(options)
    cr.utils.set_random_seed(3)
    local model = two_layers()
    model:compile { optimizer = cr.optimizers.SGD(options), loss = "mse" }
    model:train_on_batch(x, y)
    return model
  end
  local plain_model, rule_model = train_once { learning_rate = 0.1 },
    train_once { learning_rate = 0.1, rules = { { pattern = "first/*", learning_rate = 0 } } }
  check.near(rule_model:get_weights()[3], plain_model:get_weights()[3]:totable())
  local untrained_model = train_once { learning_rate = 0 }
  check.near(rule_model:get_weights()[1], untrained_model:get_weights()[1]:totable())
  assert(plain_model:get_weights()[1]:totable()[1][1] ~= untrained_model:get_weights()[1]:totable(
    )[1][1])
  local decayed_model = train_once { learning_rate = 0.1, weight_decay = 0.5,
    rules = { { pattern = "*/bias", weight_decay = 0 },
      { pattern = "second/*", weight_decay = 0 } } }
  check.near(decayed_model:get_weights()[3], plain_model:get_weights()[3]:totable())
  check.near(decayed_model:get_weights()[1],
    (plain_model:get_weights()[1] - untrained_model:get_weights()[1] * 0.05):totable(), 1e-4)
  local path = check.temporary ".h5"
  decayed_model:save(path)
  check.same(cr.models.load_model(path).optimizer:get_config().rules,
    decayed_model.optimizer:get_config().rules)
  os.remove(path)
  local adamw = cr.optimizers.AdamW()
  adamw:exclude_from_weight_decay { var_names = { "bias" } }
  check.same(adamw:get_config().rules,
    { { pattern = "*bias*", weight_decay = 0, optional = true } })
  check.fails(function() cr.optimizers.SGD { rules = { { patern = "x" } } } end, "rules")
  check.fails(function()
    cr.optimizers.SGD { rules = { { pattern = "x", weight_decai = 1 } } }
  end, "weight_decai", "weight_decay")
end

do -- the option decay of Keras 2 becomes a schedule
  local with_decay, with_schedule = cr.optimizers.SGD { lr = 0.1, decay = 0.5 },
    cr.optimizers.SGD(cr.optimizers.schedules.InverseTimeDecay(0.1, 1, 0.5))
  check.same(with_decay:get_config(), with_schedule:get_config())
end

do -- the state of an optimizer can be set
  local source_model, target_model = new_model(cr.optimizers.Adam(0.1)),
    new_model(cr.optimizers.Adam(0.1))
  source_model:fit(x, y, { verbose = 0, epochs = 2, shuffle = false })
  target_model:train_on_batch(x, y)
  target_model:set_weights(source_model:get_weights())
  local state = {}
  for i, variable in ipairs(source_model.optimizer.variables) do state[i] = variable.value end
  target_model.optimizer:set_weights(state)
  source_model:train_on_batch(x, y)
  target_model:train_on_batch(x, y)
  check.near(target_model:get_weights()[1], source_model:get_weights()[1]:totable(), 0)
  check.fails(function()
    target_model.optimizer:set_weights { state[1] }
  end, "with a weight list of length 1", "expecting 6 weights")
end

do -- several optimizers for the weights of one model
  local model = two_layers()
  local map = cr.optimizers.OptimizerMap { default_optimizer = cr.optimizers.SGD(0),
    optimizer_map = { ["second/.*"] = cr.optimizers.Adam(0.1) } }
  model:compile { optimizer = cr.optimizers.MultiOptimizer(map), loss = "mse" }
  local old_weights = model:get_weights()
  model:fit(x, y, { verbose = 0, epochs = 2 })
  check.near(model:get_weights()[1], old_weights[1]:totable(), 0)
  assert(model:get_weights()[3]:totable()[1][1] ~= old_weights[3]:totable()[1][1])
  check.fails(function()
    return model.optimizer.learning_rate
  end, "Learning rate cannot be accessed on a MultiOptimizer")
  local path = check.temporary ".h5"
  model:save(path)
  local loaded_model = cr.models.load_model(path)
  model:fit(x, y, { verbose = 0, shuffle = false })
  loaded_model:fit(x, y, { verbose = 0, shuffle = false })
  check.near(loaded_model:get_weights()[3], model:get_weights()[3]:totable(), 0)
  os.remove(path)
end

do -- the ending of a checkpoint's file name is checked before training
  local checkpoint = cr.callbacks.ModelCheckpoint
  check.fails(function() checkpoint "later/m-{epoch}.ckpt" end, "no format is known by this name")
  check.fails(function() checkpoint "m.npz" end, "files of format npz do not hold models")
  checkpoint("m.npz", { save_weights_only = true })
end

do -- missing folders of checkpoints are created; where this fails, the epoch is not saved
  local folder = check.temporary ""
  local model = new_model()
  local path = folder .. "/runs/{epoch}/m.weights.h5"
  model:fit(x, y, { epochs = 2, verbose = 0,
    callbacks = { cr.callbacks.ModelCheckpoint(path, { save_weights_only = true }) } })
  for epoch = 1, 2 do model:load_weights((path:gsub("{epoch}", epoch))) end
  local _, text = check.run([[
    local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 1 } }) }
    model:compile { optimizer = "sgd", loss = "mse" }
    model:fit(cr.ones { 2, 1 }, cr.ones { 2, 1 }, { verbose = 0,
      callbacks = { cr.callbacks.ModelCheckpoint "/proc/none/m.keras" } })
  ]])
  assert(text:find("epoch 1 was not saved: cannot create the folder '/proc/none'", 1, true), text)
  os.execute("rm -r '" .. folder .. "'")
end

do -- file names of checkpoints may contain the batch number
  local folder = check.temporary ""
  os.execute("mkdir '" .. folder .. "'")
  local model = new_model()
  local checkpoint = cr.callbacks.ModelCheckpoint
  model:fit(x, y, { epochs = 2, verbose = 0, batch_size = 4, callbacks = {
    checkpoint(folder .. "/{epoch}-{batch:02d}.weights.h5",
      { save_freq = 3, save_weights_only = true }) } })
  for _, name in ipairs { "1-03", "2-02" } do
    local file = assert(io.open(folder .. "/" .. name .. ".weights.h5"))
    file:close()
  end
  check.fails(function()
    model:fit(x, y, { verbose = 0, callbacks = { checkpoint(folder .. "/{batch}.h5") } })
  end, "asks for 'batch'", "save_freq")
  os.execute("rm -r '" .. folder .. "'")
end

-- Mode "auto" gets the direction from the metric: from its class, or from a custom class's
-- _direction.
do
  local function epoch_count(metric, monitor, values, options)
    local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
    model:compile { optimizer = cr.optimizers.SGD(0), loss = "mse", metrics = { metric } }
    local SetLog = cr.callbacks.Callback:subclass "Set"
    function SetLog:on_epoch_end(epoch, logs) logs[monitor] = values[epoch + 1] end
    options = options or {}
    options.monitor, options.patience = monitor, 1
    local early_stopping = cr.callbacks.EarlyStopping(options)
    return #model:fit(x, y, { epochs = #values, verbose = 0,
      callbacks = { SetLog(), early_stopping } }).epoch
  end
  local rising_values = { 1, 2, 3 }
  local OwnMetric = cr.metrics.Metric:subclass("Own", { { "name", "own" } })
  function OwnMetric:init() self.sum = self:add_variable { name = "sum" } end
  function OwnMetric:update_state(y_true) self.sum:assign_add(y_true:sum()) end
  function OwnMetric:result() return self.sum end
  check.fails(function() epoch_count(OwnMetric {}, "own", rising_values) end, "EarlyStopping",
    "'own'",
    'mode = "max"')
  check.same(epoch_count(OwnMetric {}, "own", rising_values, { mode = "max" }), 3)
  OwnMetric._direction = "up"
  check.same(epoch_count(OwnMetric {}, "val_own", rising_values), 3)
  OwnMetric._direction = "down"
  check.same(epoch_count(OwnMetric {}, "own", rising_values), 2)
  local metric = OwnMetric {}
  metric._direction = "up"
  check.same(epoch_count(metric, "own", rising_values), 3)
  metric._direction = "sideways"
  check.fails(function() epoch_count(metric, "own", rising_values) end, '"up" or "down"')
  check.same(epoch_count(cr.metrics.AUC { name = "loss_of_face" }, "loss_of_face", rising_values),
    3)
  check.fails(function()
    epoch_count(function(t, p) return cr.ops.mean(t - p, -1) end, "function", rising_values)
  end, "mode = ")
  check.fails(function() epoch_count("mae", "goodness", rising_values) end, "'goodness'", "mae")
  check.fails(function() epoch_count("acc", "accuracy", rising_values) end,
    "it is known of: loss, val_loss, acc")
end
