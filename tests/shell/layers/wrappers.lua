-- Layers that wrap other layers: TimeDistributed, Bidirectional, Wrapper.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

local function random_tensor(shape) return cr.random.uniform(shape, -1, 1, { seed = 7 }) end
local x = random_tensor { 2, 4, 3 }

-- ---- TimeDistributed gives the same as the layer called on every step
local conv = layers.Conv1D(2, 2)
local time_distributed = layers.TimeDistributed(conv)
local images = random_tensor { 2, 3, 5, 4 }
local step_outputs = time_distributed(images)
check.same(step_outputs.shape, { 2, 3, 4, 2 })
for step = 1, 3 do
  local step_images = ops.squeeze(images:slice({ 1, step }, { -1, step }), 1)
  check.near(ops.squeeze(step_outputs:slice({ 1, step }, { -1, step }), 1), conv(step_images))
end
assert(rawequal(time_distributed.layer, conv) and #time_distributed.weights == 2)
check.same(layers.TimeDistributed(layers.TimeDistributed(layers.Dense(2)))(images:reshape { 2, 3, 5,
  4 }).shape, { 2, 3, 5, 2 })
check.fails(function()
  layers.TimeDistributed(layers.Dense(2))(random_tensor { 2, 3 })
end, "at least 3 dimensions", "(2, 3)")
check.fails(function() layers.TimeDistributed(3) end, "Please initialize `TimeDistributed` layer")

-- a layer with moving averages is called on the steps in order
local norm = layers.BatchNormalization { momentum = 0.5 }
layers.TimeDistributed(norm)(x, { training = true })
local expected = cr.zeros { 3 }
for step = 1, 4 do
  expected = expected * 0.5
    + ops.mean(ops.squeeze(x:slice({ 1, step }, { -1, step }), 1), { 0 }) * 0.5
end
check.near(norm.weights[3], expected, 1e-5)

-- TimeDistributed around a model, for any number of steps, with masks of steps and masks inside a
-- step
local inner_model = cr.Sequential { layers.Embedding(10, 4, { mask_zero = true,
  input_shape = { 5 } }),
  layers.LSTM(3) }
local words = cr.Input { batch_shape = { -1, -1, 5 }, dtype = "int32" }
local sentences = layers.TimeDistributed(inner_model)(words)
local document = cr.Model(words, layers.GRU(2)(sentences))
local text = cr.tensor({ { { 1, 2, 0, 0, 0 }, { 3, 4, 5, 0, 0 } },
  { { 6, 0, 0, 0, 0 }, { 7, 8, 9, 1, 2 } } }, "int32")
local old_predictions = document:predict(text)
check.same(old_predictions.shape, { 2, 2 })
local path = check.temporary ".h5"
for _, target in ipairs { "keras3", "keras2" } do
  document:save(path, { target = target })
  check.near(cr.models.load_model(path):predict(text), old_predictions)
end
local embedded_text = layers.TimeDistributed(layers.Embedding(10, 4, { mask_zero = true }))(text)
check.same(embedded_text.shape, { 2, 2, 5, 4 })

-- ---- Bidirectional gives the merged results of its two layers
for _, return_sequences in ipairs { false, true } do
  for merge_mode, merge_function in pairs {
    concat = function(a, b) return ops.concatenate({ a, b }, -1) end,
    sum = function(a, b) return a + b end,
    ave = function(a, b) return (a + b) / 2 end,
    mul = function(a, b) return a * b end,
  } do
    local layer = layers.Bidirectional(layers.LSTM(3,
      { return_sequences = return_sequences, name = "memory" }), { merge_mode = merge_mode })
    local y = layer(x)
    assert(layer.forward_layer.name == "forward_memory"
      and layer.backward_layer.name == "backward_memory")
    local forward, backward = layer.forward_layer(x), layer.backward_layer(x)
    if return_sequences then backward = ops.flip(backward, { 1 }) end
    check.near(y, merge_function(forward, backward))
  end
end
local bidirectional = layers.Bidirectional(
  layers.GRU(3, { return_sequences = true, return_state = true }),
  { merge_mode = cr.null })
local outputs = bidirectional(x)
assert(#outputs == 4)
local state = random_tensor { 2, 3 }
local from_states = bidirectional(x, { initial_state = { state, state * 2 } })
check.near(from_states[1], bidirectional.forward_layer(x, { initial_state = state })[1])
check.near(from_states[4], bidirectional.backward_layer(x, { initial_state = state * 2 })[2])
check.fails(function() bidirectional(x, { initial_state = { state } }) end, "initial_state")

-- masked steps of a sequence give zeros, so that both directions match
local padded_input = ops.concatenate({ x, cr.zeros { 2, 2, 3 } }, 1)
local masked_model = cr.Sequential { layers.Masking { input_shape = { 6, 3 } },
  layers.Bidirectional(layers.LSTM(3, { return_sequences = true })) }
local outputs = masked_model:predict(padded_input)
check.near(outputs:slice({ 1, 1 }, { -1, 4 }), masked_model.layers[2](x))
assert(ops.max(ops.abs(outputs:slice({ 1, 5 }, { -1, 6 }))):item() == 0)

-- two different layers, and errors for layers that do not fit each other
local lstm_and_gru = layers.Bidirectional(layers.LSTM(3, { return_sequences = true }),
  { backward_layer = layers.GRU(3, { return_sequences = true, go_backwards = true }) })
check.same(lstm_and_gru(x).shape, { 2, 4, 6 })
check.fails(function()
  layers.Bidirectional(layers.LSTM(3), { backward_layer = layers.LSTM(3) })
end, "different `go_backwards` value")
check.fails(function()
  layers.Bidirectional(layers.LSTM(3),
    { backward_layer = layers.LSTM(3, { go_backwards = true, return_sequences = true }) })
end, "return_sequences")
check.fails(function() layers.Bidirectional(layers.Dense(3)) end, "recurrent layer", "go_backwards")
check.fails(function()
  layers.Bidirectional(layers.LSTM(3), { merge_mode = "cat" })
end, "merge_mode")

-- states carried from batch to batch
local stateful_layer = layers.Bidirectional(layers.SimpleRNN(2, { stateful = true }))
local first, second = stateful_layer(x), stateful_layer(x)
assert(stateful_layer.stateful and ops.max(ops.abs(first - second)):item() > 0)
stateful_layer:reset_states()
check.near(stateful_layer(x), first)

-- training, saving and loading as one layer, in formats of Keras 2 and 3
local model = cr.Sequential {
  layers.Bidirectional(layers.LSTM(3, { return_sequences = true, dropout = 0.1, name = "m" }),
    { input_shape = { 4, 3 }, name = "b" }),
  layers.TimeDistributed(layers.Dense(1, { name = "d" }), { name = "t" }),
}
model:compile { optimizer = "adam", loss = "mse" }
local history = model:fit(x, ops.sum(x, { -1 }, true), { epochs = 20, verbose = 0 })
assert(history.history.loss[20] < history.history.loss[1])
local weight_paths = {
  keras3 = { "b/b/forward_m/lstm_cell/kernel", "b/b/backward_m/lstm_cell/kernel", "t/t/d/kernel" },
  keras2 = { "b/b/forward_m/kernel:0", "b/b/backward_m/kernel:0", "t/t/kernel:0" },
}
for target, datasets in pairs(weight_paths) do
  model:save(path, { target = target })
  for i, weight in ipairs { 1, 4, 7 } do
    check.near(cr.data.read_hdf5(path, "model_weights/" .. datasets[i]), model.weights[weight])
  end
  check.near(cr.models.load_model(path):predict(x), model:predict(x))
end
os.remove(path)
print "ok wrappers"
