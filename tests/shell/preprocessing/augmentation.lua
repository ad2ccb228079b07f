-- Layers that change images at random: on their own, in models, on datasets and in files.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/preprocessing"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers

local x = cr.random.uniform({ 6, 8, 10, 3 }, { minval = 0, maxval = 255 })
local labels = cr.ops.one_hot(cr.tensor({ 0, 1, 2, 0, 1, 2 }, "int32"), 3)

do -- a layer called directly changes images; a table of inputs gives a table of results
  local invert = layers.RandomInvert { factor = { 1, 1 } }
  check.near(invert(x), 255 - x)
  check.near(invert(x, { training = false }), x)
  local result = layers.MixUp { seed = 1 } { images = x, labels = labels }
  check.same(result.images.shape, x.shape)
  check.near(cr.ops.sum(result.labels, -1), cr.ones { 6 })
  local result_list = layers.MixUp { seed = 1 }(x, { labels = labels })
  check.near(result_list[1], result.images)
  check.near(result_list[2], result.labels)
  local result_with_masks = invert { images = x, segmentation_masks = x }
  check.near(result_with_masks.segmentation_masks, x)
  check.fails(function() invert { images = x, label = labels } end, "did you mean 'labels'?")
  check.fails(function() invert { labels = labels } end, "expects 1 inputs")
end

do -- Pipeline combines several layers into one
  local pipeline = layers.Pipeline { layers.RandomInvert { factor = { 1, 1 } },
    layers.Rescaling(1 / 255) }
  check.near(pipeline(x), (255 - x) / 255)
  check.near(pipeline(x, { training = false }), x / 255)
  assert(#pipeline.layers == 2)
  local one_layer_pipeline = layers.Pipeline { layers.RandomFlip() }
  check.same(one_layer_pipeline(x).shape, x.shape)
  local mixed_data = layers.Pipeline { layers.CutMix(), layers.Rescaling(1 / 255) } { images = x,
    labels = labels }
  check.near(cr.ops.sum(mixed_data.labels, -1), cr.ones { 6 })
  check.fails(function()
    pipeline { images = x, segmentation_masks = x }
  end, "Rescaling", "does not take segmentation_masks")
end

-- In a model: active only in training, with new random numbers for each batch, and saved in the
-- form of Keras 3.
do
  local model = cr.Sequential {
    layers.RandomFlip("horizontal", { input_shape = { 8, 10, 3 }, seed = 3 }),
    layers.RandomTranslation(0.1, 0.2),
    layers.RandomContrast(0.2), layers.Flatten(), layers.Dense(3, { activation = "softmax" }) }
  model:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
  model:fit(x / 255, labels, { epochs = 2, batch_size = 4, verbose = 0 })
  local expected = model:predict(x, { verbose = 0 })
  check.near(model:predict(x, { verbose = 0 }), expected, 0)
  for _, ending in ipairs { ".keras", ".h5" } do
    local path = check.temporary(ending)
    model:save(path)
    local loaded_model = cr.models.load_model(path)
    check.near(loaded_model:predict(x, { verbose = 0 }), expected)
    check.same(loaded_model.layers[1]:get_config(), model.layers[1]:get_config())
    os.remove(path)
  end
  local flip = layers.RandomFlip { seed = 1 }
  local results = {}
  for i = 1, 12 do results[i] = flip(x[1]):totable()[1][1][1] end
  table.sort(results)
  assert(results[1] ~= results[12], "every draw is the same")
end

do -- configurations that Keras 3 writes
  local layer_json = [[{"module": "keras.layers", "class_name": "RandomContrast",
    "config": {"name": "random_contrast", "trainable": true, "dtype": "float32",
    "factor": [0.0, 0.2], "data_format": "channels_last", "value_range": [0, 255],
    "seed": null}}]]
  local model = cr.models.model_from_json(([[{"module": "keras", "class_name": "Sequential",
    "config": {"name": "s", "trainable": true, "dtype": "float32",
    "layers": [{"module": "keras.layers", "class_name": "InputLayer",
    "config": {"batch_shape": [null, 8, 10, 3], "dtype": "float32", "name": "i"}}, %s]},
    "keras_version": "3.15.1"}]]):format(layer_json))
  check.same(model.layers[#model.layers]:get_config().factor, { 0, 0.2 })
  local pipeline = layers.Pipeline { layers.RandomFlip { name = "f" }, name = "p" }
  local pipeline_json = cr.Sequential { cr.Input { shape = { 8, 10, 3 } }, pipeline }:to_json()
  local reread_model = cr.models.model_from_json(pipeline_json)
  assert(reread_model.layers[#reread_model.layers].layers[1].name == "f")
end

do -- a layer as a function of map of a dataset
  local flip = layers.RandomInvert { factor = { 1, 1 } }
  local data = cr.data.dataset(x, labels, { batch_size = 3 })
  local batch_count = 0
  for images, y in data:map(function(images, y) return flip(images), y end):elements() do
    check.same(images.shape, { 3, 8, 10, 3 })
    check.near(images, 255 - x:slice(1 + 3 * batch_count, 3 + 3 * batch_count))
    batch_count = batch_count + 1
  end
  assert(batch_count == 2)
end

do -- labels as inputs of a graph
  local images, classes = cr.Input { shape = { 8, 10, 3 } }, cr.Input { shape = { 3 } }
  local mixed_symbols = layers.MixUp { name = "m" } { images = images, labels = classes }
  local model = cr.Model { inputs = { images, classes }, outputs = { mixed_symbols.images,
    mixed_symbols.labels } }
  check.near(model:predict({ x, labels }, { verbose = 0 })[2], labels)
end
print "ok"
