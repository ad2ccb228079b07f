-- A U-Net that labels every pixel of images of 128 x 128 pixels.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local function convolve_twice(x, filters)
  for _ = 1, 2 do
    x = layers.Conv2D(filters, 3, { padding = "same", use_bias = false })(x)
    x = layers.ReLU()(layers.BatchNormalization()(x))
  end
  return x
end

local function model()
  local input = cr.Input { shape = { 128, 128, 3 } }
  local x, skips = input, {}
  for i, filters in ipairs { 32, 64, 128 } do
    skips[i] = convolve_twice(x, filters)
    x = layers.MaxPooling2D(2)(skips[i])
  end
  x = convolve_twice(x, 256)
  for i = 3, 1, -1 do
    local filters = 16 << i
    x = layers.Conv2DTranspose(filters, 2, { strides = 2 })(x)
    x = convolve_twice(layers.Concatenate() { skips[i], x }, filters)
  end
  return cr.Model { inputs = input, outputs = layers.Conv2D(4, 1, { dtype = "float32" })(x) }
end

measure.all("unet", {
  model = model,
  x = measure.uniform(128, 128, 3), y = measure.integers(4, 128, 128),
  batch = 8, batches = 1, flops = 6.8e9, is_large = true,
  optimizer = "adam", loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
  predictions = { 1, 32 },
})
