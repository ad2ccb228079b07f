-- Recurrent layers: custom cells, options of the loop, states.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

local function random_tensor(shape, seed)
  return cr.random.uniform(shape, -1, 1, { seed = seed or 7 })
end
local x = random_tensor { 2, 4, 3 }

-- ---- a cell written in Lua
local MinimalCell = cr.Layer:subclass("Minimal", { units = 4 }, { })
function MinimalCell:build(shapes)
  self.w = self:add_weight { name = "w", shape = { shapes[1][2], self.units } }
  self.u = self:add_weight { name = "u", shape = { self.units, self.units } }
end
function MinimalCell:call(inputs)
  local h = ops.tanh(inputs[1]:matmul(self.w) + inputs[2]:matmul(self.u))
  if inputs[3] then h = h + inputs[3] end
  return { h, h }
end
local minimal_rnn = layers.RNN(MinimalCell { units = 5 }, { return_sequences = true })
local minimal_output = minimal_rnn(x)
local simple_rnn = layers.SimpleRNN(5, { return_sequences = true, use_bias = false })
simple_rnn(x)
simple_rnn:set_weights(minimal_rnn:get_weights())
check.near(minimal_output, simple_rnn(x))
assert(minimal_rnn.cell.units == 5 and #minimal_rnn.weights == 2)
check.near(layers.RNN(MinimalCell { units = 3 })(x, { constants = cr.zeros { 2, 3 } }).shape,
  { 2, 3 })
local constants_rnn = layers.RNN(MinimalCell { units = 3 })
constants_rnn(x)
local with_constants, without_constants = constants_rnn(x, { constants = { cr.ones { 2, 3 } } }),
  constants_rnn(x)
assert(ops.max(ops.abs(with_constants - without_constants)):item() > 0.1)
check.fails(function() simple_rnn(x, { constants = x }) end, "constants", "the cell takes none")
check.fails(function()
  layers.RNN(layers.Dense(3))
end, "expected a recurrent cell such as LSTMCell, got Dense")
check.fails(function() layers.RNN(layers.ReLU()) end, "expected a recurrent cell")
check.fails(function() layers.RNN(cr.Sequential { layers.Dense(3) }) end,
  "expected a recurrent cell such as LSTMCell, got Sequential")
check.fails(function() layers.StackedRNNCells { { cr.Sequential { layers.Dense(3) } } } end,
  "expected a recurrent cell")

-- a cell written as in Keras: state_size set in init, call(inputs, states), build gets the shape of
-- the inputs
local KerasCell = cr.Layer:subclass("KerasCell", { { "units", 4 }, { "two", false } })
function KerasCell:init(config)
  self.width = config.units
  self.state_size = config.two and { self.width, self.width } or self.width
end
function KerasCell:build(input_shape)
  self.w = self:add_weight { name = "w", shape = { input_shape[#input_shape], self.width } }
  self.u = self:add_weight { name = "u", shape = { self.width, self.width } }
end
function KerasCell:call(inputs, states)
  local h = ops.tanh(inputs:matmul(self.w) + states[1]:matmul(self.u))
  return h, self.two and { h, states[2] + h } or { h }
end
local keras_style_rnn = layers.RNN(KerasCell { units = 5 }, { return_sequences = true })
keras_style_rnn(x)
local PositionalCell =
  KerasCell:subclass "ByPosition" -- the parameters of its call may have any names
function PositionalCell:call(a, states) return KerasCell.call(self, a, states) end

local positional_rnn = layers.RNN(PositionalCell { units = 5 }, { return_sequences = true })
positional_rnn(x)
positional_rnn:set_weights(simple_rnn:get_weights())
check.near(positional_rnn(x), simple_rnn(x))
keras_style_rnn:set_weights(simple_rnn:get_weights())
check.near(keras_style_rnn(x), simple_rnn(x))
local two_state_outputs = layers.RNN(KerasCell { units = 3, two = true },
  { return_state = true })(x)
assert(#two_state_outputs == 3)
check.near(two_state_outputs[1], two_state_outputs[2])
check.near(ops.sum(layers.RNN(KerasCell { units = 1, two = true }, { return_sequences = true,
  return_state = true })(x)[3] * 0), 0)
local custom_model = cr.Sequential { layers.RNN(KerasCell { units = 3 },
  { input_shape = { 4, 3 } }) }
local custom_path = check.temporary ".keras"
custom_model:save(custom_path)
check.near(cr.models.load_model(custom_path):predict(x), custom_model:predict(x))
os.remove(custom_path)

-- paths of cell weights begin with the layer's name, so that those of several layers are distinct
local model = cr.Sequential { cr.Input { shape = { 2, 3 } },
  layers.Bidirectional(layers.LSTM(2, { name = "a", return_sequences = true })),
  layers.LSTM(2, { name = "b" }), layers.Dense(1, { name = "e" }) }
local paths, seen_paths = {}, {}
for _, weight in ipairs(model.weights) do
  paths[#paths + 1] = weight.path
  assert(not seen_paths[weight.path], weight.path)
  seen_paths[weight.path] = true
end
check.same({ paths[1], paths[4], paths[7], paths[10] }, { "forward_a/lstm_cell/kernel",
  "backward_a/lstm_cell/kernel", "b/lstm_cell/kernel", "e/kernel" })

-- a custom cell is trained and saved like built-in ones
local model = cr.Sequential { layers.RNN(MinimalCell { units = 3 }, { input_shape = { 4, 3 } }),
  layers.Dense(1) }
model:compile { optimizer = "adam", loss = "mse" }
local losses = model:fit(x, ops.sum(x, { 1, 2 }):reshape { 2, 1 },
  { epochs = 30, verbose = 0 }).history.loss
assert(losses[30] < losses[1])
local path = check.temporary ".h5"
model:save(path)
check.near(cr.models.load_model(path):predict(x), model:predict(x))

-- ---- several cells: as arguments, as a list, and in StackedRNNCells
for _, stack in ipairs { layers.RNN { layers.LSTMCell(2), layers.GRUCell(3) },
  layers.RNN { { layers.LSTMCell(2), layers.GRUCell(3) } },
  layers.RNN(layers.StackedRNNCells { layers.LSTMCell(2), layers.GRUCell(3) }) } do
  assert(stack.cell.cells[2].units == 3)
  check.same(stack(x).shape, { 2, 3 })
end
local stacked_rnn = layers.RNN({ layers.LSTMCell(2), layers.GRUCell(3) },
  { return_state = true, return_sequences = true })
local outputs = stacked_rnn(x)
assert(#outputs == 4)
check.same({ outputs[1].shape, outputs[2].shape, outputs[3].shape, outputs[4].shape },
  { { 2, 4, 3 }, { 2, 2 }, { 2, 2 }, { 2, 3 } })
local lower_layer = layers.LSTM(2, { return_sequences = true, return_state = true })
local upper_layer = layers.GRU(3, { return_sequences = true })
lower_layer(x)
upper_layer(lower_layer(x)[1])
local weights = stacked_rnn:get_weights()
lower_layer:set_weights { weights[1], weights[2], weights[3] }
upper_layer:set_weights { weights[4], weights[5], weights[6] }
check.near(outputs[1], upper_layer(lower_layer(x)[1]))
check.near(outputs[3], lower_layer(x)[3])

-- ---- the option unroll does not change the results
local function layer_pair(make, options)
  local base_layer, changed_layer = make {}, make(options)
  base_layer(x)
  changed_layer(x)
  changed_layer:set_weights(base_layer:get_weights())
  return base_layer, changed_layer
end
for _, class in ipairs { layers.SimpleRNN, layers.LSTM, layers.GRU } do
  local base_layer, unrolled_layer = layer_pair(function(options)
    return class { units = 3, return_sequences = true, activation = "sigmoid",
      unroll = options.unroll }
  end, { unroll = true })
  check.near(unrolled_layer(x), base_layer(x))
  local mask = cr.tensor({ { 1, 1, 0, 1 }, { 0, 1, 1, 0 } }):cast "bool"
  check.near(unrolled_layer(x, { mask = mask }), base_layer(x, { mask = mask }))
end
check.fails(function() layers.LSTM(3, { time_major = true }) end, "no option 'time_major'")
assert(#layers.CuDNNLSTM(3, { input_shape = { 4, 3 } }).name > 0)
local cudnn_gru = layers.CuDNNGRU(3)
cudnn_gru(x)
check.same(cudnn_gru.weights[3].shape, { 2, 9 })

-- masks, also with samples that are masked in all steps: computing all steps at once must equal
-- calling the cell step by step, and a sample without any step keeps its initial states
for _, class_row in ipairs { { layers.LSTM, layers.LSTMCell, 2 }, { layers.GRU, layers.GRUCell, 1 },
  { layers.SimpleRNN, layers.SimpleRNNCell, 1 } } do
  local class, cell, state_count = table.unpack(class_row)
  local data = random_tensor { 4, 4, 3 }
  local mask = cr.tensor({ { 1, 1, 0, 1 }, { 0, 0, 0, 0 }, { 0, 1, 1, 0 }, { 1, 1, 1, 1 } })
    :cast "bool"
  for option_bits = 0, 15 do
    local options = { return_state = true, return_sequences = option_bits & 1 == 1,
      go_backwards = option_bits & 2 == 2, zero_output_for_mask = option_bits & 4 == 4 }
    local layer, stepwise_layer = class(3, options), layers.RNN(cell(3), options)
    layer(data)
    stepwise_layer(data)
    stepwise_layer:set_weights(layer:get_weights())
    local initial_states = {}
    for i = 1, state_count do initial_states[i] = random_tensor({ 4, 3 }, 20 + i) end
    local call_options = { mask = mask, initial_state = option_bits & 8 == 8 and initial_states
      or nil }
    local got, expected_output = layer(data, call_options), stepwise_layer(data, call_options)
    for i = 1, 1 + state_count do check.near(got[i], expected_output[i]) end
    if not options.return_sequences then -- the last output is the last of the sequence
      options.return_sequences = true
      local sequence_layer = class(3, options)
      sequence_layer(data)
      sequence_layer:set_weights(layer:get_weights())
      check.near(got[1], ops.take(sequence_layer(data, call_options)[1], 3, 1))
    end
    for i = 1, state_count do
      local initial_state = call_options.initial_state and initial_states[i] or cr.zeros { 4, 3 }
      check.near(got[1 + i]:totable()[2], initial_state:totable()[2])
      check.near(expected_output[1 + i]:totable()[2], initial_state:totable()[2])
    end
  end
end

-- dropout: one mask per call, the same in all steps, for the input and the state
local dropout_layer = layers.SimpleRNN(40,
  { recurrent_dropout = 0.5, return_sequences = true, recurrent_initializer = "identity",
  kernel_initializer = "zeros", activation = "linear", seed = 1 })
local start_states = cr.ones { 2, 40 }
local y = dropout_layer(x, { initial_state = start_states, training = true }):totable()
for sample = 1, 2 do
  local zero_count = 0
  for unit = 1, 40 do
    local first_value = y[sample][1][unit]
    assert(first_value == 0 or math.abs(first_value - 2) < 1e-5)
    assert(math.abs(y[sample][4][unit] - first_value ^ 4) < 1e-3)
    if first_value == 0 then zero_count = zero_count + 1 end
  end
  assert(zero_count > 8 and zero_count < 32)
end
check.near(dropout_layer(x, { initial_state = start_states }), cr.ones { 2, 4, 40 })

-- ---- convolutional cells: with kernels of one element they are an LSTM at every position
local conv = layers.ConvLSTM1D(3, 1, { return_sequences = true, return_state = true })
local sequences = random_tensor { 2, 4, 5, 3 }
local outputs = conv(sequences)
check.same({ outputs[1].shape, outputs[2].shape }, { { 2, 4, 5, 3 }, { 2, 5, 3 } })
local lstm = layers.LSTM(3, { return_sequences = true })
local function channel_of(t, i) return ops.squeeze(t:slice({ 1, 1, i }, { -1, -1, i }), 2) end
lstm(channel_of(sequences, 1))
local kernel = conv:get_weights()
lstm:set_weights { ops.squeeze(kernel[1], 0), ops.squeeze(kernel[2], 0), kernel[3] }
for i = 1, 5 do check.near(channel_of(outputs[1], i), lstm(channel_of(sequences, i))) end
local masked_outputs = conv(sequences, { mask = cr.tensor({ { 1, 0, 1, 0 },
  { 1, 1, 1, 1 } }):cast "bool" })
check.near(masked_outputs[1]:slice({ 1, 2 }, { 1, 2 }), masked_outputs[1]:slice({ 1, 1 }, { 1, 1 }))
local channels_first_layer = layers.ConvLSTM2D(2, { 2, 3 },
  { data_format = "channels_first", padding = "same", strides = 2 })
local strided_layer = layers.ConvLSTM2D(2, { 2, 3 }, { padding = "same", strides = 2 })
local images = random_tensor { 2, 3, 4, 5, 2 }
local channels_first_images = ops.transpose(images, { 0, 1, 4, 2, 3 })
strided_layer(images)
channels_first_layer(channels_first_images)
channels_first_layer:set_weights(strided_layer:get_weights())
check.near(ops.transpose(channels_first_layer(channels_first_images), { 0, 2, 3, 1 }),
  strided_layer(images))
-- the kernel that runs all steps gives the same as the cell step by step, including gradients
for _, options in ipairs { {}, { data_format = "channels_first" },
  { recurrent_dropout = 0.5, dropout = 0.3 }, { go_backwards = true } } do
  options.return_sequences, options.padding, options.seed = true, "same", 3
  local kernel_layer = layers.ConvLSTM2D(2, { 2, 3 }, options)
  options.activation = function(t) return ops.tanh(t) end
  local stepwise_layer = layers.ConvLSTM2D(2, { 2, 3 }, options)
  local input = options.data_format and channels_first_images or images
  stepwise_layer:build(input.shape)
  kernel_layer:build(input.shape)
  kernel_layer:set_weights(stepwise_layer:get_weights())
  local results = {}
  for i, layer in ipairs { stepwise_layer, kernel_layer } do
    local out, loss
    local tape = cr.GradientTape(function()
      out = layer(input, { training = true })
      loss = ops.sum(ops.square(out))
    end)
    results[i] = { out, tape:gradient(loss, layer.weights) }
  end
  check.near(results[2][1], results[1][1])
  for i = 1, 3 do check.near(results[2][2][i], results[1][2][i], 1e-4) end
end
check.fails(function() conv(images) end, "expected ndim=4, found ndim=5")
check.fails(function() layers.ConvLSTM1D(3, 7)(sequences) end, "does not fit an axis of 5")
check.fails(function()
  layers.ConvLSTM2D(3, { 1, 2, 3 })
end, "kernel_size: expected 1 or 2 integers")

-- ---- states of stateful layers are saved in files, and the next call continues from them
local stateful_model = cr.Sequential { layers.GRU(3,
  { stateful = true, batch_input_shape = { 2, 4, 3 } }), layers.Dense(1) }
stateful_model:compile { loss = "mse" }
stateful_model:predict(x, { batch_size = 2 })
stateful_model:save(path)
local loaded_model = cr.models.load_model(path)
check.near(loaded_model.layers[1].states[1], stateful_model.layers[1].states[1])
local next_predictions = stateful_model:predict(x, { batch_size = 2 })
check.near(loaded_model:predict(x, { batch_size = 2 }), next_predictions)
loaded_model:reset_states()
cr.Sequential { layers.LSTM(2, { input_shape = { 3, 2 } }) }:reset_states()  -- nothing to reset
assert(ops.max(ops.abs(loaded_model:predict(x, { batch_size = 2 })
  - next_predictions)):item() > 1e-6)
local stateful_conv = layers.ConvLSTM2D(2, 2,
  { stateful = true, padding = "same", batch_input_shape = { 2, 3, 4, 5, 2 } })
local first_states, second_states = stateful_conv(images), stateful_conv(images)
assert(ops.max(ops.abs(first_states - second_states)):item() > 0)
check.same(stateful_conv.states[1].shape, { 2, 4, 5, 2 })
os.remove(path)

do -- without batch_size, a stateful model uses the batch size for which it was built
  local model = cr.Sequential {
    layers.GRU(2, { stateful = true, batch_input_shape = { 2, 3, 1 } }), cr.layers.Dense(1) }
  model:compile { loss = "mse" }
  local x, y = cr.ones { 6, 3, 1 }, cr.ones { 6, 1 }
  check.same(model:predict(x).shape, { 6, 1 })
  assert(#model:fit(x, y, { verbose = 0, validation_data = { x, y } }).history.val_loss == 1)
  assert(model:evaluate(x, y, { verbose = 0 }))
  check.fails(function()
    model:predict(cr.ones { 3, 3, 1 })
  end, "Found: 3 samples. Batch size: 2.")
end
-- A cell that adds losses is refused, because they would not reach the model's loss.
check.fails(function() layers.RNN(layers.GRUCell(2, { activity_regularizer = "l2" })) end,
  "give it to the layer around the cell")

-- a layer that gets initial states ignores the mask that its inputs carry, as in Keras 3, and uses
-- a mask that is an argument of the call; models from files of Keras 2 use both masks
for _, make in ipairs {
  function() return layers.SimpleRNN(3, { return_sequences = true }), 1 end,
  function() return layers.LSTM(3, { return_sequences = true }), 2 end,
  function() return layers.RNN(layers.GRUCell(3), { return_sequences = true }), 1 end,
  function() return layers.Bidirectional(layers.GRU(3, { return_sequences = true })), 2 end,
} do
  local layer, state_count = make()
  local words = cr.tensor({ { 1, 2, 0, 0 }, { 3, 4, 5, 0 } }, "int32")
  local embedding = layers.Embedding(6, 2, { mask_zero = true })
  local embedded_words = embedding(words)
  local plain_input, states, inputs = cr.tensor(embedded_words:totable()), {},
    { cr.Input { shape = { 4 } } }
  for i = 1, state_count do
    states[i] = cr.random.normal { 2, 3 }
    inputs[i + 1] = cr.Input { shape = { 3 } }
  end
  local unmasked_output = layer(plain_input, { initial_state = states })
  local masked_output = layer(plain_input, { initial_state = states, mask = embedded_words.mask })
  assert(ops.max(ops.abs(masked_output - unmasked_output)):item() > 1e-4)
  local result = layer(embedded_words, { initial_state = states })
  check.near(result, unmasked_output)
  check.same(result.mask:totable(), embedded_words.mask:totable())
  check.near(layer(embedded_words, { initial_state = states, mask = embedded_words.mask }),
    masked_output)
  check.near(layer(embedded_words), layer(plain_input, { mask = embedded_words.mask }))
  local symbols = { table.unpack(inputs, 2) }
  local model = cr.Model(inputs, layer(embedding(inputs[1]), { initial_state = symbols }))
  local data = { words, table.unpack(states) }
  check.near(model:predict(data), unmasked_output)
  for target, expected_output in pairs { keras3 = unmasked_output, keras2 = masked_output } do
    local copy = cr.models.model_from_json(model:to_json { target = target })
    copy:set_weights(model:get_weights())
    check.near(copy:predict(data), expected_output, 1e-5)
    local clone = cr.models.clone_model(copy)
    clone:set_weights(model:get_weights())
    check.near(clone:predict(data), expected_output, 1e-5)
  end
end

-- A cell computes in its own dtype, even if the layer around it has another one.
for _, name in ipairs { "SimpleRNNCell", "GRUCell", "LSTMCell" } do
  for outer_dtype, inner_dtype in pairs { float16 = "float32", float32 = "float64",
    float64 = "bfloat16" } do
    for _, stateful in ipairs { false, true } do
      local function result(dtype)
        local layer = layers.RNN { cell = layers[name] { units = 3, dtype = inner_dtype,
          kernel_initializer = "ones" }, dtype = dtype, stateful = stateful,
          return_sequences = true }
        return layer(ops.cast(ops.reshape(ops.arange(12), { 2, 3, 2 }), "float16") * 0.125)
      end
      cr.random.seed(1)
      local same_dtype_output = result(inner_dtype)
      cr.random.seed(1)
      local mixed_dtype_output = result(outer_dtype)
      assert(mixed_dtype_output.dtype == inner_dtype, mixed_dtype_output.dtype)
      check.near(ops.cast(mixed_dtype_output, "float32"), ops.cast(same_dtype_output, "float32"),
        1e-5)
    end
  end
end

-- the sizes of cells and layers, and their initial states
check.same(layers.SimpleRNNCell(3).state_size, 3)
check.same(layers.GRUCell(3).state_size, 3)
check.same(layers.LSTMCell(3).state_size, { 3, 3 })
check.same(layers.LSTMCell(3).output_size, 3)
check.same(layers.LSTM(4).state_size, { 4, 4 })
check.same(layers.RNN(layers.GRUCell(5)).state_size, 5)
local states = layers.LSTMCell(3):get_initial_state(2)
check.same(#states, 2)
check.same(states[2]:totable(), { { 0, 0, 0 }, { 0, 0, 0 } })
check.same(layers.GRU(4):get_initial_state { batch_size = 3 }[1].shape, { 3, 4 })
check.fails(function() layers.LSTMCell(3):get_initial_state(0) end,
  "expected a batch_size of at least 1, got 0")

-- the option use_cudnn is accepted, and changes no result
for _, use_cudnn in ipairs { true, false, "auto" } do
  check.same(layers.LSTM(2, { use_cudnn = use_cudnn })(cr.ones { 1, 3, 4 }).shape, { 1, 2 })
end
check.fails(function() layers.GRU(2, { use_cudnn = "yes" }) end,
  'use_cudnn: expected "auto", true or false, got "yes"')
print "ok recurrent"
