-- Means over epochs with many batches stay accurate.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

local row_count = 40000
local model = cr.Sequential { layers.Rescaling(1, { input_shape = { 1 } }) }
model:compile { optimizer = "sgd", loss = "mae",
  metrics = { "mae", "mse", cr.metrics.RootMeanSquaredError(), cr.metrics.R2Score() } }
local x = ops.full({ row_count, 1 }, 0.1)
local y = ops.reshape(ops.tile(cr.tensor { 0, 0.2 }, { row_count // 2 }), { row_count, 1 })
local logs = model:evaluate(x, y, { batch_size = 1, verbose = 0, return_dict = true })
check.near(logs.loss, 0.1, 1e-6, "loss")
check.near(logs.mae or logs.mean_absolute_error, 0.1, 1e-6, "mae")
check.near(logs.mse or logs.mean_squared_error, 0.01, 1e-7, "mse")
check.near(logs.root_mean_squared_error, 0.1, 1e-6, "rmse")
check.near(logs.r2_score, 0, 1e-6, "r2")

-- counters beyond the largest exact integer of float32
local function update_metric(metric, ...)
  metric:update_state(...)
  return metric
end
local large_number = cr.tensor { 2 ^ 25 }
for name, batch_of_one in pairs { Sum = { cr.tensor { 1 } },
  TruePositives = { cr.tensor { 1 }, cr.tensor { 1 } } } do
  local metric = update_metric(cr.metrics[name](), table.unpack(batch_of_one))
  local total = metric.variables[1]
  total:assign(ops.reshape(large_number, total.shape))
  for _ = 1, 4 do update_metric(metric, table.unpack(batch_of_one)) end
  check.same(ops.sum(metric:result()):item(), 2 ^ 25 + 4, name)
end
-- the dtype of results, and the one that metrics report, stays float32
for _, metric in ipairs { cr.metrics.Mean(), cr.metrics.Precision(), cr.metrics.AUC(),
  cr.metrics.F1Score(), cr.metrics.SensitivityAtSpecificity(0.5),
  cr.metrics.AUC { curve = "PR" } } do
  local labels, predictions = cr.tensor { { 1, 0 }, { 0, 1 } },
    cr.tensor { { 0.9, 0.2 }, { 0.6, 0.7 } }
  check.same(update_metric(metric, labels, predictions):result().dtype, "float32", metric.name)
  check.same(metric.dtype, "float32", metric.name)
end
