-- Trains a small model that is chosen at random from SEED. The process can be killed; another
-- process, started with the same FOLDER, resumes the training.
--   crescent training.lua SEED FOLDER OFFSET [KILLED_AFTER]
--
-- OFFSET is added to the seed of initial weights and random numbers: the result of a resumed
-- training must not depend on it.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local outcome = require "outcome"
local seed, folder, offset = tonumber(arg[1]), arg[2], tonumber(arg[3])
math.randomseed(seed)
local layers, optimizers, callbacks = cr.layers, cr.optimizers, cr.callbacks
local losses, metrics, ops = cr.losses, cr.metrics, cr.ops

local function one_of(...) return (select(math.random(select("#", ...)), ...)) end
local function chance(share) return math.random() < share end

-- ---- drawing layers

--- A layer with a state that is not trained and a draw from the global generator.
local Scaled = layers.Layer:subclass "Scaled"
function Scaled:build()
  self.calls = self:add_weight { name = "calls", shape = {}, initializer = "zeros",
    trainable = false }
end
function Scaled:call(inputs)
  self.calls:assign(self.calls + 1)
  return inputs * (1 + self.calls * 0.001) + cr.random.normal({ 1 }, 0, 0.01)
end

--- A layer with a loss and a metric of its own.
local Penalized = layers.Layer:subclass "Penalized"
function Penalized:call(inputs)
  self:add_loss(ops.mean(inputs * inputs) * 0.01)
  self:add_metric(ops.mean(inputs), "mean_of_" .. self.name)
  return inputs
end

--- A layer that holds another one.
local Holding = layers.Layer:subclass "Holding"
function Holding:init() self.dense = layers.Dense(4) end
function Holding:call(inputs) return self.dense(inputs) + ops.mean(inputs) end

local is_stateful = chance(0.15)

local function recurrent_layer()
  if chance(0.5) then return layers.GRU(3, { recurrent_dropout = one_of(0, 0.2) }) end
  return layers.Bidirectional(layers.LSTM(2))
end

local function first_layers(width, batch)
  if not is_stateful then
    return { layers.Dense(math.random(2, 9), { activation = one_of("relu", "tanh"),
      input_shape = { width }, kernel_regularizer = one_of(nil, "l2") }) }
  end
  local class = one_of(layers.GRU, layers.LSTM, layers.SimpleRNN)
  return { layers.Dense(4, { batch_input_shape = { batch, width } }), layers.Reshape { 2, 2 },
    class(3, { stateful = true, dropout = one_of(0, 0.3) }) }
end

local function stack_of(width, batch)
  local stack = first_layers(width, batch)
  local function add(share, make)
    if chance(share) then stack[#stack + 1] = make() end
  end
  add(0.4, function() return layers.BatchNormalization { momentum = 0.9 } end)
  add(0.2, layers.LayerNormalization)
  add(0.4, function() return layers.Dropout(0.3) end)
  add(0.2, function() return layers.GaussianNoise(0.1) end)
  add(0.1, function() return layers.AlphaDropout(0.2) end)
  add(0.2, function() return layers.SpectralNormalization(layers.Dense(5)) end)
  add(0.2, Scaled)
  add(0.2, Penalized)
  add(0.2, Holding)
  add(0.2, function() return cr.Sequential { layers.Dense(3), layers.Dropout(0.1) } end)
  if is_stateful or chance(0.6) then return stack end
  table.insert(stack, layers.Reshape { -1, 1 })
  if chance(0.6) then
    table.insert(stack, recurrent_layer())
  else
    table.insert(stack, layers.TimeDistributed(layers.Dense(4)))
    table.insert(stack, layers.GlobalAveragePooling1D())
  end
  return stack
end

-- ---- drawing a task, with losses and metrics that fit it

--- A metric with a variable whose shape depends on the predictions.
local Largest = metrics.Metric:subclass "Largest"
function Largest:update_state(y_true, y_pred)
  local value = ops.max(ops.abs(y_pred), 0)
  if not self.largest then
    self.largest = self:add_variable { name = "largest", shape = value.shape }
  end
  self.largest:assign(ops.maximum(self.largest, value))
end
function Largest:result() return ops.sum(self.largest) end

local function maker_of(class, ...)
  local options = table.pack(...)
  return function() return class(table.unpack(options)) end
end

local tasks = {
  values = { units = 1, activation = "linear",
    losses = { "mse", "mae", "log_cosh", losses.Huber(0.5) },
    metrics = { maker_of(metrics.RootMeanSquaredError), maker_of(metrics.R2Score),
      maker_of(metrics.PearsonCorrelation), maker_of(metrics.ConcordanceCorrelation),
      maker_of(metrics.CosineSimilarity), maker_of(metrics.MeanAbsolutePercentageError),
      Largest } },
  several = { units = 3, activation = "linear", losses = { "mse", "mae" },
    metrics = { maker_of(metrics.R2Score), maker_of(metrics.PearsonCorrelation), Largest } },
  binary = { units = 1, activation = "sigmoid",
    losses = { "binary_crossentropy", losses.BinaryFocalCrossentropy() },
    metrics = { maker_of(metrics.AUC), maker_of(metrics.Precision), maker_of(metrics.BinaryIoU),
      maker_of(metrics.F1Score, { threshold = 0.5 }), maker_of(metrics.PrecisionAtRecall, 0.5),
      maker_of(metrics.FBetaScore, { threshold = 0.5, beta = 2 }),
      maker_of(metrics.FalsePositives) } },
  classes = { units = 4, activation = "softmax",
    losses = { "categorical_crossentropy", "kl_divergence", "categorical_focal_crossentropy" },
    metrics = { maker_of(metrics.F1Score), maker_of(metrics.CategoricalCrossentropy),
      maker_of(metrics.AUC),
      maker_of(metrics.TopKCategoricalAccuracy, 2), maker_of(metrics.OneHotMeanIoU, 4), Largest } },
  labels = { units = 4, activation = "softmax", losses = { "sparse_categorical_crossentropy" },
    metrics = { maker_of(metrics.SparseCategoricalCrossentropy),
      maker_of(metrics.SparseTopKCategoricalAccuracy, 2) } },
}
local task_name = one_of("values", "values", "binary", "classes", "labels", "several")
local task = tasks[task_name]

local function metrics_of()
  local metrics_list = { task_name == "labels" and "accuracy" or one_of("mae", "accuracy") }
  for _, metric in ipairs(task.metrics) do
    if chance(0.4) then metrics_list[#metrics_list + 1] = metric() end
  end
  return metrics_list
end

--- The targets of this task for inputs.
local function targets_for(x)
  local sums = ops.sum(x, 1, true)
  if task_name == "values" then return sums end
  if task_name == "several" then return ops.concatenate({ sums, sums * 2, 1 - sums }, 1) end
  if task_name == "binary" then return ops.cast(ops.greater(sums, 0), "float32") end
  local labels = ops.cast(ops.clip(ops.floor(sums + 2), 0, 3), "int32"):reshape { -1 }
  return task_name == "labels" and labels or ops.one_hot(labels, 4)
end

-- ---- drawing an optimizer

local schedules = optimizers.schedules
local learning_rate = one_of(0.01, 0.01, 0.02, schedules.ExponentialDecay(0.02, 3, 0.9),
  schedules.CosineDecay(0.02, 20), schedules.CosineDecayRestarts(0.02, 5),
  schedules.PiecewiseConstantDecay({ 3, 8 }, { 0.03, 0.02, 0.01 }),
  schedules.InverseTimeDecay(0.02, 2, 0.5))
local has_schedule = type(learning_rate) ~= "number"

local options_by_optimizer = {
  SGD = function() return { momentum = one_of(0, 0.9), nesterov = chance(0.5) } end,
  Adam = function() return { amsgrad = chance(0.3) } end,
  RMSprop = function() return { centered = chance(0.5), momentum = one_of(0, 0.5) } end,
}

local function averaging_options()
  return { use_ema = true, ema_momentum = 0.9,
    ema_overwrite_frequency = one_of(nil, 2, 3, 5) }
end

local function optimizer_of()
  local name = one_of("Adam", "SGD", "RMSprop", "Nadam", "Adagrad", "Adadelta", "Adamax", "AdamW",
    "Ftrl", "Lion", "Lamb", "Adafactor", "Muon", "ScheduleFreeAdamW")
  local options = options_by_optimizer[name] and options_by_optimizer[name]() or {}
  options.learning_rate = learning_rate
  if chance(0.2) then options.gradient_accumulation_steps = math.random(2, 3) end
  if chance(0.2) then options.clipnorm = 1.0 end
  if chance(0.2) then options.weight_decay = 0.01 end
  if chance(0.25) and name ~= "ScheduleFreeAdamW" then
    for option, value in pairs(averaging_options()) do options[option] = value end
  end
  local optimizer = optimizers[name](options)
  if chance(0.9) then return optimizer end
  return optimizers.LossScaleOptimizer(optimizer,
    { initial_scale = 8.0, dynamic_growth_steps = 4 })
end

-- ---- drawing data

local batch_size = math.random(4, 16)
local rows = batch_size * math.random(3, 7) + (is_stateful and 0 or math.random(0, batch_size - 1))
local generator = cr.random.SeedGenerator(seed)
local x = cr.random.normal({ rows, math.random(2, 8) }, 0, 1, { seed = generator })
local y = targets_for(x)

local function slices() return cr.data.from_tensor_slices { x, y } end

local function generated()
  return cr.data.from_generator(function()
    return coroutine.wrap(function()
      for first = 1, rows - rows % batch_size, batch_size do
        local last = first + batch_size - 1
        coroutine.yield(x:slice(first, last), y:slice(first, last))
      end
    end)
  end)
end

local function noisy(a, b) return a + cr.random.normal(a.shape, 0, 0.1), b end
local function is_lucky() return cr.random.uniform({}):item() > 0.2 end

--- Datasets, each with the options of fit that belong to it.
local datasets = {
  function() return cr.data.dataset(x, y, { batch_size = batch_size, shuffle = true }) end,
  function() return slices():shuffle(16):batch(batch_size) end,
  function()
    return slices():shuffle(16):batch(batch_size):repeated(),
      { steps_per_epoch = math.random(2, 5) }
  end,
  generated,
  function()
    return slices():shuffle(16):map(noisy, { workers = one_of(0, 2) }):batch(batch_size)
  end,
  function() return slices():cache():shuffle(8):batch(batch_size):prefetch(2) end,
  function()
    local noise = layers.GaussianNoise(0.2, { seed = 3 })
    return slices():map(noise, { training = true }):batch(batch_size),
      { validation_data = slices():batch(5) }
  end,
  function() return slices():shuffle(9):filter(is_lucky):batch(batch_size) end,
}

--- Options of fit for arrays.
local array_option_makers = {
  function() return {} end,
  function() return { sample_weight = cr.random.uniform({ rows }, 0, 1, { seed = generator }) } end,
  function() return { validation_split = 0.25 } end,
  function()
    return { validation_data = { x:slice(1, 9), y:slice(1, 9) }, validation_freq = one_of(1, 2) }
  end,
  function() return { steps_per_epoch = math.random(2, 3) } end,
  function()
    if task_name ~= "labels" then return {} end
    return { class_weight = { [0] = 1.0, [1] = 2.0, [2] = 0.5, [3] = 1.0 } }
  end,
}

local function arguments_of()
  if chance(0.5) and not is_stateful then
    local data, options = datasets[math.random(#datasets)]()
    return { data }, options or {}
  end
  local options = is_stateful and {} or array_option_makers[math.random(#array_option_makers)]()
  options.batch_size = batch_size
  options.shuffle = not is_stateful and one_of(true, true, "batch", false)
  return { x, y }, options
end

-- ---- drawing callbacks

--- A callback in Lua with a state.
local Slower = callbacks.Callback:subclass "Slower"
function Slower:init() self.batches = 0 end
function Slower:on_train_batch_end()
  self.batches = self.batches + 1
  if self.batches % 5 == 0 and not has_schedule then
    self.model.learning_rate = (self.model.learning_rate * 0.9):item()
  end
end
function Slower:get_state() return { batches = self.batches } end
function Slower:set_state(state) self.batches = state.batches end

local function callbacks_of(watched)
  local list = { outcome.Killer { batches = tonumber(arg[4]) or 0 } }
  local function add(share, class, ...)
    if chance(share) then list[#list + 1] = class(...) end
  end
  if not has_schedule then
    add(0.3, callbacks.ReduceLROnPlateau, { monitor = watched, patience = 0, min_delta = 0.1 })
    add(0.2, callbacks.LearningRateScheduler, function(_, before) return before * 0.9 end)
  end
  add(0.3, callbacks.EarlyStopping, { monitor = watched, patience = 1, min_delta = 0.02,
    restore_best_weights = chance(0.6) })
  add(0.2, callbacks.TerminateOnNaN)
  add(0.3, Slower)
  add(0.3, callbacks.CSVLogger, folder .. "/log.csv", { append = true })
  return list
end

-- ---- training with the drawn layers, data, optimizer and callbacks

cr.utils.set_random_seed(seed + offset)
if chance(0.3) then cr.config.enable_op_determinism() end
if chance(0.25) then cr.config.set_dtype_policy(one_of("mixed_float16", "mixed_bfloat16")) end
local stack = stack_of(x.shape[2], batch_size)
table.insert(stack, layers.Dense(task.units, { activation = task.activation, dtype = "float32" }))
local model = cr.Sequential(stack)
model:compile { optimizer = optimizer_of(), loss = one_of(table.unpack(task.losses)),
  metrics = metrics_of(), run_eagerly = chance(0.15),
  weighted_metrics = chance(0.2) and task_name ~= "labels" and { "mse" } or nil }
local arguments, options = arguments_of()
local validates = (options.validation_split or options.validation_data)
  and not options.validation_freq
options.epochs, options.verbose = math.random(2, 5), 0
options.callbacks = callbacks_of(validates and "val_loss" or "loss")
if chance(0.25) then
  options.resume = folder .. "/backup/run.h5"
else
  table.insert(options.callbacks, callbacks.BackupAndRestore(folder .. "/backup",
    { save_freq = one_of("epoch", math.random(1, 6)), double_checkpoint = chance(0.3) }))
end
table.insert(arguments, options)
if chance(0.3) then
  model:start_training(table.unpack(arguments)):finish()
else
  model:fit(table.unpack(arguments))
end
outcome.print(model)
