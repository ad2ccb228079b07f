-- Functions of cr.ops on tensors, and on symbols, where each becomes a layer of the graph.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

local x = cr.tensor { { 1, 2, 3, 4 }, { -5, 6, -7, 8 } }

-- Arguments by position and by name, several results, any number of operands, explicit nulls.
check.near(cr.ops.sum(x, 1, { keepdims = true }), { { 10 }, { 2 } })
check.near(cr.ops.concatenate { x, x, axis = 1 },
  { { 1, 2, 3, 4, 1, 2, 3, 4 }, { -5, 6, -7, 8, -5, 6, -7, 8 } })
local values, positions = cr.ops.top_k(x, 1)
check.near(values, { { 4 }, { 8 } })
check.same(positions:totable(), { { 3 }, { 3 } })
check.near(cr.ops.einsum("ij,kj->ik", x, x), { { 30, 18 }, { 18, 174 } })
check.near(cr.ops.sort(x, cr.null), { -7, -5, 1, 2, 3, 4, 6, 8 })
check.near(cr.ops.get_item(x, { { start = 0, stop = 1 }, -1 }), { 4 })
check.same(x:softplus().shape, { 2, 4 })
check.fails(function() cr.ops.softmx(x) end, "did you mean 'softmax'?")
check.fails(function() cr.ops.clip(x, 0) end, "missing argument 'x_max'")
check.fails(function() cr.ops.sum(x, { axes = 1 }) end, "did you mean 'axis'?")
check.fails(function() cr.ops.sum(x, "first") end, "argument 'axis'")
assert(cr.describe(cr.ops.clip).signature == "clip(x, x_min, x_max)")

-- Operators, functions and methods of symbols.
local input = cr.Input { shape = { 4 } }
local function check_predictions(symbol, expected)
  check.near(cr.Model { inputs = input, outputs = symbol }:predict(x), expected)
end
check_predictions(1 - input * 2 + input / 2, { { -0.5, -2, -3.5, -5 }, { 8.5, -8, 11.5, -11 } })
check_predictions(-input, { { -1, -2, -3, -4 }, { 5, -6, 7, -8 } })
check_predictions(input ^ 2 // 3 % 4, { { 0, 1, 3, 1 }, { 0, 0, 0, 1 } })
check_predictions(x:slice(1, 1) + input, { { 2, 4, 6, 8 }, { -4, 8, -4, 12 } })
check_predictions(cr.ops.relu(input), { { 1, 2, 3, 4 }, { 0, 6, 0, 8 } })
check_predictions(input:relu():sum(-1), { 10, 14 })
check_predictions(cr.ops.where(input:greater(2), input, 0), { { 0, 0, 3, 4 }, { 0, 6, 0, 8 } })
check_predictions(cr.ops.concatenate({ input, input }, -1):slice({ 1, 4 }, { -1, 5 }),
  { { 4, 1 }, { 8, -5 } })
check_predictions(cr.ops.get_item(input, { "...", { step = -2 } }), { { 4, 2 }, { 8, 6 } })
check_predictions(input * cr.tensor { 1, 0, 2, 0 }, { { 1, 0, 6, 0 }, { -5, 0, -14, 0 } })
check.same(cr.ops.shape(input), { -1, 4 })
local best, best_position = cr.ops.top_k(input, 1)
assert(best.shape[2] == 1 and best_position.dtype == "int32")
check.fails(function() return input < 3 end, "cr.ops.less")
check.fails(function() return input * cr.Variable(x) end, "make a layer")
check.fails(function() return cr.ops.nonzero(input) end, "depends on values")
check.fails(function() return input.shpe end, "did you mean 'shape'?")

-- Operations in a model that is trained, summarized, cloned, changed, written as JSON and saved.
local h = cr.layers.Dense(3)(input)
local output = cr.layers.Dense(1)(cr.ops.tanh(h) * 2 + cr.ops.sum(input, -1, { keepdims = true }))
local model = cr.Model { inputs = input, outputs = output }
model:compile { optimizer = "adam", loss = "mse" }
local y = cr.tensor { { 1 }, { 2 } }
local old_scores = model:evaluate(x, y, { verbose = 0 })
model:fit(x, y, { epochs = 3, verbose = 0 })
assert(model:evaluate(x, y, { verbose = 0 }) ~= old_scores)
local old_predictions = model:predict(x):totable()
local function check_same_predictions(copy)
  copy:set_weights(model:get_weights())
  check.near(copy:predict(x), old_predictions)
end
check_same_predictions(cr.models.clone_model(model))
check_same_predictions(cr.models.model_from_json(model:to_json()))
check_same_predictions(cr.models.model_from_json(model:to_json { target = "keras3" }))
assert(
  model:to_json({ target = "keras3" }):find(
  '"module": "keras.src.ops.numpy", "class_name": "Multiply"', 1, true))
check.fails(function() model:to_json { target = "keras2" } end, "Keras 2 cannot express")
local path = check.temporary ".h5"
model:save(path)
check.near(cr.models.load_model(path):predict(x), old_predictions)

-- A model with operations inside another model, called twice.
local outer_input = cr.Input { shape = { 4 } }
local outer_model = cr.Model { inputs = outer_input,
  outputs = model(outer_input) + model(outer_input * 1) }
check.near((outer_model:predict(x) / 2), old_predictions)

-- Control flow: a condition with a known value selects a branch; otherwise both branches are
-- computed.
local function absolute(v)
  return cr.ops.cond(cr.ops.sum(v):greater(0), function() return v end, function() return -v end)
end
check.near(absolute(cr.tensor { 1, 2 }), { 1, 2 })
check.near(absolute(cr.tensor { -1, -2 }), { 1, 2 })
check.near(cr.compiled(absolute)(cr.tensor { -1, -2 }), { 1, 2 })
local function halve_to_one(v, limit)
  return cr.ops.while_loop(function(a, n)
    return a:greater(1)
  end, function(a, n) return a / 2, n + 1 end,
    { v, cr.tensor(0) }, limit)
end
local result = halve_to_one(cr.tensor(10))
check.near({ result[1]:item(), result[2]:item() }, { 0.625, 4 })
local compiled_sum = cr.compiled(function(v) local r = halve_to_one(v, 10); return r[1] + r[2] end)
check.near(compiled_sum(cr.tensor(10)):item(), 4.625)
check.fails(function()
  cr.compiled(function(v) return halve_to_one(v)[1] end)(cr.tensor(10))
end, "maximum_iterations")
check.near(cr.ops.fori_loop(0, 4, function(i, sum) return sum + i end, cr.tensor(1)):item(), 7)
check.near(cr.ops.map(function(row)
  return row:sum() * row
end, cr.tensor { { 1, 2 }, { 3, 4 } }), { { 3, 6 }, { 21, 28 } })
local branches = { function(v) return v end, function(v) return v * 10 end }
local compiled_switch = cr.compiled(function(i) return cr.ops.switch(i, branches,
  { cr.tensor { 1 } }) end)
for index, result in pairs { [-1] = 1, [0] = 1, [1] = 10, [2] = 10 } do
  check.near(cr.ops.switch(index, branches, { cr.tensor { 1 } }), { result })
  check.near(compiled_switch(cr.tensor(index)), { result })
end

-- ---- tensors larger than any memory are refused at once
local huge_size = math.maxinteger
for _, call in ipairs {
  function() return cr.ops.kaiser(huge_size, 1.0) end,
  function() return cr.ops.hamming(huge_size) end,
  function() return cr.ops.linspace(0, 1, huge_size) end,
  function()
    return cr.ops.image.resize(cr.ones { 1, 4, 4, 1 }, { huge_size, 3 },
      { interpolation = "nearest" })
  end, function() return cr.ops.image.gaussian_blur(cr.ones { 1, 4, 4, 1 }, { huge_size, 3 }) end,
} do
  check.fails(call, "elements are too many")
end
check.fails(function() return cr.ops.vander(cr.ones { 2 }, huge_size) end,
  "expected 0 to 65536 columns")
check.fails(function()
  return cr.ops.tensordot(cr.ones { 2 }, cr.ones { 2 }, huge_size)
end, "cannot sum over")
for _, name in ipairs { "AUC", "PrecisionAtRecall" } do
  check.fails(function()
    return cr.metrics[name] { recall = name ~= "AUC" and 0.5 or nil, num_thresholds = huge_size }
  end, "16777216")
end

-- arguments by position and by name in one table
check.same(cr.ops.sum { cr.ones { 2, 3 }, axis = 1 }:totable(), { 3.0, 3.0 })
check.same(cr.ops.sum { cr.ones { 2, 3 }, 1, keepdims = true }.shape, { 2, 1 })
local class = cr.tensor({ 1 }, "int32")
check.same(cr.ops.one_hot { class, num_classes = 3 }:totable(), { { 0.0, 1.0, 0.0 } })
check.same(cr.utils.to_categorical { { 1 }, num_classes = 3 }:totable(), { { 0.0, 1.0, 0.0 } })
