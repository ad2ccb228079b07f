-- Trains on PNG files in folders: the images are read when they are needed, and augmented by random
-- changes.
--   crescent examples/image_folders.lua [EPOCHS] [FOLDER]
--       FOLDER has a folder of images for each class; without it, the example first writes
--       handwritten digits into a temporary folder.
local cr = require "crescent"
local layers = cr.layers
local epochs, image_folder = tonumber(arg[1]) or 12, arg[2]
local is_temporary = not image_folder
cr.random.seed(1)
print "Images in folders, read as they are needed and changed at random, are learned."

-- Writes 150 digits of each class as FOLDER/CLASS/NUMBER.png.
local function write_digits()
  local data_folder = (arg[0]:match("^(.*)/[^/]*$") or ".") .. "/data/"
  local images = cr.data.read_idx(data_folder .. "mnist-t10k-images-idx3-ubyte.gz")
  local labels = cr.data.read_idx(data_folder .. "mnist-t10k-labels-idx1-ubyte.gz"):totable()
  local folder, counts = os.tmpname(), {}
  os.remove(folder)
  for class = 0, 9 do
    counts[class] = 0
    assert(os.execute(("mkdir -p '%s/%d'"):format(folder, class)))
  end
  for i, class in ipairs(labels) do
    if counts[class] < 150 then
      counts[class] = counts[class] + 1
      local path = ("%s/%d/%03d.png"):format(folder, class, counts[class])
      cr.utils.save_img(path, images[i]:reshape { 28, 28, 1 }, { scale = false })
    end
  end
  return folder
end
image_folder = image_folder or write_digits()

-- A fifth of the images is for validation. Only the paths are kept in memory: threads read the
-- images of the next batches while the model trains on the current one.
local training_data, validation_data = cr.utils.image_dataset_from_directory(image_folder, {
  color_mode = "grayscale", image_size = { 28, 28 }, batch_size = 64,
  validation_split = 0.2, subset = "both", seed = 1,
})
local classes = training_data.class_names

-- The Random... layers change images in training only.
local model = cr.Sequential {
  layers.Input { shape = { 28, 28, 1 } },
  layers.Rescaling(1 / 255),
  layers.RandomTranslation(0.1, 0.1, { fill_mode = "constant" }),
  layers.RandomRotation(0.03, { fill_mode = "constant" }),
  layers.RandomZoom(0.1, { fill_mode = "constant" }),
  layers.Conv2D(16, 3, { activation = "relu" }),
  layers.MaxPooling2D(2),
  layers.Conv2D(32, 3, { activation = "relu" }),
  layers.MaxPooling2D(2),
  layers.Flatten(),
  layers.Dropout(0.3),
  layers.Dense(64, { activation = "relu" }),
  layers.Dense(#classes, { activation = "softmax" }),
}
model:compile { optimizer = cr.optimizers.Adam(2e-3),
  loss = "sparse_categorical_crossentropy", metrics = { "accuracy" } }
model:fit(training_data, { epochs = epochs, validation_data = validation_data })

-- confusion[i][k] counts the images of class i that the model predicts as class k.
local confusion, right_count, count, misclassified_example = {}, 0, 0, nil
for i in ipairs(classes) do confusion[i] = {} end
for images, labels in validation_data:elements() do
  local predicted_classes = cr.ops.argmax(model:predict(images), -1):totable()
  for i, label in ipairs(labels:totable()) do
    local predicted_class = predicted_classes[i]
    confusion[label + 1][predicted_class + 1] = (confusion[label + 1][predicted_class + 1] or 0) + 1
    count, right_count = count + 1, right_count + (predicted_class == label and 1 or 0)
    if predicted_class ~= label then misclassified_example = misclassified_example
      or { images[i], classes[label + 1], classes[predicted_class + 1] } end
  end
end
print("\nis \\ taken for  " .. table.concat(classes, "    "))
for i, class in ipairs(classes) do
  local cells = {}
  for k in ipairs(classes) do cells[k] = ("%4s"):format(confusion[i][k] or "") end
  print(("%12s%s"):format(class, table.concat(cells, " ")))
end
print(("\n%d of %d right: %.1f %%"):format(right_count, count, 100 * right_count / count))

-- Prints one misclassified image as characters.
if misclassified_example then
  print(("\nthis %s was taken for %s:"):format(misclassified_example[2], misclassified_example[3]))
  local shades = " .:-=+*#%@"
  for _, row in ipairs(misclassified_example[1]:totable()) do
    local line = {}
    for x, pixel in ipairs(row) do
      local shade = 1 + math.floor(pixel[1] / 256 * #shades)
      line[x] = shades:sub(shade, shade):rep(2)
    end
    print((table.concat(line):gsub(" +$", "")))
  end
end
if is_temporary then os.execute("rm -r '" .. image_folder .. "'") end
