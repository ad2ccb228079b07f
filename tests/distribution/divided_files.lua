-- Divided weights are saved as whole weights, and training continues from the files with any number
-- of processes; features that cannot work with divided weights fail with a message.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks = require "ranks"
local divided = require "divided_cases"

local function data()
  cr.utils.set_random_seed(5)
  local x = cr.random.normal { 33, 5 }
  return x, cr.ops.sum(x, 1, true)
end

local function make_model()
  cr.utils.set_random_seed(3)
  local model = divided.perceptron {}
  model:compile { optimizer = cr.optimizers.Adam(0.01, { use_ema = true }), loss = "mse" }
  return model
end

local function backup(folder)
  return cr.callbacks.BackupAndRestore(folder .. "/backup", { delete_checkpoint = false })
end

-- Trains the model and saves it in every way.
local function save(folder)
  local model = make_model()
  local x, y = data()
  model:fit(x, y, { epochs = 2, batch_size = 10, verbose = 0, callbacks = { backup(folder),
    cr.callbacks.ModelCheckpoint(folder .. "/checkpoint.keras"),
    cr.callbacks.ModelCheckpoint(folder .. "/checkpoint.weights.h5",
      { save_weights_only = true }) } })
  model:save(folder .. "/m.keras")
  model:save(folder .. "/m.h5")
  model:save_weights(folder .. "/w.weights.h5")
  return { weights = divided.numbers_of(model) }
end

-- Continues training from each file; returns the results as lists of numbers.
local function continue_training(folder)
  local x, y = data()
  local numbers = {}
  for _, name in ipairs { "m.keras", "m.h5", "checkpoint.keras" } do
    local model = cr.models.load_model(folder .. "/" .. name)
    local history = model:fit(x, y, { epochs = 2, batch_size = 10, verbose = 0 })
    numbers[name] = divided.numbers_of(model, history)
    local logs = model:evaluate(x, y, { verbose = 0, return_dict = true })
    numbers[name .. "/evaluated"] = { logs.loss }
    numbers[name .. "/predicted"] = model:predict(x):reshape({ -1 }):totable()
  end
  for _, name in ipairs { "w.weights.h5", "checkpoint.weights.h5" } do
    local model = make_model()
    model:load_weights(folder .. "/" .. name)
    numbers[name] = divided.numbers_of(model)
  end
  local resumed = make_model()
  numbers.resumed = divided.numbers_of(resumed, resumed:fit(x, y, { epochs = 4, batch_size = 10,
    verbose = 0, callbacks = { backup(folder) } }))
  return numbers
end

local function expect_error(part, f, ...)
  local ok, message = pcall(f, ...)
  assert(not ok and tostring(message):find(part, 1, true),
    "expected an error with '" .. part .. "', got " .. tostring(message))
end

-- Checks of errors. An error of fit ends the connection of the processes, so each check has
-- processes of its own.
local refusals = {}

local function fit(optimizer, options)
  local x, y = data()
  local model = divided.perceptron {}
  model:compile { optimizer = optimizer, loss = "mse" }
  options.verbose = 0
  model:fit(x, y, options)
end

function refusals.optimizer()
  expect_error("optimizer Lamb reads whole weights, and 'dense_a/kernel' is divided", fit, "lamb",
    {})
end

function refusals.nan()
  expect_error("option 'nan' needs whole weights", fit, "adam", { nan = "stop" })
end

function refusals.determinism()
  cr.config.enable_op_determinism()
  expect_error("does not go together with op determinism", fit, "adam", {})
end

function refusals.one_process(folder, rank)
  expect_error(rank == 0 and "TensorBoard reads 'dense_a/kernel' in this process alone" or "rank 0",
    fit, "adam", { epochs = 2,
      callbacks = { cr.callbacks.TensorBoard(folder .. "/board", { histogram_freq = 1 }) } })
end

-- Saving to a missing folder fails in all processes, which continue afterwards. After the
-- distribution is removed, new models have whole weights.
function refusals.file_and_distribution(folder)
  local x, y = data()
  local model, options = make_model(), { epochs = 1, verbose = 0 }
  model:fit(x, y, options)
  expect_error("no/m.keras", model.save, model, folder .. "/no/m.keras")
  cr.distribution.set_distribution(nil)
  assert(cr.distribution.distribution() == nil)
  make_model():fit(x, y, options)
  expect_error("has weights that are divided among processes", model.fit, model, x, y, options)
end

local stages = { save = save, go_on = continue_training }

if ranks.started then
  local folder, stage = ranks.task:match "^(.*):(.*)$"
  local communicator = cr.config.communicator()
  divided.distribute(communicator.size)
  if refusals[stage] then return refusals[stage](folder, communicator.rank) end
  for name, numbers in pairs(stages[stage](folder)) do
    ranks.write(folder, communicator.rank, stage .. "/" .. name, numbers)
  end
  return
end

local function check_same(expected, results_of_rank, what)
  for name, numbers in pairs(expected) do
    local results = results_of_rank[what .. "/" .. name] or results_of_rank[name]
    for i, number in ipairs(numbers) do
      assert(math.abs(results[i] - number) < 1e-5 * math.max(1, math.abs(number)),
        string.format("%s: %s, number %d: %.9g for %.9g", what, name, i, results[i], number))
    end
  end
end

local function run(count, folder, stage)
  local ok, text = ranks.start(count, folder .. ":" .. stage)
  assert(ok, text)
end

local dir_alone, dir_both = ranks.folder(), ranks.folder()
local saved_numbers = save(dir_alone)
local final_numbers = continue_training(dir_alone)
run(2, dir_both, "save")
for rank = 0, 1 do check_same(saved_numbers, ranks.read(dir_both, rank), "save") end
os.execute(string.format("cp -r %s/backup %s/kept", dir_both, dir_both))
check_same(final_numbers, continue_training(dir_both), "alone")
os.execute(string.format("rm -r %s/backup && mv %s/kept %s/backup", dir_both, dir_both, dir_both))
run(3, dir_both, "go_on")
for rank = 0, 2 do check_same(final_numbers, ranks.read(dir_both, rank), "go_on") end
for name in pairs(refusals) do run(2, dir_both, name) end
os.execute(string.format("rm -r %s %s", dir_alone, dir_both))
print "models of 2 processes went on in 1 and 3"
