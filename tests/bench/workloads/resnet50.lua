-- ResNet-50 for images of ImageNet's size.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local function convolve(x, filters, kernel, strides, scale)
  x = layers.Conv2D(filters, kernel, { strides = strides, padding = "same", use_bias = false })(x)
  return layers.BatchNormalization { gamma_initializer = scale or "ones" }(x)
end

--- A residual block whose last kernel starts with zeros, so that the block begins as the identity.
--- Otherwise rounding errors would grow over the many layers until two correct ways to compute the
--- gradients disagree.
local function block(x, filters, strides, projects)
  local y = layers.ReLU()(convolve(x, filters, 1, 1))
  y = layers.ReLU()(convolve(y, filters, 3, strides))
  y = convolve(y, 4 * filters, 1, 1, "zeros")
  if projects then x = convolve(x, 4 * filters, 1, strides) end
  return layers.ReLU()(layers.Add() { x, y })
end

local function model()
  local input = cr.Input { shape = { 224, 224, 3 } }
  local x = layers.ReLU()(convolve(input, 64, 7, 2))
  x = layers.MaxPooling2D(3, { strides = 2, padding = "same" })(x)
  for stage, count in ipairs { 3, 4, 6, 3 } do
    for i = 1, count do
      x = block(x, 32 << stage, stage > 1 and i == 1 and 2 or 1, i == 1)
    end
  end
  x = layers.GlobalAveragePooling2D()(x)
  return cr.Model { inputs = input, outputs = layers.Dense(1000, { dtype = "float32" })(x) }
end

measure.all("resnet50", {
  model = model,
  x = measure.uniform(224, 224, 3), y = measure.integers(1000),
  batch = 16, batches = 1, flops = 8.2e9, is_large = true,
  optimizer = cr.optimizers.SGD { learning_rate = 0.001, momentum = 0.9 },
  loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
  predictions = { 1, 32 },
})
