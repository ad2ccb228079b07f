-- Merging layers called as functions on tensors: cr.layers.add, ...
local cr = require "crescent"
package.path = arg[0]:match "^(.*)/[^/]*$" .. "/../support/?.lua;" .. package.path
local check = require "check"
local layers = cr.layers

local a, b = cr.tensor { { 1, 2 }, { 3, 4 } }, cr.tensor { { 5, 6 }, { 7, 1 } }
local expected_results = {
  add = { { 6, 8 }, { 10, 5 } }, subtract = { { -4, -4 }, { -4, 3 } },
  multiply = { { 5, 12 }, { 21, 4 } },
  average = { { 3, 4 }, { 5, 2.5 } }, maximum = { { 5, 6 }, { 7, 4 } },
  minimum = { { 1, 2 }, { 3, 1 } },
  concatenate = { { 1, 2, 5, 6 }, { 3, 4, 7, 1 } }, dot = { { 17 }, { 25 } },
}
for name, values in pairs(expected_results) do
  check.near(layers[name] { a, b }, values, 1e-6, name)
end
check.near(layers.concatenate({ a, b }, { axis = 0 }), { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 1 } })
check.near(layers.concatenate({ a, b }, 0), { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 1 } })
check.near(layers.concatenate { a, b, axis = 0 }, { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 1 } })
check.fails(function() layers.concatenate { a, b, axes = 0 } end, "axes", "axis")
check.fails(function() layers.add { a } end, "at least 2 inputs")
check.fails(function() layers.add() end, "inputs")

-- on symbols these functions make layers of the model
local x = cr.Input { shape = { 3 } }
local sum = layers.add({ x, layers.Dense(3)(x) }, { name = "sum" })
local model = cr.Model { inputs = x, outputs = layers.multiply { sum, x } }
check.same(#model.layers, 4)
assert(model:get_layer "sum")

-- a ReversibleEmbedding called in reverse gives a score for each row of its table
local embedding = layers.ReversibleEmbedding(5, 3)
local vectors = embedding(cr.tensor({ { 1, 4 } }, { dtype = "int32" }))
check.same(vectors.shape, { 1, 2, 3 })
local scores = embedding(vectors, { reverse = true })
check.same(scores.shape, { 1, 2, 5 })
local embedding_rows = embedding.weights[1]:totable()
local expected = 0
for i = 1, 3 do expected = expected + embedding_rows[2][i] * embedding_rows[5][i] end
check.near(scores:totable()[1][1][5], expected)
check.fails(function() embedding(cr.zeros { 1, 2, 4 }, { reverse = true }) end, "output_dim 3")
-- the scores have no mask, so that a loss on them is the mean over all steps, as in Keras
local masking_embedding = layers.ReversibleEmbedding(5, 3, { mask_zero = true })
local masked_vectors = masking_embedding(cr.tensor({ { 1, 0 } }, { dtype = "int32" }))
check.same(masked_vectors.mask:totable(), { { true, false } })
assert(masking_embedding(masked_vectors, { reverse = true }).mask == nil)

check.fails(function()
  layers.Embedding { 10, 4, input_length = 3 }(cr.zeros { 2, 5 })
end, "input_length", "is (3")

-- Results for masked values are those of Keras 3.15.1: Multiply, Maximum and Minimum leave them
-- out, a step is masked if all inputs mask it, and the result has no mask if an input has none.
local first = cr.tensor { { { 1, 2 }, { 0, 0 }, { 3, 4 }, { 0, 0 } } }
local second = cr.tensor { { { 5, 6 }, { 7, 8 }, { -1, -1 }, { -1, -1 } } }
local both_masked_results = {
  Add = { { { 6, 8 }, { 7, 8 }, { 3, 4 }, { 0, 0 } } },
  Subtract = { { { -4, -4 }, { -7, -8 }, { 3, 4 }, { 0, 0 } } },
  Average = { { { 3, 4 }, { 3.5, 4 }, { 1.5, 2 }, { 0, 0 } } },
  Multiply = { { { 5, 12 }, { 7, 8 }, { 3, 4 }, { 0, 0 } } },
  Maximum = { { { 5, 6 }, { 7, 8 }, { 3, 4 }, { 0, 0 } } },
  Minimum = { { { 1, 2 }, { 7, 8 }, { 3, 4 }, { 0, 0 } } },
}
local first_masked_results = {
  Add = { { { 6, 8 }, { 7, 8 }, { 2, 3 }, { -1, -1 } } },
  Subtract = { { { -4, -4 }, { -7, -8 }, { 4, 5 }, { 1, 1 } } },
  Average = { { { 3, 4 }, { 3.5, 4 }, { 1, 1.5 }, { -0.5, -0.5 } } },
  Multiply = { { { 5, 12 }, { 7, 8 }, { -3, -4 }, { -1, -1 } } },
  Maximum = { { { 5, 6 }, { 7, 8 }, { 3, 4 }, { -1, -1 } } },
  Minimum = { { { 1, 2 }, { 7, 8 }, { -1, -1 }, { -1, -1 } } },
}
local function mask_steps(x, value) return layers.Masking { mask_value = value } (x) end
for name, values in pairs(both_masked_results) do
  local merged_output = layers[name] {} { mask_steps(first, 0), mask_steps(second, -1) }
  check.near(merged_output, values, 1e-6, name)
  check.same(merged_output.mask:totable(), { { true, true, true, false } }, name)
  local half_masked_output = layers[name] {} { mask_steps(first, 0), second }
  check.near(half_masked_output, first_masked_results[name], 1e-6, name)
  assert(half_masked_output.mask == nil, name)
  -- Keras 2 merges masked values too, and masks a step that any input masks
  local keras2_output = layers[name] { mask_all = true } { mask_steps(first, 0),
    mask_steps(second, -1) }
  local plain_output = layers[name] {} { mask_steps(first, 0) * 1, mask_steps(second, -1) * 1 }
  check.near(keras2_output, plain_output:totable(), 1e-6, name)
  check.same(keras2_output.mask:totable(), { { true, false, false, false } }, name)
end
