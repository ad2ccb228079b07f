-- Quantized weights in 8 and 4 bits: their values, trainable weights, errors, and files.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops, quantizers = cr.layers, cr.ops, cr.quantizers
local x = cr.random.uniform({ 8, 6 }, -1, 1, { seed = 1 })
local words = cr.tensor({ { 1, 2, 3 }, { 4, 5, 0 } }, "int32")

local function names_and_dtypes(variables)
  local list = {}
  for i, v in ipairs(variables) do list[i] = v.name .. " " .. v.dtype end
  return list
end
local function quantized_dense(kernel, config)
  local layer = layers.Dense(#kernel[1], { use_bias = false, input_shape = { #kernel } })
  layer:build { -1, #kernel }
  layer:set_weights { cr.tensor(kernel) }
  layer:quantize { config = config }
  return layer
end

-- ---- the integers and scales equal those of Keras 3.15.1
local int8_layer = quantized_dense({ { 1, -0.25 }, { -2, 0.5 }, { 0.3, 0.1 } }, "int8")
check.same(names_and_dtypes(int8_layer.weights), { "kernel int8", "kernel_scale float32" })
check.same(int8_layer.weights[1]:totable(), { { 64, -63 }, { -127, 127 }, { 19, 25 } })
check.near(int8_layer.weights[2], { 63.5, 254 })
local kernel = { { -0.33677292, -0.692795, -0.3878184 }, { -0.20859975, -0.06533033, -0.52971435 },
  { -0.43489525, -0.37397063, 0.16573662 }, { 0.21335143, -0.8355286, -0.7868954 },
  { 0.33930677, -0.69276226, -0.51371336 } }
local int4_layer = quantized_dense(kernel, "int4")

-- a configuration given by position also sets the mode
do
  local model = cr.Sequential { layers.Dense(3, { input_shape = { 6 } }), layers.Dense(1) }
  model:quantize(quantizers.Int4QuantizationConfig { block_size = 4 })
  assert(model.layers[1].dtype_policy == "int4/4_from_float32")
  check.fails(function() model:quantize(5) end, "'mode'", "a text or a configuration")
  local plain_model = cr.Sequential { layers.Dense(3, { input_shape = { 6 } }) }
  plain_model:quantize("int8", {})
  assert(plain_model.layers[1].dtype_policy == "int8_from_float32")
end
check.same(names_and_dtypes(int4_layer.weights),
  { "kernel int8", "kernel_scale float32", "kernel_zero int8", "g_idx float32" })
check.same(int4_layer.weights[1]:totable(),
  { { -71, 14 }, { 108, 12 }, { 8, 7 }, { -124, 8 }, { -73, 12 } })
check.near(int4_layer.weights[2], { { 0.05161347, 0.05570192, 0.06350881 } })
check.same(int4_layer.weights[3]:totable(), { { 0, 7, 4 } })
assert(int4_layer.dtype_policy == "int4/128_from_float32"
  and int4_layer.quantization_mode == "int4")
local column_layer = quantized_dense({ { -0.621464, 0.6273908 }, { 0.650268, -0.8205301 } },
  quantizers.Int4QuantizationConfig { block_size = -1 })
check.same(names_and_dtypes(column_layer.weights), { "kernel int8", "kernel_scale float32" })
check.same(column_layer.weights[1]:totable(), { { 89 }, { -105 } })
check.near(column_layer.weights[2], { 10.764791, 8.531069 })

-- ---- outputs stay close to the unquantized ones, compiled or not, and inputs have gradients
local layer_rows = {
  { layers.Dense(4, { activation = "relu" }), x },
  { layers.EinsumDense("abc,cde->abde", { -1, 3, 2 }, { bias_axes = "e" }), x:reshape { 2, 4, 6 } },
  { layers.EinsumDense("abc,dcb->adb", { 5, 4 }), x:reshape { 2, 4, 6 } },
  { layers.EinsumDense("...c,cd->...d", 4), x:reshape { 2, 4, 6 } },
  { layers.EinsumDense("abc,cd->ad", 4), x:reshape { 2, 4, 6 } },
  { layers.Embedding(6, 4), words },
  { layers.ReversibleEmbedding(5, 6), x, { reverse = true } },
  { layers.ReversibleEmbedding(5, 6, { tie_weights = false }), x, { reverse = true } },
}
for mode, tolerance in pairs { int8 = 0.03, int4 = 0.5 } do
  for _, row in ipairs(layer_rows) do
    local layer = layers[row[1].class_name]:from_config { config = row[1]:get_config() }
    local old_output = layer(row[2], row[3])
    local trainable_count = #layer.trainable_weights
    layer:quantize(mode)
    local new_output = layer(row[2], row[3])
    assert(ops.max(ops.abs(new_output - old_output)):item() < tolerance, layer.name)
    assert(#layer.trainable_weights < trainable_count and layer.quantization_mode == mode)
    local rebuilt_layer = layers[row[1].class_name]:from_config { config = layer:get_config() }
    rebuilt_layer(row[2], row[3])
    rebuilt_layer:set_weights(layer:get_weights())
    check.near(rebuilt_layer(row[2], row[3]), new_output)
  end
end

-- ---- in a model with some quantized layers the others can still be trained, and it can be saved
local function new_model()
  return cr.Sequential { layers.Dense(5, { activation = "tanh", input_shape = { 6 }, name = "a" }),
    layers.Dense(4, { name = "ab" }), layers.Dense(3, { name = "c" }) }
end
local model = new_model()
model:compile { optimizer = "sgd", loss = "mse" }
model:quantize("int8", { filters = "^a" })
assert(model.layers[1].quantization_mode == "int8" and model.layers[2].quantization_mode == "int8"
  and model.layers[3].quantization_mode == nil and model.quantization_mode == nil)
model.layers[3]:quantize { config = quantizers.Int8QuantizationConfig() }
local frozen_bias = model.layers[1].weights[2]:totable()
local losses = model:fit(x, cr.ones { 8, 3 }, { epochs = 3, verbose = 0 }).history.loss
assert(losses[3] < losses[1])
check.same(model.layers[1].weights[2]:totable(), frozen_bias)
for _, ending in ipairs { ".h5", ".keras" } do
  local path = os.tmpname() .. ending
  model:save(path)
  local loaded_model = cr.models.load_model(path)
  check.near(loaded_model:predict(x), model:predict(x))
  assert(loaded_model.layers[3].dtype_policy == "int8_from_float32")
  check.fails(function() loaded_model:save(path .. ".h5", { target = "keras2" }) end, "of few bits")
  os.remove(path)
end
local filtered_model = new_model()
filtered_model:quantize("int4", { filters = function(layer) return layer.name == "c" end })
assert(filtered_model.layers[2].quantization_mode == nil
  and filtered_model.layers[3].quantization_mode == "int4")

-- ---- LoRA adapters of quantized layers
local layer = layers.Dense(4)
layer(x)
layer:quantize "int8"
layer:enable_lora(2)
layer.trainable_weights[3]:assign(cr.random.normal({ 2, 4 }, 0, 1, { seed = 2 }))
local adapted_output = layer(x)
layer:merge_lora()
assert(ops.max(ops.abs(layer(x) - adapted_output)):item() < 0.1 and #layer.trainable_weights == 1)

-- files store the sum of weight and adapter, rounded to few bits; a warning says how much it
-- differs
local _, text = check.run [[
  local layer = cr.layers.Dense(4, { input_shape = { 6 }, name = "narrow" })
  local model = cr.Sequential { layer }
  layer:quantize "int4"
  layer:enable_lora(2)
  assert(layer.merge_error < 1e-6)
  layer.trainable_weights[3]:assign(cr.random.normal({ 2, 4 }, 0, 1, { seed = 2 }))
  local old_prediction, path = model:predict(cr.ops.eye(6)), os.tmpname() .. ".weights.h5"
  model:save_weights(path)
  local rounding_error = layer.merge_error
  model:load_weights(path)
  local change = cr.ops.max(cr.ops.abs(model:predict(cr.ops.eye(6)) - old_prediction)):item()
  print(change > 0.01 and math.abs(change - rounding_error) < 0.01 * rounding_error + 0.05,
    rounding_error)
  os.remove(path)
]]
assert(text:find "^crescent: Layer 'narrow': files of Keras have the weight with its adapter added",
  text)
assert(text:find "differ by up to %d" and text:find "\ntrue", text)

-- ---- dtype policies, and errors for what cannot be quantized
local policy = cr.dtype_policies.QuantizedDTypePolicy("int8", "mixed_bfloat16")
local bfloat16_layer = layers.Dense(3, { dtype = policy })
assert(bfloat16_layer(x).dtype == "bfloat16" and bfloat16_layer.weights[2].dtype == "int8")
assert(cr.dtype_policies.get("int4/64_from_float32").class_name == "Int4DTypePolicy")
local failing_calls = {
  ["already quantized"] = function() layer:quantize "int8" end,
  ["isn't yet built"] = function() layers.Dense(3):quantize "int8" end,
  ["does not have a `quantize` method"] = function() layers.Conv2D(3, 3):quantize "int8" end,
  ["either `mode` or `config`"] = function() model:quantize() end,
  ["Received: mode=int5"] = function() model:quantize "int5" end,
  ["expected a regular expression"] = function() model:quantize("int8", { filters = "(" }) end,
  ["mode gptq are not supported"] = function()
    layers.Dense(3, { dtype = "gptq/4/128_from_float32" })
  end,
  ["expected floats"] = function() layers.Dense(3, { dtype = "int8_from_int8" }) end,
  ["got foo"] = function() layers.Dense(3, { dtype = "foo_from_float32" }) end,
  ["value_range"] = function() quantizers.AbsMaxQuantizer { value_range = { 3, 4 } } end,
  ["positive integer"] = function() quantizers.Int4QuantizationConfig { block_size = 0 } end,
  ["sums along"] = function()
    quantized_dense({ { 1 } }, quantizers.Int8QuantizationConfig {
      weight_quantizer = quantizers.AbsMaxQuantizer(1) })
  end,
  ["Contradictory"] = function()
    local dense = layers.Dense(1)
    dense(x)
    dense:quantize("int4", { config = quantizers.Int8QuantizationConfig() })
  end,
}
for message_part, call in pairs(failing_calls) do check.fails(call, message_part) end

do -- quantize of a layer accepts the same configurations as quantize of a model
  local layer = layers.Dense(3)
  layer(cr.ones { 2, 8 })
  layer:quantize(quantizers.Int4QuantizationConfig { block_size = 4 })
  check.same(layer.dtype_policy, "int4/4_from_float32")
end

do -- a layer whose weights are computed by a wrapper is not quantized
  local spectral_model = cr.Sequential { layers.Input { shape = { 8 } },
    layers.SpectralNormalization(layers.Dense(8)), layers.Dense(2) }
  spectral_model:quantize "int4"
  check.same(spectral_model.layers[1].layer.quantization_mode, nil)
  check.same(spectral_model.layers[2].quantization_mode, "int4")
  local path = check.temporary ".keras"
  spectral_model:save(path)
  check.same(cr.models.load_model(path):predict(cr.ones { 2, 8 }, { verbose = 0 }):totable(),
    spectral_model:predict(cr.ones { 2, 8 }, { verbose = 0 }):totable())
end
do -- a filter that fits no layer quantizes none, as in Keras
  local model = new_model()
  model:quantize("int8", { filters = { "none of them" } })
  for _, layer in ipairs(model.layers) do check.same(layer.quantization_mode, nil) end
end
do -- a dtype policy is assigned to a layer
  local x = cr.random.normal({ 4, 8 }, { seed = 1 })
  local function built_dense()
    local layer = layers.Dense(6, { kernel_initializer = cr.initializers.GlorotUniform(3) })
    layer:build { 4, 8 }
    return layer
  end
  local half_layer = built_dense()
  half_layer.dtype_policy = cr.dtype_policies.DTypePolicy "mixed_bfloat16"
  check.same(half_layer.dtype_policy, "mixed_bfloat16")
  check.same(half_layer.compute_dtype, "bfloat16")
  check.same(half_layer(x).dtype, "bfloat16")
  check.same(half_layer.weights[1].dtype, "float32")
  for policy, quantize in pairs {
    int8_from_float32 = function(layer) layer:quantize "int8" end,
    ["int4/4_from_float32"] = function(layer)
      layer:quantize { config = quantizers.Int4QuantizationConfig { block_size = 4 } }
    end,
  } do
    local layer_with_policy, quantized_layer = built_dense(), built_dense()
    layer_with_policy.dtype_policy = policy
    quantize(quantized_layer)
    check.same(layer_with_policy.dtype_policy, policy)
    check.near(layer_with_policy(x), quantized_layer(x), 0)
    check.fails(function() layer_with_policy.dtype_policy = "float32" end,
      "is quantized by " .. policy)
    local unbuilt_layer = layers.Dense(6)
    unbuilt_layer.dtype_policy = policy
    unbuilt_layer:build { 4, 8 }
    check.same(unbuilt_layer.quantization_mode, policy:sub(1, 4))
  end
  check.fails(function()
    local relu = layers.ReLU()
    relu(x)
    relu.dtype_policy = "int8_from_float32"
  end, "does not have a `quantize` method")
  check.fails(function() layers.Dense(1).dtype_policy = "float31" end, "float31")
end
