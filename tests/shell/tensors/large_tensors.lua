-- Functions of large tensors, whose kernels differ from those for small ones: tiles, blocks for
-- several threads, fused ops.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops, t = cr.ops, cr.tensor
local nan = 0 / 0

local function expect_equal(a, b, what)
  check.same(a.shape, b.shape, what)
  assert(ops.all(ops.equal(a, b)):item(), what)
end

-- argmax and argmin return the position of the first extreme value
for _, dtype in ipairs { "float32", "float64", "bfloat16", "int32", "int64", "uint8" } do
  for _, shape in ipairs { { 5, 7, 9 }, { 3, 300, 40 }, { 2, 17, 513 }, { 200001 }, { 4, 5000 } } do
    local x = cr.random.uniform(shape, 0, 100):cast(dtype)
    for axis = 0, #shape - 1 do
      for _, name in ipairs { "max", "min" } do
        local label = name .. " of " .. dtype .. " along " .. axis
        local extreme, position = ops[name](x, axis, true), ops["arg" .. name](x, axis, true)
        expect_equal(ops.take_along_axis(x, position, axis), extreme, label)
        local count = ops.cumsum(ops.equal(x, extreme):cast "int32", axis)
        expect_equal(ops.take_along_axis(count, position, axis), ops.ones_like(position), label)
      end
    end
  end
end
local rows_with_nan = t { { 1, nan, 3 }, { 4, 5, nan } }
check.same(ops.argmax(rows_with_nan, 0):totable(), { 1, 0, 1 })
check.same(ops.argmin(rows_with_nan, 1):totable(), { 1, 2 })
local long_row = ops.concatenate { cr.random.normal { 100000 }, t { nan },
  cr.random.normal { 50000 } }
assert(ops.argmax(long_row):item() == 100000 and ops.argmin(long_row):item() == 100000)
assert(ops.max(long_row):item() ~= ops.max(long_row):item())

-- cumulative sums of columns equal those of the rows of the transposed matrix
local wide_matrix = ops.round(cr.random.uniform({ 40, 700 }, -9, 9))
expect_equal(ops.cumsum(wide_matrix, 0), ops.transpose(ops.cumsum(ops.transpose(wide_matrix), 1)),
  "cumsum")
check.near(ops.prod(ops.full({ 2, 101 }, 1.5), 1), { 1.5 ^ 101, 1.5 ^ 101 }, 1e-5)

-- indices of 32 and 64 bits, and indices out of range
for _, dtype in ipairs { "float32", "float64", "int16" } do
  local x = ops.reshape(ops.arange(3 * 1000), { 3, 1000 }):cast(dtype)
  for _, index_dtype in ipairs { "int32", "int64", "uint8" } do
    local indices = ops.cast(cr.random.uniform({ 200 }, 0, 100), index_dtype)
    local rows = ops.cast(t { { 0 }, { 1000 }, { 2000 } }, dtype)
    expect_equal(ops.take(x, indices, 1), ops.cast(indices, dtype) + rows, "take")
    local repeated_indices = ops.stack { indices, ops.flip(indices), indices }
    expect_equal(ops.take_along_axis(x, repeated_indices, 1),
      ops.cast(repeated_indices, dtype) + rows, "take_along_axis")
  end
end
check.fails(function() ops.take(t { 1, 2 }, ops.full({ 100000 }, 2, "int32")) end, "index 2",
  "out of range")

-- bincount and histograms of arrays that are divided among threads
local numbers = cr.random.uniform({ 200000 }, -3, 40)
local counts, edges = ops.histogram(numbers, { bins = 43, range = { -2, 41 } })
local counts_below = ops.searchsorted(ops.sort(numbers), edges, "left")
expect_equal(counts:cast "int32", ops.diff(counts_below), "histogram")
local floors = ops.floor(numbers):cast "int32"
local lowest_number, highest_number = -3, 39
counts = ops.bincount(floors - lowest_number)
check.same(counts.shape, { highest_number - lowest_number + 1 })
assert(ops.sum(counts):item() == 200000)
for i = lowest_number, highest_number do
  assert(counts[i - lowest_number + 1] == ops.count_nonzero(ops.equal(floors, i)):item(),
    "bincount")
end
for _, dtype in ipairs { "int32", "int64", "int16" } do
  expect_equal(ops.bincount((floors - lowest_number):cast(dtype), floors),
    counts * ops.arange(lowest_number, highest_number + 1), "weights of " .. dtype)
end
check.same(ops.histogram(t { 1, 2, 2, 3, nan }, 2, { 1, 3 }):totable(), { 1, 3 })

-- unique: integers close together, integers far apart, and fractions
for _, x in ipairs {
  floors, floors:cast "int64" * 1000003, floors:cast "int16", ops.greater(numbers, 0), numbers,
  ops.round(numbers):cast "float16",
} do
  local values, first_positions, inverse_indices, counts_of_values =
    ops.unique(x, { return_index = true, return_inverse = true, return_counts = true })
  expect_equal(ops.take(values, inverse_indices), x, "inverse of " .. x.dtype)
  expect_equal(ops.take(x, first_positions), values, "first of " .. x.dtype)
  expect_equal(ops.bincount(inverse_indices), counts_of_values, "counts of " .. x.dtype)
  assert(ops.all(ops.equal(values, ops.sort(values:cast "float64"):cast(x.dtype))):item())
  local order = ops.argsort(inverse_indices)
  expect_equal(ops.take(order, ops.cumsum(counts_of_values) - counts_of_values), first_positions,
    "the first of " .. x.dtype)
end

-- Fourier transforms of many rows, which are computed eight at a time, compared with the defining
-- sums
for _, n in ipairs { 1, 2, 6, 8, 16, 30, 64, 100, 256 } do
  for _, dtype in ipairs { "float32", "float64" } do
    local label = "transform of " .. n .. " " .. dtype
    local x, y = cr.random.normal { 19, n }:cast(dtype), cr.random.normal { 19, n }:cast(dtype)
    local k = ops.arange(n):cast "float64"
    local turns = ops.mod(ops.outer(k, k), n) * (2 * math.pi / n)
    local cos, sin = ops.cos(turns), ops.sin(turns)
    local a, b = x:cast "float64", y:cast "float64"
    local function expect_near(got, expected)
      check.same(got.dtype, dtype, label)
      local difference = ops.max(ops.abs(got:cast "float64" - expected)):item()
      assert(difference < (dtype == "float32" and 2e-5 or 1e-10), label .. ": " .. difference)
    end
    local re, im = ops.fft { x, y }
    expect_near(re, ops.matmul(a, cos) + ops.matmul(b, sin))
    expect_near(im, ops.matmul(b, cos) - ops.matmul(a, sin))
    local half = n // 2 + 1
    re, im = ops.rfft(x)
    check.same(re.shape, { 19, half })
    expect_near(re, ops.slice(ops.matmul(a, cos), { 0, 0 }, { 19, half }))
    expect_near(im, ops.slice(-ops.matmul(a, sin), { 0, 0 }, { 19, half }))
    expect_near(ops.irfft({ re, im }, n), a)
  end
end

-- fused ops give the same results for a large tensor as for each of its rows
local x = cr.random.normal { 300, 300 }
for name, f in pairs {
  gelu = ops.gelu, silu = ops.silu, elu = ops.elu, leaky_relu = ops.leaky_relu,
  ["exact gelu"] = function(y) return ops.gelu(y, false) end,
  clip = function(y) return ops.clip(y, -0.5, 1) end,
  ["wide clip"] = function(y) return ops.clip(y, -1, 1) end,
} do
  local part_results = {}
  for i = 1, 300 do part_results[i] = f(x:slice(i, i)) end
  expect_equal(f(x), ops.concatenate(part_results, 0), name)
  expect_equal(f(x), f(x), name)
end
local v = cr.Variable(x)
local sum
local tape = cr.GradientTape(function() sum = ops.sum(ops.clip(v, -0.5, 1)) end)
local is_inside = ops.logical_and(ops.greater(x, -0.5), ops.less(x, 1)):cast "float32"
expect_equal(tape:gradient(sum, { v })[1], is_inside, "gradient of clip")

-- distances with incomplete tiles and panels, and of points that are near each other but far from
-- zero
for _, dtype in ipairs { "float32", "float64" } do
  for _, size in ipairs { { 1, 1, 3 }, { 20, 33, 300 }, { 65, 130, 17 }, { 12, 16, 700 } } do
    local rows = ops.cast(cr.random.normal { size[1], size[3] }, dtype)
    local other_points = ops.cast(cr.random.normal { size[2], size[3] }, dtype)
    local differences = ops.expand_dims(rows, 1) - ops.expand_dims(other_points, 0)
    local expected = ops.sqrt(ops.sum(ops.square(differences), -1))
    assert(ops.max(ops.abs(ops.cdist(rows, other_points) / expected - 1)):item() < 1e-6)
    expect_equal(ops.cdist(rows:slice(1, 1), other_points),
      ops.cdist(rows, other_points):slice(1, 1), "a row")
  end
end
local near_points = ops.full({ 40, 64 }, 1000)
check.near(ops.cdist(near_points, near_points + 0.5), ops.full({ 40, 40 }, 4))

-- isin: sets of few numbers, of many numbers close together, and of many far apart
for _, dtype in ipairs { "float32", "float64", "bfloat16", "int32", "int64", "int16", "uint8" } do
  for _, count in ipairs { 1, 8, 33, 500 } do
    for _, high in ipairs { 100, 1000000 } do
      if high == 100 or not dtype:find "16" and dtype ~= "uint8" then
        local x = cr.random.uniform({ 7, 300 }, 0, high):cast(dtype)
        local set = ops.concatenate { cr.random.uniform({ count }, 0, high):cast(dtype),
          x:reshape { -1 }:slice(1, 50) }
        local expected = ops.any(ops.equal(ops.expand_dims(x, -1), set), -1)
        local label = count .. " of " .. dtype .. " below " .. high
        expect_equal(ops.isin(x, set), expected, label)
        expect_equal(ops.isin(x, set, { invert = true }), ops.logical_not(expected), label)
      end
    end
  end
end
local special_numbers = t { nan, -0.0, 0, math.huge, 5.5 }
local many_numbers = ops.concatenate { t { nan, 0, math.huge }, cr.random.normal { 100 } }
check.same(ops.isin(special_numbers, many_numbers):totable(), { false, true, true, true, false })
assert(not ops.any(ops.isin(special_numbers, ops.full({ 100 }, nan))):item())
assert(not ops.any(ops.isin(special_numbers, ops.zeros { 0 })):item())

-- rotations by quarter turns, with complete and incomplete tiles, and of planes inside arrays
for _, dtype in ipairs { "float32", "float64", "float16", "uint8" } do
  for _, shape in ipairs { { 3, 5 }, { 70, 100 }, { 33, 16, 2 }, { 2, 40, 3, 50 } } do
    local x = cr.random.uniform(shape, 0, 200):cast(dtype)
    for _, axes in ipairs { { 0, 1 }, { 1, 0 }, { #shape - 1, 0 }, { 1, -1 } } do
      local a, b = axes[1] % #shape, axes[2] % #shape
      if a ~= b then
        local label = table.concat({ "turn", dtype, #shape, a, b }, " ")
        local rotated_once = ops.rot90(x, 1, axes)
        expect_equal(rotated_once, ops.swapaxes(ops.flip(x, b), a, b), label)
        expect_equal(ops.rot90(x, 3, axes), ops.flip(ops.swapaxes(x, a, b), b), label)
        expect_equal(ops.rot90(rotated_once, -1, axes), x, label)
      end
    end
  end
end

-- images with any number of channels are resized like each channel alone
for _, dtype in ipairs { "float32", "float64" } do
  for _, channels in ipairs { 2, 3, 8, 20, 75 } do
    local x = cr.random.normal({ 2, 5, 7, channels }):cast(dtype)
    for _, method in ipairs { "bilinear", "bicubic", "bilinear_keras2" } do
      for _, antialias in ipairs { false, true } do
        local options = { interpolation = method, antialias = antialias }
        local parts = {}
        for c = 1, channels do
          parts[c] = ops.image.resize(ops.slice_axis(x, 3, c - 1, c), { 9, 3 }, options)
        end
        expect_equal(ops.image.resize(x, { 9, 3 }, options), ops.concatenate(parts, 3),
          method)
      end
    end
  end
end
local resize_options = { interpolation = "bilinear_keras2" }
check.same(ops.image.resize(t { { { 0 } }, { { 4 } } }, { 4, 1 },
  resize_options):reshape({ 4 }):totable(),
  { 0, 2, 4, 4 })

-- extracting patches reorders elements; putting them back adds each element as often as patches
-- overlap
for _, dtype in ipairs { "float32", "float64", "uint8" } do
  local x = cr.random.uniform({ 2, 3, 40, 51 }, 0, 200):cast(dtype)
  for _, size in ipairs { { 3, 2 }, { 8, 8 } } do
    for _, stride in ipairs { 1, 3, 8 } do
      local patches = ops.image.extract_patches(ops.transpose(x, { 0, 2, 3, 1 }), size,
        { strides = stride, padding = "valid" })
      local count = patches.shape[2] * patches.shape[3]
      local expected = ops.transpose(patches:reshape { 2, count, size[1] * size[2], 3 },
        { 0, 3, 2, 1 })
      local columns = ops.unfold(x, size, { stride = stride })
      expect_equal(columns, expected:reshape { 2, 3 * size[1] * size[2], count }, "unfold")
      if dtype ~= "uint8" then
        local folded_image = ops.fold(columns, { 40, 51 }, size, { stride = stride })
        local overlap_counts = ops.fold(ops.ones_like(columns), { 40, 51 }, size,
          { stride = stride })
        check.near(ops.max(ops.abs(folded_image - x * overlap_counts)):item(), 0, 0.1)
      end
    end
  end
end

-- unique of integers from a small range, of integers from a large range, and of fractions
for _, dtype in ipairs { "int32", "int64", "int16", "int8", "uint8", "float32" } do
  for _, high in ipairs { 50, dtype:find "8" and 60 or 30000 } do
    local x = ops.cast(cr.random.uniform({ 40, 30 }, dtype == "uint8" and 0 or -high, high), dtype)
    local distinct_values, inverse_indices = ops.unique(x, { return_inverse = true })
    expect_equal(ops.unique(x), distinct_values, "unique of " .. dtype)
    expect_equal(ops.take(distinct_values, inverse_indices, 0), x, "inverse of " .. dtype)
    assert(ops.all(ops.greater(distinct_values:slice(2, -1), distinct_values:slice(1, -2))):item())
    local first_three = ops.unique(x, { size = 3 })
    expect_equal(first_three, distinct_values:slice(1, 3), "three of " .. dtype)
  end
end

-- diff subtracts neighbours and slice_update replaces parts, along any axis
for _, dtype in ipairs { "float32", "float64", "bfloat16", "int32", "int8", "uint8" } do
  for _, shape in ipairs { { 40000 }, { 70, 90, 8 }, { 1, 5 }, { 3, 1, 2 } } do
    local x = cr.random.uniform(shape, dtype == "uint8" and 0 or -120, 120):cast(dtype)
    local start, size = {}, {}
    for axis = 0, #shape - 1 do
      local n = shape[axis + 1]
      start[axis + 1], size[axis + 1] = n // 3, n - n // 3 - n // 4
      local next_elements, previous_elements = ops.slice_axis(x, axis, 1, n),
        ops.slice_axis(x, axis, 0, n - 1)
      expect_equal(ops.diff(x, { axis = axis }), next_elements - previous_elements,
        "diff of " .. dtype)
    end
    local part = cr.random.uniform(size, 0, 100):cast(dtype)
    local updated_x = ops.slice_update(x, start, part)
    expect_equal(ops.slice(updated_x, start, size), part, "part of " .. dtype)
    expect_equal(ops.slice_update(updated_x, start, ops.slice(x, start, size)), x, "rest of "
      .. dtype)
  end
end
for _, start in ipairs { 2, -1, math.maxinteger } do
  check.fails(function() ops.slice_update(t { 1, 2, 3 }, { start }, t { 1, 2 }) end, "do not fit")
end
check.same(ops.diff(t { true, true, false }):totable(), { false, true })
print "ok large_tensors"
