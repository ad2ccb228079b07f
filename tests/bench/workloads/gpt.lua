-- A language model of four causal blocks with dropout, on texts of 256 tokens.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local Positions = require "positions"
local layers = cr.layers

local tokens, steps, width, heads, dropout = 8000, 256, 384, 6, 0.1

local function block(x)
  local y = layers.LayerNormalization()(x)
  y = layers.MultiHeadAttention(heads, width // heads, { dropout = dropout })({ y, y },
    { use_causal_mask = true })
  x = layers.Add() { x, layers.Dropout(dropout)(y) }
  y = layers.Dense(4 * width, { activation = "gelu" })(layers.LayerNormalization()(x))
  return layers.Add() { x, layers.Dropout(dropout)(layers.Dense(width)(y)) }
end

local function model()
  local input = cr.Input { shape = { steps }, dtype = "int32" }
  local x = layers.Dropout(dropout)(Positions()(layers.Embedding(tokens, width)(input)))
  for _ = 1, 4 do x = block(x) end
  x = layers.LayerNormalization()(x)
  return cr.Model { inputs = input, outputs = layers.Dense(tokens, { dtype = "float32" })(x) }
end

measure.all("gpt", {
  model = model,
  x = measure.integers(tokens, steps), y = measure.integers(tokens, steps),
  batch = 8, batches = 1, flops = 5.6e9, is_large = true,
  optimizer = "adam", loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
  predictions = { 1 },
})
