-- ResNet-20 for images of CIFAR's size.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local function convolve_and_normalize(x, filters, kernel, strides)
  x = layers.Conv2D(filters, kernel, { strides = strides, padding = "same" })(x)
  return layers.BatchNormalization()(x)
end

local function block(x, filters, strides)
  local y = layers.ReLU()(convolve_and_normalize(x, filters, 3, strides))
  y = convolve_and_normalize(y, filters, 3, 1)
  if strides > 1 then x = layers.Conv2D(filters, 1, { strides = strides })(x) end
  return layers.ReLU()(layers.Add() { x, y })
end

local function model()
  local input = cr.Input { shape = { 32, 32, 3 } }
  local x = layers.ReLU()(convolve_and_normalize(input, 16, 3, 1))
  for stage, filters in ipairs { 16, 32, 64 } do
    for i = 1, 3 do x = block(x, filters, stage > 1 and i == 1 and 2 or 1) end
  end
  x = layers.GlobalAveragePooling2D()(x)
  return cr.Model { inputs = input, outputs = layers.Dense(10, { dtype = "float32" })(x) }
end

measure.all("resnet20", {
  model = model,
  x = measure.uniform(32, 32, 3), y = measure.integers(10),
  batch = 128, batches = 3, flops = 81.6e6,
  optimizer = cr.optimizers.SGD { learning_rate = 0.1, momentum = 0.9 },
  loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
  predictions = { 1, 32, 256 },
})

local function make_quantized()
  local quantized_model = model()
  quantized_model:quantize("int8", { convolutions = true })
  return quantized_model
end
for _, batch in ipairs { 1, 32, 256 } do
  measure.predict("resnet20_int8_predict_b" .. batch,
    { model = make_quantized, x = measure.uniform(32, 32, 3), batch = batch })
end
