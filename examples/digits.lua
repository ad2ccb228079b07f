-- A small convolutional network learns to read handwritten digits.
--   crescent examples/digits.lua [FILE]
--       FILE: the file in which the model is saved; by default digits.h5, or /tmp/digits.h5 if the
--       current folder cannot be written.
local cr = require "crescent"
local layers = cr.layers
local data_folder = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/data/"
local path = cr.utils.writable_path(arg[1] or "digits.h5")

-- 10,000 digits of 28x28 grey values: 8,000 for training, 2,000 for testing.
local images = cr.data.read_idx(data_folder .. "mnist-t10k-images-idx3-ubyte.gz")
local labels = cr.data.read_idx(data_folder .. "mnist-t10k-labels-idx1-ubyte.gz")
local x = images:reshape { 10000, 28, 28, 1 }:cast("float32") / 255
local x_train, x_test = x:slice(1, 8000), x:slice(8001, 10000)
local y_train, y_test = labels:slice(1, 8000), labels:slice(8001, 10000)

cr.random.seed(1)
local model = cr.Sequential {
  layers.Conv2D(16, 3, { activation = "relu", input_shape = { 28, 28, 1 } }),
  layers.MaxPooling2D(2),
  layers.Conv2D(32, 3, { activation = "relu" }),
  layers.MaxPooling2D(2),
  layers.Flatten(),
  layers.Dropout(0.3),
  layers.Dense(64, { activation = "relu" }),
  layers.Dense(10, { activation = "softmax" }),
}
model:summary()
model:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy",
  metrics = { "accuracy" } }
model:fit(x_train, y_train, { batch_size = 64, epochs = 8 })

local scores = model:evaluate(x_test, y_test, { verbose = 0, return_dict = true })
print(string.format("\nTest accuracy: %.4f", scores.accuracy))

-- The file has the format of Keras; the loaded model gives the same predictions and could be
-- trained further.
model:save(path)
local loaded_model = cr.models.load_model(path)
local expected_predictions = model:predict(x_test, { verbose = 0 })
local predictions = loaded_model:predict(x_test, { verbose = 0 })
local max_difference = cr.ops.max(cr.ops.abs(expected_predictions - predictions)):item()
assert(max_difference == 0, "the loaded model predicts something else")
print("Saved to " .. path .. ", loaded, and predicts the same.\n")

-- Draws a digit with characters and returns the lines of text. Only every second row of pixels is
-- drawn, because characters are about twice as high as wide.
local shades = " .:-=+*#%@"
local function character_rows(pixels)
  local lines = {}
  for row = 1, 28, 2 do
    local line = {}
    for column, grey in ipairs(pixels[row]) do
      local shade = grey * #shades // 256 + 1
      line[column] = shades:sub(shade, shade)
    end
    lines[#lines + 1] = table.concat(line)
  end
  return lines
end

local predicted_classes = cr.ops.argmax(predictions, -1):totable()
for i = 1, 3 do
  local lines = character_rows(images[8000 + i]:totable())
  lines[7] = string.format("%s    the model says %d, the label %d", lines[7], predicted_classes[i],
    labels[8000 + i])
  print(table.concat(lines, "\n") .. "\n")
end

local program = arg[-1] or "crescent"
print(string.format([[
To go on at the prompt, start %s and type
  model = cr.models.load_model(%q)
  model:summary()
  help(model)]], program, path))
assert(scores.accuracy >= 0.97, "the test accuracy should be at least 0.97")
