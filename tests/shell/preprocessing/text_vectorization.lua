-- TextVectorization: texts converted to indices of words and to counts, compared with the
-- documented rules.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers

local function output_of(layer, x) return layer(x):totable() end
local function text_layer(options)
  options.vocabulary = options.vocabulary or { "earth", "wind", "and", "fire" }
  return layers.TextVectorization(options)
end

-- ---- the examples of the documentation of TextVectorization

local layer = layers.TextVectorization { max_tokens = 5000, output_mode = "int",
  output_sequence_length = 4 }
layer:adapt { "foo bar", "bar baz", "baz bada boom" }
check.same(layer:get_vocabulary(), { "", "[UNK]", "baz", "bar", "foo", "boom", "bada" })
check.same(output_of(layer, cr.tensor { { "foo qux bar" }, { "qux baz" } }),
  { { 4, 1, 3, 0 }, { 1, 2, 0, 0 } })
check.same(text_layer {}:get_vocabulary(), { "", "[UNK]", "earth", "wind", "and", "fire" })

-- ---- the steps: standardizing, splitting, n-grams

local texts = cr.tensor { "Earth, WIND\tand  'Fire'!", "wind" }
check.same(output_of(text_layer {}, texts), { { 2, 3, 4, 5 }, { 3, 0, 0, 0 } },
  "as long as the longest")
check.same(output_of(text_layer { output_sequence_length = 2 }, texts), { { 2, 3 }, { 3, 0 } })
check.same(output_of(text_layer { output_sequence_length = 6 }, texts)[2], { 3, 0, 0, 0, 0, 0 })
check.same(output_of(text_layer { standardize = "lower" }, texts),
  { { 1, 3, 4, 1 }, { 3, 0, 0, 0 } })
check.same(output_of(text_layer { standardize = "strip_punctuation" }, texts),
  { { 1, 1, 4, 1 }, { 3, 0, 0, 0 } })
check.same(output_of(text_layer { standardize = cr.null }, cr.tensor { "wind, wind" }),
  { { 1, 3 } })
check.same(output_of(text_layer { standardize = false }, cr.tensor { "wind, wind" }), { { 1, 3 } })
check.same(output_of(text_layer { split = "character", vocabulary = { "a", "ß", "é" } },
  cr.tensor { "aßé\xff?" }), { { 2, 3, 4, 1 } },
  "characters of UTF-8; ? is punctuation")
check.same(output_of(text_layer { vocabulary = { "é", "É" } }, cr.tensor { "É É" }), { { 3, 3 } },
  "TensorFlow knows lower case of ASCII only")
check.same(output_of(text_layer { split = cr.null }, cr.tensor { { "Earth" }, { "Wind and" } }),
  { { 2 }, { 1 } })
check.same(output_of(text_layer { ngrams = 2, vocabulary = { "wind", "earth wind", "wind and" } },
  cr.tensor { "earth wind and" }), { { 1, 2, 1, 3, 4 } })
check.same(output_of(text_layer { ngrams = { 2 }, vocabulary = { "wind", "earth wind",
  "wind and" } },
  cr.tensor { "earth wind and" }), { { 3, 4 } })
check.same(output_of(text_layer {}, cr.tensor { "" }), { {} }, "an empty text")
check.same(output_of(text_layer { output_sequence_length = 2 }, cr.tensor { " " }), { { 0, 0 } })

local upper_case_layer = text_layer {
  vocabulary = { "EARTH", "WIND" },
  standardize = function(texts_tensor)
    local list = texts_tensor:totable()
    for i, text in ipairs(list) do list[i] = text:upper() end
    return cr.tensor(list)
  end,
}
check.same(output_of(upper_case_layer, cr.tensor { "earth x wind" }), { { 2, 1, 3 } })
local comma_layer = text_layer {
  standardize = "lower",
  split = function(texts_tensor)
    local rows = {}
    for i, text in ipairs(texts_tensor:totable()) do
      local a, b = text:match "(.*),(.*)"
      rows[i] = { a, b }
    end
    return cr.tensor(rows)
  end,
}
check.same(output_of(comma_layer, cr.tensor { "Earth,Fire", "wind,and" }), { { 2, 5 }, { 3, 4 } })

-- ---- outputs with counts of words

local count_texts = cr.tensor { "earth wind wind storm storm", "fire" }
check.same(output_of(text_layer { output_mode = "count" }, count_texts),
  { { 2, 1, 2, 0, 0 }, { 0, 0, 0, 0, 1 } })
check.same(output_of(text_layer { output_mode = "multi_hot" }, count_texts),
  { { 1, 1, 1, 0, 0 }, { 0, 0, 0, 0, 1 } })
check.same(output_of(text_layer { output_mode = "count", max_tokens = 7, pad_to_max_tokens = true },
  count_texts)[2], { 0, 0, 0, 0, 1, 0, 0 })
check.near(output_of(text_layer { output_mode = "tf_idf", idf_weights = { 0.5, 2, 3, 4 } },
  count_texts),
  { { 2 * 2.375, 0.5, 4, 0, 0 }, { 0, 0, 0, 0, 4 } }, 1e-6)
local weighted_layer = layers.TextVectorization { output_mode = "tf_idf" }
weighted_layer:adapt(cr.tensor { "a b b", "b c" })
check.same(weighted_layer:get_vocabulary(), { "[UNK]", "b", "c", "a" })
local weight_of_b, other_weight = math.log(1 + 2 / 3), math.log(1 + 2 / 2)
check.near(output_of(weighted_layer, cr.tensor { "b b c x" }),
  { { (weight_of_b + 2 * other_weight) / 3, 2 * weight_of_b, other_weight, 0 } },
  1e-6)

-- ---- adapt in many batches

local lines = { "the cat sat", "on the mat", "The end." }
local whole_layer, batched_layer = layers.TextVectorization(), layers.TextVectorization()
whole_layer:adapt(lines)
batched_layer:adapt(cr.data.dataset(cr.tensor(lines), { batch_size = 1 }))
check.same(whole_layer:get_vocabulary(), { "", "[UNK]", "the", "sat", "on", "mat", "end", "cat" })
check.same(batched_layer:get_vocabulary(), whole_layer:get_vocabulary())

-- ---- error messages for mistakes

check.fails(function()
  text_layer { standardize = "upper" }
end, "`standardize`", "lower_and_strip_punctuation")
check.fails(function() text_layer { split = "words" } end, "`split`", "whitespace")
check.fails(function() text_layer { ngrams = 0 } end, "`ngrams`")
check.fails(function()
  text_layer { output_mode = "count", output_sequence_length = 3 }
end, "`output_sequence_length` must not be set")
check.fails(function() text_layer { ragged = true } end, "tensors are dense")
check.fails(function() text_layer { output_mode = "one_hot" } end, "split=null")
check.fails(function()
  text_layer {}(cr.tensor { { "a", "b" } })
end, "last shape dimension must be 1", "(1, 2)")
check.fails(function() text_layer {}(cr.tensor { 1, 2 }) end, "expected strings")

-- ---- the layer in models

local input = cr.Input { shape = { 1 }, dtype = "string" }
local vectorizer = layers.TextVectorization { output_sequence_length = 4 }
vectorizer:adapt(lines)
local model = cr.Model {
  inputs = input,
  outputs = layers.Dense(1)(layers.GlobalAveragePooling1D()(layers.Embedding(12,
    4)(vectorizer(input)))),
}
model:compile { optimizer = "adam", loss = "mse" }
local x, y = cr.tensor { { "the cat" }, { "on the mat" }, { "the end" } },
  cr.tensor { { 1 }, { 0 }, { 1 } }
check.near(model:predict(x), model(x), 1e-6)
local history = model:fit(x, y, { epochs = 60, batch_size = 2, verbose = 0 }).history.loss
assert(history[60] < history[1], "it learns")
local expected = model:predict(x):totable()
for _, ending in ipairs { ".h5", ".keras" } do
  local path = check.temporary(ending)
  model:save(path)
  local loaded_model = cr.models.load_model(path)
  check.same(loaded_model:predict(x):totable(), expected, ending)
  loaded_model.layers[2]:adapt { "something else" }
  check.same(loaded_model.layers[2]:get_vocabulary(), { "", "[UNK]", "something", "else" },
    "learned, so it may learn again")
  os.remove(path)
end

-- The saved model refers to a Lua function by its name; the function must be provided when loading.
function shout(texts_tensor)
  local list = texts_tensor:totable()
  for i, row in ipairs(list) do list[i] = { row[1]:upper() } end
  return cr.tensor(list)
end
local shouting_model = cr.Sequential { input,
  layers.TextVectorization { standardize = shout, output_mode = "count",
  vocabulary = { "THE", "CAT" } } }
local path = check.temporary ".h5"
shouting_model:save(path)
shout, Shout = nil, shout
local loaded_model = cr.models.load_model(path, { custom_objects = { shout = Shout } })
check.same(loaded_model:predict(x):totable(), { { 0, 1, 1 }, { 2, 1, 0 }, { 1, 1, 0 } })
os.remove(path)

-- If rows are as long as the longest text, their length is unknown when a program is compiled.
local open_ended_model = cr.Sequential { cr.Input { shape = { 1 }, dtype = "string" },
  text_layer {} }
check.same(open_ended_model(x):totable(), { { 1, 1, 0 }, { 1, 1, 1 }, { 1, 1, 0 } })
check.fails(function() open_ended_model:predict(x) end, "output_sequence_length")

-- A Sequential without a declared input, whose first layer takes texts, infers the dtype from the
-- first call.
local model_without_input = cr.Sequential { layers.TextVectorization { vocabulary = { "the",
  "cat" },
  output_sequence_length = 3 }, layers.Embedding(4, 2), layers.GlobalAveragePooling1D(),
  layers.Dense(1) }
model_without_input:compile { loss = "mse" }
model_without_input:fit(x, cr.ones { 3, 1 }, { verbose = 0 })
for _, ending in ipairs { ".keras", ".h5" } do
  path = check.temporary(ending)
  model_without_input:save(path)
  check.near(cr.models.load_model(path):predict(x), model_without_input:predict(x))
  os.remove(path)
end
local lookup_model = cr.Sequential { layers.StringLookup { vocabulary = { "a" },
  num_oov_indices = 1 },
  layers.Embedding(3, 2) }
check.same(lookup_model(cr.Input { shape = {}, dtype = "string" }).shape, { -1, 2 })
check.same(lookup_model(cr.tensor { "a", "b", "c" }).shape, { 3, 2 })
