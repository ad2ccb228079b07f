-- Layers with vocabularies: their outputs, adapting, models with string inputs, files.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers

local function output_of(layer, x) return layer(x):totable() end

-- ---- StringLookup: the examples of its documentation

local vocabulary = { "a", "b", "c", "d" }
local data = cr.tensor { { "a", "c", "d" }, { "d", "z", "b" } }
check.same(output_of(layers.StringLookup { vocabulary = vocabulary }, data),
  { { 1, 3, 4 }, { 4, 0, 2 } })
check.same(output_of(layers.StringLookup { vocabulary = cr.tensor(vocabulary) }, data),
  { { 1, 3, 4 }, { 4, 0, 2 } }, "a tensor of terms")
check.same(output_of(layers.StringLookup { vocabulary = vocabulary, num_oov_indices = 2 },
  cr.tensor { { "a", "c", "d" }, { "m", "z", "b" } }),
  { { 2, 4, 5 }, { 0, 1, 3 } })
local inverse_layer = layers.StringLookup { vocabulary = vocabulary, invert = true }
check.same(output_of(inverse_layer, cr.tensor({ { 1, 3, 4 }, { 4, 0, 2 } }, "int64")),
  { { "a", "c", "d" }, { "d", "[UNK]", "b" } })
check.same(output_of(inverse_layer, cr.tensor({ 99, -1 }, "int64")), { "[UNK]", "[UNK]" })
local masked_layer = layers.StringLookup { vocabulary = vocabulary, mask_token = "", invert = true }
check.same(output_of(masked_layer, cr.tensor({ 0, 1, 2 }, "int64")), { "", "[UNK]", "a" })
check.same(output_of(layers.StringLookup { vocabulary = vocabulary, mask_token = "" },
  cr.tensor { "a", "", "q" }), { 2, 0, 1 })
check.same(output_of(layers.StringLookup { vocabulary = vocabulary, output_mode = "one_hot" },
  cr.tensor { "b", "z" }),
  { { 0, 0, 1, 0, 0 }, { 1, 0, 0, 0, 0 } })
check.same(output_of(layers.StringLookup { vocabulary = vocabulary, output_mode = "multi_hot" },
  cr.tensor { { "a", "c", "d", "d" }, { "d", "z", "b", "z" } }),
  { { 0, 1, 0, 1, 1 }, { 1, 0, 1, 0, 1 } })
check.same(output_of(layers.StringLookup { vocabulary = vocabulary, output_mode = "count",
  mask_token = "" },
  cr.tensor { { "a", "c", "d", "d" }, { "d", "z", "b", "" } }), { { 0, 1, 0, 1, 2 },
  { 1, 0, 1, 0, 1 } }, "the mask is not counted")
check.same(output_of(layers.StringLookup { vocabulary = vocabulary, output_mode = "count",
  max_tokens = 7,
  pad_to_max_tokens = true }, data)[1],
  { 0, 1, 0, 1, 1, 0, 0 })
local documents = cr.tensor { { "a", "c", "d", "d" }, { "d", "z", "b", "z" } }
check.near(output_of(layers.StringLookup { vocabulary = vocabulary,
  idf_weights = { 0.25, 0.75, 0.6, 0.4 },
  output_mode = "tf_idf" }, documents),
  { { 0, 0.25, 0, 0.6, 0.8 }, { 1.0, 0, 0.75, 0, 0.4 } }, 1e-6)
check.near(output_of(layers.StringLookup {
  vocabulary = { "[UNK]", "a", "b", "c", "d" }, idf_weights = { 0.9, 0.25, 0.75, 0.6, 0.4 },
  output_mode = "tf_idf",
}, documents), { { 0, 0.25, 0, 0.6, 0.8 }, { 1.8, 0, 0.75, 0, 0.4 } }, 1e-6)

-- ---- adapt: once, in many batches, from streams

local adapted_layer = layers.StringLookup()
adapted_layer:adapt(data)
check.same(adapted_layer:get_vocabulary(), { "[UNK]", "d", "z", "c", "b", "a" },
  "by frequency, then from the end of the alphabet")
check.same(adapted_layer:get_vocabulary { include_special_tokens = false },
  { "d", "z", "c", "b", "a" })
check.same(adapted_layer:vocabulary_size(), 6)
check.same(output_of(adapted_layer, cr.tensor { "d", "a", "?" }), { 1, 5, 0 })
for name, source_data in pairs {
  lists = { { "a", "c", "d" }, { "d", "z", "b" } },
  dataset = cr.data.dataset(data, { batch_size = 1 }),
  tensors = { data:slice(1, 1), data:slice(2, 2) },
} do
  local streamed_layer = layers.StringLookup()
  streamed_layer:adapt(source_data)
  check.same(streamed_layer:get_vocabulary(), adapted_layer:get_vocabulary(), name)
end
local batch_number = 0
local stream = cr.data.generator(function()
  batch_number = batch_number + 1
  if batch_number <= 2 then return data:slice(batch_number, batch_number) end
end)
local stream_layer = layers.StringLookup { max_tokens = 3 }
stream_layer:adapt(stream)
check.same(stream_layer:get_vocabulary(), { "[UNK]", "d", "z" }, "no more than max_tokens")
batch_number = 0
stream_layer:adapt(stream, { steps = 1 })
check.same(stream_layer:get_vocabulary(), { "[UNK]", "d", "c" }, "one batch")

-- The weight of a term is log(1 + documents / (1 + documents with the term)); unknown terms get the
-- mean weight.
local weighted_layer = layers.StringLookup { output_mode = "tf_idf" }
weighted_layer:adapt(documents)
local idf = { d = math.log(1 + 2 / 3), z = math.log(1 + 2 / 2), c = math.log(2), b = math.log(2),
  a = math.log(2) }
local mean_idf = (idf.d + 4 * math.log(2)) / 5
check.same(weighted_layer:get_vocabulary(), { "[UNK]", "d", "z", "c", "b", "a" })
check.near(output_of(weighted_layer, cr.tensor { { "d", "d", "z", "?" } }),
  { { mean_idf, 2 * idf.d, idf.z, 0, 0, 0 } }, 1e-6)
local batched_layer = layers.StringLookup { output_mode = "tf_idf" }
batched_layer:reset_state()
batched_layer:update_state(documents:slice(1, 1))
batched_layer:update_state(documents:slice(2, 2))
batched_layer:finalize_state()
check.same(output_of(batched_layer, documents), output_of(weighted_layer, documents),
  "in two batches")

-- ---- IntegerLookup: indices of integers

local numbers = { 12, 36, 1138, 42 }
check.same(output_of(layers.IntegerLookup { vocabulary = numbers },
  cr.tensor({ { 12, 1138, 42 }, { 42, 1000, 36 } }, "int32")), { { 1, 3, 4 }, { 4, 0, 2 } })
check.same(output_of(layers.IntegerLookup { vocabulary = numbers, num_oov_indices = 2 },
  cr.tensor({ { 12, 1138, 42 }, { 37, 1000, -3 } }, "int64")),
  { { 2, 4, 5 }, { 1, 0, 1 } }, "by the remainder")
check.same(output_of(layers.IntegerLookup { vocabulary = numbers, num_oov_indices = 3,
  oov_method = "farmhash" }, cr.tensor({ 0, 1, 2, 3, 4 }, "int64")),
  { 1, 0, 1, 0, 2 }, "by the hash")
check.same(output_of(layers.IntegerLookup { vocabulary = numbers, num_oov_indices = 3,
  oov_method = "farmhash", salt = { 133, 137 } },
  cr.tensor({ 0, 1, 2, 3, 4 }, "int64")), { 1, 1, 2, 0, 1 }, "by the other hash")
local counting_layer = layers.IntegerLookup { mask_token = 0 }
counting_layer:adapt(cr.tensor({ { 12, 1138, 42, 0 }, { 42, 1000, 36, 0 } }, "int64"))
check.same(counting_layer:get_vocabulary(), { 0, -1, 42, 1138, 1000, 36, 12 })
check.same(output_of(layers.IntegerLookup { vocabulary = numbers, invert = true },
  cr.tensor({ 1, 0, 4 }, "int64")), { 12, -1, 42 })

check.same(layers.StringLookup { vocabulary = vocabulary,
  output_mode = "count" }:compute_output_shape { 2, 3 }, { 2, 5 })

-- ---- error messages for mistakes

check.fails(function()
  layers.StringLookup { max_tokens = 1 }
end, "`max_tokens` must be greater than 1")
check.fails(function()
  layers.StringLookup { pad_to_max_tokens = true }
end, "must set `max_tokens`")
check.fails(function()
  layers.StringLookup { vocabulary = { "a", "b", "a" } }
end, "at least one repeated term", '["a"]')
check.fails(function() layers.StringLookup { vocabulary = {} } end, "empty vocabulary")
check.fails(function()
  layers.StringLookup { vocabulary = vocabulary, max_tokens = 3 }
end, "larger than the maximum vocab size", "size is 5", "is 3")
check.fails(function()
  layers.StringLookup { vocabulary = { "a", "" }, mask_token = "" }
end, "reserved mask token", "index 1", '["", "[UNK]"]')
check.fails(function()
  layers.StringLookup { vocabulary = { "a", "[UNK]" }, invert = true }
end, "reserved OOV token")
check.fails(function()
  layers.StringLookup { vocabulary = vocabulary, output_mode = "tf_idf" }
end, "`idf_weights`")
check.fails(function()
  layers.StringLookup { vocabulary = vocabulary, output_mode = "tf_idf", idf_weights = { 1 } }
end, "same length", "is 1", "is 4")
check.fails(function()
  layers.StringLookup { invert = true, output_mode = "count" }
end, "must be `'int'`")
check.fails(function()
  layers.StringLookup { sparse = true, output_mode = "count" }
end, "tensors are dense")
check.fails(function()
  layers.StringLookup { vocabulary = vocabulary, num_oov_indices = 0 }(data)
end, "found OOV values", '"z"', "num_oov_indices=1")
check.fails(function() layers.StringLookup()(data) end, "no vocabulary", "adapt()")
check.fails(function()
  layers.StringLookup { output_mode = "count" }(data)
end, "must set the layer's vocabulary before")
check.fails(function()
  layers.StringLookup { vocabulary = vocabulary }:adapt(data)
end, "after setting a static vocabulary")
check.fails(function()
  layers.StringLookup { vocabulary = vocabulary }(cr.tensor { 1, 2 })
end, "expected strings", "float32")
check.fails(function()
  layers.IntegerLookup { vocabulary = numbers }(data)
end, "expected integers", "string")
check.fails(function()
  layers.IntegerLookup { vocabulary = numbers, num_oov_indices = 2, salt = 3 }
end, "oov_method='farmhash'")
check.fails(function() adapted_layer:adapt(7) end, "expected a tensor, a list or a dataset")

-- ---- layers save and load vocabularies as text files with one term per line

local folder = check.temporary ""
assert(os.execute("mkdir -p " .. folder))
adapted_layer:save_assets(folder)
local vocabulary_path = folder .. "/vocabulary.txt"
check.same(io.open(vocabulary_path):read "a", "[UNK]\nd\nz\nc\nb\na")
local rebuilt_layer = layers.StringLookup()
rebuilt_layer:load_assets(folder)
check.same(rebuilt_layer:get_vocabulary(), adapted_layer:get_vocabulary())
local function write_vocabulary(text)
  local output_file = assert(io.open(vocabulary_path, "w"))
  output_file:write(text)
  output_file:close()
end
write_vocabulary "one\r\ntwo\nthree\n"
check.same(layers.StringLookup { vocabulary = vocabulary_path }:get_vocabulary(),
  { "[UNK]", "one", "two", "three" })
write_vocabulary "one\ntwo\none\n"
check.fails(function() layers.StringLookup { vocabulary = vocabulary_path } end, vocabulary_path,
  "line 3", "line 1")
write_vocabulary "1\n2\nx\n"
check.fails(function()
  layers.IntegerLookup { vocabulary = vocabulary_path }
end, vocabulary_path, "line 3", "expected an integer, got 'x'")
check.fails(function() layers.StringLookup { vocabulary = folder .. "/none.txt" } end, "none.txt")

-- ---- the layers in models: eager, compiled, trained, and in files of every format

local words = cr.tensor { { "red", "big" }, { "blue", "small" }, { "red", "small" },
  { "green", "big" } }
local labels = cr.tensor { { 1 }, { 0 }, { 1 }, { 0 } }
local function model_with(lookup)
  local input = cr.Input { shape = { 2 }, dtype = "string", name = "words" }
  local model = cr.Model { inputs = input,
    outputs = layers.Dense(1, { kernel_initializer = "ones" })(lookup(input)) }
  model:compile { optimizer = "sgd", loss = "mse" }
  return model
end

local encoder = layers.StringLookup { output_mode = "multi_hot" }
encoder:adapt(words)
local model = model_with(encoder)
check.near(model:predict(words), model(words), 1e-6, "compiled as eager")
local history = model:fit(words, labels, { epochs = 20, verbose = 0 })
assert(history.history.loss[20] < 0.5 * history.history.loss[1], "it learns from strings")
local expected = model:predict(words):totable()
for _, ending in ipairs { ".h5", ".keras" } do
  local path = check.temporary(ending)
  model:save(path)
  local loaded_model = cr.models.load_model(path)
  check.same(loaded_model:predict(words):totable(), expected, ending)
  check.same(loaded_model.layers[2]:get_vocabulary(), encoder:get_vocabulary(), ending)
  os.remove(path)
end
local function new_embedding()
  return cr.Sequential {
    cr.Input { shape = { 2 }, dtype = "string" }, layers.StringLookup { name = "places" },
    layers.Embedding(9, 2, { name = "vectors" }),
  }
end
local embedding_model = new_embedding()
check.fails(function() embedding_model:predict(words) end, "no vocabulary")
embedding_model.layers[1]:adapt(words)
local first_output = embedding_model:predict(words):totable()
embedding_model.layers[1]:set_vocabulary { "blue", "big", "red", "green", "small" }
assert(embedding_model:predict(words):totable()[1][1][1] ~= first_output[1][1][1],
  "another vocabulary is taken up by what was compiled")

-- files of weights alone also contain the vocabulary
for _, ending in ipairs { ".weights.h5", ".h5", ".safetensors", ".npz" } do
  local path = check.temporary(ending)
  embedding_model:save_weights(path)
  local loaded_model = new_embedding()
  loaded_model:load_weights(path)
  check.same(loaded_model:predict(words):totable(), embedding_model:predict(words):totable(),
    ending)
  os.remove(path)
end
assert(os.execute("rm -r " .. folder))

-- ---- an unpacked archive of Keras 3.15, which stores vocabularies in files beside the
-- configuration

local function write_archive(class, options, layer)
  local config = string.format([[{"module": "keras", "class_name": "Sequential",
    "config": {"name": "s", "trainable": true, "layers": [
    {"module": "keras.layers", "class_name": "InputLayer",
     "config": {"batch_shape": [null, 1], "dtype": "string", "sparse": false,
     "ragged": false, "name": "words", "optional": false}, "registered_name": null},
    {"module": "keras.layers", "class_name": "%s", "config": {"name": "it", "trainable": true,
     "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"},
     "registered_name": null}, "max_tokens": null, "sparse": false,
     "pad_to_max_tokens": false, "idf_weights": null, "vocabulary": null, "encoding": "utf-8",
     %s}, "registered_name": null, "build_config": {"input_shape": [null, 1]}}],
     "build_input_shape": [null, 1]}, "registered_name": null, "compile_config": {}}]],
    class, options)
  local archive_path = check.temporary ".keras"
  local assets_folder = archive_path .. "/assets/layers/" .. class:gsub("(%l)(%u)", "%1_%2"):lower()
  assert(os.execute("mkdir -p " .. assets_folder))
  for name, text in pairs { ["config.json"] = config,
    ["metadata.json"] = '{"keras_version": "3.15.1"}' } do
    local output_file = assert(io.open(archive_path .. "/" .. name, "w"))
    output_file:write(text)
    output_file:close()
  end
  local model = cr.Sequential { cr.Input { shape = { 1 }, dtype = "string" }, layer }
  model:save_weights(archive_path .. "/model.weights.h5")
  layer:save_assets(assets_folder)
  return archive_path, model
end

local x = cr.tensor { { "d" }, { "c" }, { "?" } }
local archive_path, original_model = write_archive("StringLookup",
  [["invert": false, "num_oov_indices": 1,
  "oov_token": "[UNK]", "mask_token": null, "output_mode": "tf_idf", "vocabulary_size": 6,
  "oov_method": "floormod", "salt": null]], weighted_layer)
local loaded_model = cr.models.load_model(archive_path, { compile = false })
check.near(loaded_model:predict(x), original_model:predict(x), 1e-6)
check.same(loaded_model.layers[1]:get_vocabulary(), weighted_layer:get_vocabulary())
assert(os.execute("rm -r " .. archive_path))
local text_layer = layers.TextVectorization { output_sequence_length = 2 }
text_layer:adapt { "c d c" }
archive_path, original_model = write_archive("TextVectorization", [[
  "standardize": "lower_and_strip_punctuation",
  "split": "whitespace", "ngrams": null, "output_mode": "int", "output_sequence_length": 2,
  "ragged": false, "vocabulary_size": 4]], text_layer)
check.same(cr.models.load_model(archive_path, { compile = false }):predict(x):totable(),
  { { 3, 0 }, { 2, 0 }, { 0, 0 } }, "? is no word")
assert(os.execute("rm -r " .. archive_path))

-- A path to a vocabulary in the file of another program is not opened.
local json = original_model:to_json():gsub('"vocabulary": %b[]', '"vocabulary": "/etc/passwd"')
check.fails(function()
  cr.models.model_from_json(json)
end, "outside of the model archive", "/etc/passwd")

-- assets with several indices for unknown terms
local folder = os.tmpname()
os.remove(folder)
os.execute("mkdir " .. folder)
for _, count in ipairs { 1, 2, 3 } do
  local lookup = layers.IntegerLookup { num_oov_indices = count, mask_token = 0 }
  lookup:adapt(cr.tensor({ 5, 6, 6 }, "int32"))
  lookup:save_assets(folder)
  local loaded_lookup = layers.IntegerLookup { num_oov_indices = count, mask_token = 0 }
  loaded_lookup:load_assets(folder)
  check.same(loaded_lookup:get_vocabulary(), lookup:get_vocabulary())
  local x = cr.tensor({ 0, 5, 6, 9, 17 }, "int32")
  check.same(loaded_lookup(x):totable(), lookup(x):totable())
end
os.execute("rm -r " .. folder)
