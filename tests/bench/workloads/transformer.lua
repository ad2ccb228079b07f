-- Two encoder blocks on texts of 64 words.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local Positions = require "positions"
local layers = cr.layers

local function encoder(x, width, heads, hidden)
  local attended = layers.MultiHeadAttention(heads, width // heads){ x, x }
  x = layers.LayerNormalization()(layers.Add() { x, attended })
  local y = layers.Dense(hidden, { activation = "relu" })(x)
  y = layers.Dense(width)(y)
  return layers.LayerNormalization()(layers.Add() { x, y })
end

local function model()
  local words = cr.Input { shape = { 64 }, dtype = "int32" }
  local x = Positions()(layers.Embedding(8000, 128)(words))
  for _ = 1, 2 do x = encoder(x, 128, 4, 512) end
  x = layers.GlobalAveragePooling1D()(x)
  return cr.Model { inputs = words, outputs = layers.Dense(2, { dtype = "float32" })(x) }
end

measure.all("transformer", {
  model = model,
  x = measure.integers(8000, 64), y = measure.integers(2),
  batch = 32, batches = 8, flops = 52e6,
  optimizer = "adam", loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
})
