-- Sequences as in preprocessing.sequence of Keras 2: pairs of words for word2vec, windows of a time
-- series.
local cr, shell = ...
local sequence = { pad_sequences = cr.utils.pad_sequences }

--- A generator of random numbers (SplitMix64) that does not change the state of Lua's generator.
local function new_random(seed)
  local state = seed or math.random(0)
  local function bits()
    state = state + 0x9E3779B97F4A7C15
    local z = (state ~ state >> 30) * 0xBF58476D1CE4E5B9
    z = (z ~ z >> 27) * 0x94D049BB133111EB
    return z ~ z >> 31
  end
  local random = {}
  function random.fraction() return (bits() >> 11) * 0x1p-53 end
  function random.integer(first, last)
    return first + math.floor(random.fraction() * (last - first + 1))
  end
  function random.shuffle(...)
    local lists = { ... }
    for i = #lists[1], 2, -1 do
      local j = random.integer(1, i)
      for _, list in ipairs(lists) do list[i], list[j] = list[j], list[i] end
    end
  end
  return random
end

local function as_list(value, name)
  if type(value) == "table" then return value end
  local is_tensor, list = pcall(function() return value:totable() end)
  if not is_tensor or type(list) ~= "table" then
    shell.fail(name, ": expected a list or a tensor, got ", shell.shown(value))
  end
  return list
end

-- ---- word2vec

sequence.make_sampling_table = shell.define("make_sampling_table -> a tensor",
  "The sampling probability of each word by rank for skipgrams, by Zipf's law, as a tensor.", {
    { name = "size", type = "an integer", required = true, doc = "Number of words." },
    { name = "sampling_factor", type = "a number", default = 1e-5,
      doc = "Sampling factor of word2vec: the smaller, the more frequent words are left out." },
  },
  function(size, factor)
    local probabilities = {}
    for i = 0, size - 1 do
      local rank = math.max(i, 1)
      local f = factor * (rank * (math.log(rank) + 0.577) + 0.5 - 1 / (12 * rank))
      probabilities[i + 1] = math.min(1, f / math.sqrt(f))
    end
    return cr.tensor(probabilities)
  end)

local function skipgrams(words, vocabulary_size, window_size, negative_samples, shuffle,
  categorical, sampling_table, seed)
  words = as_list(words, "skipgrams: sequence")
  local probabilities = sampling_table ~= nil
    and as_list(sampling_table, "skipgrams: sampling_table")
  local random = new_random(seed)
  local couples, labels = {}, {}
  local function add(word, context, label)
    couples[#couples + 1] = { word, context }
    labels[#labels + 1] = not categorical and label or label == 1 and { 0, 1 } or { 1, 0 }
  end
  for i, word in ipairs(words) do
    if probabilities and word ~= 0 and not probabilities[word + 1] then
      shell.fail("sampling_table: there is no word ", word, " in a table of ", #probabilities)
    end
    if word ~= 0 and not (probabilities and probabilities[word + 1] < random.fraction()) then
      for j = math.max(1, i - window_size), math.min(#words, i + window_size) do
        if j ~= i and words[j] ~= 0 then add(word, words[j], 1) end
      end
    end
  end
  local negative_count, first_words = math.floor(#labels * negative_samples), {}
  for i, couple in ipairs(couples) do first_words[i] = couple[1] end
  random.shuffle(first_words)
  for i = 0, negative_count - 1 do
    add(first_words[i % #first_words + 1], random.integer(1, vocabulary_size - 1), 0)
  end
  if shuffle then random.shuffle(couples, labels) end
  return couples, labels
end

sequence.skipgrams = shell.define("skipgrams -> a list of pairs, a list of labels",
  "Pairs of nearby words with label 1, and of words with random others with label 0. Word 0 is "
    .. "skipped.", {
    { name = "sequence", type = "a list of integers", required = true,
      doc = "The numbers of the words of a text." },
    { name = "vocabulary_size", type = "an integer", required = true,
      doc = "The largest word number plus 1." },
    { name = "window_size", type = "an integer", default = 4,
      doc = "Largest distance between the words of a pair." },
    { name = "negative_samples", type = "a number", default = 1.0,
      doc = "Number of random pairs for each pair of nearby words." },
    { name = "shuffle", type = "a boolean", default = true, doc = "Shuffle the pairs." },
    { name = "categorical", type = "a boolean", default = false,
      doc = "Labels as {0, 1} and {1, 0}." },
    { name = "sampling_table", type = "a tensor or a list",
      doc = "The sampling probability of each word; see make_sampling_table." },
    { name = "seed", type = "an integer", doc = "Seed of the random numbers." },
  }, skipgrams)

-- ---- time series

local Timeseries = { __name = "TimeseriesGenerator" }

function Timeseries:__len()
  local step = self.batch_size * self.stride
  return (self.end_index - self.start_index + step) // step
end

--- The time steps of the targets of batch i; batches count from 1.
local function rows_of(self, i)
  local rows = {}
  if self.shuffle then
    for k = 1, self.batch_size do
      rows[k] = self.random.integer(self.start_index, self.end_index)
    end
    return rows
  end
  local first = self.start_index + self.batch_size * self.stride * (i - 1)
  for row = first, math.min(first + self.batch_size * self.stride - 1, self.end_index),
    self.stride do
    rows[#rows + 1] = row
  end
  return rows
end

--- The samples and targets of batch i.
local function batch(self, i)
  if i < 1 or i > #self then return nil end
  local rows, windows = rows_of(self, i), {}
  for k, row in ipairs(rows) do
    local window = {}
    for step = row - self.length, row - 1, self.sampling_rate do
      table.insert(window, self.reverse and 1 or #window + 1, step)
    end
    windows[k] = window
  end
  local function gather_rows(tensor, row_indices)
    return cr.ops.take(tensor, cr.tensor(row_indices, "int32"), 0)
  end
  return gather_rows(self.data, windows), gather_rows(self.targets, rows)
end

--- A dataset of the generator's batches for fit, evaluate and predict.
local function dataset(self)
  local i = 0
  return cr.data.generator(function()
    i = i % #self + 1
    return batch(self, i)
  end, #self)
end

function Timeseries:__index(key)
  if math.type(key) == "integer" then return (batch(self, key)) end
  return ({ batch = batch, dataset = dataset })[key]
end

local function new_timeseries(data, targets, length, sampling_rate, stride, start_index, end_index,
  shuffle, reverse, batch_size)
  data = type(data) == "table" and cr.tensor(data) or data
  targets = type(targets) == "table" and cr.tensor(targets) or targets
  if #data ~= #targets then
    shell.fail("Data and targets have to be of same length. Data length is ", #data,
      " while target length is ", #targets)
  end
  for name, value in pairs { length = length, sampling_rate = sampling_rate, stride = stride,
    batch_size = batch_size } do
    if math.type(value) ~= "integer" or value < 1 then
      shell.fail(name, ": expected an integer from 1, got ", cr.show(value))
    end
  end
  local first, last = start_index + length, end_index or #data - 1
  if first > last then
    shell.fail("`start_index+length=", first, " > end_index=", last,
      "` is disallowed, as no part of the sequence would be left to be used as current step.")
  end
  if last > #data - 1 then
    shell.fail("end_index: expected at most ", #data - 1, ", the last step, got ", last)
  end
  return setmetatable({
    data = data, targets = targets, length = length, sampling_rate = sampling_rate, stride = stride,
    start_index = first,
    end_index = last, shuffle = shuffle, reverse = reverse, batch_size = batch_size,
    random = new_random(),
  }, Timeseries)
end

sequence.TimeseriesGenerator = shell.define("TimeseriesGenerator -> a generator of batches",
  "Batches of windows of a time series, each with the target of the step after it: #g is the "
    .. "number of batches, g:batch(i) returns samples and targets, g:dataset() is for fit.", {
    { name = "data", type = "a tensor", required = true,
      doc = "The time series, with steps along the first axis." },
    { name = "targets", type = "a tensor", required = true, doc = "One target for each step." },
    { name = "length", type = "an integer", required = true,
      doc = "Number of steps that a window covers." },
    { name = "sampling_rate", type = "an integer", default = 1,
      doc = "Distance between the steps of a window." },
    { name = "stride", type = "an integer", default = 1,
      doc = "Distance between consecutive windows." },
    { name = "start_index", type = "an integer", default = 0,
      doc = "First step to use." },
    { name = "end_index", type = "an integer",
      doc = "Last step to use; nil: the last one." },
    { name = "shuffle", type = "a boolean", default = false,
      doc = "Draw the windows in random order." },
    { name = "reverse", type = "a boolean", default = false,
      doc = "Reverse the steps of each window." },
    { name = "batch_size", type = "an integer", default = 128, doc = "Windows per batch." },
  }, new_timeseries)

return sequence
