-- With op determinism, training gives the same bits for every number of processes.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks, training = require "ranks", require "training"
local cases = training.cases

-- 200 steps with dropout, Adam, synchronized batch normalization, and a short last batch.
function cases.long()
  local x = cr.random.normal { 500, 12 }
  local model = cr.Sequential {
    cr.layers.Dense(24, { activation = "relu", input_shape = { 12 } }),
    cr.layers.BatchNormalization { synchronized = true }, cr.layers.Dropout(0.3),
    cr.layers.Dense(16, { activation = "tanh", kernel_regularizer = "l2" }),
    cr.layers.BatchNormalization { synchronized = true }, cr.layers.Dense(1) }
  model:compile { optimizer = "adam", loss = "mse", metrics = { "mae" } }
  return model, model:fit(x, cr.ops.sum(x, 1, true),
    { epochs = 50, batch_size = 128, verbose = 0, validation_split = 0.1 })
end

function cases.images()
  local x = cr.random.normal { 40, 8, 8, 2 }
  local model = cr.Sequential {
    cr.layers.Conv2D(4, 3, { activation = "relu", input_shape = { 8, 8, 2 } }),
    cr.layers.MaxPooling2D(), cr.layers.BatchNormalization(), cr.layers.Flatten(),
    cr.layers.Dense(3, { activation = "softmax", activity_regularizer = "l2" }) }
  model:compile { optimizer = "sgd", loss = "sparse_categorical_crossentropy",
    metrics = { "accuracy" } }
  return model, model:fit(x, cr.ops.arange(40) % 3, { epochs = 3, batch_size = 32, verbose = 0 })
end

local names = { "long", "images" }
for _, name in ipairs(training.names) do
  if name ~= "shares" then names[#names + 1] = name end
end

cr.config.enable_op_determinism()
if ranks.started then
  local communicator = cr.config.communicator()
  training.run(ranks, communicator.size > 4 and { "long", "images" } or names, ranks.task,
    communicator.rank)
  return
end

local function check(numbers_alone, count, names)
  local folder = ranks.folder()
  local ok, text = ranks.start(count, folder)
  assert(ok, text)
  for rank = 0, count - 1 do
    local results = ranks.read(folder, rank)
    for _, name in ipairs(names) do
      assert(#numbers_alone[name] > 0 and #numbers_alone[name] == #results[name], name)
      for i, number in ipairs(numbers_alone[name]) do
        assert(results[name][i] == number, string.format("%s: rank %d of %d has %.17g for %.17g",
          name, rank, count, results[name][i], number))
      end
    end
  end
  os.execute("rm -r " .. folder)
  print(string.format("%d processes: %d cases with the same bits", count, #names))
end

local folder = ranks.folder()
training.run(ranks, names, folder, 0)
local numbers_alone = ranks.read(folder, 0)
os.execute("rm -r " .. folder)
for count = 1, 4 do check(numbers_alone, count, names) end
check(numbers_alone, 8, { "long", "images" })
