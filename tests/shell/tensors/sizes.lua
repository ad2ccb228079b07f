-- Sizes, axes and shapes that are given as tensors of integers mean what the same numbers mean, and
-- must be known while a program is recorded.
local cr = require "crescent"
local check = dofile(arg[0]:match "^(.*)/[^/]*/" .. "/support/check.lua")
local ops = cr.ops

math.randomseed(7)
local dtypes = { "int32", "int64", "uint8", "int8", "float32", "bfloat16" }
local function random_dtype() return dtypes[math.random(#dtypes)] end

--- The forms in which a list of numbers, or one number, may be given.
local function tensor_forms(numbers)
  local forms = { cr.tensor(numbers, random_dtype()), cr.Variable(cr.tensor(numbers,
    random_dtype())) }
  if type(numbers) == "number" then return forms end
  local scalars = {}
  for i, item in ipairs(numbers) do
    scalars[i] = (type(item) == "table" or i % 2 == 0) and item or cr.tensor(item, random_dtype())
  end
  forms[#forms + 1] = scalars
  return forms
end

local function check_same(expected, actual)
  if type(expected) == "table" then
    check.same(#actual, #expected)
    for i, item in ipairs(expected) do check_same(item, actual[i]) end
  else
    check.same(actual.shape, expected.shape)
    check.same(actual:totable(), expected:totable())
  end
end

--- Checks f(sizes) for the sizes as numbers and in every other form.
local function check_all_forms(sizes, f)
  local expected = f(sizes)
  for _, form in ipairs(tensor_forms(sizes)) do check_same(expected, f(form)) end
end

for _ = 1, 20 do
  local rows, columns = math.random(4), math.random(5)
  local x = ops.reshape(ops.arange(rows * columns), { rows, columns })
  local shape = { rows, columns }
  check_all_forms({ math.random(3), math.random(3) }, function(n) return ops.tile(x, n) end)
  check_all_forms({ columns, rows }, function(n) return ops.reshape(x, n) end)
  check_same(ops.reshape(x, { columns, -1 }),
    ops.reshape(x, { cr.tensor(columns, random_dtype()), -1 }))
  check_all_forms({ columns, rows }, function(n) return x:reshape(n) end)
  check_all_forms({ 2, rows, columns }, function(n) return ops.broadcast_to(x, n) end)
  check_all_forms(shape, function(n) return ops.full(n, 3) end)
  check_all_forms(shape, function(n) return ops.zeros(n, "int8") end)
  check_all_forms(shape, function(n) return cr.ones(n) end)
  check_all_forms(shape, function(n) return cr.random.uniform(n, 0, 1, { seed = 1 }) end)
  check_all_forms({ 1, 0 }, function(n) return ops.transpose(x, n) end)
  check_all_forms({ 1, 0 }, function(n) return x:transpose(n) end)
  check_all_forms({ 0, 1 }, function(n) return ops.sum(x, n) end)
  check_all_forms(math.random(0, 1), function(n) return ops.sum(x, n) end)
  check_all_forms(math.random(columns), function(n) return ops.top_k(x, n) end)
  check_all_forms(math.random(columns), function(n) return ops.one_hot(x, n) end)
  check_all_forms(rows, function(n) return ops.split(x, n) end)
  check_all_forms({ math.random(rows) }, function(n) return ops.split(x, n) end)
  check_all_forms({ { 1, 2 }, { 0, 3 } }, function(n) return ops.pad(x, n) end)
  check_all_forms({ { 1 }, { 1 } }, function(n) return ops.tensordot(x, x, n) end)
  check_all_forms(rows, function(n) return ops.eye(n) end)
  check_all_forms(rows, function(n) return ops.linspace(0, 1, n) end)
  check_all_forms(rows, function(n) return ops.cast(ops.arange(n), "int32") end)
  local first = { math.random(0, rows - 1), math.random(0, columns - 1) }
  local part_sizes = { rows - first[1], columns - first[2] }
  check_all_forms(part_sizes, function(n) return ops.slice(x, first, n) end)
  for _, dtype in ipairs { "int32", "int64" } do
    local i = cr.tensor(first[1], dtype)
    check_same(ops.slice(x, first, part_sizes), ops.slice(x, { i, first[2] }, part_sizes))
    local updates = ops.zeros(part_sizes, "int32")
    check_same(ops.slice_update(x, first, updates),
      ops.slice_update(x, { i, first[2] }, updates))
  end
end

-- a compiled function may compute a position; its program is recorded only once
local x = ops.reshape(ops.arange(12), { 4, 3 })
local compiled_row = cr.compiled(function(i) return ops.slice(x, { i, 0 }, { 1, 3 }) end)
for i = 0, 3 do check_same(x:slice(i + 1, i + 1), compiled_row(cr.tensor(i, "int32"))) end

-- values that are no integers are refused
check.fails(function() ops.tile(x, cr.tensor { 1.5 }) end, "expected an integer, got 1.5")
check.fails(function() ops.zeros(cr.tensor { { 2, 6 } }) end, "expected a list of dimensions")
check.fails(function() ops.tile(x, cr.tensor { true }) end, "expected an integer or a list")
check.fails(function() ops.tile(x, cr.tensor { "a" }) end, "expected an integer or a list")
check.fails(function() x:reshape(cr.tensor { true }) end, "expected a shape such as {2, 3}")
check.fails(function() ops.slice(x, { cr.tensor(1.5), 0 }, { 1, 1 }) end,
  "slice: expected integer indices, got float32")

-- values that are not known while a program is recorded are refused
for name, f in pairs {
  tile = function(n) return ops.tile(x, n) end,
  reshape = function(n) return ops.reshape(x, { n[1], -1 }) end,
  one_hot = function(n) return ops.one_hot(x, n[1]) end,
} do
  check.fails(function() cr.compiled(f)(cr.tensor({ 1, 2 }, "int32")) end, name .. ": argument")
  check.fails(function() cr.compiled(f)(cr.tensor({ 1, 2 }, "int32")) end,
    "whose values are not known before the recorded program runs")
end
local sizes = cr.Input { batch_shape = { 2 }, dtype = "int32" }
check.fails(function() ops.tile(x, sizes) end, "not known before the recorded program runs")
