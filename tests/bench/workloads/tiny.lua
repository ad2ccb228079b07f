-- A network so small that its time is the fixed cost of a step.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local function model()
  return cr.Sequential {
    layers.Dense(16, { activation = "tanh", input_shape = { 8 } }),
    layers.Dense(16, { activation = "tanh" }),
    layers.Dense(4),
  }
end

measure.all("tiny", {
  model = model,
  x = measure.uniform(8), y = measure.uniform(4),
  batch = 1, batches = 20000, per_step = true,
  optimizer = "sgd", loss = "mse",
  predictions = { 1 },
})
