-- Every optimizer, loss, metric and schedule is saved with a model, and training continues after
-- loading without a difference.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/training"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"

local x = cr.random.normal { 16, 4 }
local y = cr.ops.softmax(x:slice({ 1, 1 }, { -1, 3 }))
local class_numbers = cr.ops.argmax(y, -1)

local function new_model(options)
  local model = cr.Sequential {
    cr.layers.Dense(5, { input_shape = { 4 } }), cr.layers.Dense(3, { activation = "softmax" }),
  }
  model:compile(options)
  return model
end

local function check_continuation(what, options, targets, targets_of_save)
  local model = new_model(options)
  local fit_options = { verbose = 0, batch_size = 8, shuffle = false, epochs = 2 }
  model:fit(x, targets, fit_options)
  local path, loaded_models = check.temporary ".h5", {}
  for _, target in ipairs(targets_of_save or { "keras3", "keras2" }) do
    local is_saved, reason = pcall(model.save, model, path, { target = target })
    if is_saved then
      loaded_models[#loaded_models + 1] = cr.models.load_model(path)
      os.remove(path)
    else -- saving for Keras 2 may fail for classes that are newer
      assert(target == "keras2" and tostring(reason):find "Keras 2.3.1 has no", reason)
    end
  end
  model:fit(x, targets, fit_options)
  local values = model:evaluate(x, targets, { verbose = 0, return_dict = true })
  for _, loaded_model in ipairs(loaded_models) do
    loaded_model:fit(x, targets, fit_options)
    local step_count = loaded_model.optimizer.variables[1]:item()
    assert(step_count == 8, what .. ": " .. step_count .. " steps")
    check.near(loaded_model:get_weights()[1], model:get_weights()[1]:totable(), 1e-6, what)
    for name, value in pairs(loaded_model:evaluate(x, targets,
      { verbose = 0, return_dict = true })) do
      assert(values[name], what .. ": " .. name .. " after loading")
      check.near(value, values[name], 1e-5, what .. " " .. name)
    end
  end
end

-- These optimizers wrap others, so the test skips them.
local wrapping_optimizers = { LossScaleOptimizer = true, MultiOptimizer = true,
  OptimizerMap = true }
for name in pairs(cr.optimizers) do
  local class = cr.describe(cr.optimizers[name])
  if class and class.what == "class" and class.kind == "optimizer"
    and not wrapping_optimizers[name] then
    check_continuation(name,
      { optimizer = cr.optimizers[name] { learning_rate = 0.01 }, loss = "mse" },
      y)
  end
end
check_continuation("LossScaleOptimizer",
  { optimizer = cr.optimizers.LossScaleOptimizer(cr.optimizers.Nadam(0.01)), loss = "mse" }, y)
check_continuation("a schedule",
  { optimizer = cr.optimizers.SGD(cr.optimizers.schedules.CosineDecayRestarts(0.1, 3)),
  loss = "mse" }, y)
check_continuation("averages",
  { optimizer = cr.optimizers.Lamb { learning_rate = 0.01, use_ema = true,
  gradient_accumulation_steps = 2 }, loss = "mse" }, y,
  { "keras3" }) -- Keras 2 has no averages of weights

local class_label_losses = { SparseCategoricalCrossentropy = true,
  CategoricalGeneralizedCrossEntropy = true, Circle = true }
for name in pairs(cr.losses) do
  local class = cr.describe(cr.losses[name])
  if class and class.what == "class" and name ~= "CTC" and name ~= "Loss" then
    check_continuation(name, { optimizer = "sgd", loss = cr.losses[name]() },
      class_label_losses[name] and class_numbers or y)
  end
end

local required_options = {
  IoU = { num_classes = 3, target_class_ids = { 0, 1 } }, MeanIoU = { num_classes = 3 },
  OneHotIoU = { num_classes = 3, target_class_ids = { 0, 1 } }, OneHotMeanIoU = { num_classes = 3 },
  SensitivityAtSpecificity = { specificity = 0.5 },
  SpecificityAtSensitivity = { sensitivity = 0.5 },
  PrecisionAtRecall = { recall = 0.5 }, RecallAtPrecision = { precision = 0.5 },
  MeanMetricWrapper = { fn = "mse" },
}
-- metrics whose predictions are class numbers
local class_number_metrics = { Metric = true, IoU = true, MeanIoU = true, BinaryIoU = true }
local sparse_metrics = { SparseCategoricalAccuracy = true, SparseCategoricalCrossentropy = true,
  SparseTopKCategoricalAccuracy = true }
for name in pairs(cr.metrics) do
  local class = cr.describe(cr.metrics[name])
  if class and class.what == "class" and class.kind == "metric"
    and not class_number_metrics[name] then
    local takes_class_numbers = sparse_metrics[name]
    check_continuation(name, { optimizer = "sgd",
      loss = takes_class_numbers and "sparse_categorical_crossentropy" or "mse",
      metrics = { cr.metrics[name](required_options[name] or {}) } },
      takes_class_numbers and class_numbers or y)
  end
end
