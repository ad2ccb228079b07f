-- cr.config.set_floatx sets the dtype of tensors, layers and results for which no dtype is given.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops = cr.ops

-- Returns, by name, the dtypes of tensors, layers and symbols that are made without a dtype.
local function dtypes()
  local integers = cr.tensor({ 1, 2 }, "int32")
  local layer = cr.layers.Dense(2)
  layer:build { -1, 3 }
  local model = cr.Sequential { cr.layers.Dense(1) }
  model:compile { optimizer = "adam", loss = "mse" }
  local x = cr.ones { 4, 3 }
  model:fit(x, cr.ones { 4, 1 }, { verbose = 0 })
  return {
    policy = cr.config.dtype_policy(), input = cr.Input { 3 }.dtype, number = cr.tensor(1.5).dtype,
    list = cr.tensor({ 1.5, 2 }).dtype, zeros = cr.zeros({ 2 }).dtype,
    ops_zeros = ops.zeros({ 2 }).dtype,
    full = ops.full({ 2 }, 3).dtype, eye = ops.eye(2).dtype, linspace = ops.linspace(0, 1, 3).dtype,
    arange = ops.arange(0, 1, 0.25).dtype, window = ops.hamming(3).dtype,
    one_hot = ops.one_hot(integers, 3).dtype, normal = cr.random.normal({ 2 }).dtype,
    uniform = cr.random.uniform({ 2 }).dtype, truncated = cr.random.truncated_normal({ 2 }).dtype,
    root = ops.sqrt(integers).dtype, quotient = (integers / 2).dtype, sum = (integers + 0.5).dtype,
    mean = ops.mean(integers).dtype, exponential = ops.exp(integers).dtype,
    weight = layer.kernel.dtype,
    result = layer(cr.ones { 1, 3 }).dtype, initializer = cr.initializers.Ones()({ 2 }).dtype,
    trained_weight = model.weights[1].dtype, prediction = model:predict(x, { verbose = 0 }).dtype,
  }
end

for _, dtype in ipairs { "float64", "float16", "bfloat16", "float32" } do
  cr.config.set_floatx(dtype)
  assert(cr.config.floatx() == dtype)
  for name, actual_dtype in pairs(dtypes()) do
    assert(actual_dtype == dtype, name .. ": " .. actual_dtype .. " instead of " .. dtype)
  end
end

-- tensors and layers that are made with a dtype do not get the one of set_floatx
cr.config.set_floatx "float64"
assert(cr.tensor({ 1 }, "float32").dtype == "float32")
assert(ops.zeros({ 1 }, "float16").dtype == "float16")
assert((cr.tensor({ 1 }, "float32") + 0.5).dtype == "float32")
assert(cr.tensor({ 1 }, "int32").dtype == "int32")
assert(cr.layers.Dense(1, { dtype = "float32" }).variable_dtype == "float32")
-- setting a dtype policy does not change floatx
cr.config.set_dtype_policy "mixed_bfloat16"
assert(cr.config.dtype_policy() == "mixed_bfloat16" and cr.config.floatx() == "float64")
cr.config.set_dtype_policy(cr.dtype_policies.DTypePolicy "mixed_float16")
check.same(cr.config.dtype_policy(), "mixed_float16")
-- a sum of float64 numbers has the precision of float64
cr.config.set_dtype_policy "float64"
local total = ops.sum(cr.ones { 3 } / 3)
assert(math.abs(total:item() - 1) < 1e-15)
cr.config.set_floatx "float32"
cr.config.set_dtype_policy "float32"

for _, wrong_dtype in ipairs { "int8", "bool", "string", "complex64" } do
  check.fails(function() cr.config.set_floatx(wrong_dtype) end,
    "floatx: expected float16, bfloat16, float32 or float64, got " .. wrong_dtype)
end
