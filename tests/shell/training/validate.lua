-- model:validate checks the compiled steps, prints a summary, returns a report, and does not change
-- the model.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/training"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
cr.utils.set_random_seed(4)
local model = cr.Sequential {
  cr.layers.Dense(16, { activation = "relu", input_shape = { 12 } }),
  cr.layers.BatchNormalization(),
  cr.layers.Dropout(0.5),
  cr.layers.Dense(3, { activation = "softmax" }),
}
local x, y = cr.random.normal { 20, 12 }, cr.ops.argmax(cr.random.normal { 20, 3 }, -1)
local lines = {}
local function collect_line(line) lines[#lines + 1] = line end

local report = model:validate(x, { print_fn = collect_line })
assert(report.ok and #report.findings == 0 and #report.steps == 1
  and report.steps[1] == "predict_step")

model:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy",
  metrics = { "accuracy" } }
model:train_on_batch(x, y)
local old_weights = {}
for _, w in ipairs(model:get_weights()) do old_weights[#old_weights + 1] = w:clone() end
local iterations, logs = model.optimizer.iterations, model:test_on_batch(x, y)
report = model:validate(x, y,
  { batch_size = 8, sample_weight = cr.random.uniform { 20 }, print_fn = collect_line })
assert(report.ok and #report.steps == 3, table.concat(lines, "\n"))
assert(report.kernels > 10 and report.elements > report.undecided and report.tightness < 1)
assert(lines[#lines]:find "^All within bounds: train_step, test_step, predict_step")
for i, w in ipairs(model:get_weights()) do
  assert(cr.ops.all(cr.ops.equal(w, old_weights[i])):item(), "validate changed a weight")
end
assert(model.optimizer.iterations == iterations)
local later_logs = model:test_on_batch(x, y)
for i, value in ipairs(logs) do assert(later_logs[i] == value) end
check.fails(function() model:validate(x, y, { batchsize = 1 }) end, "did you mean 'batch_size'?")
check.fails(function() model:validate(x, cr.zeros { 3 }) end, "samples")
