-- Networks whose weights are divided among processes, the layouts by which they are divided, and
-- the results of training as lists of numbers.
local divided = {}

local layouts = {
  ["dense.*kernel"] = { false, "model" },
  ["rows.*kernel"] = { "model" },
  ["embeddings"] = { "model", false },
  ["(query|key|value)/kernel"] = { false, "model", false },
  ["attention_output/kernel"] = { "model", false, false },
  ["einsum.*"] = { "model" },
  ["recurrent_kernel"] = { false, "model" },
}

--- Divides the weights of the models that are made from now on. The axis "model" has `parts`
--- processes.
function divided.distribute(parts)
  local size = cr.config.communicator().size
  local mesh = cr.distribution.DeviceMesh({ size // parts, parts }, { "batch", "model" })
  local map = cr.distribution.LayoutMap(mesh)
  for pattern, axes in pairs(layouts) do map[pattern] = axes end
  cr.distribution.set_distribution(cr.distribution.ModelParallel { layout_map = map })
end

--- The weights, and the losses of the epochs if there is a history.
function divided.numbers_of(model, history)
  local numbers = {}
  for _, weight in ipairs(model:get_weights()) do
    for _, number in ipairs(weight:reshape({ -1 }):totable()) do numbers[#numbers + 1] = number end
  end
  for _, loss in ipairs(history and history.history.loss or {}) do numbers[#numbers + 1] = loss end
  return numbers
end

local function dense(units, options) return cr.layers.Dense(units, options or {}) end

function divided.perceptron(options)
  return cr.Sequential {
    cr.layers.Dense(7, { activation = "tanh", input_shape = { 5 }, name = "dense_a",
      kernel_regularizer = options.regularizer, kernel_constraint = options.constraint }),
    cr.layers.Dropout(0.2),
    dense(3, { activation = "relu", name = "rows_b" }),
    dense(1, { name = "dense_c" }) }
end

--- Trains for 5 epochs unless another number is given. The last batch of each epoch is short.
function divided.train(model, x, y, epochs)
  return model:fit(x, y, { epochs = epochs or 5, batch_size = 10, verbose = 0 })
end

local function case_of(optimizer, options)
  return function()
    local x = cr.random.normal { 33, 5 }
    local model = divided.perceptron(options or {})
    model:compile { optimizer = optimizer(), loss = "mse" }
    return model, divided.train(model, x, cr.ops.sum(x, 1, true))
  end
end

local optimizers = cr.optimizers
divided.cases = {
  adam = case_of(function() return optimizers.Adam(0.01) end),
  sgd = case_of(function() return optimizers.SGD(0.01, { momentum = 0.9, nesterov = true }) end),
  clipnorm = case_of(function() return optimizers.Adam(0.01, { clipnorm = 0.05 }) end),
  global_clipnorm = case_of(function() return optimizers.SGD(0.1, { global_clipnorm = 0.1 }) end),
  decay = case_of(function() return optimizers.AdamW(0.01, { weight_decay = 0.1 }) end),
  averages = case_of(function()
    return optimizers.RMSprop(0.01,
      { use_ema = true, ema_momentum = 0.9, ema_overwrite_frequency = 7 })
  end),
  accumulation = case_of(function()
    return optimizers.Adagrad(0.05, { gradient_accumulation_steps = 3 })
  end),
  penalties = case_of(function() return optimizers.Nadam(0.01) end,
    { regularizer = "l2", constraint = "max_norm" }),
}

function divided.cases.attention()
  local input = cr.Input { shape = { 6 }, dtype = "int32" }
  local tokens = cr.layers.Embedding(11, 8)(input)
  local mixed = cr.layers.MultiHeadAttention(3, 4)(tokens, tokens)
  mixed = cr.layers.EinsumDense("abc,cd->abd",
    { output_shape = { 6, 5 }, name = "einsum_a" })(mixed)
  local last = cr.layers.LSTM(4)(mixed)
  local model = cr.Model { inputs = input,
    outputs = cr.layers.Dense(3, { activation = "softmax", name = "dense_out" })(last) }
  model:compile { optimizer = optimizers.Adam(0.01), loss = "sparse_categorical_crossentropy" }
  local x = cr.ops.cast(cr.random.uniform({ 33, 6 }, 0, 11), "int32")
  return model, divided.train(model, x, cr.ops.cast(cr.ops.sum(x, 1) % 3, "int32"))
end

--- Runs the case from a fixed seed.
function divided.run(name)
  cr.utils.set_random_seed(3)
  return divided.cases[name]()
end

function divided.names()
  local names = {}
  for name in pairs(divided.cases) do names[#names + 1] = name end
  table.sort(names)
  return names
end

return divided
