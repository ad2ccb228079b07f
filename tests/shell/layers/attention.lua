-- Attention: masks, windows, axes, scores, compared with formulas written in this script.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

local function random_tensor(shape, seed)
  return cr.random.uniform(shape, -1, 1, { seed = seed })
end
local query, value, key = random_tensor({ 2, 4, 3 }, 1), random_tensor({ 2, 5, 6 }, 2),
  random_tensor({ 2, 5, 3 }, 3)

--- The attention output softmax(scores) x value, and softmax(scores). Scores are lowered by 1e9
--- where `hidden` is 1.
local function attention_output(scores, hidden)
  if hidden then scores = scores - hidden * 1e9 end
  return ops.matmul(ops.softmax(scores, -1), value), ops.softmax(scores, -1)
end

-- ---- attention of sequences, without heads
local scores = ops.matmul(query, ops.transpose(key, { 0, 2, 1 }))
check.near(layers.Attention() { query, value, key }, (attention_output(scores)))
check.near(layers.Attention() { query, key }, ops.matmul(ops.softmax(scores, -1), key))
local output, weights = layers.Attention() ({ query, value, key },
  { return_attention_scores = true }), nil
check.near(output[1], (attention_output(scores)))
check.near(output[2], select(2, attention_output(scores)))

local later_keys = {}
for i = 1, 4 do later_keys[i] = {} for j = 1, 5 do later_keys[i][j] = j > i and 1 or 0 end end
local hidden_mask = cr.tensor(later_keys):reshape { 1, 4, 5 }
check.near(layers.Attention() ({ query, value, key }, { use_causal_mask = true }),
  (attention_output(scores, hidden_mask)))

-- masked steps of the value are ignored, and masked steps of the query give zeros
local value_steps = cr.tensor { { 1, 1, 1, 0, 0 }, { 1, 1, 1, 1, 1 } }
local query_steps = cr.tensor { { 1, 1, 1, 0 }, { 1, 1, 0, 0 } }
local masks = { query_steps:cast "bool", value_steps:cast "bool", value_steps:cast "bool" }
local expected = attention_output(scores,
  (1 - value_steps):reshape { 2, 1, 5 }) * query_steps:reshape { 2, 4, 1 }
check.near(layers.Attention() ({ query, value, key }, { mask = masks }), expected)

-- additive attention, whose scores are sums of tanh
local function tanh_sums(q, k)
  return ops.tanh(q:reshape { 2, 4, 1, 3 } + k:reshape { 2, 1, 5, 3 })
end
local concat_layer = layers.Attention { score_mode = "concat", use_scale = true }
concat_layer { query, value, key }
assert(#concat_layer.weights == 2 and concat_layer.weights[1].name == "scale"
  and concat_layer.weights[2].name == "concat_score_weight")
concat_layer:set_weights { cr.tensor(0.5), cr.tensor(2.0) }
check.near(concat_layer { query, value, key },
  (attention_output(
  2 * ops.sum(ops.tanh(0.5 * (query:reshape { 2, 4, 1, 3 } + key:reshape { 2, 1, 5, 3 })),
  { -1 }))))
local additive_layer = layers.AdditiveAttention()
additive_layer { query, value, key }
check.near(additive_layer { query, value, key },
  (attention_output(ops.sum(tanh_sums(query, key) * additive_layer.weights[1], { -1 }))))
assert(#layers.AdditiveAttention({ use_scale = false, input_shape = { 4, 3 } }).weights == 0)

-- attention computed in tiles drops the same weights as attention with the whole matrix of weights
for _, lengths in ipairs { { 4, 5 }, { 70, 600 } } do
  local x, y = random_tensor({ 3, lengths[1], 6 }, 4), random_tensor({ 3, lengths[2], 6 }, 5)
  for _, options in ipairs { {}, { use_causal_mask = true } } do
    options.training = true
    local tiled_layer = layers.MultiHeadAttention(2, 3, { dropout = 0.4, seed = 8 })
    local whole_layer = layers.MultiHeadAttention(2, 3, { dropout = 0.4, seed = 8 })
    tiled_layer(x, y)
    whole_layer(x, y)
    whole_layer:set_weights(tiled_layer:get_weights())
    for _ = 1, 2 do
      local table_options = { training = true, return_attention_scores = true,
        use_causal_mask = options.use_causal_mask }
      check.near(tiled_layer(x, y, options), whole_layer(x, y, table_options)[1])
    end
  end
end

check.fails(function()
  layers.Attention()(query)
end, "Attention layer accepts inputs list of length 2 or 3")
check.fails(function()
  layers.Attention { score_mode = "dots" }
end, "score_mode", "did you mean 'dot'")
check.fails(function() layers.Attention() { query, value } end, "do not fit")

-- dropout sets some attention weights to zero and scales the others up
local dropout_layer = layers.Attention { dropout = 0.5, seed = 3 }
local dropped_output = dropout_layer({ query, value, key }, { training = true,
  return_attention_scores = true })
local kept_count = 0
for _, rows in ipairs(dropped_output[2]:totable()) do
  for _, row in ipairs(rows) do
    for _, w in ipairs(row) do kept_count = kept_count + (w > 0 and 1 or 0) end
  end
end
assert(kept_count > 8 and kept_count < 32, kept_count)
check.near(dropout_layer { query, value, key }, (attention_output(scores)))
check.near(ops.max(ops.abs(layers.Attention { dropout = 1 } ({ query, value, key },
  { training = true }))), 0)

-- ---- multi-head attention
local function attention(options)
  options.num_heads, options.key_dim = 2, 3
  local layer = layers.MultiHeadAttention(options)
  return layer
end
-- a sliding window acts as a mask, alone and together with a causal mask
local unlimited_layer, windowed_layer = attention {}, attention { sliding_window = 2 }
local x = random_tensor({ 2, 6, 4 }, 4)
unlimited_layer { x, x }
windowed_layer { x, x }
windowed_layer:set_weights(unlimited_layer:get_weights())
local function distance_mask(f)
  local rows = {}
  for i = 1, 6 do rows[i] = {} for j = 1, 6 do rows[i][j] = f(i, j) and 1 or 0 end end
  return cr.tensor { rows, rows }
end
check.near(windowed_layer { x, x }, unlimited_layer({ x, x },
  { attention_mask = distance_mask(function(i, j)
  return math.abs(i - j) < 2
end) }))
check.near(windowed_layer({ x, x }, { use_causal_mask = true }),
  unlimited_layer({ x, x }, { attention_mask = distance_mask(function(i, j)
  return i - j == 0 or i - j == 1
end) }))
local scored_output = unlimited_layer({ x, x }, { use_causal_mask = true,
  return_attention_scores = true })
check.near(scored_output[1], unlimited_layer({ x, x }, { use_causal_mask = true }))
check.same(scored_output[2].shape, { 2, 2, 6, 6 })
assert(scored_output[2]:totable()[1][1][2][3] == 0)

-- attention along the second of three axes treats each row of the first axis separately
local image = random_tensor({ 2, 3, 4, 5 }, 5)
local row_attention = attention { attention_axes = { 2 } }
local row_output = row_attention { image, image }
check.same(row_output.shape, { 2, 3, 4, 5 })
local sequence_attention = attention {}
local row_sequences = image:reshape { 6, 4, 5 }
sequence_attention { row_sequences, row_sequences }
sequence_attention:set_weights(row_attention:get_weights())
check.near(row_output:reshape { 6, 4, 5 }, sequence_attention { row_sequences, row_sequences })
check.near(row_attention({ image, image }, { use_causal_mask = true }):reshape { 6, 4, 5 },
  sequence_attention({ row_sequences, row_sequences }, { use_causal_mask = true }))
-- attention over all axes treats the image as one sequence
local whole_attention = attention {}
local whole_output = whole_attention({ image, image }, { return_attention_scores = true })
check.same(whole_output[2].shape, { 2, 2, 3, 4, 3, 4 })
local sequence = image:reshape { 2, 12, 5 }
sequence_attention:set_weights(whole_attention:get_weights())
check.near(whole_output[1]:reshape { 2, 12, 5 }, sequence_attention { sequence, sequence })
local full_mask = distance_mask(function()
  return true
end):slice({ 1, 1, 1 }, { 2, 3, 4 }):reshape { 2, 3, 4, 1, 1 } * cr.ones { 1, 1, 1, 3, 4 }
check.near(whole_attention({ image, image }, { attention_mask = full_mask }), whole_output[1])
check.fails(function()
  whole_attention({ image, image }, { use_causal_mask = true })
end, "one attention axis")
check.fails(function() attention { attention_axes = { 3 } } { image, image } end, "attention_axes")
check.fails(function() unlimited_layer { x, random_tensor({ 2, 3, 4, 5 }, 1) } end)

-- fewer heads for keys and values equal attention with all heads, in which keys and values are
-- repeated
local grouped_attention = layers.GroupQueryAttention { head_dim = 3, num_query_heads = 4,
  num_key_value_heads = 2 }
grouped_attention { x, x }
local full_attention = layers.MultiHeadAttention { num_heads = 4, key_dim = 3 }
full_attention { x, x }
local weights = grouped_attention:get_weights()
for i = 3, 6 do
  weights[i] = ops.take(weights[i], cr.tensor({ 0, 0, 1, 1 }, "int32"), #weights[i].shape - 2)
end
full_attention:set_weights(weights)
check.near(grouped_attention({ x, x }, { use_causal_mask = true }),
  full_attention({ x, x }, { use_causal_mask = true }))
assert(grouped_attention:get_config().num_key_value_heads == 2)
check.fails(function()
  layers.GroupQueryAttention { head_dim = 3, num_query_heads = 3, num_key_value_heads = 2 }
end, "must be divisible")

-- a gate with zero weights is sigmoid(0): the outputs are halved
local gated_layer = attention { use_gate = true, bias_initializer = "zeros" }
gated_layer { x, x }
local with_gate = gated_layer:get_weights()
assert(#with_gate == 10)
-- in the list of weights, those of the gate are between those of key and value, as in Keras
with_gate[5], with_gate[6] = cr.zeros { 4, 2, 3 }, cr.zeros { 2, 3 }
gated_layer:set_weights(with_gate)
local without_gate = { table.unpack(with_gate, 1, 4) }
table.move(with_gate, 7, 10, 5, without_gate)
without_gate[7] = without_gate[7] * 0.5
unlimited_layer:set_weights(without_gate)
check.near(gated_layer { x, x }, unlimited_layer { x, x })

-- flash attention refuses options that need the whole matrix of attention weights
check.fails(function()
  attention { flash_attention = true, dropout = 0.1 }
end, "Dropout is not supported when flash attention is enabled")
check.fails(function()
  attention { flash_attention = true } ({ x, x }, { return_attention_scores = true })
end, "scores is not supported when flash attention")
check.same(attention { flash_attention = true } { x, x }.shape, { 2, 6, 4 })

-- ---- a masked model is saved and loaded without warnings; for Keras 2.3.1, which has no such
-- layers, saving fails
local ok, text = check.run [[
local text_input = cr.Input { shape = { 6 }, dtype = "int32" }
local embedded = cr.layers.Embedding(10, 4, { mask_zero = true })(text_input)
local by_rows = cr.layers.MultiHeadAttention(2, 3)({ embedded, embedded },
  { use_causal_mask = true })
local grouped = cr.layers.GroupQueryAttention(2, 4, 2) { by_rows, by_rows }
local attention_result = cr.layers.Attention { use_scale = true } { grouped, grouped }
local pooled_output = cr.layers.GlobalAveragePooling1D()(attention_result)
local model = cr.Model(text_input, pooled_output)
local text = cr.tensor({ { 1, 2, 3, 0, 0, 0 }, { 4, 5, 6, 7, 8, 9 } }, "int32")
local prediction = model:predict(text)
local same_text = cr.tensor({ { 1, 2, 3, 0, 0, 0 }, { 4, 5, 6, 7, 8, 9 } }, "int32")
local path = os.tmpname() .. ".h5"
model:compile { optimizer = "sgd", loss = "mse" }
model:save(path)
assert(cr.ops.max(cr.ops.abs(cr.models.load_model(path):predict(same_text)
  - prediction)):item() < 1e-6)
local is_saved, reasons = pcall(model.save, model, path, { target = "keras2" })
assert(not is_saved and tostring(reasons):find "Keras 2.3.1 has no layer 'GroupedQueryAttention'")
os.remove(path)
]]
assert(ok and not text:find "destroy", text)
do -- queries for which all keys are masked give finite numbers, with and without dropout
  local x = cr.random.normal({ 1, 3, 8 }, 0, 1, "float32", 1)
  local all_false_mask = cr.zeros({ 1, 3, 3 }):cast "bool"
  for _, dtype in ipairs { "float32", "float16", "bfloat16" } do
    for _, dropout in ipairs { 0, 0.5 } do
      for _, training in ipairs { true, false } do
        local l = layers.MultiHeadAttention(2, 4, { dropout = dropout, dtype = dtype })
        local y = l({ x:cast(dtype), x:cast(dtype) },
          { attention_mask = all_false_mask, training = training })
        assert(ops.all(ops.isfinite(y:cast "float32")):item(), dtype .. ": no numbers")
      end
    end
    for _, make in ipairs { layers.Attention, layers.AdditiveAttention } do
      local q = x:cast(dtype)
      local result = make { dtype = dtype }({ q, q },
        { mask = { false, cr.zeros({ 1, 3 }):cast "bool" }, return_attention_scores = true })
      check.near(ops.sum(result[2], -1):cast "float32", ops.ones { 1, 3 }, 2e-2, dtype)
      assert(ops.all(ops.isfinite(result[1]:cast "float32")):item(), dtype .. ": no numbers")
    end
  end
end

do -- queries that may attend to no key, recorded from Keras 3.15.1
  local x = cr.arange(12):reshape { 1, 3, 4 }:cast "float32" / 10
  local allowed_keys = cr.tensor { { { 1, 1, 0 }, { 0, 0, 0 }, { 1, 1, 1 } } }
  for _, class in ipairs { "MultiHeadAttention", "GroupQueryAttention" } do
    local sizes = class == "MultiHeadAttention" and { 1, 4 } or { 4, 1, 1 }
    for dropout, unattended_output in pairs { [0] = 8.8, [0.1] = 0 } do
      local attention = layers[class] { sizes[1], sizes[2], sizes[3], dropout = dropout,
        kernel_initializer = "ones" }
      local options = { attention_mask = allowed_keys }
      check.near(attention({ x, x }, options)[{ 1, {}, 1 }],
        { 7.981686, unattended_output, 15.199966 },
        1e-5)
      options.use_causal_mask = true
      check.near(attention({ x, x }, options)[{ 1, {}, 1 }], { 2.4, unattended_output, 15.199966 },
        1e-5)
      options = { attention_mask = allowed_keys, return_attention_scores = true }
      local output, scores = table.unpack(attention({ x, x }, options))
      check.near(output[{ 1, {}, 1 }], { 7.981686, 0, 15.199966 }, 1e-5)
      check.near(scores[{ 1, 1 }], { { 0.12786156, 0.87213844, 0 }, { 0, 0, 0 },
        { 2.7412864e-11, 5.2357159e-06, 0.99999475 } }, 1e-6)
    end
  end
  local images = cr.arange(24):reshape { 1, 2, 3, 4 }:cast "float32" / 10
  local expected = {
    [3] = { axes = { 2 }, { { 14.161219, 0, 15.199966 }, { 34.4, 0, 34.4 } } },
    [2] = { axes = { 1 }, { { 21.53969, 28.000002, 34.4 }, { 0, 0, 0 } } },
  }
  for size, expected_rows in pairs(expected) do
    local allowed = cr.ones { size, size }:totable()
    for key = 1, size do allowed[2][key] = 0 end
    local attention = layers.MultiHeadAttention(1, 4,
      { attention_axes = expected_rows.axes, kernel_initializer = "ones" })
    check.near(attention({ images, images },
      { attention_mask = cr.tensor { { allowed } } })[{ 1, {}, {}, 1 }], expected_rows[1], 1e-5)
  end
end

-- with several batch axes, attention gives the same outputs as for each part of the batch alone
for _, class in ipairs { "Attention", "AdditiveAttention" } do
  local q, v = cr.random.normal { 2, 3, 4, 5 }, cr.random.normal { 2, 3, 6, 5 }
  local q_mask = ops.greater(cr.random.uniform { 2, 3, 4 }, 0.3)
  local v_mask = ops.greater(cr.random.uniform { 2, 3, 6 }, 0.3)
  local attention = cr.layers[class] { use_scale = true }
  local output, scores = table.unpack(attention({ q, v },
    { mask = { q_mask, v_mask }, return_attention_scores = true }))
  check.same(output.shape, { 2, 3, 4, 5 })
  check.same(scores.shape, { 2, 3, 4, 6 })
  for i = 1, 2 do
    local part, part_scores = table.unpack(attention({ q[i], v[i] },
      { mask = { q_mask[i], v_mask[i] }, return_attention_scores = true }))
    check.near(output[i], part, 1e-5)
    check.near(scores[i], part_scores, 1e-5)
  end
  check.same(attention { cr.Input { 3, 4, 5 }, cr.Input { 3, 6, 5 } }.shape, { -1, 3, 4, 5 })
end

-- LoRA adapters can be enabled in the projections of an attention layer
local lora_attention = layers.MultiHeadAttention(2, 3)
check.same(lora_attention.query_dense, nil)
lora_attention:build { { -1, 4, 8 }, { -1, 4, 8 } }
for _, name in ipairs { "query", "key", "value", "output" } do
  check.same(lora_attention[name .. "_dense"].class_name, "EinsumDense")
end
local weights_before = #lora_attention.trainable_weights
lora_attention.query_dense:enable_lora(2)
check.same(#lora_attention.trainable_weights, weights_before + 1)
print "ok attention"
