-- Initializers made of values: Constant with a number or an array, which is broadcast to the shape
-- of the weight and stored in Keras' files; a tensor; STFT with the values of a window.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/layers"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local Constant = cr.initializers.Constant

check.same(Constant(2.5) { 2, 2 }:totable(), { { 2.5, 2.5 }, { 2.5, 2.5 } })
check.same(Constant { value = { 1, 2 } } { 3, 2 }:totable(), { { 1, 2 }, { 1, 2 }, { 1, 2 } })
check.same(Constant(cr.tensor { { 1 }, { 2 } }) { 2, 3 }:totable(), { { 1, 1, 1 }, { 2, 2, 2 } })
check.same(Constant(cr.tensor { 0.5, 1.5 })({ 2 }, "int32"):totable(), { 0, 1 })
-- in float64 the numbers are not rounded to float32
check.same(Constant { value = { 0.1, 0.2 } }({ 2 }, "float64"):totable(), { 0.1, 0.2 })
for _, shape in ipairs { { 3, 3 }, { 1 }, {}, { 2, 1 } } do
  check.fails(function() return Constant { value = { 1, 2 } }(shape) end,
    "a value of shape (2,) cannot be broadcast to a weight of shape (")
end
check.fails(function() return Constant { value = { { 1 }, { 1, 2 } } } end, "lists of one length")
check.fails(function() return Constant { value = "two" } end, "expected a number", '"two"')
check.fails(function()
  local constant = Constant { value = { 1, 2 } }
  return cr.layers.Dense(3, { input_shape = { 4 }, bias_initializer = constant }):build { 1, 4 }
end, "a value of shape (2,) cannot be broadcast to a weight of shape (3,)")

local model = cr.Sequential {
  cr.layers.Dense(2, { input_shape = { 3 }, bias_initializer = Constant(cr.tensor { 3, 4 }) }) }
check.same(model:get_weights()[2]:totable(), { 3, 4 })
local json = model:to_json { target = "keras3" }
assert(json:find('"class_name": "Constant", "config": {"value": [3.0, 4.0]}', 1, true), json)
-- the three forms in which Keras writes an array: a list, an array of NumPy, and a tensor
for _, array_json in ipairs { "[3.0, 4.0]",
  '{"class_name": "__numpy__", "config": {"value": [3.0, 4.0], "dtype": "float64"}}',
  '{"class_name": "__tensor__", "config": {"value": [3, 4], "dtype": "int64"}}' } do
  local loaded_model = cr.models.model_from_json((json:gsub("%[3%.0, 4%.0%]", function()
    return array_json
  end)))
  check.same(loaded_model:get_weights()[2]:totable(), { 3, 4 })
end

-- a tensor as initializer gives the weight its values
do
  local kernel = cr.tensor { { 1, 2 }, { 3, 4 }, { 5, 6 } }
  check.same(cr.initializers.get(kernel) { 3, 2 }:totable(), kernel:totable())
  local dense = cr.layers.Dense(2, { input_shape = { 3 }, kernel_initializer = kernel })
  local dense_model = cr.Sequential { dense }
  check.same(dense_model:get_weights()[1]:totable(), kernel:totable())
  local reloaded_model = cr.models.model_from_json(dense_model:to_json())
  check.same(reloaded_model:get_weights()[1]:totable(), kernel:totable())
  check.fails(function()
    cr.layers.Dense(3, { kernel_initializer = kernel }):build { 1, 3 }
  end, "a value of shape (3, 2) cannot be broadcast to a weight of shape (3, 3)")
end

-- the initializer STFT with a window of given values; the numbers are those of Keras 3.15.1
do
  local STFT = cr.initializers.STFT
  for _, window in ipairs { { 1, 2, 3, 4 }, cr.tensor { 1, 2, 3, 4 } } do
    local sine_initializer = STFT("imag", window, "spectrum")
    check.near(sine_initializer { 4, 1, 3 }:reshape { 4, 3 },
      { { 0, 0, 0 }, { 0, -0.2, 0 }, { 0, 0, 0 }, { 0, 0.4, 0 } }, 1e-6)
    check.same(sine_initializer:get_config().window, { 1, 2, 3, 4 })
    check.near(STFT("real", window, "density") { 4, 1, 3 }:reshape { 4, 3 }, {
      { 0.18257419, 0.18257419, 0.18257419 }, { 0.36514837, 0, -0.36514837 },
      { 0.54772256, -0.54772256, 0.54772256 }, { 0.73029674, 0, -0.73029674 } }, 1e-6)
    check.fails(function() sine_initializer { 5, 1, 3 } end,
      "expected a window of shape (5,), got (4,)")
  end
  check.same(STFT("real", false) { 2, 1, 2 }:totable(), { { { 1, 1 } }, { { 1, -1 } } })
end
print "ok constant initializer"
