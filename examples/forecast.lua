-- Air passengers per month, 1949 to 1960: an LSTM reads the growth of the last three years and
-- predicts the next month. The last two years are left out of the training and forecast month by
-- month: the forecast of a month is an input for the next one.
--   crescent examples/forecast.lua [EPOCHS]
local cr = require "crescent"
local layers = cr.layers
local data_folder = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/data/"
local epochs = tonumber(arg[1]) or 150
print "Air passengers a month: an LSTM learns ten years and forecasts two."
local input_length, forecast_length, season = 36, 24, 12

local passengers = {}
for line in io.lines(data_folder .. "AirPassengers.csv") do
  passengers[#passengers + 1] = tonumber(line:match ",%s*\"?([%d%.]+)\"?%s*$")
end
local training_length = #passengers - forecast_length

-- The network learns the growth: the logarithm of the passengers minus that of the same month one
-- year before, times 5.
local growth = {}
for month = season + 1, training_length do
  growth[month - season] = math.log(passengers[month] / passengers[month - season]) * 5
end
local windows, targets = {}, {}
for last_month = input_length, #growth - 1 do
  local window = {}
  for k = 1, input_length do window[k] = { growth[last_month - input_length + k] } end
  windows[#windows + 1], targets[#targets + 1] = window, { growth[last_month + 1] }
end

cr.random.seed(2)
local model = cr.Sequential {
  layers.LSTM(24, { input_shape = { input_length, 1 } }),
  layers.Dense(1),
}
model:compile { optimizer = cr.optimizers.Adam { learning_rate = 5e-3 }, loss = "mse" }
local losses = model:fit(cr.tensor(windows), cr.tensor(targets),
  { epochs = epochs, batch_size = 16, verbose = 0 }).history.loss
print(string.format(
  "%d months to learn from; loss %.4f after the first epoch, %.4f after the last\n",
  #windows, losses[1], losses[#losses]))

local forecast, naive_forecast = {}, {}
for i = 1, forecast_length do
  local window = {}
  for k = 1, input_length do window[k] = { growth[#growth - input_length + k] } end
  local next_growth = model:predict(cr.tensor { window }, { verbose = 0 }):totable()[1][1]
  growth[#growth + 1] = next_growth
  local year_before = i > season and forecast[i - season]
    or passengers[training_length + i - season]
  forecast[i] = year_before * math.exp(next_growth / 5)
  -- The naive forecast repeats the last year of the training data.
  naive_forecast[i] = passengers[training_length + (i - 1) % season + 1 - season]
end

local chart_min, chart_max, columns = 280, 640, 72
local function chart_column(value)
  return math.max(1, math.min(columns,
    math.floor((value - chart_min) / (chart_max - chart_min) * columns) + 1))
end
print(string.format("  month  %-" .. columns .. "s  counted  forecast",
  "o counted   x forecast   . the last known year"))
local error_sum, naive_error_sum = 0, 0
for i = 1, forecast_length do
  local actual_count, cells = passengers[training_length + i], {}
  for c = 1, columns do cells[c] = " " end
  cells[chart_column(naive_forecast[i])] = "."
  cells[chart_column(forecast[i])] = "x"
  cells[chart_column(actual_count)] = "o"
  print(string.format("%4d-%02d  %s  %7.0f  %8.0f", 1959 + (i - 1) // 12, (i - 1) % 12 + 1,
    table.concat(cells), actual_count, forecast[i]))
  error_sum, naive_error_sum = error_sum + math.abs(forecast[i] - actual_count) / forecast_length,
    naive_error_sum + math.abs(naive_forecast[i] - actual_count) / forecast_length
end
print(string.format(
  "\nMean error in thousands of passengers: %.1f; of the last known year again: %.1f",
  error_sum, naive_error_sum))
