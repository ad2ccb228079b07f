-- Linear algebra of small and large, single and batched matrices, for which different kernels are
-- used.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops, t = cr.ops, cr.tensor
local nan = 0 / 0

local function transpose(x) return ops.swapaxes(x, -1, -2) end
local function expect_near(a, b, what)
  check.same(a.shape, b.shape, what)
  local difference = ops.max(ops.abs(a - b)):item()
  assert(difference < 1e-8, what .. ": " .. difference)
end

-- Checks that the rows of a matrix, permuted by the pivots, equal the product of the factors.
local function expect_factors(x, what)
  local rows, columns = table.unpack(x.shape, #x.shape - 1)
  local smaller_size, batch = math.min(rows, columns), { table.unpack(x.shape, 1, #x.shape - 2) }
  local factors, pivots = ops.lu_factor(x)
  local l = ops.slice_axis(ops.tril(factors, -1), -1, 0, smaller_size)
    + ops.eye(rows, smaller_size, { dtype = "float64" })
  local u = ops.slice_axis(ops.triu(factors), -2, 0, smaller_size)
  batch[#batch + 1] = smaller_size
  check.same(pivots.shape, batch)
  local product = ops.reshape(ops.matmul(l, u), { -1, rows, columns })
  local matrices, swaps = ops.reshape(x, { -1, rows, columns }),
    ops.reshape(pivots, { -1, smaller_size })
  for i = 1, matrices.shape[1] do
    local order = {}
    for row = 1, rows do order[row] = row - 1 end
    for k = 1, smaller_size do
      local swapped_row = swaps[i][k] + 1
      order[k], order[swapped_row] = order[swapped_row], order[k]
    end
    expect_near(product[i], ops.take(matrices[i], order, 0), "lu_factor, " .. what)
  end
end

for _, n in ipairs { 1, 3, 23, 24, 60 } do
  for _, batch in ipairs { {}, { 5 }, { 2, 3 } } do
    local function random(rows, columns)
      local shape = { table.unpack(batch) }
      shape[#shape + 1], shape[#shape + 2] = rows, columns
      return cr.random.normal(shape):cast "float64"
    end
    local label = n .. " rows, batch " .. #batch
    local x, eye = random(n, n), ops.eye(n, { dtype = "float64" })
    local a = ops.matmul(x, transpose(x)) + eye
    local identity = ops.broadcast_to(eye, a.shape)
    expect_near(ops.matmul(a, ops.inv(a)), identity, "inv, " .. label)
    local b = random(n, 2)
    expect_near(ops.matmul(a, ops.solve(a, b)), b, "solve, " .. label)
    local l = ops.cholesky(a)
    expect_near(ops.matmul(l, transpose(l)), a, "cholesky, " .. label)
    expect_near(ops.tril(l), l, "cholesky's triangle, " .. label)
    expect_near(ops.log(ops.prod(ops.square(ops.diagonal(l, 0, -2, -1)), -1)), ops.logdet(a),
      "logdet, " .. label)
    local _, sign_pivots = ops.lu_factor(a)
    check.same(sign_pivots.dtype, "int32")
    assert(ops.min(sign_pivots):item() >= 0 and ops.max(sign_pivots):item() < n)
    local values, vectors = ops.eigh(a)
    expect_near(ops.matmul(vectors * ops.expand_dims(values, -2), transpose(vectors)), a,
      "eigh, " .. label)
    expect_near(ops.sort(values), values, "order of eigenvalues, " .. label)
    for _, shape in ipairs { { n, n }, { n + 2, n }, { n, n + 3 } } do
      local y = random(table.unpack(shape))
      local u, s, vt = ops.svd(y, { full_matrices = false })
      expect_near(ops.matmul(u * ops.expand_dims(s, -2), vt), y, "svd, " .. label)
      for _, mode in ipairs { "reduced", "complete" } do
        local q, r = ops.qr(y, mode)
        expect_near(ops.matmul(q, r), y, "qr, " .. label)
        expect_near(ops.matmul(transpose(q), q),
          ops.broadcast_to(ops.eye(q.shape[#q.shape], { dtype = "float64" }),
            ops.matmul(transpose(q), q).shape), "q, " .. label)
      end
      expect_near(ops.matmul(ops.matmul(y, ops.pinv(y)), y), y, "pinv, " .. label)
      expect_factors(y, label)
    end
    local sign = ops.slogdet(-a)
    expect_near(sign, ops.full_like(sign, n % 2 == 0 and 1 or -1), "sign, " .. label)
  end
end

-- Functions of a matrix v and a matrix w with 7 columns. They are smooth although eigenvectors and
-- singular vectors are not. Their gradients contain the gradients of the factors.
local function inverse_product(v, w) return ops.matmul(ops.inv(v), w) end
local function triangle_solution(v, w)
  local lower, upper = { lower = true }, { lower = false }
  return ops.solve_triangular(transpose(v), ops.solve_triangular(v, w, lower), upper)
end
local function cholesky_solution(v, w) return ops.solve_triangular(ops.cholesky(v), w, true) end
local function eigenvalue_function(v, w)
  local values, vectors = ops.eigh(v)
  local exponentials = vectors * ops.expand_dims(ops.exp(-values), -2)
  return ops.matmul(ops.matmul(exponentials, transpose(vectors)), w)
end
local function singular_value_function(v, w)
  local u, s, vt = ops.svd(v, { full_matrices = false })
  return ops.matmul(ops.matmul(u * ops.expand_dims(ops.tanh(s), -2), vt), w)
end
local function determinant_function(v, w)
  local _, log = ops.slogdet(v)
  return (ops.expand_dims(ops.expand_dims(ops.det(v * 0.56), -1), -1)
    + ops.expand_dims(ops.expand_dims(log, -1), -1)) * w
end
local function lu_function(v, w)
  local factors, pivots = ops.lu_factor(v)
  check.same(pivots.dtype, "int32")
  return ops.matmul(factors, w)
end

-- Matrices in float32 are factored in float32 from 128 rows on, smaller ones in float64. The
-- gradients of eigenvectors and singular vectors are divided by the gaps between the values, which
-- increases rounding errors.
for _, size_and_batch in ipairs { { 127 }, { 128 }, { 150 }, { 150, 2 }, { 257 } } do
  local n, shape = size_and_batch[1], { size_and_batch[2] }
  shape[#shape + 1], shape[#shape + 2] = n, n
  local x = cr.random.normal(shape)
  local a = ops.matmul(x, transpose(x)) / n + ops.eye(n)
  local b = ops.slice_axis(x, -1, 0, 7)
  local function value_and_gradients(f, dtype)
    local v, w = cr.Variable(a:cast(dtype)), cr.Variable(b:cast(dtype))
    local y
    local tape = cr.GradientTape(function() y = ops.sum(ops.square(f(v, w))) end)
    return f(v, w), table.unpack(tape:gradient(y, { v, w }))
  end
  for name, f in pairs {
    solve = ops.solve, solve_triangular = triangle_solution, cholesky = cholesky_solution,
      inv = inverse_product,
    eigh = eigenvalue_function, svd = singular_value_function, det = determinant_function,
    lu_factor = lu_function,
  } do
    local float64_results = { value_and_gradients(f, "float64") }
    for i, float32_result in ipairs { value_and_gradients(f, "float32") } do
      check.same(float32_result.dtype, "float32")
      local difference = ops.max(ops.abs(float32_result - float64_results[i])):item()
        / ops.max(ops.abs(float64_results[i])):item()
      local has_gaps = i > 1 and (name == "eigh" or name == "svd")
      assert(difference < (has_gaps and 1e-2 or 1e-5), name .. ": " .. difference)
    end
  end
end

-- singular values of small matrices, several at once: their vectors are orthonormal for any rank,
-- and a matrix in a batch gives the same as alone
for _, shape in ipairs { { 9, 16, 16 }, { 12, 7, 3 }, { 5, 3, 20 }, { 4, 1, 6 } } do
  local x = cr.random.normal(shape):cast "float64" * 1e-160
  local count, k = shape[1], math.min(shape[2], shape[3])
  local rank_one = ops.matmul(ops.slice_axis(x, 2, 0, 1), ops.slice_axis(x, 1, 0, 1)) * 1e300
  local all_ones = ops.ones_like(x)
  for name, y in pairs { any = x, low = rank_one, same = all_ones, zero = ops.zeros_like(x) } do
    local label = table.concat({ name, table.unpack(shape) }, " ")
    local u, s, vt = ops.svd(y, { full_matrices = false })
    local size = math.max(ops.max(ops.abs(y)):item(), 1e-300)
    expect_near(ops.matmul(u * ops.expand_dims(s, -2), vt) / size, y / size, label)
    local identity = ops.broadcast_to(ops.eye(k, { dtype = "float64" }), { count, k, k })
    expect_near(ops.matmul(transpose(u), u), identity, label .. ": u")
    expect_near(ops.matmul(vt, transpose(vt)), identity, label .. ": v")
    assert(ops.all(ops.equal(ops.flip(ops.sort(s), -1), s)):item(), label .. ": order")
    local last_values = ops.svd(y:slice(count - 3, count), { compute_uv = false })
    assert(ops.all(ops.equal(last_values, s:slice(count - 3, count))):item(),
      label .. ": by themselves")
  end
end
local matrices_with_nan = ops.concatenate { ops.ones { 3, 2, 2 }, ops.full({ 1, 2, 2 }, nan) }
local u, s = ops.svd(matrices_with_nan)
check.near(s:slice(1, 3), ops.broadcast_to(t { 2, 0 }, { 3, 2 }))
assert(ops.all(ops.isnan(s:slice(4, 4))):item() and ops.all(ops.isnan(u:slice(4, 4))):item())

-- many rows with few columns need no large temporary memory
local tall_matrix = cr.random.normal { 60000, 3 }:cast "float64"
local q, r = ops.qr(tall_matrix)
expect_near(ops.matmul(q, r), tall_matrix, "qr of a tall matrix")

-- matrices without a factorization give NaN, whether small or large
for _, n in ipairs { 2, 40 } do
  local l = ops.cholesky(-ops.eye(n))
  assert(l[1][1] ~= l[1][1], "a root of -1")
end
local values = ops.eigh(t { { 1, nan }, { nan, 2 } })
assert(values[1] ~= values[1])
check.fails(function()
  local v = cr.Variable(ops.ones { 4, 2 })
  local sum
  local tape = cr.GradientTape(function() sum = ops.sum((ops.qr(v, "complete"))) end)
  tape:gradient(sum, { v })
end, "mode='complete'", "(4, 2)")

-- gradients of eigenvalues and eigenvectors
local function gradient(f, x)
  local y
  local tape = cr.GradientTape(function() y = f(x) end, x)
  return tape:gradient(y, x)
end
local complex_spectrum_matrix = t { { 1, 2 },
  { -3, 0.5 } }  -- a matrix whose eigenvalues are complex
check.near(gradient(function(x)
  return ops.sum(ops.real((ops.eig(x))))
end, complex_spectrum_matrix), { { 1, 0 }, { 0, 1 } }, 1e-5)
check.near(gradient(function(x)
  return ops.sum(ops.square(ops.real((ops.eig(x)))) - ops.square(ops.imag((ops.eig(x)))))
end, complex_spectrum_matrix), (ops.transpose(complex_spectrum_matrix) * 2):totable(), 1e-5)
local symmetric_matrix = t { { 2, 0.5, 0.25 }, { 0.5, -1, 0.75 }, { 0.25, 0.75, 4 } }
local weights = t { { 1, 2, 3 }, { -1, 0.5, 2 }, { 0, 4, 1 } }
local function sorted_columns(x)
  local values, vectors = ops.eig(x)
  local order = ops.argsort(ops.real(values))
  return ops.sum(ops.take(ops.square(ops.abs(vectors)), order, 1) * weights)
end
local function eigenvector_loss(x) return ops.sum(ops.square((select(2,
  ops.eigh(x)))) * weights) end
local eig_gradient = gradient(sorted_columns, symmetric_matrix)
check.near((eig_gradient + ops.transpose(eig_gradient)) / 2,
  gradient(eigenvector_loss, symmetric_matrix):totable(),
  1e-4)
check.fails(function()
  gradient(function(x) return ops.sum(ops.imag((select(2, ops.eig(x))))) end,
    complex_spectrum_matrix)
end, "angles of complex eigenvectors")

-- for a full svd, a function of only the first columns has a gradient
check.near(gradient(function(x)
  local u, s, vt = ops.svd(x)
  return ops.sum(ops.matmul(u:slice({ 1, 1 }, { 4, 2 }) * s, vt))
end, t { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 9 } }), ops.ones({ 4, 2 }):totable(), 1e-4)
print "ok linear_algebra"
