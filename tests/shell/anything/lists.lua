-- Lists that functions of the module return. Shapes and lists of objects are equal if their items
-- are, and reading index 0 fails; lists of other values are plain tables.
local cr = require "crescent"
local check = dofile(arg[0]:match "^(.*)/[^/]*/" .. "/support/check.lua")

local x, y = cr.zeros { 2, 2 }, cr.zeros { 2, 1 }
local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
model:compile { optimizer = "sgd", loss = "mse" }
local history = model:fit(x, y, { verbose = 0 })

-- Lists of sizes are equal if their items are.
assert(x.shape == cr.ones({ 2, 2 }).shape and x.shape == { 2, 2 } and x.shape ~= y.shape)
assert(x.shape ~= { 2 } and x.shape ~= { 2, 2, 2 })
assert(cr.ops.shape(x) == { 2, 2 } and cr.ops.shape(x) == x.shape)
assert(not pcall(function() return cr.ops.shape(x)[0] end))

-- Lists of values are plain tables.
local rows = x:totable()
assert(rows[1] ~= rows[2] and rows[0] == nil and rows[1][-1] == nil)
assert(history.history.loss[0] == nil and getmetatable(history.history.loss) == nil)

-- Nested shapes are equal if all of them are.
local input = cr.Input { shape = { 2 } }
local two_output_model = cr.Model { inputs = input,
  outputs = { cr.layers.Dense(2)(input), cr.layers.Dense(3)(input) } }
assert(two_output_model.output_shape == { { -1, 2 }, { -1, 3 } })

-- Functions of cr.tree accept lists that the module returns as nested structures.
check.same(cr.tree.flatten { x.shape, model.layers[1].weights[1].shape }, { 2, 2, 2, 1 })
