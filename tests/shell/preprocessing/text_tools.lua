-- cr.preprocessing: texts and sequences prepared as in Keras 2.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local text, sequence = cr.preprocessing.text, cr.preprocessing.sequence

-- ---- splitting texts into words

check.same(text.text_to_word_sequence "The cat, sat on-the MAT!\n",
  { "the", "cat", "sat", "on", "the", "mat" })
check.same(text.text_to_word_sequence("Don't  STOP", { lower = false }), { "Don't", "STOP" })
check.same(text.text_to_word_sequence("a;b.c", { filters = ".", split = ";" }), { "a", "b", "c" })
check.same(text.text_to_word_sequence("a%b^c]d", { filters = "^]%" }), { "a", "b", "c", "d" })
check.same(text.text_to_word_sequence "ÄRGER Ωmega ДОМ", { "ärger", "ωmega", "дом" })
check.same(text.text_to_word_sequence("x·y z", { filters = "·" }), { "x", "y", "z" })
check.fails(function() text.text_to_word_sequence(3) end, "expected a text")
check.fails(function() text.text_to_word_sequence("a", { filter = "" }) end, "filters")

-- The expected value is the MD5 digest as a 128-bit number, computed by Python.
check.same(text.hashing_trick("Hello world", 101, { hash_function = "md5" }), { 95, 52 })
check.same(text.hashing_trick("Hello world", 1 << 40, "md5"), { 1085670159320, 1089470669277 })
check.same(text.hashing_trick("a bb", 5, function(word) return #word end), { 2, 3 })
local numbers = text.one_hot("the cat the dog", 50)
assert(#numbers == 4 and numbers[1] == numbers[3])
for _, number in ipairs(numbers) do assert(number >= 1 and number < 50) end
check.fails(function() text.one_hot("a", 1) end, "n: expected an integer from 2")
check.fails(function() text.hashing_trick("a", 5, "sha") end, '"md5" or a function')

-- ---- Tokenizer converts texts to word indices and back

local texts = { "the cat the dog", "A dog, a bird" }
local tokenizer = text.Tokenizer()
tokenizer:fit_on_texts(texts)
check.same(tokenizer.word_index, { the = 1, dog = 2, a = 3, cat = 4, bird = 5 },
  "by frequency, then as met")
check.same(tokenizer.index_word, { "the", "dog", "a", "cat", "bird" })
check.same(tokenizer.word_counts, { the = 2, cat = 1, dog = 2, a = 2, bird = 1 })
check.same(tokenizer.word_docs, { the = 1, cat = 1, dog = 2, a = 1, bird = 1 })
check.same(tokenizer.index_docs, { 1, 2, 1, 1, 1 })
check.same(tokenizer.document_count, 2)
check.same(tokenizer:texts_to_sequences { "the bird", "dog fish" }, { { 1, 5 }, { 2 } })
check.same(tokenizer:sequences_to_texts { { 1, 5, 9 } }, { "the bird" })
check.same(tokenizer:texts_to_matrix({ "the dog the fish" }):totable(), { { 0, 1, 1, 0, 0, 0 } })
check.same(tokenizer:texts_to_matrix({ "the dog the fish" }, "count"):totable(),
  { { 0, 2, 1, 0, 0, 0 } })
check.near(tokenizer:texts_to_matrix({ "the dog the fish" }, { mode = "freq" }),
  { { 0, 2 / 3, 1 / 3, 0, 0, 0 } }, 1e-6)
check.near(tokenizer:texts_to_matrix({ "the dog the fish" }, "tfidf"),
  { { 0, (1 + math.log(2)) * math.log(1 + 2 / 2), math.log(1 + 2 / 3), 0, 0, 0 } }, 1e-6)
check.fails(function()
  tokenizer:texts_to_matrix({ "a" }, "binar")
end, "Unknown vectorization mode")
check.fails(function()
  text.Tokenizer():sequences_to_matrix { { 1 } }
end, "fit on some text data first")
check.fails(function() text.Tokenizer { num_word = 3 } end, "num_words")

local limited_tokenizer = text.Tokenizer { num_words = 3, oov_token = "<?>" }
limited_tokenizer:fit_on_texts(texts)
check.same(limited_tokenizer.word_index["<?>"], 1)
check.same(limited_tokenizer:texts_to_sequences { "the bird fish" }, { { 2, 1, 1 } })
check.same(limited_tokenizer:sequences_to_texts { { 2, 4, 99 } }, { "the <?> <?>" })

local character_tokenizer = text.Tokenizer { char_level = true }
character_tokenizer:fit_on_texts { "aÄa" }
check.same(character_tokenizer:texts_to_sequences { "äab" }, { { 2, 1 } })
local list_tokenizer = text.Tokenizer()
list_tokenizer:fit_on_texts { { "Red", "wine" }, { "red" } }
check.same(list_tokenizer:texts_to_sequences { { "wine", "RED" } }, { { 2, 1 } })
local analyzing_tokenizer = text.Tokenizer { analyzer = function(text_to_split)
  return { text_to_split:sub(1, 1), text_to_split:sub(-1) }
end }
analyzing_tokenizer:fit_on_texts { "abc" }
check.same(analyzing_tokenizer.index_word, { "a", "c" })

-- Tokenizers are written to JSON and read from it. The JSON has the names that to_json of Keras
-- 2.3.1 writes, in the same order.
local json = tokenizer:to_json()
local expected_start =
  [[{"class_name": "Tokenizer", "config": {"num_words": null, ]]
  .. [["filters": "!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n", "lower": true, ]]
  .. [["split": " ", "char_level": false, "oov_token": null, "document_count": 2, ]]
  .. [["word_counts": "{\"the\": 2, \"cat\": 1, \"dog\": 2, ]]
assert(json:sub(1, #expected_start) == expected_start, json)
local loaded_tokenizer = text.tokenizer_from_json(json)
check.same(loaded_tokenizer:to_json(), json)
check.same(loaded_tokenizer:texts_to_sequences(texts), tokenizer:texts_to_sequences(texts))
loaded_tokenizer:fit_on_texts { "cat cat cat" }
check.same(loaded_tokenizer.word_index.cat, 1)
local keras_json = [[{"class_name": "Tokenizer", "config": {"num_words": 10, "filters": ".",
 "lower": false, "split": " ", "char_level": false, "oov_token": "\u00e9\ud83d\ude00",
 "document_count": 1, "word_counts": "{\"a\\\"b\": 2}", "word_docs": "{\"a\\\"b\": 1}",
 "index_docs": "{\"2\": 1}", "index_word": "{\"1\": \"\\u00e9\\ud83d\\ude00\", \"2\": \"a\\\"b\"}",
 "word_index": "{\"\\u00e9\\ud83d\\ude00\": 1, \"a\\\"b\": 2}"}}]]
check.same(text.tokenizer_from_json(keras_json):texts_to_sequences { 'a"b c' }, { { 2, 1 } })
check.same(text.tokenizer_from_json(keras_json).index_word[1], "é😀")
check.fails(function() text.tokenizer_from_json "{}" end, "expected what to_json() gives")

-- ---- samples for word2vec: sampling tables and skip-grams

local sampling_table = sequence.make_sampling_table(6)
check.near(sampling_table,
  { 0.00315225, 0.00315225, 0.00547597, 0.00741556, 0.00912817, 0.01068435 }, 1e-5)
local word_pairs, labels = sequence.skipgrams({ 1, 2, 0, 3 }, 9,
  { window_size = 1, negative_samples = 0, shuffle = false })
check.same(word_pairs, { { 1, 2 }, { 2, 1 } }, "word 0 is none")
check.same(labels, { 1, 1 })
word_pairs, labels = sequence.skipgrams({ 1, 2, 3, 4 }, 9,
  { window_size = 2, seed = 5, categorical = true })
local positive_count = 0
for i, label in ipairs(labels) do
  positive_count = positive_count + label[2]
  assert(label[1] + label[2] == 1)
  assert(word_pairs[i][2] >= 1 and word_pairs[i][2] < 9)
  if label[2] == 1 then assert(math.abs(word_pairs[i][1] - word_pairs[i][2]) <= 2) end
end
check.same({ #word_pairs, positive_count }, { 20, 10 })
check.same(sequence.skipgrams({ 1, 2, 3, 4 }, 9, { window_size = 2, seed = 5 }), word_pairs,
  "the seed decides")
check.same(#sequence.skipgrams({ 1, 2, 3 }, 4,
  { sampling_table = { 0, 0, 0, 0 }, negative_samples = 0 }), 0, "never taken")
check.fails(function() sequence.skipgrams({ 7 }, 9, { sampling_table = { 1, 1 } }) end, "no word 7")

-- ---- batches of windows over time series

local steps, targets = {}, {}
for i = 0, 9 do steps[i + 1], targets[i + 1] = { i, 10 * i }, i end
local generator = sequence.TimeseriesGenerator(cr.tensor(steps), cr.tensor(targets), 4,
  { sampling_rate = 2, batch_size = 4 })
check.same(#generator, 2)
local x, y = generator:batch(1)
check.same(x:totable()[1], { { 0, 0 }, { 2, 20 } })
check.same(x.shape, { 4, 2, 2 })
check.same(y:totable(), { 4, 5, 6, 7 })
x, y = generator:batch(2)
check.same(y:totable(), { 8, 9 })
check.same(generator:batch(3), nil)
x, y = sequence.TimeseriesGenerator(cr.tensor(steps), cr.tensor(targets), 3,
  { stride = 3, reverse = true, start_index = 1, end_index = 8 }):batch(1)
check.same(y:totable(), { 4, 7 })
check.same(x:totable()[1], { { 3, 30 }, { 2, 20 }, { 1, 10 } })
local model = cr.Sequential { cr.layers.Flatten { input_shape = { 2, 2 } }, cr.layers.Dense(1) }
model:compile { optimizer = "sgd", loss = "mse" }
check.same(#model:fit(generator:dataset(), { epochs = 2, verbose = 0 }).history.loss, 2)
check.fails(function()
  sequence.TimeseriesGenerator({ 1, 2 }, { 1 }, 1)
end, "same length", "2", "1")
check.fails(function()
  sequence.TimeseriesGenerator({ 1, 2 }, { 1, 2 }, 5)
end, "start_index+length=5", "end_index=1")
