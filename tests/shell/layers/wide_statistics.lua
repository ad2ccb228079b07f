-- Normalization of numbers near the limits of float16 by float16 layers: statistics must be
-- computed in float32.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops, layers = cr.ops, cr.layers

local rows = cr.tensor { { 60000, 70000, 65000, 69000 }, { -90000, 1, 2, 80000 } }
local function normalize(x, axes)
  local mean, variance = ops.moments(x, axes, true)
  return (x - mean) * ops.rsqrt(variance + 1e-3)
end
for _, policy in ipairs { "mixed_float16", "mixed_bfloat16", "float16", "bfloat16" } do
  local function check_row(what, layer, expected)
    local y = layer(rows)
    check.same(y.dtype, policy:gsub("mixed_", ""), what .. ": dtype")
    check.near(y:cast "float32", expected, 1e-2, what .. ", " .. policy)
  end
  local row_halves = ops.reshape(rows, { 2, 2, 2 })
  check_row("groups", layers.GroupNormalization { groups = 2, dtype = policy },
    ops.reshape(normalize(row_halves, { 2 }), { 2, 4 }))
  check_row("instances", layers.GroupNormalization { groups = -1, dtype = policy },
    ops.zeros { 2, 4 })
  check_row("layer", layers.LayerNormalization { dtype = policy }, normalize(rows, { 1 }))
  check_row("layer, another axis", layers.LayerNormalization { axis = { 1 }, rms_scaling = true,
    dtype = policy }, rows * ops.rsqrt(ops.var(rows, 1, true) + 1e-3))
end
-- numbers whose squares exceed the range of float16
local large_rows = cr.tensor { { 600, -700, 650, 690 }, { -900, 1, 2, 800 } }
for _, dtype in ipairs { "mixed_float16", "float16" } do
  local mean_square = ops.mean(large_rows * large_rows, 1, true)
  local normalization = layers.RMSNormalization { dtype = dtype }
  check.near(normalization(large_rows):cast "float32", large_rows * ops.rsqrt(mean_square),
    4e-3)
  check.near(layers.UnitNormalization { dtype = dtype }(large_rows):cast "float32",
    large_rows * ops.rsqrt(mean_square * 4), 4e-3)
  local batch_normalization = layers.BatchNormalization { dtype = dtype, momentum = 0 }
  check.near(batch_normalization(large_rows, { training = true }):cast "float32",
    normalize(large_rows, { 0 }), 4e-3)
  check.near(layers.BatchNormalization { dtype = dtype, synchronized = true }(large_rows,
    { training = true }):cast "float32", normalize(large_rows, { 0 }), 4e-3)
  local masked_normalization = layers.BatchNormalization { dtype = dtype }
  local steps, mask = ops.reshape(large_rows, { 1, 2, 4 }), cr.tensor({ { 1, 1 } }):cast "bool"
  check.near(masked_normalization(steps, { training = true, mask = mask }):cast "float32",
    ops.reshape(normalize(large_rows, { 0 }), { 1, 2, 4 }), 4e-3)
end
local spectral_layer = layers.SpectralNormalization(
  layers.Dense(2, { dtype = "float16", use_bias = false, kernel_initializer = "ones" }),
  { dtype = "float16" })
spectral_layer:build { -1, 3 }
spectral_layer.layer.kernel:assign(ops.full({ 3, 2 }, 400))
for _ = 1, 3 do spectral_layer(ops.ones({ 1, 3 }, "float16"), { training = true }) end
check.near(spectral_layer.layer.kernel:cast "float32", ops.full({ 3, 2 }, 1 / math.sqrt(6)), 2e-3)

-- layers convert integer inputs to float32
local integers = cr.tensor({ { 1, 2, 5, 4 }, { 3, 0, 2, 7 } }, "int32")
for _, layer in ipairs {
  cr.layers.BatchNormalization(), cr.layers.LayerNormalization(), cr.layers.RMSNormalization(),
  cr.layers.UnitNormalization(), cr.layers.GroupNormalization { groups = 2 },
  cr.layers.LayerNormalization { rms_scaling = true },
} do
  local result = layer(integers)
  check.same(result.dtype, "float32")
  check.near(result, layer(integers:cast "float32"), 1e-6)
end
for _, class in ipairs { "LSTM", "GRU", "SimpleRNN" } do
  local layer, steps = cr.layers[class](3), integers:reshape { 2, 4, 1 }
  check.near(layer(steps), layer(steps:cast "float32"), 1e-6)
end
