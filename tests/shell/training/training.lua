-- Training in scripts: callbacks, class weights, batches.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

local function new_model(units, loss)
  local m = cr.Sequential { cr.layers.Dense(units,
    { input_shape = { 3 }, activation = units > 1 and "softmax" or nil }) }
  m:compile { optimizer = "sgd", loss = loss }
  return m
end
local x, y = cr.random.normal { 12, 3 }, cr.zeros { 12, 1 }

-- A callback that is used after its model was freed.
local RecordingCallback = cr.callbacks.Callback:subclass "Watcher"
function RecordingCallback:on_train_begin() self.hooks = {} end
function RecordingCallback:on_batch_begin(batch) self.hooks[#self.hooks + 1] = "begin " .. batch end
function RecordingCallback:on_batch_end(batch, logs)
  self.hooks[#self.hooks + 1] = "end " .. batch .. (logs.loss and " loss" or "")
end
local watcher = RecordingCallback()
assert(watcher.model == nil)
do
  local m = new_model(1, "mse")
  m:fit(x, y, { batch_size = 6, verbose = 0, callbacks = { watcher } })
  assert(watcher.model == m)
end
check.same(watcher.hooks, { "begin 0", "end 0 loss", "begin 1", "end 1 loss" })
for _ = 1, 3 do collectgarbage() end
assert(watcher.model == nil, "the model was collected")

-- If a class defines both names of a hook, the newer name is used.
local BothHooks = cr.callbacks.Callback:subclass "Both"
function BothHooks:on_train_batch_end() self.newer = true end
function BothHooks:on_batch_end() self.older = true end
local callback = BothHooks()
new_model(1, "mse"):fit(x, y, { verbose = 0, callbacks = callback })
assert(callback.newer and not callback.older)

-- The state of callbacks is saved with the model.
local CountingCallback = cr.callbacks.Callback:subclass "Counter"
function CountingCallback:on_train_begin() self.count = 0 end
function CountingCallback:on_epoch_end() self.count = self.count + 1 end
function CountingCallback:get_state()
  return { count = self.count, mean = cr.ones { 2 } * self.count }
end
function CountingCallback:set_state(state) self.count, self.mean = state.count, state.mean end
local path = check.temporary ".h5"
local m = new_model(1, "mse")
m:fit(x, y, { epochs = 3, verbose = 0, callbacks = { CountingCallback() } })
m:save(path)
local loaded_model, counter = cr.models.load_model(path), CountingCallback()
os.remove(path)
loaded_model:fit(x, y, { epochs = 2, verbose = 0, callbacks = { counter } })
check.same(counter.count, 5)
check.near(counter.mean, { 3, 3 })
loaded_model:fit(x, y, { epochs = 2, verbose = 0, callbacks = { counter } })
check.same(counter.count, 2, "a second fit begins anew")

-- Class weights are given by labels, which count from 0, so a list gives the weights of the labels
-- 1, 2, ... A label without a weight counts with weight 1.
local labels = cr.tensor { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1 }
local classifier = new_model(2, "sparse_categorical_crossentropy")
classifier.learning_rate = 0
local function results_with(weights)
  return classifier:train_on_batch(x, labels, { class_weight = weights })
end
check.near(results_with { [1] = 5 }, results_with { [0] = 1, [1] = 5 }, 1e-6)
check.near(results_with { 5 }, results_with { [0] = 1, [1] = 5 }, 1e-6)
for _, weights in ipairs { { 1, 5 }, { [1] = 1, [2] = 5 } } do
  check.fails(function() results_with(weights) end, "no class 2", "0 to 1", "write [0] =")
end
classifier:fit(x, labels, { class_weight = { [0] = 1, [1] = 5 }, verbose = 0 })
local three_class_model = new_model(3, "sparse_categorical_crossentropy")
three_class_model:fit(x, labels + 1, { class_weight = { 1, 5 }, verbose = 0 })

-- "crossentropy", and "accuracy" where the loss does not determine it, are chosen by the shapes of
-- the outputs and targets.
do
  local rows, one_hot_labels = cr.random.uniform { 6, 3 },
    cr.ops.one_hot(cr.tensor { 0, 2, 1, 0, 1, 2 }, 3)
  local class_numbers = cr.ops.argmax(one_hot_labels, -1)
  local function results_of(units, activation, loss, metrics, targets)
    local net = cr.Sequential { cr.layers.Dense(units, { input_shape = { 3 },
      activation = activation, kernel_initializer = cr.initializers.RandomNormal { seed = 4 } }) }
    net:compile { loss = loss, metrics = metrics }
    return { net:evaluate(rows, targets, { verbose = 0 }) }
  end
  for _, settings in ipairs {
    { 1, "sigmoid", "binary_crossentropy", "binary_accuracy",
      one_hot_labels:slice({ 1, 1 }, { -1, 1 }) },
    { 3, "softmax", "categorical_crossentropy", "categorical_accuracy", one_hot_labels },
    { 3, "softmax", "sparse_categorical_crossentropy", "sparse_categorical_accuracy",
      class_numbers },
    { 3, "softmax", "sparse_categorical_crossentropy", "sparse_categorical_accuracy",
      class_numbers:reshape { 6, 1 } },
  } do
    local units, activation, loss, accuracy, targets = table.unpack(settings)
    local expected = results_of(units, activation, loss, { accuracy, loss }, targets)
    local loss_alone = cr.losses[loss]
    local function custom_loss(t, p) return loss_alone(t, p) end
    for _, name in ipairs { "crossentropy", "ce", "CE", custom_loss } do
      for _, metrics in ipairs { { "accuracy", "ce" }, { "Acc", "crossentropy" } } do
        check.near(results_of(units, activation, name, metrics, targets), expected, 1e-5)
      end
    end
  end
end

do -- results for several outputs are a list in the order of these names, which are also its keys
  local input = cr.Input { shape = { 2 } }
  local first = cr.layers.Dense(1, { name = "first" })(input)
  local second = cr.layers.Dense(1, { name = "second", activation = "sigmoid" })(input)
  local model = cr.Model { inputs = input, outputs = { first, second } }
  model:compile { optimizer = "sgd", loss = "mse", weighted_metrics = { { "mae" }, {} },
    metrics = { {}, { cr.metrics.Recall(), cr.metrics.BinaryAccuracy(), cr.metrics.AUC() } } }
  local rows, targets = cr.random.normal { 8, 2 }, { cr.ones { 8, 1 }, cr.ones { 8, 1 } }
  local names = { "loss", "first_loss", "second_loss", "first_mae", "second_auc",
    "second_binary_accuracy", "second_recall" }
  for _, method in ipairs { "evaluate", "test_on_batch", "train_on_batch" } do
    local options = method == "evaluate" and { verbose = 0 } or nil
    local list = model[method](model, rows, targets, options)
    for i, name in ipairs(names) do assert(list[i] == list[name], name) end
    assert(#list == #names)
  end
end

-- train_on_batch returns the numbers of its batch alone, also after evaluate.
local constant_model = new_model(1, "mse")
constant_model.learning_rate = 0
local expected_logs = constant_model:train_on_batch(x:slice(1, 4), y:slice(1, 4))
constant_model:evaluate(x, y, { verbose = 0 })
check.same(constant_model:train_on_batch(x:slice(1, 4), y:slice(1, 4)), expected_logs)
check.same(constant_model:test_on_batch(x:slice(1, 4), y:slice(1, 4)), expected_logs)
assert(constant_model:test_on_batch(x:slice(5, 12), y:slice(5, 12)) ~= expected_logs)

-- Generators without elements are errors.
check.fails(function()
  constant_model:fit(function() end, { verbose = 0 })
end, "fit: the data gave no batch")
check.fails(function()
  constant_model:fit(function() end, { steps_per_epoch = 3, verbose = 0 })
end, "fit: the data gave no batch")
local remaining_batches = 2
local history = constant_model:fit(function()
  remaining_batches = remaining_batches - 1
  if remaining_batches >= 0 then return x, y end
end, { epochs = 4, verbose = 0 })
check.same(#history.epoch, 1)

do -- methods called with '.' in place of ':'
  local m = new_model(1, "mse")
  for name, call in pairs {
    compile = function() m.compile { optimizer = "sgd" } end,
    summary = function() m.summary() end,
    get_weights = function() m.get_weights() end,
    get_layer = function() m.get_layer "dense" end,
  } do
    check.fails(call, name .. ": expected an object", "with ':', object:" .. name .. "(...)")
  end
  check.fails(function() m.fit(x, y) end, "got a tensor", "with ':'")
  check.fails(function() cr.layers.Dense.from_config { units = 3 } end, "with ':'")
  check.same(cr.layers.Dense:from_config({ units = 3 }).units, 3)
  assert(cr.Model:from_config(m:get_config()).class_name == "Sequential")
  check.fails(function() return cr.layers.Dense(1).kernel end, "made when it is called")
end

do -- losses and metrics accept Lua tables, and a generator may return a batch in one table
  check.near(cr.losses.mean_squared_error({ 1, 2 }, { 2, 2 }), 0.5)
  check.near(cr.losses.huber({ 1, 2 }, { 2, 2 }, { delta = 2 }), 0.25)
  check.near(cr.metrics.binary_accuracy({ { 1 }, { 0 } }, { { 0.9 }, { 0.8 } }), { { 1 }, { 0 } })
  check.near(cr.activations.softmax { { 1, 1 } }, { { 0.5, 0.5 } })
  check.same(cr.losses.Huber({ delta = 2 }).delta, 2)
  local m, remaining_batches = new_model(1, "mse"), 2
  m:fit(function()
    remaining_batches = remaining_batches - 1
    if remaining_batches >= 0 then return { x, y, cr.ones { 12 } } end
  end, { verbose = 0 })
  assert(m.optimizer.iterations:item() == 2)
end

do -- a function that is called like a built-in metric has the name of its variable in logs
  function _G.rmse(a, b) return cr.ops.sqrt(cr.ops.mean((a - b) ^ 2)) end
  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
  model:compile { loss = "mse", metrics = { _G.rmse, "rmse", "mae" } }
  check.same(model.metrics_names, { "loss", "rmse", "rmse_1", "mae" })
  local results = model:evaluate(cr.ones { 4, 2 }, cr.ones { 4, 1 }, { verbose = 0 })
  check.near(results.rmse, results.rmse_1)
  _G.rmse = nil
end

do -- functions are metrics of single outputs, too
  local function absolute_error(y_true, y_pred) return cr.ops.abs(y_true - y_pred) end
  local input = cr.Input { shape = { 2 } }
  local a, b = cr.layers.Dense(1, { name = "a" }), cr.layers.Dense(1, { name = "b" })
  local model = cr.Model { inputs = input, outputs = { a(input), b(input) } }
  model:compile { loss = { "mse", "mse" }, metrics = { { "mae", absolute_error }, { "mae" } } }
  local logs = model:evaluate(cr.ones { 4, 2 }, { cr.ones { 4, 1 }, cr.ones { 4, 1 } },
    { verbose = 0, return_dict = true })
  check.near(logs.a_function, logs.a_mae, 1e-6)
end

do -- metrics have the same names as in the logs
  assert(cr.metrics.Mean().name == "mean" and cr.metrics.Mean({ name = "m" }).name == "m")
  assert(cr.metrics.SparseCategoricalAccuracy().name == "sparse_categorical_accuracy")
  local MetricOfMine = cr.metrics.Metric:subclass "MetricOfMine"
  assert(MetricOfMine().name == "metric_of_mine")
end

do -- the arguments of compile can be read from the model
  local m = new_model(1, "mse")
  assert(m.loss == "mse" and m.optimizer.class_name == "SGD")
  local function gap(t, p) return (t - p):abs():mean(-1) end
  m:compile("adam", gap)
  assert(m.loss == gap)
  m:compile { optimizer = m.optimizer, loss = m.loss }
  m:fit(x, y, { verbose = 0 })
  local huber = cr.losses.Huber(2)
  m:compile { loss = { [m.output_names[1]] = huber } }
  assert(m.loss[m.output_names[1]] == huber)
  m:compile { loss = huber }
  local path = check.temporary ".keras"
  m:save(path)
  local loaded_model = cr.models.load_model(path)
  os.remove(path)
  assert(loaded_model.loss.class_name == "Huber" and loaded_model.loss.delta == 2)
  assert(cr.Sequential().loss == nil)
  check.fails(function() m.loss = "mae" end, "'loss' cannot be set", "compile")
  local ModelWithLoss = cr.Model:subclass "HasALossOfItsOwn"
  function ModelWithLoss:init() self.loss = 5 end
  assert(ModelWithLoss().loss == 5)
end

do -- the seed set before the first fit determines the order of the samples; a later seed does not
  local function losses(seed, later_seed)
    cr.random.seed(1)
    local m = new_model(1, "mse")
    m:set_weights { cr.ones { 3, 1 }, cr.zeros { 1 } }
    if seed then cr.random.seed(seed) end
    local options = { batch_size = 2, verbose = 0 }
    local first = m:fit(x, y, options).history.loss[1]
    if later_seed then cr.random.seed(later_seed) end
    return { first, m:fit(x, y, options).history.loss[1] }
  end
  check.same(losses(2), losses(2))
  check.same(losses(1), losses())
  check.same(losses(2, 5), losses(2))
  assert(losses(2)[1] ~= losses(3)[1] and losses(2)[1] ~= losses()[1])
end

-- CTC of labels with a blank inside, and means of negative weights, as in Keras
local ctc_logits = (cr.ops.arange(24, { dtype = "float32" }):reshape { 2, 4, 3 } - 12) / 100
check.near(cr.losses.CTC()(cr.tensor({ { 1, 2, 1, 0 }, { 1, 2, 0, 2 } }, "int32"), ctc_logits),
  2.448645, 1e-5)
local mean_metric = cr.metrics.Mean()
mean_metric:update_state({ 1, 3, 5, 7 }, { sample_weight = { -1, -1, 0, 0 } })
check.near(mean_metric:result(), 2.0)
for _, no_reduction in ipairs { "none", false, cr.null } do
  check.same(cr.losses.MeanSquaredError { reduction = no_reduction }(cr.ones { 3, 2 },
    cr.zeros { 3, 2 })
    :totable(), { 1, 1, 1 })
end
