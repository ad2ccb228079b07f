-- MobileNet's blocks on images of CIFAR's size: depthwise convolutions followed by pointwise ones.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local function normalized_relu(x) return layers.ReLU()(layers.BatchNormalization()(x)) end

local function block(x, filters, strides)
  x = normalized_relu(layers.DepthwiseConv2D(3,
    { strides = strides, padding = "same", use_bias = false })(x))
  return normalized_relu(layers.Conv2D(filters, 1, { use_bias = false })(x))
end

local function model()
  local input = cr.Input { shape = { 32, 32, 3 } }
  local x = normalized_relu(layers.Conv2D(32, 3, { padding = "same", use_bias = false })(input))
  for _, stage in ipairs { { 64, 1 }, { 128, 2 }, { 128, 1 }, { 256, 2 }, { 256, 1 }, { 512, 2 },
    { 512, 1 } } do
    x = block(x, stage[1], stage[2])
  end
  x = layers.GlobalAveragePooling2D()(x)
  return cr.Model { inputs = input, outputs = layers.Dense(10, { dtype = "float32" })(x) }
end

measure.all("mobilenet", {
  model = model,
  x = measure.uniform(32, 32, 3), y = measure.integers(10),
  batch = 128, batches = 3, flops = 45.9e6,
  optimizer = cr.optimizers.SGD { learning_rate = 0.1, momentum = 0.9 },
  loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
  predictions = { 1, 256 },
})
