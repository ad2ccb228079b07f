-- A hyperparameter search: which numbers of layers and units and which learning rate classify small
-- images of digits best. At its end it prints a table of the best trials and how much of the
-- differences between scores each hyperparameter explains.
--   crescent examples/tune.lua [TRIALS]
-- Two processes that run this script at the same time share the trials; if one is killed, the other
-- continues its trial.
local cr = require "crescent"
local script_folder = (arg and arg[0] or "examples/tune.lua"):match "^(.*)/" or "."
local trial_count = tonumber(arg and arg[1]) or 24

local images = cr.data.read_idx(script_folder .. "/data/mnist-t10k-images-idx3-ubyte.gz")
local labels = cr.data.read_idx(script_folder .. "/data/mnist-t10k-labels-idx1-ubyte.gz")
local x = images:slice({ 1 }, { 3000 }):reshape { 3000, 784 }:cast "float32" / 255
local y = labels:slice({ 1 }, { 3000 })

local function build(hp)
  local model = cr.Sequential { cr.Input { shape = { 784 } } }
  for i = 1, hp:Int("layers", 1, 3) do
    local units = hp:Int("units_" .. i, 16, 128, { sampling = "log" })
    model:add(cr.layers.Dense(units, { activation = "relu" }))
  end
  if hp:Boolean "dropout" then model:add(cr.layers.Dropout(0.3)) end
  model:add(cr.layers.Dense(10, { activation = "softmax" }))
  local learning_rate = hp:Float("rate", 1e-4, 1e-1, { sampling = "log" })
  model:compile { optimizer = cr.optimizers.Adam(learning_rate),
    loss = "sparse_categorical_crossentropy", metrics = { "accuracy" } }
  return model
end

print "A search over models that read digits, each trained for at most six epochs.\n"
local tuner_folder = os.tmpname()
os.remove(tuner_folder)
local tuner = cr.tuners.BayesianOptimization { build,
  objective = "val_accuracy", max_trials = trial_count,
  seed = 1, pruner = "median", directory = tuner_folder }
tuner:search_space_summary()
tuner:search(x, y, { epochs = 6, batch_size = 64, validation_split = 0.3 })

print ""
tuner:results_summary(8)
tuner:plot("importance", { title = "How much each hyperparameter explains" })
local plot_path = cr.utils.writable_path "tune.svg"
tuner:plot("history", { file = plot_path, title = "Accuracy by trial" })
local model = tuner:get_best_models()[1]
local test_images = images:slice({ 7001 }, { 10000 }):reshape { 3000, 784 }:cast "float32" / 255
local test_labels = labels:slice({ 7001 }, { 10000 })
local scores = model:evaluate(test_images, test_labels, { verbose = 0, return_dict = true })
print(("Images that no trial has seen: %.1f %% right"):format(100 * scores.accuracy))
print("Picture: " .. plot_path)
os.execute("rm -r '" .. tuner_folder .. "'")
