-- Texts as lists of words and numbers, as in preprocessing.text of Keras 2.
local cr, shell = ...
local lower_case = shell.library "preprocessing/lower_case"
local md5 = shell.library "preprocessing/md5"

local text = {}
text.filters = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'

local options = {
  input = { name = "text", type = "a text", required = true, doc = "The text to split." },
  n = { name = "n", type = "an integer", required = true, doc = "Numbers are from 1 to n - 1." },
  hash_function = {
    name = "hash_function", type = "a text or a function",
    doc = '"md5", or a function of a word that gives an integer; nil: one of our own, the same '
      .. "in every process.",
  },
  filters = { name = "filters", type = "a text",
    doc = "Characters to remove; nil: punctuation except ', tabs and line breaks." },
  lower = { name = "lower", type = "a boolean", default = true,
    doc = "Convert texts to lower case." },
  split = { name = "split", type = "a text", doc = "Separator of words; nil: a space." },
  analyzer = { name = "analyzer", type = "a function",
    doc = "A function that splits a text into words, instead of the rules above." },
}

local function escaped_pattern(pattern) return (pattern:gsub("%W", "%%%0")) end

--- The non-empty words of a text.
function text.words(input, filters, lower, split)
  if type(input) ~= "string" then shell.fail("expected a text, got ", cr.show(input)) end
  split = split or " "
  if split == "" then shell.fail("split: expected a text that is not empty") end
  if lower then input = lower_case(input) end
  filters = filters or text.filters
  if filters ~= "" then
    local replacement = split:gsub("%%", "%%%%")
    if filters:find "[\x80-\xFF]" then
      local replacements = {}
      for character in filters:gmatch(utf8.charpattern) do replacements[character] = split end
      input = input:gsub(utf8.charpattern, replacements)
    else
      input = input:gsub("[" .. escaped_pattern(filters) .. "]", replacement)
    end
  end
  local words, position = {}, 1
  while position <= #input + 1 do
    local first, last = input:find(split, position, true)
    local word = input:sub(position, (first or #input + 1) - 1)
    if word ~= "" then words[#words + 1] = word end
    position = (last or #input + 1) + 1
  end
  return words
end

text.text_to_word_sequence = shell.define("text_to_word_sequence -> a list of strings",
  "The list of words of a text.",
  { options.input, options.filters, options.lower, options.split }, text.words)

local function fnv_hash(word)
  local hash = -0x340D631B7BDDDCDB -- the FNV-1a hash function
  for i = 1, #word do hash = (hash ~ word:byte(i)) * 0x100000001B3 end
  return hash & math.maxinteger
end

--- The number whose big-endian bytes are given, modulo m.
local function remainder(bytes, m)
  local result = 0
  for i = 1, #bytes do result = (result * 256 + bytes:byte(i)) % m end
  return result
end

local function hashed_words(input, n, hash_function, filters, lower, split, analyzer)
  if math.type(n) ~= "integer" or n < 2 then
    shell.fail("n: expected an integer from 2, got ", cr.show(n))
  end
  local hash
  if hash_function == nil then
    hash = function(word) return fnv_hash(word) % (n - 1) end
  elseif hash_function == "md5" then
    hash = function(word) return remainder(md5(word), n - 1) end
  elseif type(hash_function) == "function" then
    hash = function(word) return hash_function(word) % (n - 1) end
  else
    shell.fail('hash_function: expected "md5" or a function, got ', cr.show(hash_function))
  end
  local numbers = {}
  for i, word in ipairs(analyzer and analyzer(input) or text.words(input, filters, lower, split)) do
    numbers[i] = hash(word) + 1
  end
  return numbers
end

text.hashing_trick = shell.define("hashing_trick -> a list of integers",
  "The words of a text as numbers by hash, so that different words may have the same number.",
  { options.input, options.n, options.hash_function, options.filters, options.lower, options.split,
    options.analyzer }, hashed_words)

text.one_hot = shell.define("one_hot -> a list of integers",
  "The words of a text as numbers from 1 to n - 1 by hash, as hashing_trick with the default hash.",
  { options.input, options.n, options.filters, options.lower, options.split, options.analyzer },
  function(input, n, filters, lower, split, analyzer)
    return hashed_words(input, n, nil, filters, lower, split, analyzer)
  end)

return text
