-- A training run with any metric can be interrupted and resumed in another process, where it gives
-- the same numbers as an uninterrupted run: by BackupAndRestore, by run:save and run:load, by a
-- saved model, and in a replay. The script starts itself for each of these processes.
package.path = arg[0]:match "^(.*)/" .. "/../replay/?.lua;" .. package.path
local program = require "program"
local kEpochs = 3

--- A metric with a variable whose shape depends on the predictions. The class is in cr.metrics
--- too.
local Largest = cr.metrics.Metric:subclass "Largest"
function Largest:update_state(y_true, y_pred)
  local errors = cr.ops.max(cr.ops.abs(y_pred - cr.ops.cast(y_true, "float32")), 0)
  if not self.largest then
    self.largest = self:add_variable { name = "largest", shape = errors.shape }
  end
  self.largest:assign(cr.ops.maximum(self.largest, errors))
end
function Largest:result() return cr.ops.sum(self.largest) end

-- ---- the metrics and the data that they take

--- The options of metrics that need some.
local options_by_metric = {
  IoU = { num_classes = 2, target_class_ids = { 0 } }, MeanIoU = { num_classes = 2 },
  OneHotIoU = { num_classes = 3, target_class_ids = { 0, 2 } },
  OneHotMeanIoU = { num_classes = 3 },
  PrecisionAtRecall = { recall = 0.5 }, RecallAtPrecision = { precision = 0.5 },
  SensitivityAtSpecificity = { specificity = 0.5 },
  SpecificityAtSensitivity = { sensitivity = 0.5 },
  MeanMetricWrapper = { fn = "mse" }, TopKCategoricalAccuracy = { k = 2 },
  SparseTopKCategoricalAccuracy = { k = 2 },
}
local takes_one_probability = { BinaryIoU = true, IoU = true, MeanIoU = true }

local function task_of(name)
  if name:find "^Sparse" then return "labels" end
  return takes_one_probability[name] and "binary" or "classes"
end

local function metric_names()
  local names = {}
  for name in pairs(cr.metrics) do
    -- Mean and Sum take values instead of targets and predictions, so fit cannot update them.
    if name ~= "Mean" and name ~= "Sum" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

local function data_for(task)
  local x = cr.random.normal({ 22, 3 }, 0, 1, { seed = 1 })
  local labels = cr.ops.argmax(x, -1)
  if task == "labels" then return x, labels end
  if task == "binary" then
    return x, cr.ops.cast(cr.ops.greater(labels:reshape { -1, 1 }, 0), "float32")
  end
  return x, cr.ops.one_hot(labels, 3)
end

local function model_with(name, seed)
  local task = task_of(name)
  cr.utils.set_random_seed(seed)
  local model = cr.Sequential {
    cr.layers.Dense(4, { activation = "tanh", input_shape = { 3 } }), cr.layers.Dropout(0.2),
    cr.layers.Dense(task == "binary" and 1 or 3,
      { activation = task == "binary" and "sigmoid" or "softmax" }) }
  local metric = name == "Largest" and Largest() or cr.metrics[name](options_by_metric[name])
  model:compile { optimizer = "adam", metrics = { metric }, loss = task == "binary"
    and "binary_crossentropy" or task == "labels" and "sparse_categorical_crossentropy"
    or "categorical_crossentropy" }
  return model, data_for(task)
end

-- ---- the functions of the processes that the script starts

local function print_metrics(name, model)
  local numbers = {}
  local function add(number) numbers[#numbers + 1] = ("%.17g"):format(number) end
  for _, weight in ipairs(model:get_weights()) do
    for _, number in ipairs(weight:reshape({ -1 }):totable()) do add(number) end
  end
  for key, values in pairs(model.history.history) do
    for _, value in ipairs(values) do
      numbers[#numbers + 1] = ("%s %.17g"):format(key, value)
    end
  end
  table.sort(numbers)
  print(name, table.concat(numbers, " "))
end

local Cut = cr.callbacks.Callback:subclass "Cut"
function Cut:on_epoch_end(epoch)
  if epoch == 1 then error "cut" end
end

local function fit(name, seed, callbacks)
  local model, x, y = model_with(name, seed)
  model:fit(x, y, { epochs = kEpochs, batch_size = 5, verbose = 0, validation_split = 0.2,
    callbacks = callbacks })
  return model
end

local function backup(folder, name) return cr.callbacks.BackupAndRestore(folder .. "/" .. name) end

local function start(name, seed)
  local model, x, y = model_with(name, seed)
  local run = model:start_training(x, y, { epochs = kEpochs, batch_size = 5, verbose = 0,
    validation_split = 0.2 })
  return run, model
end

local processes = {}
function processes.whole(_, name) print_metrics(name, fit(name, 1)) end
function processes.cut_fit(folder, name)
  assert(not pcall(fit, name, 1, { Cut(), backup(folder, name) }))
end
function processes.goes_on(folder, name)
  print_metrics(name, fit(name, 2, { backup(folder, name) }))
end
function processes.save_run(folder, name)
  local run = start(name, 1)
  run:advance(6)
  run:save(folder .. "/" .. name .. ".h5")
end
function processes.load_run(folder, name)
  local run, model = start(name, 2)
  run:load(folder .. "/" .. name .. ".h5")
  run:finish()
  print_metrics(name, model)
end
function processes.save_model(folder, name)
  local run, model = start(name, 1)
  run:advance(6)
  model:save(folder .. "/" .. name .. ".keras")
end
function processes.load_model(folder, name)
  cr.utils.set_random_seed(2)
  local model = cr.models.load_model(folder .. "/" .. name .. ".keras")
  local x, y = data_for(task_of(name))
  model:fit(x, y, { epochs = kEpochs, batch_size = 5, verbose = 0, validation_split = 0.2,
    resume = true })
  print_metrics(name, model)
end
function processes.record(folder, name)
  fit(name, 1, { cr.callbacks.ReplayRecorder(folder .. "/" .. name, { save_freq = 3 }) })
end

if arg[1] then
  for _, name in ipairs(arg[3] and { arg[3] } or metric_names()) do
    processes[arg[1]](arg[2], name)
  end
  return
end

-- ---- starting the processes and comparing what they print

local function run(process, folder)
  local status, text = program.run(arg[0], process, folder)
  assert(status == 0, process .. ": " .. text)
  return text
end

program.with_folder(function(folder)
  local expected = run("whole", folder)
  for _, process_pair in ipairs { { "cut_fit", "goes_on" }, { "save_run", "load_run" },
    { "save_model", "load_model" } } do
    run(process_pair[1], folder)
    assert(run(process_pair[2], folder) == expected, process_pair[2] .. " ends with other numbers")
  end
  for _, name in ipairs { "Largest", "R2Score" } do
    local status, text = program.run(arg[0], "record", folder, name)
    assert(status == 0, text)
    status, text = program.run("replay", folder .. "/" .. name, "--step", 5)
    assert(status == 0 and text:find("step 5: equal", 1, true), name .. ": " .. text)
  end
end)
print(#metric_names() .. " metrics went on in other processes")
