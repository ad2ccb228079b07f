-- A small GPT: it learns to write Lua, character by character, from the source files in the folder
-- of the examples.
--   crescent examples/gpt.lua [STEPS]
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local folder = arg[0]:match "^(.*)/[^/]*$" or "."
local step_count = tonumber(arg[1]) or 500
local window_length, model_width, head_count, block_count, batch_size = 64, 96, 4, 2, 16

print "A transformer of two blocks learns to write Lua, letter by letter."
local sources = {}
for path in cr.data.list_files(folder .. "/*.lua", { shuffle = false }):elements() do
  local file = assert(io.open(path, "rb"))
  sources[#sources + 1] = file:read "a"
  file:close()
end
local text = table.concat(sources, "\n")
local letters, ids = {}, {}
for i = 1, #text do
  local letter = text:sub(i, i)
  if not ids[letter] then
    letters[#letters + 1] = letter
    ids[letter] = #letters - 1
  end
end

--- Adds a learned vector to each position of the sequence (position embedding).
local Positions = cr.Layer:subclass "Positions"
function Positions:build(shape)
  self.position_vectors = self:add_weight { name = "places", shape = { shape[2], shape[3] },
    initializer = cr.initializers.RandomNormal { stddev = 0.02 } }
end
function Positions:call(x) return x + self.position_vectors end

local function transformer_block(x)
  local normalized = layers.LayerNormalization()(x)
  local attention = layers.MultiHeadAttention(head_count, model_width // head_count)
  x = layers.Add() { x, attention({ normalized, normalized }, { use_causal_mask = true }) }
  local y = layers.Dense(4 * model_width, { activation = "gelu" })(layers.LayerNormalization()(x))
  return layers.Add() { x, layers.Dense(model_width)(y) }
end

cr.random.seed(1)
local input = cr.Input { shape = { window_length }, dtype = "int32" }
local x = Positions()(layers.Embedding(#letters, model_width)(input))
for _ = 1, block_count do x = transformer_block(x) end
local model = cr.Model(input, layers.Dense(#letters)(layers.LayerNormalization()(x)))
model:summary()
model:compile { optimizer = cr.optimizers.AdamW { learning_rate = 2e-3 },
  loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true } }

--- The ids of the `window_length` characters of the text that begin at `first`.
local function window_ids(first)
  local row = {}
  for k = 1, window_length do row[k] = ids[text:sub(first + k - 1, first + k - 1)] end
  return row
end
local last_start = #text - window_length - 1
local train_end = math.floor(last_start * 0.95)
local function random_windows(n, min_start, max_start)
  local rows, targets = {}, {}
  for i = 1, n do
    local first = math.random(min_start, max_start)
    rows[i], targets[i] = window_ids(first), window_ids(first + 1)
  end
  return cr.tensor(rows, "int32"), cr.tensor(targets, "int32")
end
math.randomseed(1)
local x_test, y_test = random_windows(64, train_end + window_length, last_start)
local result_rows = { { 0, math.log(#letters) } }
local round_count = math.min(5, step_count)
for round = 1, round_count do
  local steps_per_round = step_count // round_count
  local x_train, y_train = random_windows(steps_per_round * batch_size, 1, train_end)
  model:fit(x_train, y_train, { batch_size = batch_size, epochs = 1, verbose = 0 })
  result_rows[#result_rows + 1] = { round * steps_per_round,
    model:evaluate(x_test, y_test, { verbose = 0 }) }
end

--- Continues a text by `count` characters, sampled from the model's probabilities; a lower
--- temperature prefers the likely characters.
local function continue_text(beginning, count, temperature)
  local output = beginning
  for _ = 1, count do
    local window = output:sub(-window_length)
    local row = {}
    for k = 1, window_length do row[k] = ids[window:sub(k, k)] or 0 end
    local predicted = model:predict_on_batch(cr.tensor({ row }, "int32")):totable()
    local logits = predicted[1][math.min(#window, window_length)]
    local weights, weight_sum, max_logit = {}, 0, math.max(table.unpack(logits))
    for i, logit in ipairs(logits) do
      weights[i] = math.exp((logit - max_logit) / temperature)
      weight_sum = weight_sum + weights[i]
    end
    local remaining_weight, letter_number = math.random() * weight_sum, 1
    while remaining_weight > weights[letter_number] and letter_number < #weights do
      remaining_weight = remaining_weight - weights[letter_number]
      letter_number = letter_number + 1
    end
    output = output .. letters[letter_number]
  end
  return output
end
for _, beginning in ipairs { "local model = ", "-- The " } do
  print("\n" .. continue_text(beginning, math.min(200, 4 * step_count), 0.6):gsub("\n", "\n  "))
end
print "\n steps  bits a letter  (of text that it has not seen)"
for _, row in ipairs(result_rows) do
  print(string.format("%6d  %13.3f", row[1], row[2] / math.log(2)))
end
