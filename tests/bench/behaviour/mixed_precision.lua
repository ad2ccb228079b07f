-- A text classifier in float32 and in mixed_bfloat16 from the same seeds: losses and accuracies
-- side by side.
--   crescent tests/bench/behaviour/mixed_precision.lua POSITIVE NEGATIVE [SEEDS]
-- POSITIVE and NEGATIVE are files with one sentence per line.
local cr = require "crescent"
local layers = cr.layers
local kWords, kLength, kEpochs = 8000, 40, 4
local positive_path, negative_path, seed_count = arg[1], arg[2], tonumber(arg[3] or 3)
if not negative_path then error("expected two files of sentences", 0) end

--- The sentences of both files, alternating, as lists of words.
local function read_sentences()
  local texts = {}
  for label, path in ipairs { negative_path, positive_path } do
    local i = label
    for joined_values in io.lines(path) do
      local words = {}
      for word in joined_values:lower():gmatch "[%a']+" do words[#words + 1] = word end
      texts[i] = { words = words, label = label - 1 }
      i = i + 2
    end
  end
  return texts
end

--- Numbers the most frequent words from 2 on, by frequency. The caller uses the number 1 for all
--- other words.
local function numbers_of_words(texts)
  local word_counts, words, word_numbers = {}, {}, {}
  for _, text in ipairs(texts) do
    for _, word in ipairs(text.words) do
      if not word_counts[word] then words[#words + 1] = word end
      word_counts[word] = (word_counts[word] or 0) + 1
    end
  end
  table.sort(words, function(a, b)
    return word_counts[a] > word_counts[b] or (word_counts[a] == word_counts[b] and a < b)
  end)
  for i = 1, math.min(#words, kWords - 2) do word_numbers[words[i]] = i + 1 end
  return word_numbers
end

local texts = read_sentences()
local word_numbers, x, y = numbers_of_words(texts), {}, {}
for i, text in ipairs(texts) do
  local row = {}
  for j = 1, kLength do row[j] = text.words[j] and (word_numbers[text.words[j]] or 1) or 0 end
  x[i], y[i] = row, text.label
end
local held_out_count = #texts // 10
x, y = cr.tensor(x):cast "int32", cr.tensor(y):cast "int32"
local train_count = #texts - held_out_count

local function trained(policy, seed)
  cr.config.set_dtype_policy(policy)
  cr.random.seed(seed)
  local input = cr.Input { shape = { kLength }, dtype = "int32" }
  local h = layers.Embedding(kWords, 64)(input)
  h = layers.LayerNormalization()(layers.Add() { h, layers.MultiHeadAttention(4, 16) { h, h } })
  h = layers.LayerNormalization()(layers.Add() { h,
    layers.Dense(64)(layers.Dense(128, { activation = "relu" })(h)) })
  h = layers.Dropout(0.3)(layers.GlobalAveragePooling1D()(h))
  local model = cr.Model { inputs = input, outputs = layers.Dense(2, { dtype = "float32" })(h) }
  model:compile { optimizer = cr.optimizers.Adam { learning_rate = 5e-4 }, metrics = { "accuracy" },
                  loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true } }
  local history = model:fit(x:slice(1, train_count), y:slice(1, train_count),
    { batch_size = 64, epochs = kEpochs, verbose = 0,
    validation_data = { x:slice(train_count + 1, #texts), y:slice(train_count + 1, #texts) } })
  cr.config.set_dtype_policy "float32"
  return history.history
end

local function joined_values(values)
  local texts = {}
  for i, value in ipairs(values) do texts[i] = string.format("%.4f", value) end
  return table.concat(texts, " ")
end

for seed = 1, seed_count do
  for _, policy in ipairs { "float32", "mixed_bfloat16" } do
    local history = trained(policy, seed)
    print(string.format("seed %d %-14s loss %s  held out: loss %s accuracy %s", seed, policy,
      joined_values(history.loss),
      joined_values(history.val_loss), joined_values(history.val_accuracy)))
  end
end
