-- Texts of 80 words through one LSTM.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local function model()
  return cr.Sequential {
    layers.Embedding(20000, 128, { input_shape = { 80 } }),
    layers.LSTM(128),
    layers.Dense(1, { dtype = "float32" }),
  }
end

measure.all("lstm", {
  model = model,
  x = measure.integers(20000, 80), y = measure.integers(2, 1),
  batch = 32, batches = 8, flops = 21.0e6,
  optimizer = "adam", loss = cr.losses.BinaryCrossentropy { from_logits = true },
  predictions = { 1 },
})
