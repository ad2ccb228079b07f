-- Tensors in Lua: creation, reading, positions, slices, operators, methods and keyword arguments.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

-- tensors are made from tables, numbers and shapes
check.same(cr.tensor { { 1, 2, 3 }, { 4, 5, 6 } }.shape, { 2, 3 })
assert(cr.tensor { 1, 2 }.dtype == "float32", "tables become float32")
assert(cr.tensor({ 1, 2 }, "int32").dtype == "int32"
  and cr.tensor({ 1 }, { dtype = "float64" }).dtype == "float64")
assert(cr.tensor { true, false }.dtype == "bool")
check.same(cr.tensor({ 9007199254740993 }, "int64"):totable(), { 9007199254740993 })
check.same(cr.tensor(5).shape, {})
check.same(cr.zeros { 2, 0 }:totable(), { {}, {} })
check.same(cr.zeros { 2, 2, dtype = "int32" }.dtype, "int32")
check.same(cr.zeros({ 2 }, { dtype = "bool" }):totable(), { false, false })
check.same(cr.full({ 2 }, 7):totable(), { 7, 7 })
check.same(cr.arange(3):totable(), { 0, 1, 2 })
check.same(cr.arange(1, 2, 0.25):totable(), { 1, 1.25, 1.5, 1.75 })
check.same(cr.eye(2):totable(), { { 1, 0 }, { 0, 1 } })
check.near(cr.linspace(0, 1, 3), { 0, 0.5, 1 })
check.fails(function() cr.tensor { { 1, 2 }, { 3 } } end, "rows differ in length")
check.fails(function() cr.tensor { { 1, 2 }, 3 } end, "expected a table of 2")
check.fails(function() cr.tensor { 1, "one" } end, "expected a number", '"one"')
check.fails(function() cr.tensor { "one", 1 } end, "expected a string", "1")
check.fails(function() cr.zeros { 2, -3 } end, "-3")
check.fails(function() cr.zeros(nil) end, "shape")
for _, make in ipairs { cr.ops.zeros, cr.ops.ones, cr.ops.empty } do
  check.fails(function() make { -1, 2 } end, "expected the size of every axis, got [-1, 2]")
end
check.fails(function() cr.ops.full({ -1, 2 }, 1) end, "expected the size of every axis")
check.fails(function() cr.ops.broadcast_to(cr.ones { 2 }, { -1, 2 }) end, "the size of every axis")
check.fails(function() cr.zeros({ 2 }, "float23") end, "float23", "did you mean 'float32'?")
local cyclic_table = {}
cyclic_table[1] = cyclic_table
check.fails(function() cr.tensor(cyclic_table) end, "nested")

-- reading values and properties of tensors
local t = cr.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
assert(#t == 2 and t.rank == 2 and t.size == 6 and t.nbytes == 24)
check.same(t[1]:totable(), { 1, 2, 3 })
check.same(t[-1]:totable(), { 4, 5, 6 })
assert(t[2][3] == 6 and t[3] == nil)
check.fails(function() return t[0] end, "count from 1", "(2, 3)")
check.fails(function() return t[4] end, "position 4")
check.fails(function() return cr.tensor(3)[1] end, "item()")
local total = 0
for _, row in ipairs(t) do total = total + row:sum():item() end
assert(total == 21)
assert(cr.tensor { 2.5 }:item() == 2.5)
check.fails(function() t:item() end, "(2, 3)")
assert(math.type(cr.tensor({ 3 }, "int64")[1]) == "integer")
check.fails(function() return t.shap end, "tensor", "'shap'", "did you mean 'shape'?")
check.fails(function() t.shape = { 6 } end, "cannot be set")
assert(tostring(t):find("[[1. 2. 3.]", 1, true))
assert(t == t)

-- slices: from 1, both ends included
check.same(t:slice(2, 2):totable(), { { 4, 5, 6 } })
check.same(t:slice({ 1, 2 }, { -1, 3 }):totable(), { { 2, 3 }, { 5, 6 } })
check.same(t:slice(-1):totable(), { { 4, 5, 6 } })
check.fails(function() t:slice(0, 1) end, "count from 1")
check.fails(function() t:slice(1, 3) end, "outside")

-- the shape of a tensor can be changed
check.same(t:reshape { 3, 2 }:totable(), { { 1, 2 }, { 3, 4 }, { 5, 6 } })
check.same(t:reshape(-1).shape, { 6 })
check.same(t:reshape(3, -1).shape, { 3, 2 })
check.same(t:transpose():totable(), { { 1, 4 }, { 2, 5 }, { 3, 6 } })
check.same(t.T.shape, { 3, 2 })
check.same(cr.zeros { 2, 3, 4 }:transpose(2, 0, 1).shape, { 4, 2, 3 })
check.fails(function() t:reshape { 4, 4 } end, "(2, 3)")

-- operators, with numbers on either side
check.near(t + 1, { { 2, 3, 4 }, { 5, 6, 7 } })
check.near(2 - t, { { 1, 0, -1 }, { -2, -3, -4 } })
check.near(t * t, { { 1, 4, 9 }, { 16, 25, 36 } })
check.near(6 / t, { { 6, 3, 2 }, { 1.5, 1.2, 1 } })
check.near(t ^ 2, { { 1, 4, 9 }, { 16, 25, 36 } })
check.near(t % 2, { { 1, 0, 1 }, { 0, 1, 0 } })
check.near(t // 2, { { 0, 1, 1 }, { 2, 2, 3 } })
check.near(-t, { { -1, -2, -3 }, { -4, -5, -6 } })
check.fails(function() return t + cr.ones { 2, 2 } end, "(2, 3)", "(2, 2)")
check.fails(function() return t + "x" end, '"x"')
check.fails(function() return t + {} end, "tensor")
assert((cr.tensor({ 1 }, "int32") + 1).dtype == "int32")

-- functions and methods with keyword arguments
check.near(t:sum(), 21)
check.near(t:sum(0), { 5, 7, 9 })
check.near(t:mean(-1), { 2, 5 })
check.near(t:sum { axis = 1, keepdims = true }, { { 6 }, { 15 } })
check.near(t:sum(1, true), { { 6 }, { 15 } })
check.near(cr.ops.sum(t, { 0, 1 }), 21)
check.near(cr.ops.max(t, { axis = 0 }), { 4, 5, 6 })
check.near(t:matmul(cr.ones { 3, 1 }), { { 6 }, { 15 } })
check.near(cr.ops.concatenate({ t, t }, { axis = 1 })[1], { 1, 2, 3, 1, 2, 3 })
check.same(cr.ops.concatenate({ t, t }).shape, { 4, 3 })
check.same(cr.ops.stack { t, t }.shape, { 2, 2, 3 })
check.same(t:argmax(-1):totable(), { 2, 2 })
local values, indices = t:top_k(2)
check.near(values, { { 3, 2 }, { 6, 5 } })
check.same(indices:totable(), { { 2, 1 }, { 2, 1 } })
check.same(cr.ops.shape(t), { 2, 3 })
check.near(cr.ops.where(t:greater(3), t, 0), { { 0, 0, 0 }, { 4, 5, 6 } })
check.near(cr.ops.einsum("ij,kj->ik", { t, t }), { { 14, 32 }, { 32, 77 } })
check.near(cr.ops.cast(2, "float32"), 2)
check.near(cr.ops.one_hot(cr.tensor({ 1 }, "int32"), 3), { { 0, 1, 0 } })
check.fails(function() t:sum { axes = 1 } end, "sum", "'axes'", "did you mean 'axis'?")
check.fails(function() t:sum(5) end, "(2, 3)")
check.fails(function() t:sum(0, true, 1) end, "at most 3 arguments")
check.fails(function() cr.ops.matmul(t) end, "missing argument 'x2'")
check.fails(function() t.matmul() end, "got no value", "object:matmul(...)")
check.fails(function() t:cast() end, "missing argument 'dtype'")
check.fails(function() t:sum { axis = "first" } end, "argument 'axis'", '"first"')

-- variables can be used like tensors
local v = cr.Variable(cr.tensor { 1, 2 }, { name = "v" })
assert(v.name == "v" and v.dtype == "float32" and #v == 2 and v.trainable)
check.near(v:assign { 3, 4 }, { 3, 4 })
check.near(v + 1, { 4, 5 })
local sum = v:assign_add(cr.ones { 2 })
check.near(v:assign_sub(2), { 2, 3 })
check.near(sum, { 4, 5 }, 0, "what an assignment returns does not change with the variable")
check.near(v, { 2, 3 })
check.same(v:numpy(), { 2, 3 })
local old_value = v.value
v:assign(cr.zeros { 2 })
check.near(old_value, { 2, 3 })
check.fails(function() v:assign { 1, 2, 3 } end, "v", "(2,)", "(3,)")
assert(v == v and v ~= cr.Variable(cr.tensor { 1 }))
v.trainable = false
assert(not v.trainable)

-- the same seed gives the same random numbers
cr.random.seed(3)
local first_numbers = cr.random.normal { 4 }:totable()
cr.random.seed(3)
check.same(cr.random.normal({ 4 }):totable(), first_numbers)
local generator = cr.random.SeedGenerator(5)
check.near(cr.random.uniform({ 2 }, { seed = 5 }), generator:uniform({ 2 }):totable())
check.same(cr.random.permutation(5).shape, { 5 })
local order = cr.random.permutation(5):totable()
table.sort(order)
check.same(order, { 0, 1, 2, 3, 4 })

-- small functions of cr.utils
check.near(cr.utils.to_categorical({ 0, 2 }, 3), { { 1, 0, 0 }, { 0, 0, 1 } })
check.same(cr.utils.pad_sequences({ { 1, 2, 3 }, { 4 } }, { maxlen = 2 }):totable(),
  { { 2, 3 }, { 0, 4 } })
local pad = cr.utils.pad_sequences -- numbers of Keras 3.15.1
check.same(pad({ { { 1, 1 } }, { { 2, 1 }, { 2, 2 } }, { { 3, 1 }, { 3, 2 }, { 3, 3 } } },
  { maxlen = 2 }):totable(), { { { 0, 0 }, { 1, 1 } }, { { 2, 1 }, { 2, 2 } },
  { { 3, 2 }, { 3, 3 } } })
check.same(pad({ { { 1, 1 } }, { { 2, 1 }, { 2, 2 } }, {} },
  { padding = "post", value = 9 }):totable(), { { { 1, 1 }, { 9, 9 } }, { { 2, 1 }, { 2, 2 } },
  { { 9, 9 }, { 9, 9 } } })
check.same(pad({ { "a" }, { "b", "c" } }, { dtype = "string", value = "pad", maxlen = 3 })
  :totable(), { { "pad", "pad", "a" }, { "pad", "b", "c" } })
check.same(pad({ cr.tensor { 1.5 }, { 2, 3 } }, { dtype = "float32", value = -1 }):totable(),
  { { -1, 1.5 }, { 2, 3 } })
check.fails(function() pad({ { 1 }, { 2 } }, { value = "x" }) end, "'value'", "string")
check.fails(function() pad { 1, 2 } end, "Found non-iterable: 1")
check.fails(function() pad { { { 1 } }, { { 1, 2 } } } end, "sequence 2 have the shape (2,)")
check.near(cr.utils.normalize(cr.tensor { { 3, 4 } }), { { 0.6, 0.8 } })

-- all_reduce with a single process returns its input
for _, op in ipairs { "sum", "mean", "max", "min" } do
  check.same(cr.ops.all_reduce(cr.tensor { 1, 2 }, op):totable(), { 1, 2 })
end
check.same(cr.ops.all_reduce(cr.tensor { 3 }):totable(), { 3 })
check.fails(function()
  cr.ops.all_reduce(cr.tensor { 1 }, "maxi")
end, "all_reduce", "did you mean 'max'?")
print "ok tensors"
