-- The training cases that several processes compute, and their results as lists of numbers.
local ops = cr.ops
local training = {}

local function flat(lists, tensor)
  for _, number in ipairs(tensor:reshape({ -1 }):totable()) do lists[#lists + 1] = number end
end

-- The numbers to compare: the weights, then the logs of the last epoch in the history.
local function numbers_of(model, history)
  local numbers = {}
  for _, weight in ipairs(model:get_weights()) do flat(numbers, weight) end
  local names = {}
  for name in pairs(history.history) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local values = history.history[name]
    numbers[#numbers + 1] = values[#values]
  end
  return numbers
end

local function normal(...)
  return cr.random.normal { ... }
end

local max_rows = 0  -- the largest batch on which the layer Rows was called in training

local Rows = cr.Layer:subclass "Rows"
function Rows:call(x, args)
  if args.training then max_rows = math.max(max_rows, ops.shape(x)[1]) end
  return x
end

local function perceptron()
  return cr.Sequential {
    cr.layers.Dense(8, { activation = "tanh", input_shape = { 5 }, kernel_regularizer = "l2" }),
    cr.layers.Dropout(0.3),
    cr.layers.Dense(1) }
end

local cases = {}
training.cases = cases

-- The last batch has each number of samples from 0 to 31, including numbers smaller than the number
-- of processes.
for extra_rows = 0, 31 do
  cases["rest" .. extra_rows] = function()
    local x = normal(32 + extra_rows, 5)
    local model = perceptron()
    model:compile { optimizer = cr.optimizers.SGD(0.05), loss = "mse", metrics = { "mae" } }
    local epochs = extra_rows == 0 and 50 or 25
    return model, model:fit(x, ops.sum(x, 1, true),
      { epochs = epochs, batch_size = 32, verbose = 0 })
  end
end

function cases.shares()
  local x = normal(16, 3)
  local model = cr.Sequential { Rows { input_shape = { 3 } }, cr.layers.Dense(1) }
  model:compile { optimizer = "sgd", loss = "mse" }
  max_rows = 0
  local history = model:fit(x, x:slice({ 1, 1 }, { 16, 1 }), { batch_size = 8, verbose = 0 })
  local size = cr.config.communicator().size
  assert(max_rows == math.ceil(8 / size) or max_rows == 8 // size,
    "a process of " .. size .. " computed " .. max_rows .. " of 8 rows")
  return model, history
end

function cases.weights_and_masks()
  local x = ops.cast(cr.random.uniform({ 37, 6 }, 0, 5), "int32")
  local model = cr.Sequential {
    cr.layers.Embedding(5, 4, { mask_zero = true, input_shape = { 6 } }),
    cr.layers.LSTM(3, { return_sequences = true, dropout = 0.2 }),
    cr.layers.Dense(2, { activation = "softmax" }) }
  model:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy",
    metrics = { "accuracy" } }
  return model, model:fit(x, ops.cast(x % 2, "int32"),
    { epochs = 5, batch_size = 15, verbose = 0, sample_weight = cr.random.uniform { 37 },
      validation_split = 0.2 })
end

-- Attention drops weights at random by their index in the whole batch, not in the part of a
-- process. Attention along one of two axes has several rows of weights for each sample.
function cases.attention()
  local x = normal(21, 3, 4, 2)
  local input = cr.Input { shape = { 3, 4, 2 } }
  local heads = { cr.layers.MultiHeadAttention(2, 3, { dropout = 0.4, attention_axes = { 2 } }),
    cr.layers.MultiHeadAttention(1, 4, { dropout = 0.2 }) }
  local hidden = heads[1](input, input)
  hidden = cr.layers.Reshape { 12, 2 }(hidden)
  hidden = heads[2](hidden, hidden, { use_causal_mask = true })
  local output = cr.layers.Dense(1)(cr.layers.Flatten()(hidden))
  local model = cr.Model { inputs = input, outputs = output }
  -- The gradient of the biases of keys is 0 except for rounding errors, which Adam would amplify.
  model:compile { optimizer = cr.optimizers.SGD(0.005), loss = "mse" }
  return model, model:fit(x, ops.sum(x, { 1, 2 }):slice({ 1, 1 }, { 21, 1 }),
    { epochs = 4, batch_size = 8, verbose = 0 })
end

function cases.two_outputs()
  local input = cr.Input { shape = { 5 } }
  local hidden = cr.layers.GaussianNoise(0.1)(
    cr.layers.Dense(6, { activation = "relu", activity_regularizer = "l1" })(input))
  hidden = cr.layers.BatchNormalization { synchronized = true }(hidden)
  local model = cr.Model { inputs = input, outputs = {
    cr.layers.Dense(1, { activation = "sigmoid", name = "a" })(hidden),
    cr.layers.Dense(2, { name = "b" })(hidden) } }
  model:compile { optimizer = "rmsprop", loss = { a = "binary_crossentropy", b = "huber" },
    metrics = { a = { "AUC" } } }
  local x = normal(33, 5)
  local a = ops.cast(ops.sum(x, 1, true):greater(0), "float32")
  return model, model:fit(x, { a, x:slice({ 1, 1 }, { 33, 2 }) },
    { epochs = 4, batch_size = 16, verbose = 0 })
end

function cases.moving_averages_are_one()
  local x = normal(24, 4)
  local model = cr.Sequential { cr.layers.Dense(3, { input_shape = { 4 } }),
    cr.layers.BatchNormalization(), cr.layers.Dense(1) }
  model:compile { optimizer = "sgd", loss = "mse" }
  return model, model:fit(x, x:slice({ 1, 1 }, { 24, 1 }), { batch_size = 8, verbose = 0 })
end

function cases.generator()
  local elements = cr.data.from_generator(function()
    return coroutine.wrap(function()
      for i = 1, 17 do coroutine.yield(ops.ones { 2 } * (i / 10), ops.ones { 1 } * (i / 5)) end
    end)
  end)
  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  return model, model:fit(elements:batch(7), { epochs = 2, verbose = 0 })
end

-- Each process computes whole batches of a model that keeps states or has a fixed batch size.
function cases.states()
  local x = normal(12, 4, 2)
  local model = cr.Sequential { cr.Input { shape = { 4, 2 }, batch_size = 6 },
    cr.layers.LSTM(3, { stateful = true }), cr.layers.Dense(1) }
  model:compile { optimizer = "sgd", loss = "mse" }
  return model, model:fit(x, ops.ones { 12, 1 }, { epochs = 2, batch_size = 6, verbose = 0 })
end

function cases.fixed_batch()
  local x = normal(12, 3)
  local model = cr.Sequential { cr.Input { shape = { 3 }, batch_size = 4 }, cr.layers.Dense(1) }
  model:compile { optimizer = "sgd", loss = "mse" }
  return model, model:fit(x, ops.ones { 12, 1 }, { epochs = 2, batch_size = 4, verbose = 0 })
end

function cases.eager()
  local x = normal(10, 5)
  local model = perceptron()
  model:compile { optimizer = "adam", loss = "mse", run_eagerly = true }
  return model, model:fit(x, ops.sum(x, 1, true), { epochs = 2, batch_size = 4, verbose = 0 })
end

-- The names of the cases in the order in which they run.
training.names = {}
for name in pairs(cases) do table.insert(training.names, name) end
table.sort(training.names)

--- Runs the cases with these names, each from the same seed, and passes their results to
--- ranks.write().
function training.run(ranks, names, folder, rank)
  for _, name in ipairs(names) do
    cr.utils.set_random_seed(11)
    ranks.write(folder, rank, name, numbers_of(cases[name]()))
  end
end

return training
