-- Extreme arguments of functions of cr.ops; the expected results are those of Keras 3.15.1.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local tensor_checks = require "tensor_checks"
local cr = require "crescent"
local ops, t = cr.ops, cr.tensor
local inf, nan = math.huge, 0 / 0
local check_row, ints = tensor_checks.check, tensor_checks.ints

local x = t { 2, nan, 1, -inf, inf, 1 }
check_row("sort has NaN last", ops.sort(x), { -inf, 1, 1, 2, inf, nan })
check_row("argsort keeps the order of equals", ops.argsort(x), { 3, 2, 5, 0, 4, 1 }, "int32")
check_row("median of infinities", ops.median(t { -inf, -inf }), -inf)
do -- equal extreme values share the gradient
  local x, median_sum = t { { 1, 1 }, { 2, 1 } }, nil
  local tape = cr.GradientTape(function(tape)
    tape:watch(x)
    median_sum = ops.sum(ops.median(x, { axis = 1 }))
  end)
  check_row("gradient of medians", tape:gradient(median_sum, { x })[1],
    { { 0.5, 0.5 }, { 0.5, 0.5 } })
end
check_row("nanargmax of nothing", ops.nanargmax(t { { nan, nan }, { 1, 2 } }, 1), { -1, 1 })
check_row("max of nothing with a start", ops.max(ops.zeros { 0, 2 }, 0, false, 1.5), { 1.5, 1.5 })
check_row("a start has the dtype", ops.max(ints { 1, 2 }, nil, false, 2.5), 2, "int32")
check_row("logsumexp of nothing", ops.logsumexp(ops.zeros { 0 }), -inf)
check_row("average over axes", ops.average(t { { 1, 2 }, { 3, 4 } }, { 0, 1 }), 2.5)
check_row("weights of the averaged axes",
  ops.average(t { { { 1, 2 }, { 3, 5 } } }, { 2, 0 }, t { { 1 }, { 3 } }), { 1.75, 4.5 })
check_row("differences of booleans", ops.diff(t { 1, 0, 0 }:cast "bool"), { true, false }, "bool")
check_row("differences of one", ops.diff(t { 1 }), {})
check_row("as many differences as elements", ops.diff(t { 1, 4, 9 }, 3), {})
check_row("differences without end", ops.diff(t { 1, 4, 9 }, 1 << 62), {})
check_row("no differences", ops.diff(t { 1, 4, 9 }, 0), { 1, 4, 9 })
assert(not pcall(ops.diff, t { 1, 4, 9 }, -1))
check_row("a patch without what is beside it",
  ops.image.extract_patches(t { { { 1, 2 }, { inf, nan } } }:transpose { 1, 2, 0 }, 1),
  { 1, 2, inf, nan })
local image = ints { { { 1 }, { 2 } }, { { 3 }, { 4 } } }
check_row("patches of integers", ops.image.extract_patches(image, { 2, 1 }), { 1, 3, 2, 4 },
  "int32")
check_row("patches beyond the border", ops.image.extract_patches(image, 2, 1, 1, "same"),
  { 1, 2, 3, 4, 2, 0, 4, 0, 3, 4, 0, 0, 4, 0, 0, 0 })
check_row("columns added with an infinity among them",
  ops.fold(t { { { 1, inf }, { 2, 3 } } }, { 1, 3 }, { 1, 2 }), { 1, inf, 3 })
check.fails(function() ops.fold(ops.ones { 1, 4, 1 }, { 2, 2 }, 0) end, "at least 1")
check.fails(function() ops.image.extract_patches(image, 3) end, "larger than the images")
check_row("running sums keep the dtype", ops.cumsum(ints({ 1, 2 }, "uint8")), { 1, 3 }, "uint8")
check_row("of booleans they count", ops.cumsum(t { 1, 1 }:cast "bool"), { 1, 2 }, "int32")
check_row("prod in a dtype", ops.prod(ints { 2, 3 }, nil, false, "uint8"), 6, "uint8")

check_row("booleans that run become numbers", ops.cumsum(t { 2.5, 2 }, nil, "bool"), { 2, 4 },
  "int32")

-- a number takes the tensor's dtype; 2.0 counts as a floating-point number, as in Python
local whole_numbers, booleans = ints { 3, -2 }, t { 1, 0 }:cast "bool"
check_row("whole numbers", whole_numbers + 2, { 5, 0 }, "int32")
check_row("a fraction that is whole", whole_numbers + 2.0, { 5, 0 }, "float32")
check_row("... in front", 2.0 * whole_numbers, { 6, -4 }, "float32")
check_row("... beside small ones", ops.maximum(ints({ 3 }, "uint8"), 1.0), 3, "float32")
check_row("... as a limit", ops.clip(whole_numbers, -1.0, 1), { 1, -1 }, "float32")
check_row("... as what where gives", ops.where(booleans, whole_numbers, 0.0), { 3, 0 }, "float32")
check_row("... does not change fractions", ops.add(t { 1 }:cast "float16", 2.0), 3, "float16")
check_row("whole numbers and booleans", ops.maximum(booleans, 2), { 2, 2 }, "int32")
check_row("fractions and booleans", ops.multiply(booleans, 2.0), { 2, 0 }, "float32")
check_row("what int32 does not hold", ops.less(whole_numbers, 1 << 40), { true, true }, "bool")
check_row("two whole numbers", ops.add(1, 2), 3, "int32")
check_row("two large ones", ops.add(1, 1 << 40), (1 << 40) + 1, "int64")
check_row("a fraction and a whole number", ops.add(1, 2.0), 3, "float32")
check_row("their quotient", ops.divide(1, 2), 0.5, "float32")
check_row("a whole number by itself", ops.negative(3), -3, "int32")
check_row("... inverted", ops.bitwise_not(2), -3, "int32")
check_row("a fraction by itself", ops.abs(-3.0), 3, "float32")
check_row("a number that is no tensor yet", ops.convert_to_tensor(3), 3, "int32")
check_row("... neither sparse nor ragged", ops.convert_to_tensor(3, nil, false, false), 3, "int32")
check.fails(function() ops.convert_to_tensor(3, nil, true) end, "sparse tensors are not supported")

-- the dtypes of the results of functions
local float16_numbers = t { -1, 2 }:cast "float16"
check_row("angle", ops.round(ops.angle(float16_numbers)), { 3, 0 }, "float16")
check_row("nan_to_num", ops.nan_to_num(float16_numbers), { -1, 2 }, "float16")
check_row("ldexp", ops.ldexp(float16_numbers, ints { 1, 2 }), { -2, 8 }, "float16")
check_row("logspace of halves", ops.logspace(t(1):cast "float16", 2, 2), { 10, 100 }, "float16")
check_row("logspace in whole numbers", ops.logspace(0, 3, 4, true, 10, "int32"),
  { 1, 10, 100, 1000 }, "int32")
check_row("logspace of tensors in whole numbers", ops.logspace(t { 0, 1 }, 2, 2,
  { dtype = "int32" }), { 1, 10, 100, 100 }, "int32")
check_row("geomspace in whole numbers", ops.geomspace(1, 100, 3, { dtype = "int32" }),
  { 1, 10, 100 }, "float32")
for _, name in ipairs { "cbrt", "deg2rad", "rad2deg", "i0" } do
  check_row(name .. " of int64", ops[name](ints({ 0 }, "int64")), ops[name](t { 0 }):totable(),
    "float64")
end
check_row("correlate of int64", ops.correlate(ints({ 1, 2 }, "int64"), ints { 3 }), { 3, 6 },
  "float64")
check_row("hypot of int64", ops.hypot(ints({ 3 }, "int64"), 4), 5, "float64")
check_row("heaviside of booleans", ops.heaviside(booleans, booleans), { true, false }, "bool")
check_row("outer of booleans", ops.outer(booleans, booleans), { { true, false }, { false, false } },
  "bool")
check_row("vander of booleans", ops.vander(booleans, 2), { { true, true }, { false, true } },
  "bool")
check_row("tril of booleans", ops.tril(ops.outer(booleans, booleans)),
  { { true, false }, { false, false } }, "bool")
check_row("a row summed by einsum", ops.einsum("i->", ints({ 1, 2 }, "int16")), 3, "int16")
check_row("booleans multiplied", ops.matmul(booleans, booleans), true, "bool")
check_row("vectors of small numbers", ops.vdot(ints({ 2 }, "int16"), ints({ 3 }, "int16")), 6,
  "int16")
check_row("weights that are small", ops.bincount(ints { 1 }, ints({ 4 }, "int8")), { 0, 4 },
  "int32")
check_row("weights that are halves",
  ops.average(ints { 1, 6 }, nil, float16_numbers * float16_numbers), 5, "float16")
check_row("hard_shrink of NaN", ops.hard_shrink(t { nan, 0.25 }), { nan, 0 })
check_row("threshold of large numbers", ops.threshold(ops.add(2147483647, 0), 0.5, -1), 2147483647)
check_row("fmod of small numbers", ops.fmod(ints({ 5 }, "uint8"), 3), 2, "uint8")
check_row("booleans added in places", ops.scatter_update(booleans, ints { { 1 } },
  t { 1 }:cast "bool",
  { reduction = "add" }), { true, true }, "bool")
check_row("edges of whole numbers", ops.image.sobel_edges(ops.ones({ 1, 2, 2, 1 },
  "int32"))[1][1][1], { { 3, 3 } }, "int32")
check_row("layer_normalization", ops.layer_normalization(ints { 0, 30, 0 }), { 0, 1, 0 }, "int32")
check_row("layer_normalization, a row of gamma",
  ops.layer_normalization(t { { -2, 2 } }, { gamma = t { { 2, 3 } }, epsilon = 0 }), { -2, 3 })
check_row("layer_normalization, beta alone",
  ops.layer_normalization(t { { -2, 2 } }, { beta = t { 5, 5 }, epsilon = 0 }), { 4, 6 })
check_row("batch_normalization, scale alone", ops.batch_normalization(t { { 3, 8 } }, t { 1, 2 },
  t { 4, 9 }, -1, { scale = t { 2, 1 }, epsilon = 0 }), { 2, 2 })
check_row("nextafter of halves", ops.nextafter(float16_numbers, float16_numbers + 1), { -1, 2 },
  "float16")
check_row("corrcoef of a row", ops.corrcoef(t { { 1, 2, 4 } }), 1)
check.fails(function() ops.norm(t { 1, 2 }, { axis = {} }) end, "expected one axis or two, got 0")

check_row("fmod by infinity", ops.fmod(t { 2.5, -2.5 }, inf), { 2.5, -2.5 })
check_row("fmod of large numbers", ops.fmod(t { 1e8 }, 3), { 1 })
check_row("a sum of booleans", ops.add(t { 1, 0 }:cast "bool", t { 1, 0 }:cast "bool"), { 1, 0 },
  "bool")
check_row("booleans added by the operator", booleans + booleans, { true, false }, "bool")
check_row("booleans multiplied by the operator", booleans * booleans, { true, false }, "bool")
check_row("abs of booleans", ops.abs(t { 1, 0 }:cast "bool"), { true, false }, "bool")
check_row("limits that are tensors", ops.clip(t { -1, 5 }, t { 0, 1 }, t { 3, 3 }), { 0, 3 })
check.fails(function() ops.clip(t { 1 }, "low", 2) end, "clip", "low")
check.fails(function() ops.arange "three" end, "arange", "three")
check.fails(function() ops.slice(t { 1 }, "first", { 1 }) end, "slice", "first")
check_row("limits that cross", ops.clip(t { -1, 5 }, 2, 1), { 1, 1 })
check_row("erfinv of small numbers", ops.erfinv(t { 1e-20, -1e-10, 0 }),
  { 8.8623e-21, -8.8623e-11, 0 })
local sizes = t { 0, 0.5, -3, 11.9, 12.1, -60 }
check_row("i0 of all sizes", ops.i0(sizes) / ops.cast(ops.i0(sizes:cast "float64"), "float32"),
  { 1, 1, 1, 1, 1, 1 })
check_row("neighbours", ops.nextafter(t { 1, 1, -1, inf, -inf, inf, 3, nan, 1 },
    t { 2, -inf, -2, 0, inf, -inf, 3, 1, nan }) - t { 1, 1, -1, 0, 0, 0, 3, 0, 0 },
  { 2 ^ -23, -2 ^ -24, -2 ^ -23, 0x1.fffffep127, -0x1.fffffep127, 0x1.fffffep127, 0, nan, nan })
check_row("neighbours of 0", ops.nextafter(t { 0, -0.0, 0 }, t { 1, -1, 0 }),
  { 2 ^ -149, -2 ^ -149, 0 })
check_row("i0 of large numbers", ops.i0(t { 1e5 }), inf)
check_row("threshold keeps the dtype", ops.threshold(ints { 0, 2 }, 0.5, 0.25), { 0, 2 }, "int32")
check_row("ranges of fractions", ops.arange(3.0), { 0, 1, 2 }, "float32")
check_row("ranges of whole numbers", ops.arange(3), { 0, 1, 2 }, "int32")
-- 64 numbers of a range are computed at a time
for _, n in ipairs { 0, 1, 63, 64, 65, 127, 128, 200 } do
  local start, step = 0.375, -1.7
  local range, spaced_numbers = {}, {}
  for i = 1, n do
    range[i], spaced_numbers[i] = start + step * (i - 1), start + (7 - start) * (i - 1) / n
  end
  for _, dtype in ipairs { "float64", "float32", "int32", "int64", "bfloat16" } do
    local numbers = ops.arange(start, start + step * (n - 0.5), step, dtype)
    check_row("a range of " .. n, numbers, cr.tensor(range, "float64"):cast(dtype):totable(), dtype)
    check_row(n .. " evenly spaced numbers", ops.linspace(start, 7, n, { endpoint = false,
      dtype = dtype }), cr.tensor(spaced_numbers, "float64"):cast(dtype):totable(), dtype)
  end
end
check_row("whole ends of geomspace", ops.geomspace(1, 16, 5, true, "int32"), { 1, 2, 4, 8, 16 })
check_row("saturate_cast to half width", ops.saturate_cast(t { inf, -1e10, 7, nan }, "float16"),
  { 65504, -65504, 7, nan }, "float16")
check_row("saturate_cast of whole numbers to half width",
  ops.saturate_cast(ints { 100000, -70000, 12 }, "float16"), { 65504, -65504, 12 }, "float16")
check_row("saturate_cast of infinity", ops.saturate_cast(t { -inf }, "float32"),
  { -0x1.fffffep127 })
check_row("saturate_cast to bool", ops.saturate_cast(t { -1.5, 2 }, "bool"), { false, true })
check_row("full of a tensor", ops.full({ 2 }, ints { 3, 4 }), { 3, 4 }, "float32")
check_row("vectors multiplied", ops.matmul(t { 1, 2 }, t { 3, 4 }), 11)
local int8_number = ints({ { 100 } }, "int8")
check_row("short whole numbers multiplied", ops.matmul(int8_number, int8_number), { 10000 },
  "int32")
check_row("products over nothing", ops.dot(ops.zeros { 1, 0 }, ops.zeros { 0, 2 }), { 0, 0 })
check_row("segments that are none", ops.segment_max(t { 1, 5, 2 }, ints { 0, -1, 1 }, 2), { 1, 2 })
check_row("segments with nan", ops.segment_max(t { 1, nan, 2 }, ints { 0, 0, 1 }, 2), { nan, 2 })
check_row("segments that begin with nan", ops.segment_min(t { nan, 1, 2 }, ints { 0, 0, 1 }, 2),
  { nan, 2 })
local large_integers = t({ 1216388546, 16777217 }, "int32")
check_row("a maximum of large whole numbers",
  ops.max(large_integers, { initial = 0 }) - large_integers[1], 0,
  "int32")
check_row("a minimum of large whole numbers",
  ops.min(large_integers, { initial = 2000000000 }) - large_integers[2],
  0, "int32")
check_row("the initial value is the maximum",
  ops.max(large_integers, { initial = 1216388547 }) - large_integers[1],
  1, "int32")
check_row("a maximum of whole numbers and a fraction", ops.max(ints { 1 }, { initial = 2.5 }), 2,
  "int32")
check_row("a maximum of nothing", ops.max(cr.zeros({ 0, 2 }, "int32"), { axis = 0, initial = -1 }),
  { -1, -1 }, "int32")
check_row("a median of nothing", ops.median(cr.zeros { 0, 2 }, 0), { nan, nan })
check_row("a median of nothing but nan", ops.nanmedian(cr.zeros { 0 }), nan)
check.fails(function() ops.segment_max(t { 1, 5 }, ints { 0 }, 2) end, "a number for each row")

check_row("a mask as key", ops.get_item(t { 1, 2, 3 }, t { 1, 0, 1 }:cast "bool"), { 1, 3 })
check.fails(function() ops.get_item(t { 1, 2, 3 }, t { 1, 0 }:cast "bool") end, "(2,)", "(3,)")
check_row("a slice from a tensor", ops.slice(t { 1, 2, 3, 4 }, ints { 1 }, { 2 }), { 2, 3 })
check_row("an update from a tensor", ops.slice_update(t { 1, 2, 3 }, ints { 1 }, t { 8, 9 }),
  { 1, 8, 9 })

for mode, expected in pairs {
  edge = { 1, 1, 1, 4, 2, 2 }, wrap = { 4, 2, 1, 4, 2, 1 }, circular = { 4, 2, 1, 4, 2, 1 },
  reflect = { 2, 4, 1, 4, 2, 4 }, symmetric = { 4, 1, 1, 4, 2, 2 }, empty = { 0, 0, 1, 4, 2, 0 },
  maximum = { 4, 4, 1, 4, 2, 4 }, minimum = { 1, 1, 1, 4, 2, 1 }, median = { 2, 2, 1, 4, 2, 2 },
  linear_ramp = { 0, 0.5, 1, 4, 2, 0 }, mean = { 7 / 3, 7 / 3, 1, 4, 2, 7 / 3 },
} do
  check_row("pad: " .. mode, ops.pad(t { 1, 4, 2 }, { { 2, 1 } }, mode), expected)
end
check.fails(function() ops.pad(t { 1 }, 1, "egde") end, "did you mean 'edge'")

-- where the standard deviation is 0, its gradient is 0
local equal_numbers = cr.Variable(t { 2, 2 })
local deviation
local tape = cr.GradientTape(function() deviation = ops.std(equal_numbers) end)
check_row("gradient of std", tape:gradient(deviation, { equal_numbers })[1], { 0, 0 })
tape = cr.GradientTape(function() deviation = ops.nanstd(equal_numbers) end)
check_row("gradient of nanstd", tape:gradient(deviation, { equal_numbers })[1], { 0, 0 })
-- gradients where two numbers are equal, and where a sign changes
local function check_gradients(what, f, values, expected)
  local variables, y = {}, nil
  for i, value in ipairs(values) do variables[i] = cr.Variable(t { value }) end
  local gradient_tape = cr.GradientTape(function() y = f(table.unpack(variables)) end)
  for i, gradient in ipairs(gradient_tape:gradient(y, variables)) do check_row(what, gradient,
    { expected[i] }) end
end
check_gradients("gradient of arcsinh at 0", ops.arcsinh, { 0 }, { 1 })
check_gradients("gradient of celu at 0", ops.celu, { 0 }, { 1 })
check_gradients("gradient of hypot of equals", ops.hypot, { 3, -3 },
  { math.sqrt(0.5), -math.sqrt(0.5) })
check_gradients("gradient of logaddexp of equals", ops.logaddexp, { 2, 2 }, { 0.5, 0.5 })
check_gradients("gradient of logaddexp2 of equals", ops.logaddexp2, { -1, -1 }, { 0.5, 0.5 })
check_row("hypot with an infinity", ops.hypot(t { inf, nan, 3 }, t { nan, -inf, nan }),
  { inf, inf, nan })
check_row("logaddexp of infinities", ops.logaddexp(t { inf, -inf, -inf, 1e8 },
  t { inf, -inf, 2, -1e8 }), { inf, -inf, 2, 1e8 })

-- overlapping frames are added without a window
local spectra = { t { { 1, 0 }, { 1, 0 } }, ops.zeros { 2, 2 } }
check_row("istft without a window",
  ops.istft(spectra, 2, 1, 2, { window = cr.null, center = false }), { 0.5, 1, 0.5 })
check_row("... of frames that are longer than the sequences", ops.istft({ ops.ones { 2, 3 },
  ops.zeros { 2, 3 } }, 2, 1, 4, { window = cr.null, center = false }), { 1, 1, 0, 0, 0 })
-- if the padding has an odd number of rows, the additional row is dropped
local long_sequence = ops.reshape(ops.arange(6), { 1, 6, 1 })
check_row("resize with padding",
  ops.image.resize(long_sequence, { 3, 3 }, "nearest",
  { pad_to_aspect_ratio = true, fill_value = 9 }),
  { 9, 9, 9, 1, 3, 5, 9, 9, 9 })
check_row("map_coordinates rounds", ops.image.map_coordinates(ints { 0, 3 }, t { { 0.5 } }, 1), 2)

-- tile and repeat make copies along several axes
check_row("tile", ops.tile(t { { 1, 2 } }, { 2, 2 }), { 1, 2, 1, 2, 1, 2, 1, 2 })
check_row("tile with more counts", ops.tile(t { 1, 2 }, { 2, 1, 2 }), { 1, 2, 1, 2, 1, 2, 1, 2 })
check.same(ops.tile(t { 1, 2 }, { 2, 1, 2 }).shape, { 2, 1, 4 })
check_row("tile with fewer counts", ops.tile(t { { 1 }, { 2 } }, { 2 }), { 1, 1, 2, 2 })
check.same(ops.tile(t { 1, 2 }, { 0 }).shape, { 0 })
check_row("tile of a number", ops.tile(t(3), { 2 }), { 3, 3 })
check.same(ops.tile(ops.ones { 1, 2, 1, 1, 1 }, { 1, 2, 1, 1, 3 }).shape, { 1, 4, 1, 1, 3 })
check.fails(function() ops.tile(t { 1 }, { -1 }) end, "cannot repeat -1")

-- an empty list of axes reduces nothing; without axes everything is reduced
local matrix = t { { 1, 2 }, { 0, 4 } }
for _, name in ipairs {
  "sum", "mean", "max", "min", "prod", "amax", "amin", "logsumexp", "median", "nansum", "nanmean",
  "nanmax", "nanmedian", "average",
} do
  check_row(name .. " over no axes", ops[name](matrix, {}), { 1, 2, 0, 4 })
  check.same(ops[name](matrix, { axis = {} }).shape, { 2, 2 }, name)
end
check_row("sum over no axes, kept", ops.sum(matrix, {}, true), { 1, 2, 0, 4 })
check.same(ops.sum(matrix, {}, true).shape, { 2, 2 })
check_row("any over no axes", ops.any(matrix, {}), { 1, 1, 0, 1 }, "bool")
check_row("count_nonzero over no axes", ops.count_nonzero(matrix, {}), { 1, 1, 0, 1 }, "int32")
for _, name in ipairs { "var", "std", "ptp", "nanvar" } do
  check_row(name .. " over no axes", ops[name](matrix, {}), { 0, 0, 0, 0 })
end
local mean, variance = ops.moments(matrix, {})
check_row("means over no axes", mean, { 1, 2, 0, 4 })
check_row("variances over no axes", variance, { 0, 0, 0, 0 })
check_row("sum of all", ops.sum(matrix), 7)

-- numbers without a tensor have the dtype in which they are written
local is_large = ops.greater(matrix, 1)
check_row("where of whole numbers", ops.where(is_large, 1, -1), { -1, 1, -1, 1 }, "int32")
check_row("where of fractions", ops.where(is_large, 1.0, 0), { 0, 1, 0, 1 }, "float32")
check_row("where of truth values", ops.where(is_large, true, false), { 0, 1, 0, 1 }, "bool")
check_row("where of both", ops.where(is_large, true, 2), { 2, 1, 2, 1 }, "int32")
check_row("where beside a tensor", ops.where(is_large, matrix:cast "float16", 1), { 1, 2, 1, 4 },
  "float16")

-- with rms_scaling the mean of x is not subtracted, and beta is ignored
local rms_options = { rms_scaling = true, epsilon = 0 }
check_row("layer_normalization, rms_scaling", ops.layer_normalization(t { { 1, 3 } }, rms_options),
  { 1, 3 })
rms_options.gamma, rms_options.beta = t { 2, 3 }, t { 5, 5 }
check_row("layer_normalization, gamma", ops.layer_normalization(t { { 1, 3 } }, rms_options),
  { 2, 9 })

-- limits and shapes that functions accept, as in Keras
local counts, edges = ops.histogram(t { -1.28107488155365, 0, 2.185755968093872 })
check_row("the largest number is in the last bin", counts, { 1, 0, 0, 1, 0, 0, 0, 0, 0, 1 })
check_row("the edges end at it", ops.equal(edges:slice(11, 11), t { 2.185755968093872 }), true)
check.fails(function() ops.histogram(t { 1 }, 3, { 2, 1 }) end, "the lower one first, got [2")
check.fails(function() ops.bincount(ints { 0, -2 }) end, "expected numbers from 0, got -2")
check.fails(function() ops.bincount(ints { 0, -2 }, t { 1, 1 }) end, "numbers from 0, got -2")
check_row("flip along no axes", ops.flip(t { { 1, 2 } }, {}), { 1, 2 })
check_row("multi_hot in a dtype", ops.multi_hot(ints { 0, 2 }, 3, -1, "int8"), { 1, 0, 1 }, "int8")
check_row("multi_hot as truth values", ops.multi_hot(ints { 0, 2 }, 3, { dtype = "bool" }),
  { 1, 0, 1 }, "bool")
check_row("a slice of the first axes", ops.slice(t { { 1, 2 }, { 3, 4 } }, { 1 }, { 1 }), { 3, 4 })
check.fails(function() ops.slice(t { 1, 2 }, { 0, 0 }, { 1, 1 }) end, "for each axis")
check_row("no updates", ops.scatter_update(t { 1, 2 }, ops.zeros({ 0, 1 }, "int32"),
  ops.zeros { 0 }), { 1, 2 })
check_row("an update of nothing", ops.slice_update(t { 1, 2 }, ints { 1 }, ops.zeros { 0 }),
  { 1, 2 })
local ids_out_of_range = ints { -2 ^ 31 | 0, -1, 0, 1, 2, 2 ^ 31 - 1 | 0 }
check_row("ids out of range", ops.segment_sum(t { 1, 2, 4, 8, 16, 32 }, ids_out_of_range, 2),
  { 4, 8 })
check_row("ids of rows out of range", ops.segment_sum(t { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 },
  { 9, 9 }, { 9, 9 } }, ids_out_of_range, 2), { { 5, 6 }, { 7, 8 } })
check_row("maxima of ids out of range", ops.segment_max(t { 9, 9, 4, 8, 16, 32 }, ids_out_of_range,
  3),
  { 4, 8, 16 })
check_row("weights of no numbers", ops.bincount(ints {}, t {}), {})
check_row("weights of small integers", ops.bincount(ints({ 2, 0, 2 }, "uint8"), t { 1, 2, 4 }, 4),
  { 2, 0, 5, 0 })
local sums = ops.segment_sum(t { 1, 1, 0 }:cast "bool", ints { 0, 0, 1 }, 2)
check_row("a sum of truth values", ops.cast(sums, "int32"), { 1, 0 })
check_row("softmax of a number", ops.softmax(t(3)), 1)
check_row("log_softmax of a number", ops.log_softmax(t(3)), 0)
check_row("rms_normalization by a number", ops.rms_normalization(t { { 3, 3 } }, 2), { 2, 2 })
check_row("normalize matrices", ops.normalize(t { { 1, -2 }, { 3, 4 } }, { 0, 1 }, 1),
  { 1 / 6, -2 / 6, 3 / 6, 4 / 6 })
check.fails(function() ops.normalize(t { 1 }, -1, 0.5) end, "order must be a whole number")
check.fails(function() ops.expand_dims(matrix, -4) end, "expand_dims: axis -4 is out of range")
check.fails(function() ops.expand_dims(matrix, 3) end, "expand_dims: axis 3 is out of range")
check_row("gray of whole numbers", ops.image.rgb_to_grayscale(ints({ { { 38, 20, 7 } } },
  "uint8")), 23, "uint8")
check.fails(function() ops.array_split(t { 1 }, 1 << 31) end, "array_split: 2147483648 parts")
check.fails(function() ops.vsplit(ops.zeros { 0, 1 }, 1 << 31) end, "too many for 0 elements")
local lu, pivots = ops.lu_factor(t { { 1, 2, 4 }, { 2, 2, 2 } })
check_row("factors of a wide matrix", lu, { 2, 2, 2, 0.5, 1, 3 })
check_row("... and its pivots", pivots, { 1, 1 }, "int32")
lu, pivots = ops.lu_factor(t { { 1 }, { 4 }, { 2 } })
check_row("factors of a tall matrix", lu, { 4, 0.25, 0.5 })
check_row("... and its pivot", pivots, { 1 })
check.fails(function() ops.lu_factor(t { 1 }) end, "expected matrices, got shape (1,)")
do -- erfc for large arguments, and its derivative
  local x = { -6, -1.5, 0, 0.3, 1, 3.9, 4, 5, 9, 26, 27 }
  local expected_values = { 2, 1.96610514647531, 1, 0.671373240540873, 0.157299207050285,
    3.47922485972318e-08, 1.541725790028e-08, 1.53745979442804e-12, 4.13703174651381e-37,
    5.66319240885614e-296, 5.23704643935263e-319 }
  for dtype, tolerance in pairs { float32 = 1e-6, float64 = 1e-13, float16 = 2e-3,
    bfloat16 = 2e-2 } do
    for _, repetitions in ipairs { 1, 700 } do -- arrays of one block and of several blocks
      local y = ops.erfc(ops.tile(t(x):cast(dtype), { repetitions })):cast "float64":totable()
      for i, value in ipairs(y) do
        local expected = expected_values[(i - 1) % #x + 1]
        local argument = x[(i - 1) % #x + 1]
        local smallest_number = dtype == "float16" and 6.2e-5 or dtype == "float64" and 1e-307
          or 1.2e-38
        if expected > smallest_number
          and argument == t({ argument }):cast(dtype):cast "float64":totable()[1] then
          check.near(value / expected, 1, tolerance, "erfc(" .. argument .. "), " .. dtype)
        end
      end
    end
  end
  local derivative
  local points = t({ 0.5, 3 }, "float64")
  local y
  local tape = cr.GradientTape(function(tape) tape:watch(points) y = ops.sum(ops.erfc(points)) end)
  derivative = tape:gradient(y, { points })[1]
  check.near(derivative / t({ -0.878782578935445, -0.000139253051946748 }, "float64"), { 1, 1 },
    1e-12)
end
-- Histograms: numbers on inner edges belong to the bin above them; the last edge belongs to the
-- last bin.
do
  local function histogram(values, bins, low, high)
    local counts, edges = ops.histogram(values, bins, { low, high })
    check.near(edges, ops.linspace(low, high, bins + 1), 1e-6)
    local expected = {}
    for i = 1, bins do expected[i] = 0 end
    local numbers, limits = values:cast "float64":totable(), edges:cast "float64":totable()
    for _, x in ipairs(numbers) do
      for i = 1, bins do
        if x >= limits[i] and (x < limits[i + 1] or i == bins and x == high) then
          expected[i] = expected[i] + 1
        end
      end
    end
    check.same(counts:totable(), expected, bins .. " bins")
  end
  for _, dtype in ipairs { "float32", "float64", "int32", "int64" } do
    local whole_numbers = ops.arange(-5, 6):cast(dtype)
    histogram(whole_numbers, 5, -5, 5)
    check.same(ops.histogram(whole_numbers, 5, { -5, 5 }):totable(), { 2, 2, 2, 2, 3 })
    histogram(whole_numbers, 10, -5, 5)
    histogram(whole_numbers, 4, -4, 4)
  end
  histogram(cr.random.uniform({ 70000 }, -1, 2, "float32", 1), 37, -1, 2)
  local counts, edges = ops.histogram(ops.arange(0, 31):cast "int32", 3)
  check.same({ counts:totable(), edges:totable() }, { { 10, 10, 11 }, { 0, 10, 20, 30 } })
end
do -- along axes of unknown size, the number of differences is unknown too
  local i = cr.Input { batch_shape = { -1, -1, 3 } }
  check.same(ops.diff(i, 1, 1).shape, { -1, -1, 3 })
  check.same(ops.diff(i, 2, 2).shape, { -1, -1, 1 })
  check.same(ops.diff(ops.greater(i, 0), 1, 1).shape, { -1, -1, 3 })
  local m = cr.Model { inputs = i, outputs = ops.diff(i, 2, 1) }
  local x = cr.random.normal { 2, 7, 3 }
  check.near(m:predict(x), ops.diff(x, 2, 1))
end
-- diagonals outside of the matrix, however far
for _, k in ipairs { math.mininteger, -4, 3, math.maxinteger } do
  check_row("eye", ops.sum(ops.eye(4, 3, k)), 0)
  check_row("tri", ops.sum(ops.tri(4, 3, k)), k > 0 and 12 or 0)
  check.same(ops.diagonal(ops.ones { 4, 3 }, k).shape, { 0 })
end
check.fails(function() ops.diag(t { 1 }, math.mininteger) end, "expected k from")
-- an index out of range is reported as the caller wrote it
check.fails(function() ops.take(t { 1, 2, 3, 4 }, t({ 1, -5 }, "int64")) end, "index -5 at [1]")
check.fails(function() ops.take_along_axis(t { 1, 2 }, t({ -3 }, "int32"), 0) end,
  "index -3 at [0]")
check_row("from the end", ops.take(t { 1, 2, 3, 4 }, t({ -4, 3, -1 }, "int64")), { 1, 4, 4 })
check.fails(function() ops.unravel_index(t({ 3, 100 }, "int64"), { 2, 2 }) end, "index 100 at [1]",
  "shape (2, 2)")
check.same(ops.unravel_index(t({ -1 }, "int64"), { 2, 2 })[1]:totable(), { 1 })
check.fails(function() ops.moveaxis(ops.ones { 2, 3, 4 }, { 0, 0 }, { 1, 2 }) end, "twice",
  "source")
check.fails(function() ops.moveaxis(ops.ones { 2, 3, 4 }, { 0, 1 }, { -1, 2 }) end, "twice",
  "destination")
check.same(ops.moveaxis(ops.ones { 2, 3, 4 }, { 0, -1 }, { 1, 0 }).shape, { 4, 2, 3 })
-- axis = false means all axes, or the elements of the flattened tensor
do
  local matrix = t { { 3, 1 }, { 2, 0 } }
  for _, name in ipairs { "softmax", "log_softmax", "normalize" } do
    local flat = ops[name](matrix:reshape { 4 }):reshape { 2, 2 }
    check.near(ops[name](matrix, { axis = false }), flat, 1e-6, name)
    check.near(ops[name](matrix, false), flat, 1e-6, name)
  end
  for _, name in ipairs { "sum", "max", "mean", "std", "median", "logsumexp", "all" } do
    check.same(ops[name](matrix, false):totable(), ops[name](matrix):totable(), name)
  end
  check_row("flip along all axes", ops.flip(matrix, false), { 0, 2, 1, 3 })
  check_row("sort of the flat elements", ops.sort(matrix, { axis = false }), { 0, 1, 2, 3 })
  check_row("argsort of the flat elements", ops.argsort(matrix, { axis = false }), { 3, 1, 2, 0 },
    "int32")
end

-- '...' in an equation of several operands, also with axes of different lengths
do
  local a, b, c = t { { 1, 2 } }, t { { 1, 2, 3 }, { 4, 5, 6 } }, t { { 1 }, { 2 } }
  local product = ops.einsum("i...,...j,...k", a, b, c)
  check.same(product.shape, { 2, 1, 3, 1 })
  check_row("einsum of three", product, { 1, 2, 3, 16, 20, 24 })
  check_row("einsum of three with sums", ops.einsum("i...,...j,...k->...i", a, b, c), { 6, 60 })
  local rows = cr.random.normal({ 3, 4 }, { seed = 1 })
  local columns = cr.random.normal({ 4, 5 }, { seed = 2 })
  local stack = cr.random.normal({ 2, 1, 6 }, { seed = 3 })
  local stacked_product = ops.einsum("i...,...j,b...k", rows, columns, stack)
  check.same(stacked_product.shape, { 4, 2, 3, 5, 6 })
  local broadcast_stack = ops.broadcast_to(stack, { 2, 4, 6 })
  check.near(stacked_product, ops.einsum("in,nj,bnk->nbijk", rows, columns, broadcast_stack), 1e-5)
end

check_row("pad with a boolean", ops.pad(t({ true }, "bool"), 1, { constant_values = true }),
  { true, true, true }, "bool")
check_row("padding in capitals", ops.max_pool(t { { { 1 }, { 3 }, { 2 } } }, 2,
  { padding = "SAME", data_format = "Channels_Last" }), { 3, 2 })
check.fails(function() ops.max_pool(ops.ones { 1, 3, 1 }, 2, { padding = "SOME" }) end,
  "must be 'valid' or 'same', got 'SOME'")
check.fails(function() ops.histogram(ops.ones { 2, 3 }) end, "histogram: expected one axis, got")
check.fails(function() ops.vsplit(ops.ones { 4 }, 2) end, "vsplit: expected at least 2 axes")
check.fails(function() ops.vsplit(ops.ones { 4 }, { 2 }) end, "vsplit: expected at least 2 axes")
check.fails(function() ops.average(ops.ones { 3, 4 }, { weights = { 1, 2, 3, 4 } }) end,
  "average: expected weights of the shape of x, (3, 4)", "got shape (4,)")

print "ok operation_values"
