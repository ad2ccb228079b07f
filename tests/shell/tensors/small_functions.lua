-- Comparisons, loops over elements, sorting, draws of items, statistics, confusion matrices,
-- stacking, selection by several lists as in NumPy, and CSV files.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops = cr.ops

-- == cannot return a tensor, so it fails for two different tensors instead of returning false
local t, u = cr.tensor { { 3, 1 }, { 2, 2 } }, cr.tensor { { 3, 1 }, { 2, 2 } }
check.fails(function() return t == u end, "cr.ops.less", "equal", "t:item()")
check.fails(function() return t ~= u end, "not_equal")
check.fails(function() return cr.Variable(t) == t end, "equal")
assert(t == t and t.T ~= nil and t ~= 3 and t ~= "t")
local v, w = cr.Variable(t), cr.Variable(t)
assert(v == v and v ~= w)
local keys = { [t] = 1 }
assert(keys[t] == 1 and keys[u] == nil)
check.same(t:equal(u):totable(), { { true, true }, { true, true } })
check.same(t:not_equal(2):totable(), { { true, true }, { false, false } })
check.same(t:less(3):totable(), { { false, true }, { true, true } })
check.same(t:less_equal(2):totable(), { { false, true }, { true, true } })
check.same(t:greater(2):totable(), { { true, false }, { false, false } })
check.same(t:greater_equal(3):totable(), { { true, false }, { false, false } })

-- loops over the rows or elements of a tensor
local rows = {}
for i, row in pairs(t) do rows[i] = row:totable() end
check.same(rows, { { 3, 1 }, { 2, 2 } })
local list = {}
for i, x in pairs(cr.tensor { 5, 6 }) do list[i] = x end
check.same(list, { 5, 6 })
list = {}
for x in t:elements() do list[#list + 1] = x end
check.same(list, { 3, 1, 2, 2 })
for _ in cr.zeros { 0, 2 }:elements() do error "there are none" end
check.fails(function() pairs(cr.tensor(1)) end, "scalar", "item()")
check.same(t:map(function(x) return x > 1 and x or 0 end):totable(), { { 3, 0 }, { 2, 2 } })
assert(t:map(math.sqrt).dtype == "float32" and t:cast "float64":map(math.sqrt).dtype == "float64")
check.same(cr.tensor({ 1, 2 }, "int32"):map(function(x) return x / 2 end):totable(), { 0.5, 1 })
check.same(cr.tensor({ 1, 2 }, "int32"):map(function(x) return x * 2 end).dtype, "int32")
check.same(cr.tensor({ 1, 2 }, "int32"):map(function(x) return x > 1 and 1.5 or x end).dtype,
  "float32")
check.same(t:map(function(x) return x > 1 end):totable(), { { true, false }, { true, true } })
check.same(t:map(function(x) return x * 2 end, "int8").dtype, "int8")
check.same(cr.tensor { "a", "b" }:map(string.upper):totable(), { "A", "B" })
check.fails(function() t:map(function() error "no number" end) end, "no number")
check.fails(function() t:map(function() end) end, "expected", "map", "nil")
check.fails(function()
  cr.GradientTape(function() return t:map(math.exp) end, t)
end, "map", "gradient", "vectorize")

-- sorting, and operations called as methods
local x = cr.tensor { 2, 0 / 0, 3, 1, 3 }
local descending = x:sort { descending = true }:totable()
assert(descending[1] ~= descending[1])
check.same({ table.unpack(descending, 2) }, { 3, 3, 2, 1 })
check.same(x:argsort(-1, true):totable(), { 1, 2, 4, 0, 3 }) -- equal elements keep their order
check.same(x:argsort():totable(), { 3, 0, 2, 4, 1 })
check.same(t:sort(0, true):totable(), { { 3, 2 }, { 2, 1 } })
check.same(cr.tensor({ { 1, 9 }, { 5, 2 } }, "uint8"):sort(1, true):totable(),
  { { 9, 1 }, { 5, 2 } })
check.same(t:unique():totable(), { 1, 2, 3 })
assert(t:median():item() == 2)
check.same(t:greater(2):nonzero()[1]:totable(), { 0 })

-- tensors in tables are stacked
local a, b = cr.tensor { 1, 2 }, cr.tensor({ 3, 4 }, "int32")
check.same(cr.tensor { a, b }:totable(), { { 1, 2 }, { 3, 4 } })
assert(cr.tensor { b, b }.dtype == "int32" and cr.tensor({ a, b }, "int8").dtype == "int8")
check.same(cr.tensor { { a, b }, { b, a } }.shape, { 2, 2, 2 })
check.same(cr.tensor { a, { 5, 6 } }:totable(), { { 1, 2 }, { 5, 6 } })
check.same(cr.tensor { cr.tensor(1), 2.5, a:sum() }:totable(), { 1, 2.5, 3 })
check.same(cr.tensor { v, v }.shape, { 2, 2, 2 })
check.fails(function() return cr.tensor { a, cr.ones { 3 } } end, "(2,)", "(3,)")
local stacked_tensor
local tape = cr.GradientTape(function() stacked_tensor = cr.tensor { a * 2, a } end, a)
check.same(tape:gradient(stacked_tensor, a):totable(), { 3, 3 })
assert(cr.tensor(9007199254740993, "int64"):item() == 9007199254740993)

-- lists for two axes select pairs of positions, as in NumPy
local grid = cr.arange(24):reshape { 2, 3, 4 }
check.same(ops.get_item(grid, { { 0, 1 }, { 2, 0 } }):totable(),
  { { 8, 9, 10, 11 }, { 12, 13, 14, 15 } })
check.same(ops.get_item(grid, { { 1 }, { start = cr.null }, { 3, 0, -1 } }):totable(),
  -- Axes of the lists are not adjacent: the selected axis comes first.
  { { 15, 19, 23 }, { 12, 16, 20 }, { 15, 19, 23 } })
check.same(ops.get_item(grid, { { start = cr.null }, { 2, 1 }, { 3, 0 } }):totable(),
  { { 11, 4 }, { 23, 16 } }) -- axes of the lists are adjacent: the selected axis replaces them
check.same(ops.get_item(grid, { 0, { start = cr.null }, { 1, 2 } }):totable(),
  { { 1, 5, 9 }, { 2, 6, 10 } }) -- a position beside a list counts as a list
check.same(ops.get_item(grid, { cr.tensor { true, false }, { 0, 2 } }).shape, { 2, 4 })
check.same(ops.get_item(grid, { { { 0 }, { 1 } }, { 0, 2 } }).shape, { 2, 2, 4 })
check.fails(function() return ops.get_item(grid, { { 0, 2 }, { 0, 1 } }) end, "2", "axis 0")
check.fails(function() return ops.get_item(grid, { { 0, 1 }, { 0, 1, 2 } }) end, "(2,)", "(3,)")
local compiled_get_item = cr.compiled(function(y) return ops.get_item(y,
  { { 0, 1 }, { 2, 0 } }) end)
check.same(compiled_get_item(grid):totable(), { { 8, 9, 10, 11 }, { 12, 13, 14, 15 } })
-- The dtype of the lists (uint8) cannot hold the sizes and offsets.
local uint8_indices = cr.tensor({ 200, 250 }, "uint8")
check.same(ops.get_item(cr.arange(251 * 300):reshape { 251, 300 },
  { uint8_indices, uint8_indices }):totable(),
  { 200 * 300 + 200, 250 * 300 + 250 })

-- items are drawn at random
cr.random.seed(5)
local n = 20000
local drawn_numbers = cr.random.choice(cr.tensor { 10, 20, 30 }, { n }, { p = { 0.5, 0.2, 0.3 } })
check.same(drawn_numbers.shape, { n })
for i, share in ipairs { 0.5, 0.2, 0.3 } do
  local fraction = ops.mean(ops.equal(drawn_numbers, 10 * i)):item()
  assert(math.abs(fraction - share) < 5 * math.sqrt(share * (1 - share) / n), fraction)
end
check.same(cr.random.choice(6, { 6 }, { replace = false }):sort():totable(), { 0, 1, 2, 3, 4, 5 })
local count_of_first = 0
for _ = 1, 400 do
  local drawn_items = cr.random.choice({ 7, 8, 9 }, { 2 }, { replace = false, p = { 0.8, 0.2, 0 } })
  check.same(drawn_items:sort():totable(), { 7, 8 })
  count_of_first = count_of_first + (drawn_items[1] == 7 and 1 or 0)
end
assert(math.abs(count_of_first / 400 - 0.8) < 5 * math.sqrt(0.16 / 400), count_of_first)
check.same(cr.random.choice(5, { 3 }, { seed = 2 }):totable(),
  cr.random.choice(5, { 3 }, { seed = 2 }):totable())
local item = cr.random.choice(cr.tensor { "a", "b" }):item()
assert(item == "a" or item == "b")
check.same(cr.random.choice(grid, { 2, 5 }).shape, { 2, 5, 3, 4 })
check.fails(function() cr.random.choice(3, { 4 }, { replace = false }) end, "4 items", "of 3")
check.fails(function() cr.random.choice(2, { 1 }, { p = { 0.5, 0.6 } }) end, "sum is 1", "1.1")
check.fails(function() cr.random.choice(2, { 1 }, { p = { 1 } }) end, "each of 2", "1")
check.fails(function()
  cr.random.choice(3, { 2 }, { replace = false, p = { 0, 1, 0 } })
end, "above 0")
check.fails(function() cr.random.choice(0) end, "items to draw from", "0")

-- statistics of a tensor, as cr.describe gives them
local statistics = cr.describe(cr.tensor { 1, 0, 0 / 0, 5 }).statistics
assert(statistics.count == 4 and statistics.zeros == 1 and statistics.nan == 1)
check.near(statistics.mean, 2)
check.near(statistics.std, math.sqrt(14 / 3))
assert(statistics.min == 0 and statistics.max == 5)
local many_numbers = cr.random.normal { 300, 500 }
local infinite_statistics = cr.describe(cr.tensor { 1, 1 / 0, 3, -1 / 0 }).statistics
assert(infinite_statistics.inf == 2 and infinite_statistics.mean == 2
  and infinite_statistics.min == 1 and infinite_statistics.max == 3)
statistics = cr.describe(many_numbers).statistics
check.near(statistics.mean, ops.mean(many_numbers):item(), 1e-4)
check.near(statistics.std, ops.std(many_numbers):item(), 1e-4)
assert(cr.describe(cr.zeros { 0 }).statistics.min == nil)
assert(cr.describe(cr.tensor { "a" }).statistics == nil)

-- confusion_matrix counts pairs of labels
local confusion = cr.utils.confusion_matrix
check.same(confusion({ 0, 1, 1, 2 }, { 0, 1, 0, 1 }):totable(),
  { { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 0 } })
check.same(confusion(cr.tensor({ 1, 0 }, "uint8"), { { 0.1, 0.9 }, { 0.3, 0.7 } }):totable(),
  { { 0, 1 }, { 0, 1 } })
check.near(confusion({ 0, 0 }, { 1, 1 }, { num_classes = 3, weights = { 0.5, 2 } }),
  { { 0, 2.5, 0 }, { 0, 0, 0 }, { 0, 0, 0 } })
check.same(confusion({ 0, 1, 1 }, cr.tensor { { 0.2 }, { 0.9 }, { 0.7 } }):totable(),
  { { 1, 0 }, { 0, 2 } })
check.fails(function() confusion({ 0, 1 }, { 0.1, 0.8 }) end, "predictions", "whole numbers")
check.fails(function() confusion({ 0, 3 }, { 0, 1 }, 3) end, "labels", "0 to 2", "3")
check.fails(function() confusion({ 0 }, { -1 }) end, "predictions", "-1")
check.fails(function() confusion({ 0 }, { 0, 1 }) end, "1 labels", "2 predictions")

-- tensors written as CSV files
local path = check.temporary ".csv"
local function file_text()
  local file = assert(io.open(path))
  local content = file:read "a"
  file:close()
  return content
end
cr.data.write_csv(path, cr.tensor { { 1, 0.1 }, { -2.5, 1e-30 } }, { "x", "y" })
assert(file_text() == "x,y\n1,0.1\n-2.5,1e-30\n", file_text())
local read_values, csv_info = cr.data.read_csv(path)
check.same(read_values:totable(), cr.tensor { { 1, 0.1 }, { -2.5, 1e-30 } }:totable())
check.same(csv_info.columns, { "x", "y" })
cr.data.write_csv(path, cr.tensor({ 1, 2 }, "int64"))
assert(file_text() == "1\n2\n", file_text())
cr.data.write_csv(path, { age = { 3, 4.5 }, city = { "a,b", 'the "c"' } }, { "city", "age" })
assert(file_text() == 'city,age\n"a,b",3\n"the ""c""",4.5\n', file_text())
local columns = cr.data.read_table(path)
check.same(columns.city:totable(), { "a,b", 'the "c"' })
check.same(columns.age:totable(), { 3, 4.5 })
cr.data.write_csv(path, { flag = cr.tensor { true, false } }, { separator = ";" })
assert(file_text() == "flag\n1\n0\n", file_text())
check.fails(function() cr.data.write_csv(path, t, { "x" }) end, "1 names", "2 columns")
check.fails(function() cr.data.write_csv(path, grid) end, "(2, 3, 4)")
check.fails(function() cr.data.write_csv(path, { a = { 1 }, b = { 1, 2 } }) end, "'b'")
check.fails(function() cr.data.write_csv(path, { a = { 1 } }, { "b" }) end, "'b'")
for separator in ("-- 0 7 . + - e \" \n \r \0"):gmatch "[^ ]+" do
  check.fails(function() cr.data.write_csv(path, t, { separator = separator }) end,
    "expected as separator one character that no number and no end of a line has")
end
assert(file_text() == "flag\n1\n0\n", "the file before stays")
os.remove(path)

-- a row that a dataset reads from a file is an ordinary tensor in memory
path = check.temporary ".npy"
cr.data.write_npy(path, t)
local file_tensor = cr.data.open(path)
local sums = {}
for sum in cr.data.from_tensor_slices(file_tensor):map(function(row)
  return row:sum() + row[1]
end):elements() do sums[#sums + 1] = sum:item() end
check.same(sums, { 7, 6 })
for row in cr.data.from_tensor_slices(file_tensor):elements() do assert(row[2]) end
os.remove(path)
print "ok small_functions"
