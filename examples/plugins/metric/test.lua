-- Compares the metric Within with the expected value, and trains a model that reports the metric.
--   CRESCENT_PLUGIN_PATH=build crescent test.lua
local cr = require "crescent"

local metric = cr.metrics.Within { tolerance = 0.25 }
metric:update_state(cr.tensor { 0, 0, 0, 0 }, cr.tensor { 0.1, -0.2, 0.5, 3 })
assert(metric:result():item() == 0.5)
metric:reset_state()
metric:update_state(cr.tensor { { 0 }, { 0 } }, cr.tensor { { 0.1 }, { 3 } }, cr.tensor { 3, 1 })
-- Only the first sample is within the tolerance; its weight is 3, and the sum of the weights is 4.
assert(metric:result():item() == 0.75)

local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
model:compile { optimizer = "adam", loss = "mse", metrics = { cr.metrics.Within() } }
model:fit(cr.random.normal { 4, 3 }, cr.zeros { 4, 1 }, { epochs = 2, verbose = 0 })
print "ok acme.within"
