-- The convolutional network of Keras' MNIST example.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local function model()
  return cr.Sequential {
    layers.Conv2D(32, 3, { activation = "relu", input_shape = { 28, 28, 1 } }),
    layers.Conv2D(64, 3, { activation = "relu" }),
    layers.MaxPooling2D(2),
    layers.Dropout(0.25),
    layers.Flatten(),
    layers.Dense(128, { activation = "relu" }),
    layers.Dropout(0.5),
    layers.Dense(10, { dtype = "float32" }),
  }
end

measure.all("cnn", {
  model = model,
  x = measure.uniform(28, 28, 1), y = measure.integers(10),
  batch = 128, batches = 8, flops = 24.0e6,
  optimizer = "adam", loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
  predictions = { 1, 256 },
})
