-- EfficientNet-B0: depthwise convolutions whose channels are weighted by squeeze and excitation.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local function convolve(x, filters, kernel, strides, activation)
  x = layers.Conv2D(filters, kernel, { strides = strides, padding = "same", use_bias = false })(x)
  x = layers.BatchNormalization()(x)
  return activation and layers.Activation(activation)(x) or x
end

--- Weights the channels by a network of two layers on their means.
local function reweight_channels(x, channels, hidden_channels)
  local weights = layers.GlobalAveragePooling2D { keepdims = true }(x)
  weights = layers.Conv2D(hidden_channels, 1, { activation = "silu" })(weights)
  weights = layers.Conv2D(channels, 1, { activation = "sigmoid" })(weights)
  return layers.Multiply() { x, weights }
end

local function block(x, input, expansion, output, kernel, strides)
  local y, width = x, input * expansion
  if expansion > 1 then y = convolve(y, width, 1, 1, "silu") end
  y = layers.DepthwiseConv2D(kernel, { strides = strides, padding = "same", use_bias = false })(y)
  y = layers.Activation("silu")(layers.BatchNormalization()(y))
  y = convolve(reweight_channels(y, width, input // 4), output, 1, 1)
  return strides == 1 and input == output and layers.Add() { x, y } or y
end

-- expansion, output channels, number of blocks, kernel size, strides of the first block
local stages = {
  { 1, 16, 1, 3, 1 }, { 6, 24, 2, 3, 2 }, { 6, 40, 2, 5, 2 }, { 6, 80, 3, 3, 2 },
  { 6, 112, 3, 5, 1 }, { 6, 192, 4, 5, 2 }, { 6, 320, 1, 3, 1 },
}

local function model()
  local input = cr.Input { shape = { 224, 224, 3 } }
  local x, channels = convolve(input, 32, 3, 2, "silu"), 32
  for _, stage in ipairs(stages) do
    local expansion, output, count, kernel, strides = table.unpack(stage)
    for i = 1, count do
      x = block(x, channels, expansion, output, kernel, i == 1 and strides or 1)
      channels = output
    end
  end
  x = layers.GlobalAveragePooling2D()(convolve(x, 1280, 1, 1, "silu"))
  return cr.Model { inputs = input, outputs = layers.Dense(1000, { dtype = "float32" })(x) }
end

measure.all("efficientnet", {
  model = model,
  x = measure.uniform(224, 224, 3), y = measure.integers(1000),
  batch = 16, batches = 1, flops = 0.78e9, is_large = true,
  optimizer = cr.optimizers.SGD { learning_rate = 0.001, momentum = 0.9 },
  loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
  predictions = { 1, 32 },
})
