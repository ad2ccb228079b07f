-- The floating-point operations of a forward pass, compared with numbers computed by hand.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers

local function flops_of(layer, shape)
  local input = cr.Input { shape = shape }
  return cr.Model { inputs = input, outputs = layer(input) }:flops()
end

--- Checks that `flop_count` is at least `product_flops`, the operations of the matrix products, and
--- larger by at most the fraction `tolerance`.
local function expect_flops(flop_count, product_flops, tolerance)
  assert(flop_count >= product_flops and flop_count <= product_flops * (1 + tolerance), flop_count
    .. " beside " .. product_flops)
end

-- ---- layers: a scalar product of n numbers counts 2 n; a bias or an activation counts 1 per
-- output
assert(flops_of(layers.Dense(5), { 7 }) == 2 * 7 * 5 + 5)
assert(flops_of(layers.Dense(5, { use_bias = false }), { 7 }) == 2 * 7 * 5)
assert(flops_of(layers.Dense(5, "relu"), { 7 }) == 2 * 7 * 5 + 5 + 5)
assert(flops_of(layers.Dense(5, { use_bias = false }), { 3, 7 }) == 3 * 2 * 7 * 5)
local no_bias = { use_bias = false }

local function without_bias(options)
  for name, value in pairs(no_bias) do options[name] = value end
  return options
end
assert(flops_of(layers.Conv2D(4, 3, without_bias {}), { 8, 8, 2 }) == 2 * 36 * 4 * 9 * 2)
assert(flops_of(layers.Conv2D(4, 3, without_bias { strides = 2, padding = "same" }), { 8, 8, 2 })
  == 2 * 16 * 4 * 9 * 2)
assert(flops_of(layers.Conv2D(4, 3, without_bias { groups = 2 }), { 8, 8, 2 }) == 2 * 36 * 4 * 9)
assert(flops_of(layers.DepthwiseConv2D(3, without_bias {}), { 8, 8, 6 }) == 2 * 36 * 6 * 9)
assert(flops_of(layers.Conv2DTranspose(4, 3, without_bias {}), { 8, 8, 2 }) == 2 * 64 * 2 * 9 * 4)
assert(flops_of(layers.EinsumDense("abc,cd->abd", { output_shape = { 3, 5 } }), { 3, 7 })
  == 2 * 3 * 7 * 5)
assert(flops_of(layers.MaxPooling2D(2), { 8, 8, 3 }) == 8 * 8 * 3)
assert(flops_of(layers.Flatten(), { 8, 8, 3 }) == 0)
expect_flops(flops_of(layers.LSTM(60), { 10, 40 }), 10 * 2 * 4 * 60 * (40 + 60), 0.05)
expect_flops(flops_of(layers.GRU(60), { 10, 40 }), 10 * 2 * 3 * 60 * (40 + 60), 0.05)
expect_flops(flops_of(layers.SimpleRNN(60), { 10, 40 }), 10 * 2 * 60 * (40 + 60), 0.05)
do -- attention: four projections, the scores, and the weighted sums
  local input = cr.Input { shape = { 20, 64 } }
  local model = cr.Model { inputs = input,
    outputs = layers.MultiHeadAttention { num_heads = 4, key_dim = 16 }(input, input) }
  expect_flops(model:flops(), 4 * 2 * 20 * 64 * 64 + 2 * 2 * 20 * 20 * 64, 0.05)
end
-- causal attention: query i is compared with keys up to i
for _, key_count in ipairs { 1, 7, 20, 33 } do
  local query, memory = cr.Input { shape = { 20, 4, 16 } }, cr.Input { shape = { key_count, 4,
    16 } }
  local function attention_flops(options)
    local output = cr.ops.dot_product_attention(query, memory, memory, options)
    return cr.Model { inputs = { query, memory }, outputs = output }:flops()
  end
  local visible_pairs = 0
  for i = 1, 20 do visible_pairs = visible_pairs + math.min(i, key_count) end
  local flop_share = attention_flops { is_causal = true } / attention_flops {}
  assert(math.abs(flop_share - visible_pairs / (20 * key_count)) < 1e-4, flop_share)
end

-- ---- networks: twice the number of multiplications that their papers state
expect_flops(cr.applications.ResNet50 { weights = false }:flops(), 2 * 3.855e9, 0.02)
expect_flops(cr.applications.MobileNet { weights = false }:flops(), 2 * 0.5687e9, 0.04)

-- ---- the count is for one sample, whatever the batch size; a shared layer counts for each call
local model = cr.Sequential { layers.Dense(5, { batch_input_shape = { 8, 7 }, use_bias = false }) }
assert(model:flops() == 70)
local shared_layer, input = layers.Dense(7, no_bias), cr.Input { shape = { 7 } }
assert(cr.Model { inputs = input, outputs = shared_layer(shared_layer(input)) }:flops() == 2 * 98)

-- ---- a model class that must be called first, and a model with unknown sizes
local SubclassedModel = cr.Model:subclass "OwnForFlops"
function SubclassedModel:init() self.dense = layers.Dense(5, { use_bias = false }) end
function SubclassedModel:call(x) return self.dense(x) end
local subclassed_model = SubclassedModel()
check.fails(function() subclassed_model:flops() end, "call the model first")
subclassed_model(cr.zeros { 3, 7 })
assert(subclassed_model:flops() == 70)
local sequence_input = cr.Input { shape = { -1, 7 } }
check.fails(function() cr.Model { inputs = sequence_input,
  outputs = layers.Dense(5)(sequence_input) }:flops() end,
  "only the batch size may be unknown", "(None, None, 7)")

-- ---- summaries show FLOPs in a column, their total, and those of layers in nested models
local function summary_text(model, options)
  local lines = {}
  options.print_fn = function(line) lines[#lines + 1] = line end
  model:summary(options)
  return table.concat(lines, "\n")
end
local inner_model = cr.Sequential({ layers.Dense(5, { input_shape = { 7 }, name = "within" }) },
  { name = "inner" })
local model = cr.Sequential({ inner_model, layers.Dense(200, { name = "large" }) },
  { name = "whole" })
local text = summary_text(model, { flops = true })
assert(text:find "Param #%s+FLOPs", text)
assert(text:find "large[^\n]*1,200%s+2%.2 k", text)
assert(text:find "inner[^\n]*%s75%s", text)
assert(text:find("Total FLOPs (one sample): 2,275", 1, true), text)
text = summary_text(model, { flops = true, expand_nested = true, show_trainable = true })
assert(text:find "  within[^\n]*%s75%s+Y", text)
assert(text:find "FLOPs%s+Trainable", text)
assert(not summary_text(model, {}):find "FLOPs")
for _, width in ipairs { 40, 60, 100 } do
  for line in summary_text(model, { flops = true, line_length = width }):gmatch "[^\n]+" do
    assert(utf8.len(line) <= math.max(width, 46), line)
  end
end
local branched_model = cr.Model { inputs = input, outputs = layers.Add() { shared_layer(input),
  input } }
text = summary_text(branched_model, { flops = true })
assert(text:find "Connected to%s+FLOPs" and text:find "%s98%s", text)
print "ok"
