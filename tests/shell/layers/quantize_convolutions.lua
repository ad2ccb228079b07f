-- Convolutions quantized to 8 bits on request: values, files, configurations, and errors.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops, quantizers = cr.layers, cr.ops, cr.quantizers
local convolution_options = { convolutions = true }

local function uniform_tensor(...) return cr.random.uniform({ ... }, -1, 1, { seed = 1 }) end
local function names_and_dtypes(variables)
  local list = {}
  for i, v in ipairs(variables) do list[i] = v.name .. " " .. v.dtype end
  return list
end

-- ---- the integers and scales are those of Dense with the same kernel
do
  local kernel = uniform_tensor(2, 3, 4, 5)
  local convolution, dense = layers.Conv2D(5, { 2, 3 }), layers.Dense(5)
  convolution:build { -1, 8, 8, 4 }
  dense:build { -1, 24 }
  convolution:set_weights { kernel, cr.zeros { 5 } }
  dense:set_weights { kernel:reshape { 24, 5 }, cr.zeros { 5 } }
  convolution:quantize("int8", convolution_options)
  dense:quantize "int8"
  check.same(names_and_dtypes(convolution.weights), { "bias float32", "kernel int8",
    "kernel_scale float32" })
  check.same(convolution.weights[2]:totable(), dense.weights[2]:reshape({ 2, 3, 4, 5 }):totable())
  check.same(convolution.weights[3]:totable(), dense.weights[3]:totable())
  assert(convolution.quantization_mode == "int8" and #convolution.trainable_weights == 1)
  -- with a window as large as the image, a convolution equals a matrix product
  local x = uniform_tensor(6, 2, 3, 4)
  check.near(convolution(x):reshape { 6, 5 }, dense(x:reshape { 6, 24 }))
end

-- ---- outputs stay close to the unquantized ones in every geometry; configurations are complete
local layer_rows = {
  { layers.Conv1D(4, 3, { padding = "causal", dilation_rate = 2 }), uniform_tensor(3, 20, 5) },
  { layers.Conv1D(4, 1, { use_bias = false }), uniform_tensor(3, 20, 5) },
  { layers.Conv2D(17, 3, { padding = "same", activation = "relu" }), uniform_tensor(2, 9, 8, 16) },
  { layers.Conv2D(6, { 5, 2 }, { strides = { 2, 3 } }), uniform_tensor(2, 12, 11, 3) },
  { layers.Conv2D(6, 3, { data_format = "channels_first", activation = "softmax" }),
    uniform_tensor(2, 4, 7, 6) },
  { layers.Conv2D(6, 3, { dtype = "mixed_bfloat16" }), uniform_tensor(2, 7, 6, 4) },
  { layers.Conv2D(6, 3, { dtype = "mixed_float16" }), uniform_tensor(2, 7, 6, 70) * 30 },
  { layers.Conv2D(6, 3, { dtype = "float64" }), uniform_tensor(2, 7, 6, 4) },
  { layers.Conv3D(5, 2, { padding = "same", strides = 2 }), uniform_tensor(2, 5, 4, 6, 3) },
}
local configs = { quantizers.Int8QuantizationConfig(),
  quantizers.Int8QuantizationConfig { activation_quantizer = cr.null } }
for _, config in ipairs(configs) do
  for _, row in ipairs(layer_rows) do
    local layer = layers[row[1].class_name]:from_config { config = row[1]:get_config() }
    local old_output = ops.cast(layer(row[2]), "float32")
    local trainable_count = #layer.trainable_weights
    layer:quantize { config = config, convolutions = true }
    local new_output = layer(row[2])
    local difference = ops.max(ops.abs(ops.cast(new_output, "float32") - old_output)):item()
    assert(difference < 0.03 * ops.max(ops.abs(old_output)):item(), layer.name .. " " .. difference)
    assert(difference > 0 and #layer.trainable_weights == trainable_count - 1)
    local cloned_layer = cr.models.clone_model(cr.Sequential { layer }).layers[1]
    cloned_layer(row[2])
    cloned_layer:set_weights(layer:get_weights())
    check.same(cloned_layer(row[2]):totable(), new_output:totable())
  end
end

-- ---- each sample has its own scale
do
  local layer = layers.Conv1D(3, 2)
  local x = uniform_tensor(4, 6, 2)
  layer(x)
  layer:quantize("int8", convolution_options)
  local joined_output = layer(ops.concatenate({ x, x * 1000 }, 0))
  check.same(joined_output:slice(1, 4):totable(), layer(x):totable())
end

-- ---- quantized models are saved and loaded
local function new_model()
  local input = cr.Input { shape = { 8, 8, 4 } }
  local x = layers.Conv2D(8, 3, { padding = "same", name = "first" })(input)
  x = layers.ReLU()(layers.BatchNormalization()(x))
  local y = layers.Conv2D(8, 3, { padding = "same", groups = 2, name = "grouped" })(x)
  y = layers.DepthwiseConv2D(3, { padding = "same" })(y)
  x = layers.Add() { x, layers.Conv2D(8, 1, { name = "second" })(y) }
  x = layers.TimeDistributed(layers.Conv1D(4, 3, { name = "inside" }))(x)
  return cr.Model { inputs = input, outputs = layers.Dense(3)(layers.Flatten()(x)) }
end
local function quantization_modes(model)
  local list = {}
  for _, layer in ipairs(model.layers) do
    if layer.quantization_mode then list[#list + 1] = layer.name:gsub("_%d+$", "") end
  end
  return list
end
local x = uniform_tensor(5, 8, 8, 4)
local model = new_model()
local float_predictions = model:predict(x, { verbose = 0 })
model:quantize "int8"
check.same(quantization_modes(model), { "dense" })
model = new_model()
model:quantize("int8", convolution_options)
check.same(quantization_modes(model), { "first", "second", "dense" })
local predictions = model:predict(x, { verbose = 0 })
for _, ending in ipairs { ".keras", ".h5" } do
  local path = check.temporary(ending)
  model:save(path)
  local loaded_model = cr.models.load_model(path)
  check.same(loaded_model:predict(x, { verbose = 0 }):totable(), predictions:totable())
  check.same(quantization_modes(loaded_model), quantization_modes(model))
end
for _, ending in ipairs { ".weights.h5", ".weights.json", ".safetensors", ".npz" } do
  local path = check.temporary(ending)
  model:save_weights(path)
  local clone = cr.models.clone_model(model)
  clone:load_weights(path)
  check.same(clone:predict(x, { verbose = 0 }):totable(), predictions:totable())
end
local rebuilt_model = cr.models.model_from_json(model:to_json())
rebuilt_model:set_weights(model:get_weights())
check.same(rebuilt_model:predict(x, { verbose = 0 }):totable(), predictions:totable())
do -- saving says that Keras cannot open the file
  local _, warning_text = check.run [[
    local layer = cr.layers.Conv1D(2, 3, { input_shape = { 5, 2 }, name = "tiny" })
    local model = cr.Sequential { layer }
    model:quantize("int8", { convolutions = true })
    local path = os.tmpname() .. ".keras"
    model:save(path)
    model:save(path)
    os.remove(path)
  ]]
  local _, count =
    warning_text:gsub("layer 'tiny', option 'quantization_config': Keras has no conv", "")
  assert(count == 1, warning_text)
end

-- ---- a cut of a model keeps quantized layers; layers that are not quantized can be trained
do
  local cut_model = model:cut "second"
  assert(cut_model:get_layer("second").quantization_mode == "int8")
  local frozen_bias = model:get_layer("first").weights[2]:totable()
  model:compile { optimizer = "sgd", loss = "mse" }
  local losses = model:fit(x, cr.zeros { 5, 3 }, { epochs = 3, verbose = 0 }).history.loss
  assert(losses[3] < losses[1])
  check.same(model:get_layer("first").weights[2]:totable(), frozen_bias)
end

-- ---- adapters of quantized convolutions
do
  local layer = layers.Conv2D(4, 3)
  local images = uniform_tensor(2, 6, 6, 3)
  layer(images)
  layer:quantize("int8", convolution_options)
  layer:enable_lora(2)
  local b = layer.trainable_weights[3]
  b:assign(cr.random.normal(b.shape, 0, 0.1, { seed = 2 }))
  local adapted_output = layer(images)
  layer:merge_lora()
  check.near(layer(images), adapted_output, 0.05)
end

-- ---- Calls that fail, by a part of their message.
local function built_layer(layer)
  layer(uniform_tensor(1, 6, 6, 4))
  return layer
end
local failing_calls = {
  ["Pass convolutions = true"] = function() built_layer(layers.Conv2D(3, 3)):quantize "int8" end,
  ["isn't yet built"] = function() layers.Conv2D(3, 3):quantize("int8", convolution_options) end,
  ["already quantized"] = function()
    local layer = built_layer(layers.Conv2D(3, 3))
    layer:quantize("int8", convolution_options)
    layer:quantize("int8", convolution_options)
  end,
  ["to int8 only, got int4"] = function()
    built_layer(layers.Conv2D(3, 3)):quantize("int4", convolution_options)
  end,
  ["only, got int4"] = function() new_model():quantize("int4", convolution_options) end,
  ["expected groups = 1, got 2"] = function()
    built_layer(layers.Conv2D(4, 3, { groups = 2 })):quantize("int8", convolution_options)
  end,
  ["DepthwiseConv2D does not have"] = function()
    built_layer(layers.DepthwiseConv2D(3)):quantize("int8", convolution_options)
  end,
  ["Conv2DTranspose does not have"] = function()
    built_layer(layers.Conv2DTranspose(3, 3)):quantize("int8", convolution_options)
  end,
}
for message_part, call in pairs(failing_calls) do check.fails(call, message_part) end
