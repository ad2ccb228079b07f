-- Two hidden layers of 512 on flat images.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local function model()
  return cr.Sequential {
    layers.Dense(512, { activation = "relu", input_shape = { 784 } }),
    layers.Dense(512, { activation = "relu" }),
    layers.Dense(10, { dtype = "float32" }),
  }
end

measure.all("mlp", {
  model = model,
  x = measure.uniform(784), y = measure.integers(10),
  batch = 128, batches = 64, flops = 1.34e6,
  optimizer = "adam", loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
  predictions = { 1, 256 },
})
