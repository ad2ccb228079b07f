-- ResNeXt's blocks on images of CIFAR's size: 3x3 convolutions in eight groups between pointwise
-- ones.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local function convolve(x, filters, kernel, options)
  options.padding, options.use_bias = "same", false
  return layers.BatchNormalization()(layers.Conv2D(filters, kernel, options)(x))
end

local function block(x, width, strides)
  local y = layers.ReLU()(convolve(x, width, 1, {}))
  y = layers.ReLU()(convolve(y, width, 3, { strides = strides, groups = 8 }))
  y = convolve(y, 2 * width, 1, {})
  return layers.ReLU()(layers.Add() { y, convolve(x, 2 * width, 1, { strides = strides }) })
end

local function model()
  local input = cr.Input { shape = { 32, 32, 3 } }
  local x = layers.ReLU()(convolve(input, 32, 3, {}))
  for _, stage in ipairs { { 64, 1 }, { 64, 1 }, { 128, 2 }, { 256, 2 } } do
    x = block(x, stage[1], stage[2])
  end
  x = layers.GlobalAveragePooling2D()(x)
  return cr.Model { inputs = input, outputs = layers.Dense(10, { dtype = "float32" })(x) }
end

measure.all("resnext", {
  model = model,
  x = measure.uniform(32, 32, 3), y = measure.integers(10),
  batch = 64, batches = 3, flops = 270e6,
  optimizer = cr.optimizers.SGD { learning_rate = 0.1, momentum = 0.9 },
  loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
  predictions = { 1, 256 },
})
