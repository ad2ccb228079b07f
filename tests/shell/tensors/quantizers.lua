-- The functions of cr.quantizers, whose results have the bits of Keras 3.15.1 on PyTorch.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/tensors"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local quantizers = cr.quantizers

local x = cr.ops.reshape(cr.tensor { -1.433333396911621, 0.9000000357627869, -0.43333330750465393,
  1.899999976158142, 0.5666666626930237, -0.7666666507720947, 1.566666603088379,
  0.23333333432674408, -1.100000023841858, 1.2333333492279053, -0.10000000149011612,
  -1.433333396911621, 0.9000000357627869, -0.43333330750465393, 1.899999976158142 }, { 5, 3 })

--- Checks that the results are these nested tables; tensors are compared with tables of numbers.
local function expect_results(expected, ...)
  local results = { ... }
  assert(#results == #expected, "got " .. #results .. " results")
  for i, result in ipairs(results) do
    if type(result) == "userdata" then
      result = #result.shape == 0 and result:item() or cr.ops.cast(result, "float64"):totable()
    end
    check.same(result, expected[i], "result " .. i)
  end
end

local column_results = {
  { { -96, 127, -29 }, { 127, 80, -51 }, { 105, 33, -74 }, { 82, -14, -96 }, { 60, -61, 127 } },
  { { 66.84210205078125, 141.111083984375, 66.84210205078125 } } }
expect_results(column_results, quantizers.abs_max_quantize(x, 0))
expect_results({ { { -6, 4, -2 }, { 6, 2, -2 }, { 6, 1, -4 }, { 5, 0, -6 }, { 3, -1, 6 } },
  { { 4.158415794372559 }, { 3.2558138370513916 }, { 3.8532111644744873 }, { 4.158415794372559 },
    { 3.2558138370513916 } } },
  quantizers.abs_max_quantize(x, -1, { value_range = { -8, 7 }, epsilon = 0.25 }))
expect_results({ { { -96, 60, -29 }, { 127, 38, -51 }, { 105, 16, -74 }, { 82, -7, -96 },
  { 60, -29, 127 } }, { { 66.84210205078125 } } }, quantizers.abs_max_quantize(x, { 0, 1 }))
assert(quantizers.abs_max_quantize(x, 0).dtype == "int8")

local quantize_groups = quantizers.abs_max_quantize_grouped_with_zero_point
expect_results({ { { -8, 7, -8 }, { 7, 7, -8 }, { 7, 6, -8 }, { 7, -8, -8 }, { 7, -8, 7 } },
  { { 0.222222238779068, 0.022222230210900307, 0.022222228348255157 },
    { 0.02222222276031971, 0.022222228348255157, 0.022222230210900307 },
    { 0.06000000983476639, 0.028888892382383347, 0.12666667997837067 } },
  { { -2, -8, 7 }, { -8, -4, 7 }, { -8, 7, -8 } } }, quantize_groups(x, 2))
expect_results({ { { -8, 7, -3 }, { 7, 5, -8 }, { 5, -3, -8 }, { 7, 4, -8 }, { 3, -8, 7 } },
  { { 0.222222238779068, 0.044444452971220016, 0.044444456696510315 },
    { 0.08222223073244095, 0.028888892382383347, 0.222222238779068 } },
  { { -2, -8, 7 }, { -8, 7, -2 } } }, quantize_groups(x, 3))
-- with a block_size of at least the number of rows, each column is one group
for _, size in ipairs { 5, 8 } do
  expect_results({ { { -8, 7, -4 }, { 7, 3, -5 }, { 5, 0, -7 }, { 4, -4, -8 }, { 2, -8, 7 } },
    { { 0.222222238779068, 0.08888889849185944, 0.222222238779068 } }, { { -2, -3, -2 } } },
    quantize_groups(x, size))
end
local equal_rows = { { -1, -1 }, { -1, -1 }, { -1, -1 }, { -1, -1 } }
local equal_scale = { { 0.13333334028720856, 0.13333334028720856 },
  { 0.13333334028720856, 0.13333334028720856 } }
expect_results({ equal_rows, equal_scale, { { -8, -8 }, { -8, -8 } } },
  quantize_groups(cr.ones { 4, 2 }, 2))
expect_results({ equal_rows, equal_scale, { { -1, -1 }, { -1, -1 } } },
  quantize_groups(cr.zeros { 4, 2 }, 2))
local _, scale8, zero8 = quantize_groups(x, 2, { value_range = { -128, 127 } })
expect_results({ { { 0.013071896508336067, 0.001307190046645701, 0.001307189930230379 },
  { 0.0013071895809844136, 0.001307189930230379, 0.001307190046645701 },
  { 0.0035294124390929937, 0.0016993466997519135, 0.0074509805999696255 } },
  { { -18, -128, 127 }, { -128, -52, 127 }, { -128, 127, -128 } } }, scale8, zero8)

--- The results of fake_quant_with_min_max_vars, and the gradients of sum(result * (1, 2, 3, ...))
--- with respect to x, low and high.
local function fake_quant(low, high, options)
  low, high = cr.ops.convert_to_tensor(low), cr.ops.convert_to_tensor(high)
  local weights = cr.ops.reshape(cr.arange(15, { dtype = "float32" }) + 1, { 5, 3 })
  local result
  local sum
  local tape = cr.GradientTape(function(recording)
    for _, tensor in ipairs { x, low, high } do recording:watch(tensor) end
    result = quantizers.fake_quant_with_min_max_vars(x, low, high, options)
    sum = cr.ops.sum(result * weights)
  end)
  return result, table.unpack(tape:gradient(sum, { x, low, high }))
end
expect_results({ { { -0.9019608497619629, 0.9019608497619629, -0.43137258291244507 },
  { 1.0980392694473267, 0.5647059082984924, -0.7686275243759155 },
  { 1.0980392694473267, 0.2352941334247589, -0.9019608497619629 },
  { 1.0980392694473267, -0.10196079313755035, -0.9019608497619629 },
  { 0.9019608497619629, -0.43137258291244507, 1.0980392694473267 } },
  { { 0, 2, 3 }, { 0, 5, 6 }, { 0, 8, 0 }, { 0, 11, 0 }, { 13, 14, 0 } }, 22, 36 },
  fake_quant(-0.9, 1.1))
expect_results({ { { -0.8571429252624512, 0.8571429252624512, -0.4285714626312256 },
  { 1.1428571939468384, 0.5714285969734192, -0.7142857313156128 },
  { 1.1428571939468384, 0.2857142984867096, -0.8571429252624512 },
  { 1.1428571939468384, -0.1428571492433548, -0.8571429252624512 },
  { 0.8571429252624512, -0.4285714626312256, 1.1428571939468384 } },
  { { 0, 2, 3 }, { 0, 5, 6 }, { 0, 8, 0 }, { 0, 11, 0 }, { 13, 14, 0 } }, 22, 36 },
  fake_quant(-0.9, 1.1, { num_bits = 4, narrow_range = true }))
for _, axis in ipairs { 1, -1 } do
  expect_results({ { { -0.8571429252624512, 0.6857143044471741, 0 },
    { 1.1428571939468384, 0.5142857432365417, 0 }, { 1.1428571939468384, 0.17142857611179352, 0 },
    { 1.1428571939468384, -0.17142857611179352, 0 },
    { 0.8571429252624512, -0.5142857432365417, 0.7999999523162842 } },
    { { 0, 0, 0 }, { 0, 5, 0 }, { 0, 8, 0 }, { 0, 11, 0 }, { 13, 14, 0 } }, { 1, 0, 30 },
    { 21, 2, 15 } },
    fake_quant({ -1, -0.5, 0.1 }, { 1, 0.7, 0.9 }, { axis = axis, num_bits = 3 }))
end

for _, row in ipairs { { 3, 2, 0, 0.0066964286379516125 }, { 0, 2, 0, 2 },
  { 1 / 0, 0.7, 0, 0.699999988079071 }, { 0.3, 0.1, 2, 0.0026785715017467737 } } do
  local amax, old_scale, margin, expected = table.unpack(row)
  local function scalar(number) return cr.ops.cast(number, "float32") end
  expect_results({ expected },
    quantizers.compute_float8_scale(scalar(amax), scalar(old_scale), 448, margin))
end
expect_results({ { 5, 3, 1 } },
  quantizers.compute_float8_amax_history(cr.tensor { 1, -5, 2 }, cr.tensor { 1.0, 2.0, 3.0 }))

local small_integers = { { -3, 7, 2 }, { -8, 1, 0 }, { 5, -1, -7 } }
local packed_bytes = { [0] = { { -115, 23, 2 }, { 5, 15, 9 } },
  { { 125, 2 }, { 24, 0 }, { -11, 9 } } }
for axis, expected in pairs { [0] = packed_bytes[0], [1] = packed_bytes[1], [-1] = packed_bytes[1],
  [-2] = packed_bytes[0] } do
  local packed_tensor, shape, length = quantizers.pack_int4(cr.ops.cast(small_integers, "int8"),
    axis)
  expect_results({ expected, shape, 3 }, packed_tensor, packed_tensor.shape, length)
  expect_results({ small_integers }, quantizers.unpack_int4(packed_tensor, length, axis))
end
local unsigned_integers = { { 13, 7, 2 }, { 8, 1, 0 }, { 5, 15, 9 } }
local packed_tensor = quantizers.pack_int4(cr.ops.cast(unsigned_integers, "uint8"), 0, "uint8")
expect_results({ { { 141, 23, 2 }, { 5, 15, 9 } } }, packed_tensor)
expect_results({ unsigned_integers }, quantizers.unpack_int4(packed_tensor, 3, 0, "uint8"))
-- packing random integers of every shape to int4 and unpacking them gives the same integers
for _, shape in ipairs { { 1 }, { 8 }, { 4, 3, 5 } } do
  local numbers = cr.random.randint(shape, -8, 8, { dtype = "int8" })
  for axis = 0, #shape - 1 do
    local packed_tensor, _, length = quantizers.pack_int4(numbers, axis)
    expect_results({ numbers:totable() }, quantizers.unpack_int4(packed_tensor, length, axis))
  end
end

-- quantize_and_dequantize: numbers that 8-bit floats represent stay unchanged; others are rounded
-- to the nearest of these, ties to even
local formats = { float8_e4m3fn = { 3, -6, 448, 127 }, float8_e5m2 = { 2, -14, 57344, 124 } }
for name, format in pairs(formats) do
  local fraction_bits, least_exponent, largest, float_count = table.unpack(format)
  local floats = {}
  for exponent = least_exponent - 1, 15 do
    for fraction = 0, (1 << fraction_bits) - 1 do
      local fraction_value = fraction / (1 << fraction_bits)
      local value = exponent < least_exponent and fraction_value * 2.0 ^ least_exponent
        or (1 + fraction_value) * 2.0 ^ exponent
      if value <= largest then floats[#floats + 1] = value end
    end
  end
  assert(#floats == float_count)
  local numbers, rounded_numbers = { largest * 2 }, { largest }
  for i = 1, #floats - 1 do
    local a, b = floats[i], floats[i + 1]
    local midpoint = (a + b) / 2
    for number, value in pairs { [a] = a, [midpoint] = i % 2 == 1 and a or b,
      [midpoint * (1 - 2 ^ -20)] = a, [midpoint * (1 + 2 ^ -20)] = b } do
      numbers[#numbers + 1], rounded_numbers[#rounded_numbers + 1] = number, value
      numbers[#numbers + 1], rounded_numbers[#rounded_numbers + 1] = -number, -value
    end
  end
  for _, scale in ipairs { 1.0, 0.25 } do
    local result = quantizers.quantize_and_dequantize(cr.tensor(numbers) * scale, scale, name,
      "float32")
    check.near(result, cr.tensor(rounded_numbers) * scale, 0, name)
  end
  local bfloat16_result = quantizers.quantize_and_dequantize(x, cr.tensor(0.5), name, "bfloat16")
  check.same(bfloat16_result.dtype, "bfloat16")
  local result_with_nan = quantizers.quantize_and_dequantize(cr.tensor { 0 / 0, 1 }, 1.0, name,
    "float32")
  assert(result_with_nan[1] ~= result_with_nan[1] and result_with_nan[2] == 1)
end

check.fails(function() quantizers.quantize_and_dequantize(x, 1.0, "float8", "float32") end,
  "quantized_dtype", "expected 'float8_e4m3fn'", "got float8")
check.fails(function() quantizers.pack_int4(x) end, "pack_int4", "int8", "float32")
check.fails(function() quantizers.abs_max_quantize(x, 0, { value_range = { 7, -8 } }) end,
  "value_range", "{ 7, -8 }")
check.fails(function() quantize_groups(x, 0) end, "block_size", "got 0")
check.fails(function() return quantizers.abs_max_quantiz end, "abs_max_quantize")
print "ok quantizers"
