-- Variants of recurrent layers and attention (masks, dropout, both directions), to compare with the
-- plain layers.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local words, width = 80, 128

local function range(n)
  local numbers = {}
  for i = 1, n do numbers[i] = i - 1 end
  return cr.tensor(numbers)
end

--- Texts of 40 to 80 words, padded with zeros.
local function make_padded_texts(n)
  local ids = cr.random.randint({ n, words }, 1, 20000)
  local lengths = cr.random.randint({ n, 1 }, words // 2, words + 1)
  return ids * cr.ops.less(range(words):reshape { 1, words }, lengths):cast "int32"
end

local function text_model_maker(layer, mask_zero)
  return function()
    return cr.Sequential {
      layers.Embedding(20000, width, { mask_zero = mask_zero, input_shape = { words } }),
      layer(),
      layers.Dense(1, { dtype = "float32" }),
    }
  end
end

local function measure_texts(name, layer, mask_zero)
  measure.train(name .. "_train", {
    model = text_model_maker(layer, mask_zero),
    x = make_padded_texts, y = measure.integers(2, 1),
    batch = 32, batches = 4, flops = 21.0e6,
    optimizer = "adam", loss = cr.losses.BinaryCrossentropy { from_logits = true },
  })
end

measure_texts("lstm_plain", function() return layers.LSTM(width) end)
measure_texts("lstm_masked", function() return layers.LSTM(width) end, true)
measure_texts("lstm_recurrent_dropout", function()
  return layers.LSTM(width, { recurrent_dropout = 0.2 })
end)
measure_texts("bidirectional", function() return layers.Bidirectional(layers.LSTM(width)) end)
measure_texts("gru_reset_before", function() return layers.GRU(width, { reset_after = false }) end)
measure_texts("simple_rnn", function() return layers.SimpleRNN(width) end)

measure.train("convlstm_train", {
  model = function()
    return cr.Sequential {
      layers.ConvLSTM2D(16, 3, { padding = "same", input_shape = { 8, 24, 24, 4 } }),
      layers.GlobalAveragePooling2D(),
      layers.Dense(1, { dtype = "float32" }),
    }
  end,
  x = measure.uniform(8, 24, 24, 4), y = measure.uniform(1),
  batch = 16, batches = 2, flops = 8 * 24 * 24 * 9 * (4 + 16) * 64 * 2,
  optimizer = "adam", loss = "mse",
})

local steps = 512
local function measure_attention(name, options, call)
  measure.train(name .. "_train", {
    model = function()
      local x = cr.Input { shape = { steps, width } }
      local attention_output = layers.MultiHeadAttention(4, 32,
        options)({ call.mask and layers.Masking()(x) or x, x }, { use_causal_mask = call.causal })
      return cr.Model(x, layers.Dense(1,
        { dtype = "float32" })(layers.GlobalAveragePooling1D()(attention_output)))
    end,
    x = function(n)
      local x = cr.random.uniform { n, steps, width }
      if not call.mask then return x end
      local lengths = cr.random.randint({ n, 1, 1 }, steps // 2, steps + 1)
      return x * cr.ops.less(range(steps):reshape { 1, steps, 1 }, lengths):cast "float32"
    end,
    y = measure.uniform(1),
    batch = 8, batches = 2, flops = 2 * steps * width * (4 * width + 2 * steps),
    optimizer = "adam", loss = "mse",
  })
end
measure_attention("attention_full", {}, {})
measure_attention("attention_causal", {}, { causal = true })
measure_attention("attention_padded", {}, { mask = true })
measure_attention("attention_dropout", { dropout = 0.1 }, {})
