-- Element types beside floats: small integers, complex numbers, strings.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops = cr.ops

-- small integers wrap around, promote as in Keras, and are converted to int32 where they have no
-- kernel
local a, b = cr.tensor({ 100, -100, 7 }, "int8"), cr.tensor({ 100, -100, -2 }, "int8")
local sum = a + b
assert(sum.dtype == "int8" and a.nbytes == 3)
check.same(sum:totable(), { -56, 56, 5 })
check.same((a * b):totable(), { 16, 16, -14 })
check.same(ops.floor_divide(a, b):totable(), { 1, 1, -4 })
check.same(ops.mod(a, b):totable(), { 0, 0, -1 })
check.same(ops.maximum(a, b):totable(), { 100, -100, 7 })
check.same((-a):totable(), { -100, 100, -7 })
check.same(ops.abs(b):totable(), { 100, 100, 2 })
check.same(ops.less(a, 8):totable(), { false, true, true })
check.same(ops.add(a, 1000):totable(), { 1100, 900, 1007 })
assert(ops.add(a, 1).dtype == "int8" and ops.add(a, 1000).dtype == "int32"
  and (a + 0.5).dtype == "float32")
assert(ops.add(a, cr.tensor({ 1 }, "uint8")).dtype == "int16")
assert(ops.add(cr.tensor({ 1 }, "int16"), cr.tensor({ 1 }, "int32")).dtype == "int32")
assert(ops.sum(a).dtype == "int32" and ops.sum(a):item() == 7)
assert(ops.max(a).dtype == "int8" and ops.max(a):item() == 100 and ops.argmax(a):item() == 0)
assert(ops.mean(a).dtype == "float32")
check.same(ops.sort(a):totable(), { -100, 7, 100 })
check.same(ops.cast(cr.tensor { 300.7, -1.5 }, "int16"):totable(), { 300, -1 })
check.same(ops.cast(cr.tensor({ 70000 }, "int32"), "int16"):totable(), { 4464 })
check.same(ops.take(cr.tensor { 5, 6, 7 }, cr.tensor({ 2, 0 }, "int8"), 0):totable(), { 7, 5 })
check.same(ops.one_hot(cr.tensor({ 1 }, "int16"), 3):totable(), { { 0, 1, 0 } })
check.same(cr.compiled(function(x)
  return x * x + x
end)(cr.tensor({ 20, 3 }, "int8")):totable(), { -92, 12 })
check.same(cr.zeros({ 2 }, "int16"):totable(), { 0, 0 })

-- tensors of complex numbers
local z = ops.view_as_complex(cr.tensor { { 3, 4 }, { 0, -1 } })
assert(z.dtype == "complex64" and tostring(z) == "[3+4j 0-1j]")
check.same(z:totable(), { { 3, 4 }, { 0, -1 } })
check.near(ops.abs(z), { 5, 1 })
check.near((z * z):totable(), { { -7, 24 }, { -1, 0 } })
check.near(ops.view_as_real(ops.flip(z)), { { 0, -1 }, { 3, 4 } })
-- statements of the README: which functions compute with complex numbers, and which refuse them
local w = ops.view_as_complex(cr.tensor { { 1, 2 }, { 3, -1 } })
local function real_and_imaginary(x) return ops.view_as_real(x) end
check.near(real_and_imaginary(w / z), { { 0.44, 0.08 }, { 1, 3 } })
check.near(real_and_imaginary(ops.exp(w)), { { -1.1312044, 2.4717267 }, { 10.852262, -16.901396 } },
  1e-4)
check.near(real_and_imaginary(ops.log(w)), { { 0.80471896, 1.1071488 },
  { 1.1512925, -0.32175055 } })
check.near(real_and_imaginary(ops.square(w)), { { -3, 4 }, { 8, -6 } })
check.near(real_and_imaginary(ops.reciprocal(w)), { { 0.2, -0.4 }, { 0.3, 0.1 } })
check.near(real_and_imaginary(ops.sum(w)), { 4, 1 })
check.near(real_and_imaginary(ops.mean(w)), { 2, 0.5 })
check.near(ops.var(w):item(), 3.25)
check.near(ops.std(w):item(), 3.25 ^ 0.5)
check.near(real_and_imaginary(ops.outer(w, w)), { { { -3, 4 }, { 5, 5 } },
  { { 5, 5 }, { 8, -6 } } })
check.near(real_and_imaginary(ops.vdot(w, w)), { 15, 0 })
check.near(real_and_imaginary(ops.vdot(w, z)), { 12, -5 })
check.same(ops.equal(w, z):totable(), { false, false })
check.near(real_and_imaginary(ops.reshape(w, { 2, 1 })), { { { 1, 2 } }, { { 3, -1 } } })
for _, name in ipairs { "sqrt", "sin", "tanh", "prod", "cumsum", "max", "relu", "norm" } do
  check.fails(function() return ops[name](w) end, "complex numbers")
end
for _, name in ipairs { "inner", "dot", "power" } do
  check.fails(function() return ops[name](w, w) end, "complex numbers")
end
check.fails(function() return ops.matmul(z, z) end, "complex numbers")
check.fails(function() return ops.sort(z) end, "complex")
check.fails(function() return z:item() end, "one element")

-- tensors of strings
local s = cr.tensor { { "a", "b" }, { "", "a" } }
assert(s.dtype == "string" and tostring(s) == '[["a" "b"]\n [ "" "a"]]')
check.same(s:totable(), { { "a", "b" }, { "", "a" } })
check.same(s[1]:totable(), { "a", "b" })
assert(s[1][2] == "b" and cr.tensor("word"):item() == "word")
check.same(ops.equal(s, "a"):totable(), { { true, false }, { false, true } })
check.same(ops.transpose(s):totable(), { { "a", "" }, { "b", "a" } })
check.same(ops.concatenate({ s, s }, 1)[1]:totable(), { "a", "b", "a", "b" })
check.same(s:slice({ 1, 2 }, { 2, 2 }):totable(), { { "b" }, { "a" } })
check.same(cr.tensor({ "x" }, "string"):totable(), { "x" })
check.same(cr.zeros({ 2 }, "string"):totable(), { "", "" })
check.fails(function() return s + s end, "add takes no strings")
check.fails(function() return s + 1 end, "strings")
check.fails(function() return ops.sort(s) end, "strings")
check.fails(function() cr.tensor({ "1" }, "float32") end, "float32", "strings")
check.fails(function() cr.tensor({ 1 }, "string") end, "expected strings")
check.fails(function() ops.cast(cr.tensor { 1 }, "string") end, "string")
check.fails(function() cr.full({ 1 }, 2, "string") end, "expected strings")

-- small integers and complex numbers are saved in files, strings are refused
local path = check.temporary ".h5"
local arrays = { a = a, wide = cr.tensor({ -300 }, "int16"), z = z }
cr.data.write_hdf5(path, arrays)
for name, tensor in pairs(arrays) do
  local loaded_tensor = cr.data.read_hdf5(path, name)
  assert(loaded_tensor.dtype == tensor.dtype and tostring(loaded_tensor) == tostring(tensor), name)
end
check.fails(function() cr.data.write_hdf5(path, { s = s }) end, "strings")
os.remove(path)
path = check.temporary ".npy"
for name, tensor in pairs(arrays) do
  cr.data.write_npy(path, tensor)
  local loaded_tensor = cr.data.read_npy(path)
  assert(loaded_tensor.dtype == tensor.dtype and tostring(loaded_tensor) == tostring(tensor), name)
end
check.fails(function() cr.data.write_npy(path, s) end, "strings")
os.remove(path)
