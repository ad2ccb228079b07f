-- Transfer learning: the first stages of a ResNet learn the digits 0 to 4 from many pictures; with
-- what they have learned, a few pictures suffice to learn the digits 5 to 9.
--   crescent examples/transfer.lua [PICTURES]
--       PICTURES: how many pictures of each digit from 0 to 4 are used; by default 800.
-- With Keras' weights of ImageNet in the cache folder, weights = "imagenet" is a better start for
-- photographs.
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local data_folder = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/data/"
-- How many pictures are used of each digit from 0 to 4, and of each digit from 5 to 9.
local pictures_per_low_digit, pictures_per_high_digit = tonumber(arg[1]) or 800, 10

-- ---- pictures of 32x32 pixels with three channels, as ResNet50 expects them

local images = cr.data.read_idx(data_folder .. "mnist-t10k-images-idx3-ubyte.gz")
local labels = cr.data.read_idx(data_folder .. "mnist-t10k-labels-idx1-ubyte.gz"):totable()

-- Returns the pictures of the digits from `first_digit` to `last_digit` and their labels, counted
-- from 0. Of each digit the first `skip_count` pictures are skipped and at most `max_count` taken.
local function digit_subset(first_digit, last_digit, skip_count, max_count)
  local digit_counts, indices, classes = {}, {}, {}
  for index, digit in ipairs(labels) do
    if digit >= first_digit and digit <= last_digit then
      digit_counts[digit] = (digit_counts[digit] or 0) + 1
      if digit_counts[digit] > skip_count and digit_counts[digit] <= skip_count + max_count then
        indices[#indices + 1], classes[#classes + 1] = index - 1, digit - first_digit
      end
    end
  end
  local grey_images = ops.take(images, cr.tensor(indices, "int32"), 0):cast "float32"
  local padded_images = ops.pad(grey_images:reshape { #indices, 28, 28, 1 },
    { { 0, 0 }, { 2, 2 }, { 2, 2 }, { 0, 0 } })
  local rgb_images = ops.concatenate({ padded_images, padded_images, padded_images }, -1)
  return cr.applications.resnet.preprocess_input(rgb_images), cr.tensor(classes, "int32")
end

-- ---- models

-- ResNet50 up to the end of its third stage, followed by global average pooling.
local function first_stages()
  local resnet = cr.applications.ResNet50 { include_top = false, input_shape = { 32, 32, 3 } }
  local features = layers.GlobalAveragePooling2D()(resnet:get_layer("conv3_block4_out").output)
  return cr.Model { inputs = resnet.inputs, outputs = features, name = "stages" }
end

local function classifier(base_model)
  local pixels = cr.Input { shape = { 32, 32, 3 } }
  local scores = layers.Dense(5, { activation = "softmax" })(base_model(pixels))
  return cr.Model { inputs = pixels, outputs = scores }
end

local function fit(model, x, y, learning_rate, epochs, batch_size, verbose)
  model:compile {
    optimizer = cr.optimizers.Adam { learning_rate = learning_rate },
    loss = "sparse_categorical_crossentropy", metrics = { "accuracy" },
  }
  model:fit(x, y, { batch_size = batch_size, epochs = epochs, verbose = verbose })
end

local function count_trainable_weights(model)
  local count = 0
  for _, weight in ipairs(model.trainable_weights) do
    local size = 1
    for _, n in ipairs(weight.shape) do size = size * n end
    count = count + size
  end
  return count
end

local result_rows = {}
local x_test, y_test = digit_subset(5, 9, 100, 200)
local function add_result(label, model, start_time)
  local accuracy = model:evaluate(x_test, y_test, { verbose = 0, return_dict = true }).accuracy
  result_rows[#result_rows + 1] = { label, count_trainable_weights(model),
    cr.utils.clock() - start_time, accuracy }
end

-- ---- training on the digits 0 to 4

cr.random.seed(1)
print "The first stages of a ResNet50 learn the digits 0 to 4."
local start_time = cr.utils.clock()
local base_model = first_stages()
local x, y = digit_subset(0, 4, 0, pictures_per_low_digit)
local base_classifier = classifier(base_model)
fit(base_classifier, x, y, 1e-3, 3, 64, 1)
local x_low, y_low = digit_subset(0, 4, pictures_per_low_digit, 200)
print(string.format("0 to 4 from %d pictures: accuracy %.1f %% after %.0f s", x.shape[1],
  100 * base_classifier:evaluate(x_low, y_low, { verbose = 0, return_dict = true }).accuracy,
  cr.utils.clock() - start_time))

-- ---- training on the digits 5 to 9

local x_few, y_few = digit_subset(5, 9, 0, pictures_per_high_digit)

start_time = cr.utils.clock()
local scratch_model = classifier(first_stages())
print "A second one learns 5 to 9 from nothing."
fit(scratch_model, x_few, y_few, 1e-3, 30, 10, 0)
add_result("all of it, from nothing", scratch_model, start_time)

-- The layers of `base_model` are frozen and run in inference mode: batch normalization uses its
-- stored statistics and does not update them.
start_time = cr.utils.clock()
base_model.trainable = false
local new_classifier = classifier(base_model)
print "A classifier learns them on what the first one sees."
fit(new_classifier, x_few, y_few, 1e-2, 30, 10, 0)
add_result("a classifier on frozen stages", new_classifier, start_time)

-- Now the last stage (the layers conv3...) is also trained, with a low learning rate; batch
-- normalization stays frozen.
start_time = cr.utils.clock()
base_model.trainable = true
for _, layer in ipairs(base_model.layers) do
  layer.trainable = layer.name:find "^conv3" ~= nil and layer.class_name ~= "BatchNormalization"
end
fit(new_classifier, x_few, y_few, 1e-4, 9, 10, 0)
add_result("and the last stage with it", new_classifier, start_time)

print(string.format("\n5 to 9 from %d pictures each\n%-32s %14s %8s %10s",
  pictures_per_high_digit, "", "weights trained", "seconds", "accuracy"))
for _, row in ipairs(result_rows) do
  print(string.format("%-32s %15d %8.1f %8.1f %%", row[1], row[2], row[3], 100 * row[4]))
end
