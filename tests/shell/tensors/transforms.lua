-- Functions that take functions: scan, associative_scan, custom_gradient, jvp, vectorize, map;
-- eager, compiled, and with gradients.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops = cr.ops

local function gradient(f, x)
  local y
  local tape = cr.GradientTape(function() y = f(x) end, x)
  return tape:gradient(y, x)
end

-- several targets: the gradient of their sum, also of targets that are gradients
do
  local x = cr.Variable(cr.tensor { 1, 2 })
  local first_gradient, second_gradients
  local outer_tape = cr.GradientTape(function()
    local square, cube
    local inner_tape = cr.GradientTape(function() square, cube = x * x, x * x * x end)
    first_gradient = inner_tape:gradient({ square, cube }, x)
    second_gradients = inner_tape:gradient({ square, cr.tensor(1) }, { x })
  end)
  check.near(first_gradient, { 5, 16 })
  check.near(outer_tape:gradient({ first_gradient, second_gradients[1] }, { x })[1], { 10, 16 })
  check.fails(function() outer_tape:gradient({ first_gradient }, x, first_gradient) end,
    "output_gradients are for one")
end

-- scan: the carry and the steps may be tensors or tables of them
local xs = cr.tensor { 1, 2, 3, 4 }
local function running_sum_and_product(carry, x) return carry + x, carry * x end
local function scan_sums(x)
  local last_carry, all_outputs = ops.scan(running_sum_and_product, cr.tensor(10), x)
  return last_carry, all_outputs
end
for _, f in ipairs { scan_sums, cr.compiled(scan_sums) } do
  local last_carry, all_outputs = f(xs)
  assert(last_carry:item() == 20)
  check.same(all_outputs:totable(), { 10, 22, 39, 64 })
end
local last_carry, all_outputs = ops.scan(running_sum_and_product, cr.tensor(0), xs,
  { reverse = true })
assert(last_carry:item() == 10)
check.same(all_outputs:totable(), { 9, 14, 12, 0 })
last_carry, all_outputs = ops.scan(function(c, x)
  assert(x == nil)
  return { a = c.a * 2 }, c.a
end, { a = cr.tensor(1) }, nil, 5)
assert(last_carry.a:item() == 32)
check.same(all_outputs:totable(), { 1, 2, 4, 8, 16 })
last_carry, all_outputs = ops.scan(function(c, x)
  return c + x[1] * x[2], { x[1], c }
end, cr.tensor(0), { xs, xs }, 4)
assert(last_carry:item() == 30 and #all_outputs == 2)
check.same(all_outputs[2]:totable(), { 0, 1, 5, 14 })
check.near(gradient(function(x)
  return (select(1, ops.scan(function(c, v) return c * v, v end, cr.tensor(1), x)))
end, xs), { 24, 12, 8, 6 })
check.fails(function() ops.scan(running_sum_and_product, cr.tensor(0)) end, "length")
check.fails(function() ops.scan(running_sum_and_product, cr.tensor(0), xs, 3) end, "length is 3",
  "4 steps")
check.fails(function() ops.scan(running_sum_and_product, cr.tensor(0), xs, { unroll = 0 }) end,
  "unroll")

-- associative_scan computes cumulative sums, products and maxima
for n = 1, 9 do
  local x = cr.arange(n) + 1.0
  check.near(ops.associative_scan(function(a, b) return a + b end, x), ops.cumsum(x))
  check.near(ops.associative_scan(function(a, b)
    return a * b
  end, x, true), ops.flip(ops.cumprod(ops.flip(x))))
end
local matrix = cr.random.normal { 3, 5, 2 }
check.near(cr.compiled(function(x)
  return ops.associative_scan(function(a, b) return ops.maximum(a, b) end, x, { axis = 1 })
end)(matrix)[1][5],
  ops.max(matrix, 1)[1])
local recurrence = ops.associative_scan(function(a, b)
  return { a[1] * b[1], a[2] * b[1] + b[2] }
end, { xs, xs })
check.near(recurrence[2], { 1, 4, 15, 64 })
check.near(gradient(function(x)
  return ops.sum(ops.associative_scan(function(a, b) return a + b end, x))
end, xs), { 4, 3, 2, 1 })
check.fails(function() ops.associative_scan(function() return {} end, xs) end, "1 tensors, got 0")

-- custom_gradient: the function returns its result and the function that computes the gradient
local log1pexp = ops.custom_gradient(function(x)
  local e = ops.exp(x)
  return ops.log(1 + e), function(upstream) return upstream * (1 - 1 / (1 + e)) end
end)
local values = cr.tensor { 0, 100 }
check.near(log1pexp(cr.tensor { 0 }), { math.log(2) })
check.near(gradient(function(x) return ops.sum(log1pexp(x)) end, values), { 0.5, 1 })
local compiled_derivative = cr.compiled(function(x)
  return gradient(function(v) return ops.sum(log1pexp(v)) end, x)
end)
check.near(compiled_derivative(values), { 0.5, 1 })
local sum_and_product = ops.custom_gradient(function(a, b)
  return { a + b, a * b }, function(da, db) return { da * 100, db * 1000 } end
end)
local a, b = cr.tensor { 2 }, cr.tensor { 3 }
local tape, loss
tape = cr.GradientTape(function() loss = ops.sum(ops.concatenate(sum_and_product(a, b))) end,
  { a, b })
check.near(tape:gradient(loss, { a, b })[1], { 100 })
check.near(tape:gradient(loss, { a, b })[2], { 1000 })
local w = cr.Variable(cr.tensor { 4 })
tape = cr.GradientTape(function()
  loss = ops.custom_gradient(function(v) return v * v, function(g) return g * 7 end end)(w)
end)
check.near(tape:gradient(loss, { w })[1], { 7 })
check.fails(function()
  ops.custom_gradient(function(x) return x end)(xs)
end, "custom_gradient", "got 1 values")
check.fails(function() ops.custom_gradient(3) end, "expected a function")
check.fails(function()
  gradient(ops.custom_gradient(function(x) return x, function() return {} end end), xs)
end, "custom_gradient", "1 tensors", "got 0")

-- jvp returns the value of a function and its change in the direction of the tangents
local value, change = ops.jvp(function(x)
  return ops.sin(x)
end, { cr.tensor { 0, 1 } }, { cr.tensor { 1, 2 } })
check.near(value, { 0, math.sin(1) })
check.near(change, { 1, 2 * math.cos(1) })
local p, q, aux
p, q, aux = ops.jvp(function(x, y)
  return { x * y, ops.sum(x) }, "more"
end, { a, b }, { cr.tensor { 1 }, cr.tensor { 10 } }, { has_aux = true })
check.near(p[1], { 6 })
check.near(q[1], { 23 })
assert(q[2]:item() == 1 and aux == "more")
local forward_derivative = cr.compiled(function(x, v)
  return select(2, ops.jvp(function(t) return ops.matmul(t, t) end, { x }, { v }))
end)
local square_matrix, direction = cr.random.normal { 3, 3 }, cr.random.normal { 3, 3 }
check.near(forward_derivative(square_matrix, direction),
  ops.matmul(square_matrix, direction) + ops.matmul(direction, square_matrix))
check.same(select(2, ops.jvp(function()
  return cr.ones { 2 }
end, { a }, { a })):totable(), { 0, 0 })
check.fails(function() ops.jvp(ops.sin, { a }, { cr.tensor { 1, 2 } }) end, "primal 1", "tangent")
check.fails(function() ops.jvp(ops.sin, { a }, {}) end, "tangent for each")

-- vectorize and map apply a function to each element or row
local function maximum_of(x, y) return ops.maximum(x, y) end
check.same(ops.vectorize(maximum_of)(cr.tensor { { 1 }, { 5 } }, cr.tensor { 2, 6 }):totable(),
  { { 2, 6 }, { 5, 6 } })
local inner_product = ops.vectorize(function(u, v) return ops.sum(u * v) end,
  { signature = "(n),(n)->()" })
check.near(inner_product(cr.ones { 4, 3 }, cr.tensor { 1, 2, 3 }), { 6, 6, 6, 6 })
check.near(cr.compiled(inner_product)(cr.ones { 2, 5, 3 }, cr.tensor { 1, 2, 3 })[2],
  { 6, 6, 6, 6, 6 })
local scale_elements = ops.vectorize(function(x, factor) return x * factor.by end,
  { excluded = { 2 } })
check.near(scale_elements(cr.tensor { 1, 2 }, { by = 3 }), { 3, 6 })
check.fails(function() ops.vectorize(maximum_of, { signature = "n,n" }) end, "signature")
check.fails(function() inner_product(cr.ones { 3 }) end, "2 arguments, got 1")
local row_results = ops.vectorized_map { ["function"] = function(x)
  return { sum = ops.sum(x), first = x[1] }
end, elements = matrix }
check.near(row_results.sum, ops.sum(matrix, { 1, 2 }))
check.near(ops.map(function(x) return x[1] + x[2] end, { xs, xs }), { 2, 4, 6, 8 })

-- functions that are composed of other functions: rearrange, eig, polar
local x = cr.arange(24)
x = ops.reshape(x, { 2, 3, 4 })
check.same(ops.rearrange(x, "a b c -> c a b"):totable(), ops.transpose(x, { 2, 0, 1 }):totable())
check.same(ops.rearrange(x, "a b (c d) -> (a c) b d", { c = 2 }).shape, { 4, 3, 2 })
check.same(ops.rearrange(x, "a b c -> (a b c)"):totable(), ops.reshape(x, { 24 }):totable())
check.fails(function() ops.rearrange(x, "a b -> b a") end, "2 axes on the left")
check.fails(function() ops.rearrange(x, "a b c -> a b") end, "same axes")
check.fails(function()
  ops.rearrange(x, "a b (c d) -> a b c d")
end, "give the length of 'c' or of 'd'")
check.fails(function() ops.rearrange(x, "a b (c d) -> a b c d", { c = 3 }) end, "does not fit")
check.fails(function() ops.rearrange(x, "a b c -> c b a", { e = 3 }) end, "no axis 'e'")
local i = cr.Input { shape = { 6 } }
local model = cr.Model(i, ops.rearrange(i, "b (h w) -> b w h", { h = 2 }))
check.same(model(cr.ones { 5, 6 }).shape, { 5, 3, 2 })
for _, n in ipairs { 1, 2, 3, 8 } do
  local m = cr.random.normal { n, n }
  local values, vectors = ops.eig(m)
  -- checks m v = v diag(values) by real and imaginary parts, since products of complex matrices are
  -- sums of real products
  local function real_and_imaginary(z) return ops.real(z), ops.imag(z) end
  local vr, vi = real_and_imaginary(vectors)
  local product = ops.view_as_complex(ops.stack({ ops.matmul(m, vr), ops.matmul(m, vi) }, -1))
  check.near(ops.max(ops.abs(product - vectors * values)):item(), 0, 1e-4)
  check.near(ops.sum(values):totable(),
    ops.view_as_real(ops.cast(ops.trace(m), "complex64")):totable(), 1e-4)
end
check.near(ops.eig(cr.tensor { { 0, -1 }, { 1, 0 } }):totable()[1][1], 0)
check.fails(function() ops.eig(cr.ones { 2, 3 }) end, "square")
check.near(ops.polar(cr.tensor { 2 }, cr.tensor { math.pi / 2 }):totable(), { { 0, 2 } }, 1e-6)
check.near(ops.conj(ops.polar(1.0, 1.0)):totable(), { math.cos(1), -math.sin(1) })

-- jacobians: each element of the target with respect to each element of the source
do
  local x, y = cr.tensor { 5, 6 }, nil
  local w = cr.Variable(cr.tensor { { 1, 2 }, { 3, 4 } })
  local tape = cr.GradientTape(function() y = ops.square(x) * ops.matmul(w, x) end, x)
  check.near(tape:jacobian(y, x),
    { { 2 * 5 * 17 + 25, 25 * 2 }, { 36 * 3, 2 * 6 * 39 + 36 * 4 } })
  check.same(tape:jacobian(y, { w })[1].shape, { 2, 2, 2 })
  check.near(tape:jacobian(y, w)[1], { { 125, 150 }, { 0, 0 } })
  assert(tape:jacobian(y, cr.tensor { 1 }) == false)
  local rows = cr.tensor { { 1, 2 }, { 3, 4 }, { 5, 6 } }
  tape = cr.GradientTape(function() y = ops.square(rows):slice({ 1, 2 }, { 3, 2 }) end, rows)
  check.near(tape:batch_jacobian(y, rows), { { { 0, 4 } }, { { 0, 8 } }, { { 0, 12 } } })
  check.fails(function() tape:batch_jacobian(y, x) end, "as many rows", "(3, 1)", "(2,)")
  check.near(cr.compiled(function(v)
    local z
    local inner = cr.GradientTape(function() z = v * v end, v)
    return inner:jacobian(z, v)
  end)(x), { { 10, 0 }, { 0, 12 } })
end
do -- a scan without steps does not check the indices that its step would check
  local f = cr.compiled(function(xs, indices, values)
    return (ops.scan(function(sum) return sum + ops.sum(ops.take(values, indices, 0)), sum end,
      cr.tensor(1.5), xs))
  end)
  local indices = cr.tensor({ 7 }):cast "int32"
  check.near(f(cr.zeros { 0, 2 }, indices, cr.zeros { 3 }), 1.5)
  check.fails(function() f(cr.zeros { 1, 2 }, indices, cr.zeros { 3 }) end, "index 7")
end
