-- Tokenizer numbers words by frequency and converts texts to rows of a matrix.
local cr, shell = ...
local text = shell.library "preprocessing/text"
local lower_case = shell.library "preprocessing/lower_case"
local json = shell.library "preprocessing/json"

local Tokenizer = {}
Tokenizer.__index = Tokenizer
Tokenizer.__name = "Tokenizer"
function Tokenizer:__tostring() return string.format("<Tokenizer of %d words>", #self.words) end

--- Splits a text into words; a table already is the list of words.
local function words_of(self, input)
  if type(input) == "table" or self.char_level then
    local words = {}
    if type(input) == "string" then
      for character in input:gmatch(utf8.charpattern) do
        words[#words + 1] = self.lower and lower_case(character) or character
      end
      return words
    end
    if type(input) ~= "table" then
      shell.fail("expected a text or a list of words, got ", cr.show(input))
    end
    for i, word in ipairs(input) do words[i] = self.lower and lower_case(word) or word end
    return words
  end
  return self.analyzer and self.analyzer(input)
    or text.words(input, self.filters, self.lower, self.split)
end

local function iterator_of(list, name)
  if type(list) == "function" then return list end
  if type(list) ~= "table" then
    shell.fail("expected a list of ", name, ", or a function that gives one after the other, got ",
      cr.show(list))
  end
  local i = 0
  return function()
    i = i + 1
    return list[i]
  end
end

local function count(counts, key) counts[key] = (counts[key] or 0) + 1 end

--- Adds 1 to the count of each distinct word in the list.
local function count_distinct(counts, list)
  local seen_items = {}
  for _, item in ipairs(list) do
    if not seen_items[item] then count(counts, item) end
    seen_items[item] = true
  end
end

--- Numbers the words from 1 on by decreasing frequency; words with equal frequency are in the order
--- of their first occurrence.
local function number_words(self)
  local first_positions, sorted_words = {}, {}
  for i, word in ipairs(self.words) do first_positions[word], sorted_words[i] = i, word end
  table.sort(sorted_words, function(a, b)
    if self.word_counts[a] ~= self.word_counts[b] then
      return self.word_counts[a] > self.word_counts[b]
    end
    return first_positions[a] < first_positions[b]
  end)
  self.word_index, self.index_word = {}, {}
  local next_number = 1
  local function assign_number(word)
    self.word_index[word], self.index_word[next_number], next_number =
      next_number, word, next_number + 1
  end
  if self.oov_token then assign_number(self.oov_token) end
  for _, word in ipairs(sorted_words) do assign_number(word) end
end

function Tokenizer:fit_on_texts(texts)
  for input in iterator_of(texts, "texts") do
    self.document_count = self.document_count + 1
    local words = words_of(self, input)
    for _, word in ipairs(words) do
      if not self.word_counts[word] then self.words[#self.words + 1] = word end
      count(self.word_counts, word)
    end
    count_distinct(self.word_docs, words)
  end
  number_words(self)
  for word, text_count in pairs(self.word_docs) do
    self.index_docs[self.word_index[word]] = text_count
  end
end

function Tokenizer:fit_on_sequences(sequences)
  for sequence in iterator_of(sequences, "lists of numbers") do
    self.document_count = self.document_count + 1
    count_distinct(self.index_docs, sequence)
  end
end

--- Translates words to numbers, or numbers to words, with the table `table_of`. Entries that are
--- unknown or have a number from num_words on become oov_token if there is one; otherwise they are
--- left out.
local function translate(self, items, table_of)
  local unknown_entry = self.oov_token and self.word_index[self.oov_token]
  local result = {}
  for _, item in ipairs(items) do
    local translation = table_of[item]
    local number = table_of == self.word_index and translation or item
    if translation and self.num_words and number >= self.num_words then translation = nil end
    if translation == nil and unknown_entry then
      translation = table_of == self.word_index and unknown_entry or self.oov_token
    end
    result[#result + 1] = translation
  end
  return result
end

function Tokenizer:texts_to_sequences_generator(texts)
  local next_text = iterator_of(texts, "texts")
  return function()
    local input = next_text()
    return input and translate(self, words_of(self, input), self.word_index)
  end
end

function Tokenizer:sequences_to_texts_generator(sequences)
  local next_sequence = iterator_of(sequences, "lists of numbers")
  return function()
    local sequence = next_sequence()
    return sequence and table.concat(translate(self, sequence, self.index_word), " ")
  end
end

local function collect(iterator)
  local items = {}
  for item in iterator do items[#items + 1] = item end
  return items
end
function Tokenizer:texts_to_sequences(texts)
  return collect(self:texts_to_sequences_generator(texts))
end
function Tokenizer:sequences_to_texts(sequences)
  return collect(self:sequences_to_texts_generator(sequences))
end

-- For each mode, the matrix entry of a word that occurs n times in a text.
local modes = {
  binary = function() return 1 end,
  count = function(n) return n end,
  freq = function(n, length) return n / length end,
  tfidf = function(n, _, self, number)
    return (1 + math.log(n)) * math.log(1
      + self.document_count / (1 + (self.index_docs[number] or 0)))
  end,
}

function Tokenizer:sequences_to_matrix(sequences, mode)
  mode = type(mode) == "table" and mode.mode or mode or "binary"
  local width = self.num_words or #self.index_word + 1
  if not self.num_words and #self.index_word == 0 then
    shell.fail("Specify a dimension (`num_words` argument), or fit on some text data first.")
  end
  if mode == "tfidf" and self.document_count == 0 then
    shell.fail("Fit the Tokenizer on some data before using tfidf mode.")
  end
  if not modes[mode] then
    shell.fail("Unknown vectorization mode: ", cr.show(mode),
      "; expected binary, count, tfidf or freq")
  end
  local rows = {}
  for sequence in iterator_of(sequences, "lists of numbers") do
    local row, counts = {}, {}
    for i = 1, width do row[i] = 0 end
    for _, number in ipairs(sequence) do
      if number < width then count(counts, number) end
    end
    for number, n in pairs(counts) do row[number + 1] = modes[mode](n, #sequence, self, number) end
    rows[#rows + 1] = row
  end
  return #rows > 0 and cr.tensor(rows) or cr.zeros { 0, width }
end
function Tokenizer:texts_to_matrix(texts, mode)
  return self:sequences_to_matrix(self:texts_to_sequences(texts), mode)
end

-- ---- as JSON

local config_names = { "num_words", "filters", "lower", "split", "char_level", "oov_token",
  "document_count" }

--- The configuration: texts and numbers, and counts as JSON texts, as in Keras.
function Tokenizer:get_config()
  local function counts_json(keys, values)
    local entries = {}
    for i, key in ipairs(keys) do entries[i] = { key, json.value(values[key]) } end
    return json.object(entries)
  end
  local config = {}
  for _, name in ipairs(config_names) do config[name] = self[name] end
  local numbers_with_documents, word_numbers = {}, {}
  for number in pairs(self.index_docs) do
    numbers_with_documents[#numbers_with_documents + 1] = number
  end
  table.sort(numbers_with_documents)
  for i = 1, #self.index_word do word_numbers[i] = i end
  config.word_counts = counts_json(self.words, self.word_counts)
  config.word_docs = counts_json(self.words, self.word_docs)
  config.index_docs = counts_json(numbers_with_documents, self.index_docs)
  config.index_word = counts_json(word_numbers, self.index_word)
  config.word_index = counts_json(self.index_word, self.word_index)
  return config
end

function Tokenizer:to_json()
  local config, entries = self:get_config(), {}
  for _, name in ipairs(config_names) do
    entries[#entries + 1] = { name, json.value(config[name]) }
  end
  for _, name in ipairs { "word_counts", "word_docs", "index_docs", "index_word", "word_index" } do
    entries[#entries + 1] = { name, json.text(config[name]) }
  end
  return json.object { { "class_name", json.text "Tokenizer" }, { "config", json.object(entries) } }
end

local function new_tokenizer(num_words, filters, lower, split, char_level, oov_token, analyzer,
  document_count)
  if num_words ~= nil and (math.type(num_words) ~= "integer" or num_words < 1) then
    shell.fail("Tokenizer: num_words: expected an integer from 1, got ", shell.shown(num_words))
  end
  return setmetatable({
    num_words = num_words, filters = filters or text.filters, lower = lower, split = split or " ",
    char_level = char_level,
    oov_token = oov_token, analyzer = analyzer, document_count = document_count,
    words = {}, word_counts = {}, word_docs = {}, index_docs = {}, word_index = {}, index_word = {},
  }, Tokenizer)
end

local function from_json(json_text)
  local document = type(json_text) == "string" and json.read(json_text)
  local config = document and type(document.by_name.config) == "table"
    and document.by_name.config.by_name
  if not config then
    shell.fail("tokenizer_from_json: expected what to_json() gives, got ", cr.show(json_text))
  end
  local function read_counts(name)
    local entries = type(config[name]) == "string" and json.read(config[name])
    if not entries then shell.fail("tokenizer_from_json: '", name, "' is missing or no JSON") end
    return entries
  end
  local tokenizer = new_tokenizer(config.num_words, config.filters, config.lower, config.split,
    config.char_level, config.oov_token, nil,
    config.document_count or 0)
  for i, entry in ipairs(read_counts "word_counts") do
    tokenizer.words[i], tokenizer.word_counts[entry[1]] = entry[1], entry[2]
  end
  tokenizer.word_docs, tokenizer.word_index = read_counts("word_docs").by_name,
    read_counts("word_index").by_name
  for _, name in ipairs { "index_docs", "index_word" } do
    for _, entry in ipairs(read_counts(name)) do
      tokenizer[name][math.tointeger(tonumber(entry[1]))] = entry[2]
    end
  end
  return tokenizer
end

-- Methods fail for an object that is no Tokenizer: tokenizer.fit_on_texts(texts).
for name, body in pairs(Tokenizer) do
  if type(body) == "function" and not name:find "^__" then
    Tokenizer[name] = function(self, ...)
      if getmetatable(self) ~= Tokenizer then
        shell.fail(name, ": expected a Tokenizer before the arguments, got ", shell.shown(self),
          ": methods are called with ':', tokenizer:", name, "(...)")
      end
      return body(self, ...)
    end
  end
end

return {
  Tokenizer = shell.define("Tokenizer -> a Tokenizer",
    "Numbers the words of texts by frequency: fit_on_texts, then texts_to_sequences or "
      .. "texts_to_matrix.", {
    { name = "num_words", type = "an integer",
      doc = "Keep only words with numbers below this; nil: all words." },
    { name = "filters", type = "a text",
      doc = "Characters to remove; nil: punctuation except ', tabs and line breaks." },
    { name = "lower", type = "a boolean", default = true, doc = "Convert texts to lower case." },
    { name = "split", type = "a text", doc = "Separator of words; nil: a space." },
    { name = "char_level", type = "a boolean", default = false,
      doc = "Treat each character as a word." },
    { name = "oov_token", type = "a text",
      doc = "Token for unknown words, with number 1; nil: unknown words are left out." },
    { name = "analyzer", type = "a function",
      doc = "A function that splits a text into words, instead of the rules above." },
    { name = "document_count", type = "an integer", default = 0,
      doc = "Number of texts seen before." },
  }, new_tokenizer),
  tokenizer_from_json = shell.define("tokenizer_from_json -> a Tokenizer",
    "A Tokenizer from the JSON that its to_json() returned here or in Keras.",
    { { name = "json_string", type = "a text", required = true,
      doc = "The JSON text." } }, from_json),
}
