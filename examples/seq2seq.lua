-- Translates one sequence to another: "four hundred and seven" becomes 407. An encoder reads the
-- letters; a decoder writes the digits and uses attention over the encoded letters.
--   crescent examples/seq2seq.lua [EPOCHS]
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local epochs = tonumber(arg[1]) or 40
print "A recurrent network learns to read numbers that are written in words."
cr.random.seed(1)
math.randomseed(1)

-- ---- numbers below 1000, in words

local names_below_20 = { [0] = "zero", "one", "two", "three", "four", "five", "six", "seven",
  "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
  "seventeen", "eighteen", "nineteen" }
local names_of_tens = { "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy",
  "eighty", "ninety" }
local function number_in_words(n)
  if n < 20 then return names_below_20[n] end
  if n < 100 then
    return names_of_tens[n // 10] .. (n % 10 > 0 and "-" .. names_below_20[n % 10] or "")
  end
  return names_below_20[n // 100] .. " hundred"
    .. (n % 100 > 0 and " and " .. number_in_words(n % 100) or "")
end

-- Letters have the ids 1, 2, ...; 0 is padding. The digits 0 to 9 have the ids 1 to 10; 0 is the
-- start token of the decoder.
local max_length, alphabet = 0, " -abcdefghijklmnopqrstuvwxyz"
for n = 0, 999 do max_length = math.max(max_length, #number_in_words(n)) end
local function letter_ids_of(n)
  local text, row = number_in_words(n), {}
  for i = 1, max_length do row[i] = i <= #text and alphabet:find(text:sub(i, i), 1, true) or 0 end
  return row
end
local function digit_ids_of(n) return { n // 100 + 1, n // 10 % 10 + 1, n % 10 + 1 } end

local numbers = {}
for n = 0, 999 do table.insert(numbers, math.random(n + 1), n) end
local train_count = 800
local function data_between(first, last)
  local letter_ids, decoder_input, digit_ids = {}, {}, {}
  for i = first, last do
    local digits = digit_ids_of(numbers[i])
    letter_ids[#letter_ids + 1], digit_ids[#digit_ids + 1] = letter_ids_of(numbers[i]), digits
    decoder_input[#decoder_input + 1] = { 0, digits[1], digits[2] }
  end
  return { cr.tensor(letter_ids, "int32"), cr.tensor(decoder_input, "int32") },
    cr.tensor(digit_ids, "int32")
end

-- ---- the model

local letters = cr.Input { shape = { max_length }, dtype = "int32", name = "letters" }
local decoder_input = cr.Input { shape = { 3 }, dtype = "int32", name = "begun" }
local encoded_letters = layers.Embedding(#alphabet + 1, 32, { mask_zero = true })(letters)
encoded_letters = layers.Bidirectional(layers.GRU(48, { return_sequences = true }))(encoded_letters)
local decoder_states = layers.GRU(96, { return_sequences = true })(
  layers.Embedding(11, 32)(decoder_input))
local context = layers.Attention() { decoder_states, encoded_letters }
local digits = layers.Dense(11, { activation = "softmax" })(
  layers.Concatenate() { decoder_states, context })
local model = cr.Model { inputs = { letters, decoder_input }, outputs = digits }
model:compile { optimizer = cr.optimizers.Adam(5e-3), loss = "sparse_categorical_crossentropy",
  metrics = { "accuracy" } }
local x, y = data_between(1, train_count)
model:fit(x, y, { batch_size = 50, epochs = epochs, verbose = 0, callbacks = {
  cr.callbacks.LambdaCallback { on_epoch_end = function(epoch, logs)
    if (epoch + 1) % 10 == 0 then print(("epoch %d: loss %.4f"):format(epoch + 1, logs.loss)) end
  end },
} })

-- ---- predictions for the test numbers, one digit after the other

local x_test = data_between(train_count + 1, 1000)
local decoder_rows = {}
for i = 1, 1000 - train_count do decoder_rows[i] = { 0, 0, 0 } end
for position = 1, 3 do
  local scores_of_digits = model:predict({ x_test[1], cr.tensor(decoder_rows, "int32") },
    { verbose = 0 })
  for i, guess in ipairs(ops.argmax(scores_of_digits, -1):totable()) do
    decoder_rows[i][position + 1] = guess[position]
  end
end
local right_count = 0
print(("\n%-34s %s"):format("in words", "as it is read"))
for i, row in ipairs(decoder_rows) do
  local n = numbers[train_count + i]
  local guess = (row[2] - 1) * 100 + (row[3] - 1) * 10 + row[4] - 1
  right_count = right_count + (guess == n and 1 or 0)
  if i <= 10 then print(("%-34s %d"):format(number_in_words(n), guess)) end
end
print(("\nNumbers read rightly: %.1f %% of %d that it has not seen")
  :format(100 * right_count / #decoder_rows, #decoder_rows))
