-- Predicts house prices in Boston with 5-fold cross-validation: one network is trained per fold,
-- and a table shows the error of each.
--   crescent examples/boston.lua
local cr = require "crescent"
local script_folder = (arg and arg[0] or "examples/boston.lua"):match "^(.*)/" or "."
cr.random.seed(7)

local values, info = cr.data.read_csv(script_folder .. "/data/boston.csv")
local feature_count = #info.columns - 1
local x = values:slice({ 1, 1 }, { -1, feature_count })
local y = values:slice({ 1, feature_count + 1 }, { -1, feature_count + 1 })

local function new_model()
  local model = cr.Sequential {
    cr.layers.Dense(64, { activation = "relu", input_shape = { feature_count },
      kernel_regularizer = cr.regularizers.L2(1e-3) }),
    cr.layers.Dense(64, { activation = "relu", kernel_regularizer = cr.regularizers.L2(1e-3) }),
    cr.layers.Dense(1),
  }
  model:compile {
    optimizer = cr.optimizers.Adam(cr.optimizers.schedules.CosineDecay(0.01, 26 * 80)),
    loss = "huber",
    metrics = { "mae", cr.metrics.R2Score() },
  }
  return model
end

print "Prices of houses: five networks, each tested on a fifth that it has not seen.\n"
local result_lines, error_sum = {}, 0
for i, fold in ipairs(cr.data.folds(#x, { k = 5, seed = 1 })) do
  local function rows_of_fold(array, subset) return cr.ops.take(array, fold[subset], 0) end
  local train = rows_of_fold(x, "train")
  -- The features are standardized by the mean and the standard deviation of the training rows.
  local mean, deviation = train:mean { 0 }, train:std { 0 } + 1e-6
  local function scaled_rows(subset) return (rows_of_fold(x, subset) - mean) / deviation end
  local model = new_model()
  model:fit(scaled_rows "train", rows_of_fold(y, "train"),
    { epochs = 80, batch_size = 16, verbose = 0 })
  local scores = model:evaluate(scaled_rows "test", rows_of_fold(y, "test"),
    { verbose = 0, return_dict = true })
  local mean_price = rows_of_fold(y, "train"):mean()
  local naive_error = (rows_of_fold(y, "test") - mean_price):abs():mean():item()
  result_lines[i] = string.format("%4d  %5d  %14.2f  %15.2f  %5.2f", i, #fold.test, scores.mae,
    naive_error, scores.r2_score)
  error_sum = error_sum + scores.mae
end

print "fold   rows   error ($1000)   error of mean    R^2"
print(table.concat(result_lines, "\n"))
print(string.format("mean error: %.2f", error_sum / #result_lines))
assert(error_sum / #result_lines < 2.6)
