-- Training by several processes gives the same numbers as by one process, for all batch sizes and
-- networks.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks = require "ranks"
local ops = cr.ops

local function flat(lists, tensor)
  for _, number in ipairs(tensor:reshape({ -1 }):totable()) do lists[#lists + 1] = number end
end

-- The numbers to compare: the weights, then the logs of the last epoch in the history.
local function outcome(model, history)
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

local most_rows = 0  -- the largest batch on which the layer Rows was called in training

local Rows = cr.Layer:subclass "Rows"
function Rows:call(x, args)
  if args.training then most_rows = math.max(most_rows, ops.shape(x)[1]) end
  return x
end

local function perceptron()
  return cr.Sequential {
    cr.layers.Dense(8, { activation = "tanh", input_shape = { 5 }, kernel_regularizer = "l2" }),
    cr.layers.Dropout(0.3),
    cr.layers.Dense(1) }
end

local cases = {}

-- The last batch has every size from 0 to 31, also fewer samples than there are processes.
for rest = 0, 31 do
  cases["rest" .. rest] = function()
    local x = normal(32 + rest, 5)
    local model = perceptron()
    model:compile { optimizer = cr.optimizers.SGD(0.05), loss = "mse", metrics = { "mae" } }
    local epochs = rest == 0 and 50 or 25
    return model, model:fit(x, ops.sum(x, 1, true), { epochs = epochs, batch_size = 32, verbose = 0 })
  end
end

function cases.shares()
  local x = normal(16, 3)
  local model = cr.Sequential { Rows { input_shape = { 3 } }, cr.layers.Dense(1) }
  model:compile { optimizer = "sgd", loss = "mse" }
  most_rows = 0
  local history = model:fit(x, x:slice({ 1, 1 }, { 16, 1 }), { batch_size = 8, verbose = 0 })
  local size = cr.config.communicator().size
  assert(most_rows == math.ceil(8 / size) or most_rows == 8 // size,
    "a process of " .. size .. " computed " .. most_rows .. " of 8 rows")
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

function cases.eager()
  local x = normal(10, 5)
  local model = perceptron()
  model:compile { optimizer = "adam", loss = "mse", run_eagerly = true }
  return model, model:fit(x, ops.sum(x, 1, true), { epochs = 2, batch_size = 4, verbose = 0 })
end

-- The cases run one after another, each from the same seed.
local names = {}
for name in pairs(cases) do names[#names + 1] = name end
table.sort(names)

local function run(folder, rank)
  for _, name in ipairs(names) do
    cr.utils.set_random_seed(11)
    ranks.tell(folder, rank, name, outcome(cases[name]()))
  end
end

if ranks.started then
  run(ranks.task, cr.config.communicator().rank)
  return
end

-- The allowed difference. Sums over a batch by one process and by several processes differ in their
-- last digits, and Adam amplifies this where a gradient is nearly 0.
local kAllowed = 1e-5

local function farthest(a, b)
  assert(#a == #b and #a > 0, #a .. " numbers and " .. #b)
  local most = 0
  for i = 1, #a do
    local apart = math.abs(a[i] - b[i])
    most = apart ~= apart and math.huge or math.max(most, apart)
  end
  return most
end

local function check(alone, count)
  local folder = ranks.folder()
  local good, text = ranks.start(count, folder)
  assert(good, text)
  local first = ranks.told(folder, 0)
  local most = 0
  for rank = 0, count - 1 do
    local told = ranks.told(folder, rank)
    for _, name in ipairs(names) do
      local apart = farthest(told[name], first[name])
      assert(apart == 0, string.format("%s: rank %d is %g from rank 0", name, rank, apart))
      -- Batch normalization that is not synchronized uses the statistics of each process's part of
      -- the batch, so this case differs.
      if name ~= "moving_averages_are_one" then
        apart = farthest(told[name], alone[name])
        most = math.max(most, apart)
        assert(apart <= kAllowed,
          string.format("%s: %d processes are %g from one", name, count, apart))
      end
    end
  end
  os.execute("rm -r " .. folder)
  print(string.format("%d processes: %d cases compared, at most %.1e from one", count, #names, most))
end

local folder = ranks.folder()
run(folder, 0)
local alone = ranks.told(folder, 0)
os.execute("rm -r " .. folder)
for count = 2, 4 do check(alone, count) end
