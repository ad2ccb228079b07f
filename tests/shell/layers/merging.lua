-- Merging layers called as functions on tensors: cr.layers.add, ...
local cr = require "crescent"
package.path = arg[0]:match "^(.*)/[^/]*$" .. "/../support/?.lua;" .. package.path
local check = require "check"
local layers = cr.layers

local a, b = cr.tensor { { 1, 2 }, { 3, 4 } }, cr.tensor { { 5, 6 }, { 7, 1 } }
local want = {
  add = { { 6, 8 }, { 10, 5 } }, subtract = { { -4, -4 }, { -4, 3 } },
  multiply = { { 5, 12 }, { 21, 4 } },
  average = { { 3, 4 }, { 5, 2.5 } }, maximum = { { 5, 6 }, { 7, 4 } },
  minimum = { { 1, 2 }, { 3, 1 } },
  concatenate = { { 1, 2, 5, 6 }, { 3, 4, 7, 1 } }, dot = { { 17 }, { 25 } },
}
for name, values in pairs(want) do check.near(layers[name] { a, b }, values, 1e-6, name) end
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
local table_ = embedding.weights[1]:totable()
local expected = 0
for i = 1, 3 do expected = expected + table_[2][i] * table_[5][i] end
check.near(scores:totable()[1][1][5], expected)
check.fails(function() embedding(cr.zeros { 1, 2, 4 }, { reverse = true }) end, "output_dim 3")

check.fails(function()
  layers.Embedding { 10, 4, input_length = 3 }(cr.zeros { 2, 5 })
end, "input_length", "is (3")
