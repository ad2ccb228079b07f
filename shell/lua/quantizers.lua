-- The functions of cr.quantizers, which round numbers to integers of few bits and back, and pack
-- two integers of 4 bits into a byte.
local cr, shell = ...
local ops = cr.ops

local quantizers = {}

local function option(name, type, doc, default)
  local required = default == nil or nil
  return { name = name, type = type, doc = doc, default = default, required = required }
end
local axis_option = option("axis", "an integer or a list of them", "Axes whose elements share a "
  .. "scale.")
local epsilon_option = option("epsilon", "a number", "Added to magnitudes before divisions.", 1e-7)
local function range_option(usual_range)
  return { name = "value_range", type = "a list of two integers",
    doc = "Smallest and largest integer; nil: " .. usual_range .. "." }
end

local function define(title, doc, options, body)
  quantizers[title:match "^%S+"] = shell.define(title, doc, options, body)
end

local function check_range(name, range)
  if type(range) ~= "table" or #range ~= 2 or not (range[1] < range[2]) then
    shell.fail(name, ": value_range: expected a smallest and a larger integer, got ",
      cr.show(range))
  end
end

define("abs_max_quantize -> the integers, the scale",
  "Multiplies by the scale with which the largest magnitude along the axes becomes the end of the "
  .. "range, and rounds.", {
  option("inputs", "a tensor", "The numbers."), axis_option, range_option "-127 and 127",
  option("dtype", "a dtype", "Dtype of the integers.", "int8"), epsilon_option,
}, function(inputs, axis, range, dtype, epsilon)
  range = range or { -127, 127 }
  check_range("abs_max_quantize", range)
  inputs = ops.convert_to_tensor(inputs)
  local scale = range[2] / (ops.max(ops.abs(inputs), axis, { keepdims = true }) + epsilon)
  scale = ops.cast(scale, inputs.dtype)
  return ops.cast(ops.clip(ops.round(inputs * scale), range[1], range[2]), dtype), scale
end)

-- The smallest and the largest number of each group of `size` rows in a column; if they are equal,
-- they are moved apart by 1 each. The last group is filled with zeros, unless it is the only one.
local function group_bounds(matrix, size)
  local rows, columns = matrix.shape[1], matrix.shape[2]
  local groups = (rows + size - 1) // size
  if groups == 1 then size = rows end
  local padded_matrix = ops.pad(matrix, { { 0, groups * size - rows }, { 0, 0 } })
  local grouped_rows = ops.reshape(padded_matrix, { groups, size, columns })
  local low, high = ops.min(grouped_rows, 1), ops.max(grouped_rows, 1)
  local are_equal = ops.equal(low, high)
  return ops.where(are_equal, low - 1, low), ops.where(are_equal, high + 1, high)
end

define("abs_max_quantize_grouped_with_zero_point -> the integers, the scale, the zero point",
  "Rounds a matrix to integers with a scale and a zero point for each group of rows in a column.", {
  option("inputs", "a tensor", "The matrix."),
  option("block_size", "an integer", "Number of rows of a group."), range_option "-8 and 7",
  option("dtype", "a dtype", "Dtype of the integers.", "int8"), epsilon_option,
}, function(inputs, block_size, range, dtype, epsilon)
  local name = "abs_max_quantize_grouped_with_zero_point"
  range = range or { -8, 7 }
  check_range(name, range)
  inputs = ops.convert_to_tensor(inputs)
  if #inputs.shape ~= 2 then
    shell.fail(name, ": expected a matrix, got shape ", cr.show(inputs.shape))
  end
  if math.type(block_size) ~= "integer" or block_size < 1 then
    shell.fail(name, ": block_size: expected an integer of at least 1, got ", cr.show(block_size))
  end
  local levels = 2 ^ math.floor(math.log(range[2] - range[1] + 1, 2))
  local low, high = group_bounds(inputs, block_size)
  local scale = (high - low + epsilon) / (levels - 1)
  local zero_point = ops.clip(ops.round(-low / scale) - levels / 2, -levels / 2, levels / 2 - 1)
  local rows = inputs.shape[1]
  local function expanded_to_rows(x) return ops.take(x, ops.arange(rows) // block_size, 0) end
  local integers = ops.round(inputs / expanded_to_rows(scale)) + expanded_to_rows(zero_point)
  return ops.cast(ops.clip(integers, range[1], range[2]), dtype), scale,
    ops.cast(zero_point, "int8")
end)

-- Returns the limits of the range after they are moved so that integers can stand for zero, then
-- the distance between neighbouring numbers and the inverse of this distance.
local function nudged_range(low, high, least, largest)
  local scale, inverse_scale = (high - low) / (largest - least), (largest - least) / (high - low)
  local zero_point = ops.round(ops.clip(least - low / scale, least, largest))
  return (least - zero_point) * scale, (largest - zero_point) * scale, scale, inverse_scale
end

-- The sum of x over all axes, or over all but one, with the shape of `limit`.
local function summed_like(limit, x, axis)
  local axes = {}
  for i = 0, #x.shape - 1 do
    if i ~= axis then axes[#axes + 1] = i end
  end
  return ops.reshape(ops.sum(x, axes), limit.shape)
end

define("fake_quant_with_min_max_vars -> a tensor",
  "Rounds numbers to those that integers of num_bits bits stand for. Gradients pass within the "
  .. "limits, and go to the limits beyond them.", {
  option("inputs", "a tensor", "The numbers."),
  option("min_vals", "a tensor", "The lower limit, or one for each index of the axis."),
  option("max_vals", "a tensor", "The upper limit, or one for each index of the axis."),
  option("num_bits", "an integer", "Number of bits of the integers.", 8),
  option("narrow_range", "a boolean", "Leave the smallest integer out.", false),
  { name = "axis", type = "an integer", doc = "Axis with limits of its own; nil: none." },
}, function(inputs, min_vals, max_vals, num_bits, narrow_range, axis)
  if math.type(num_bits) ~= "integer" or num_bits < 2 or num_bits > 16 then
    shell.fail("fake_quant_with_min_max_vars: num_bits: expected an integer from 2 to 16, got ",
      cr.show(num_bits))
  end
  inputs = ops.convert_to_tensor(inputs)
  if axis and axis < 0 then axis = axis + #inputs.shape end
  local round = ops.custom_gradient(function(x, min_val, max_val)
    local lower_limit = ops.cast(min_val, min_val.dtype == "float64" and "float64" or "float32")
    local low, high, scale, inverse_scale = nudged_range(lower_limit,
      ops.cast(max_val, lower_limit.dtype), narrow_range and 1 or 0, (1 << num_bits) - 1)
    local clamped = ops.clip(ops.cast(x, lower_limit.dtype), low, high)
    local zero_point = ops.floor(-low * inverse_scale + 0.5)
    local result = ops.floor((clamped - low) * inverse_scale - zero_point + 0.5) * scale
    local function gradient(upstream)
      local is_inside = ops.logical_and(ops.greater_equal(x, low), ops.less_equal(x, high))
      return ops.where(is_inside, upstream, 0.0),
        summed_like(min_val, ops.where(ops.less_equal(x, low), upstream, 0.0), axis),
        summed_like(max_val, ops.where(ops.greater_equal(x, high), upstream, 0.0), axis)
    end
    return ops.cast(result, x.dtype), gradient
  end)
  return round(inputs, ops.convert_to_tensor(min_vals), ops.convert_to_tensor(max_vals))
end)

-- The formats of floats of 8 bits: the largest number, the exponents of the smallest and the
-- largest normal number, and the number of bits of the fraction.
local float8_formats = {
  float8_e4m3fn = { largest = 448, least_exponent = -6, largest_exponent = 8, fraction_bits = 3 },
  float8_e5m2 = { largest = 57344, least_exponent = -14, largest_exponent = 15, fraction_bits = 2 },
}

define("quantize_and_dequantize -> a tensor",
  "Divides by the scale, clips to the numbers of a float of 8 bits, rounds to the nearest of them, "
  .. "ties to even, and multiplies by the scale.", {
  option("inputs", "a tensor", "The numbers."),
  option("scale", "a tensor", "The scale."),
  option("quantized_dtype", "a text", '"float8_e4m3fn" or "float8_e5m2".'),
  option("compute_dtype", "a dtype", "Dtype of the result."),
}, function(inputs, scale, quantized_dtype, compute_dtype)
  local format = float8_formats[quantized_dtype]
  if not format then
    shell.fail("quantize_and_dequantize: quantized_dtype: expected 'float8_e4m3fn' or ",
      "'float8_e5m2', got ", cr.show(quantized_dtype))
  end
  scale = ops.cast(ops.convert_to_tensor(scale), compute_dtype)
  local quotient = ops.cast(ops.convert_to_tensor(inputs), compute_dtype) / scale
  local x = ops.cast(ops.clip(quotient, -format.largest, format.largest), "float32")
  -- Near a power of two, either of the two exponents gives the same rounded number.
  local magnitude = ops.maximum(ops.abs(x), 2.0 ^ format.least_exponent)
  local exponent = ops.clip(ops.cast(ops.floor(ops.log2(magnitude)), "int32"),
    format.least_exponent, format.largest_exponent)
  -- Distances between neighbouring numbers, from a table, because powers computed in float32 are
  -- not exact.
  local distances = {}
  for e = format.least_exponent, format.largest_exponent do
    distances[#distances + 1] = 2.0 ^ (e - format.fraction_bits)
  end
  local distance = ops.take(ops.convert_to_tensor(distances, "float32"),
    exponent - format.least_exponent)
  return ops.cast(ops.round(x / distance) * distance, compute_dtype) * scale
end)

define("compute_float8_scale -> a tensor",
  "The scale with which the largest magnitude becomes dtype_max; the old scale if the magnitude is "
  .. "0 or not finite.", {
  option("amax", "a tensor", "The largest magnitude."),
  option("scale", "a tensor", "The old scale."),
  option("dtype_max", "a number", "The largest number of the dtype."),
  option("margin", "a number", "Binary exponent by which the scale is increased.", 0),
}, function(amax, scale, dtype_max, margin)
  amax = ops.convert_to_tensor(amax)
  local old_factor = ops.reciprocal(scale)
  local factor = ops.where(ops.greater(amax, 0.0), dtype_max / amax / 2 ^ margin, old_factor)
  return ops.reciprocal(ops.where(ops.isfinite(amax), factor, old_factor))
end)

define("compute_float8_amax_history -> a tensor",
  "Moves the history of largest magnitudes on by one, and puts that of x at its beginning.", {
  option("x", "a tensor", "The numbers."),
  option("amax_history", "a tensor", "The largest magnitudes of earlier numbers."),
}, function(x, amax_history)
  local shifted_history = ops.roll(ops.convert_to_tensor(amax_history), -1)
  local newest_magnitude = ops.reshape(ops.cast(ops.max(ops.abs(x)), shifted_history.dtype), { 1 })
  return ops.scatter_update(shifted_history, { { 0 } }, newest_magnitude)
end)

-- The dtype of integers that pack_int4 and unpack_int4 take.
local byte_option = option("dtype", "a dtype", '"int8" for integers from -8 to 7, or "uint8" for '
  .. "those from 0 to 15.", "int8")
local packed_axis_option = option("axis", "an integer", "The axis along which two integers share a "
  .. "byte.", 0)

local function check_dtype(name, dtype, x)
  if dtype ~= "int8" and dtype ~= "uint8" then
    shell.fail(name, ": dtype: expected 'int8' or 'uint8', got ", cr.show(dtype))
  end
  if x.dtype ~= dtype and (name == "pack_int4" or x.dtype ~= "int8" and x.dtype ~= "uint8") then
    shell.fail(name, ": expected a tensor of ", dtype, ", got one of ", x.dtype)
  end
end

define("pack_int4 -> the bytes, their shape, the length of the axis before",
  "Packs two integers of 4 bits into each byte, the first one into the lower half. An odd axis is "
  .. "filled with a zero.", {
  option("arr", "a tensor", "The integers."), packed_axis_option, byte_option,
}, function(arr, axis, dtype)
  arr = ops.convert_to_tensor(arr)
  check_dtype("pack_int4", dtype, arr)
  local halves = ops.bitwise_and(ops.cast(ops.moveaxis(arr, axis, 0), "int32"), 15)
  local length = halves.shape[1]
  local padding = { { 0, length % 2 } }
  for i = 2, #halves.shape do padding[i] = { 0, 0 } end
  halves = ops.pad(halves, padding)
  local pairs_shape = { halves.shape[1] // 2, 2, table.unpack(halves.shape, 2) }
  local integer_pairs = ops.reshape(halves, pairs_shape)
  local bytes = ops.take(integer_pairs, 0, 1) + ops.take(integer_pairs, 1, 1) * 16
  if dtype == "int8" then bytes = ops.where(ops.greater(bytes, 127), bytes - 256, bytes) end
  local packed = ops.cast(ops.moveaxis(bytes, 0, axis), dtype)
  return packed, packed.shape, length
end)

define("unpack_int4 -> a tensor", "The integers that pack_int4 has packed.", {
  option("packed", "a tensor", "The bytes."),
  option("orig_len", "an integer", "The length of the axis before it was packed."),
  packed_axis_option, byte_option,
}, function(packed, length, axis, dtype)
  packed = ops.convert_to_tensor(packed)
  check_dtype("unpack_int4", dtype, packed)
  local bytes = ops.bitwise_and(ops.cast(ops.moveaxis(packed, axis, 0), "int32"), 255)
  local halves = ops.stack({ ops.bitwise_and(bytes, 15), bytes // 16 }, 1)
  if dtype == "int8" then halves = ops.where(ops.greater(halves, 7), halves - 16, halves) end
  local all_integers = ops.reshape(halves, { 2 * bytes.shape[1], table.unpack(bytes.shape, 2) })
  return ops.cast(ops.moveaxis(all_integers:slice(1, length), 0, axis), dtype)
end)

return quantizers
