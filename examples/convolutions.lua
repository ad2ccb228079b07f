-- Shows what a convolutional network has learned: its filters, their responses to a digit, and the
-- pixels that influenced the predicted class most.
--   crescent examples/convolutions.lua [EPOCHS]
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local data_folder = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/data/"
local epochs = tonumber(arg[1]) or 3
print "A network learns digits; then we look at what it looks at."
cr.random.seed(1)

local x = cr.data.read_idx(data_folder .. "mnist-t10k-images-idx3-ubyte.gz")
  :reshape { 10000, 28, 28, 1 }:cast "float32" / 255
local y = cr.data.read_idx(data_folder .. "mnist-t10k-labels-idx1-ubyte.gz")
local model = cr.Sequential {
  layers.Conv2D(8, 5, { activation = "relu", input_shape = { 28, 28, 1 }, name = "edges" }),
  layers.MaxPooling2D(2),
  layers.Conv2D(16, 5, { activation = "relu", name = "strokes" }),
  layers.MaxPooling2D(2),
  layers.Flatten(),
  layers.Dense(10, { name = "scores" }),
}
model:compile { optimizer = cr.optimizers.Adam(2e-3),
  loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
  metrics = { "accuracy" } }
model:fit(x:slice(1, 9000), y:slice(1, 9000), { batch_size = 64, epochs = epochs, verbose = 2 })
local scores = model:evaluate(x:slice(9001, 10000), y:slice(9001, 10000),
  { verbose = 0, return_dict = true })

-- The kernel of shape (height, width, channels, filters) becomes one picture per filter.
local kernel = model:get_layer("edges").kernel.value
local filters = kernel:reshape { 5, 5, 8 }:transpose { 2, 0, 1 }

-- The outputs (feature maps) of the layer `name` for the digit: `cut` gives the model that ends at
-- this layer.
local digit = x:slice(9001, 9001)
local function feature_maps(name)
  local maps = model:cut(name):predict(digit, { verbose = 0 })
  return ops.transpose(maps[1], { 2, 0, 1 })
end

-- The gradient of the predicted class's score with respect to each pixel of the digit.
local predicted_class = ops.argmax(model:predict(digit, { verbose = 0 }), -1):item()
local predicted_score
local tape = cr.GradientTape(function()
  predicted_score = model(digit)[{ 1, predicted_class + 1 }]
end, { digit })
local saliency = tape:gradient(predicted_score, digit):abs():reshape { 28, 28 }

local written_files = {}
local function draw(images, name, columns)
  local path = cr.utils.writable_path(("convolutions_%s.png"):format(name))
  cr.imshow(images, { scale = true, columns = columns, file = path, title = name })
  written_files[#written_files + 1] = path
end
draw(filters, "filters", 8)
draw(feature_maps "edges", "edges", 8)
draw(feature_maps "strokes", "strokes", 8)
draw(saliency, "pixels")
print(("Accuracy: %.3f. The digit %d is read as a %d."):format(scores.accuracy, y[9001],
  predicted_class))
print("Pictures: " .. table.concat(written_files, ", "))
