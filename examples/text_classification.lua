-- Classifies film reviews of one sentence each as positive or negative. Words and pairs of
-- neighbouring words are looked up in an embedding, and the mean of their vectors is classified.
-- Pairs such as "not dull" help where single words mislead.
--   crescent examples/text_classification.lua [EPOCHS] [FOLDER]
--       FOLDER has rt-polarity.neg and rt-polarity.pos, 10,662 sentences by Pang and Lee (2005):
--       https://www.cs.cornell.edu/people/pabo/movie-review-data. Without FOLDER, the
--       example generates reviews.
local cr = require "crescent"
local layers = cr.layers
local epochs, review_folder = tonumber(arg[1]) or 3, arg[2]
local max_tokens, vocabulary_size = 100, 20000
print "A table of vectors learns whether critics are pleased."

--- The tokens of a sentence: its words and all pairs of neighbouring words.
local function tokens(sentence)
  local list, previous_word = {}, nil
  for word in sentence:gmatch "%S+" do
    list[#list + 1] = word
    if previous_word then list[#list + 1] = previous_word .. " " .. word end
    previous_word = word
  end
  return list
end

local sentences = {}
local function add_sentence(text, label)
  sentences[#sentences + 1] = { text = text, tokens = tokens(text), label = label }
end

local function read_reviews()
  for label, name in ipairs { "rt-polarity.neg", "rt-polarity.pos" } do
    for line in io.lines(review_folder .. "/" .. name) do add_sentence(line, label - 1) end
  end
end

local function random_item(list) return list[math.random(#list)] end
local function make_reviews()
  local good_words, bad_words = { "charming", "gripping", "funny" },
    { "dull", "tired", "loud", "flat" }
  for _ = 1, 4000 do
    local label, is_negated = math.random(0, 1), math.random() < 0.5
    local is_praise = (label == 1) ~= is_negated
    add_sentence(("%s is %s %s , and %s"):format(
      random_item { "the film", "this comedy", "her new story" },
      is_negated and "not" or random_item { "very", "quite" },
      random_item(is_praise and good_words or bad_words),
      random_item { "it ends at dawn", "nobody sings", "the hero is a cook", "it rains a lot" }),
      label)
  end
end

math.randomseed(1)
if review_folder then read_reviews() else make_reviews() end
for i = #sentences, 2, -1 do
  local j = math.random(i)
  sentences[i], sentences[j] = sentences[j], sentences[i]
end
local test_count = #sentences // 10
local train_count = #sentences - test_count

-- Token ids: 0 is padding, 1 a token without an id of its own; the others are ordered by frequency.
local counts, distinct_tokens = {}, {}
for i = 1, train_count do
  for _, token in ipairs(sentences[i].tokens) do
    if not counts[token] then distinct_tokens[#distinct_tokens + 1] = token end
    counts[token] = (counts[token] or 0) + 1
  end
end
table.sort(distinct_tokens, function(a, b)
  return counts[a] > counts[b] or counts[a] == counts[b] and a < b
end)
local ids = {}
for i = 1, math.min(#distinct_tokens, vocabulary_size - 2) do ids[distinct_tokens[i]] = i + 1 end

local rows, labels = {}, {}
for i, sentence in ipairs(sentences) do
  local row = {}
  for k = 1, max_tokens do
    local token = sentence.tokens[k]
    row[k] = token and (ids[token] or 1) or 0
  end
  rows[i], labels[i] = row, { sentence.label }
end
local x, y = cr.tensor(rows, "int32"), cr.tensor(labels)

cr.random.seed(1)
local model = cr.Sequential {
  layers.Embedding(vocabulary_size, 64, { mask_zero = true, input_shape = { max_tokens } }),
  layers.Dropout(0.3),
  layers.GlobalAveragePooling1D(),
  layers.Dense(1, { activation = "sigmoid" }),
}
model:summary()
model:compile { optimizer = cr.optimizers.Adam { learning_rate = 4e-3 },
  loss = "binary_crossentropy", metrics = { "accuracy" } }
local x_test, y_test = x:slice(train_count + 1, #sentences), y:slice(train_count + 1, #sentences)
model:fit(x:slice(1, train_count), y:slice(1, train_count),
  { batch_size = 64, epochs = epochs, validation_data = { x_test, y_test }, verbose = 2 })

local scores = model:evaluate(x_test, y_test, { verbose = 0, return_dict = true })
local probabilities = model:predict(x_test, { verbose = 0 }):totable()
print "\npleased  meant  sentence"
for i = 1, 8 do
  local sentence = sentences[train_count + i]
  print(string.format("  %3.0f %%  %5s  %s", 100 * probabilities[i][1],
    sentence.label == 1 and "yes" or "no", sentence.text:sub(1, 90)))
end
print(string.format("\nAccuracy on %d sentences it has not seen: %.4f", test_count,
  scores.accuracy))
