-- A perceptron whose weights are large products.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local function model()
  local network = cr.Sequential { cr.Input { shape = { 2048 } } }
  for _ = 1, 3 do network:add(layers.Dense(2048, { activation = "relu" })) end
  network:add(layers.Dense(1000, { dtype = "float32" }))
  return network
end

measure.all("big_mlp", {
  model = model,
  x = measure.uniform(2048), y = measure.integers(1000),
  batch = 512, batches = 2, flops = 29.3e6, is_large = true,
  optimizer = "adam", loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
  predictions = { 1, 32, 256 },
})
