-- Training runs from Lua: advanced, inspected, changed, saved and continued; with datasets, shards,
-- and changes of the model.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

cr.random.seed(3)
local x = cr.random.normal { 24, 3 }
local y = x:sum({ 1 }, true)

local function make_model(seed)
  cr.random.seed(seed or 7)
  local model = cr.Sequential {
    cr.layers.Dense(4, { activation = "tanh", input_shape = { 3 } }),
    cr.layers.Dropout(0.2),
    cr.layers.Dense(1),
  }
  model:compile { optimizer = "adam", loss = "mse", metrics = { "mae" } }
  return model
end
local options = { epochs = 3, batch_size = 6, verbose = 0 }
local function weights(model) return model:get_weights()[1]:totable() end

-- Advanced by steps to the end, a run gives the same as fit.
local fitted_model, model = make_model(), make_model()
local history = fitted_model:fit(x, y, options)
local run = model:start_training(x, y, options)
assert(tostring(run) == "<training run: epoch 1 of 3, batch 0 of 4>", tostring(run))
assert(run:advance() == 1 and run:advance(2) == 2)
assert(run.epoch == 0 and run.batch == 3 and run.batches == 4 and run.epochs == 3)
assert(run.logs.loss > 0 and run.logs.mae > 0 and run.model == model)
model:predict(x)
assert(run:advance(2) == 2 and run.epoch == 1 and run.batch == 1)
assert(not run.ended and run:finish().history.loss[3] == history.history.loss[3])
assert(run.ended and run:advance() == 0)
check.same(weights(model), weights(fitted_model))

-- The logs that a train_step returns itself, and norms, are those of the last batch, also in a run
-- that is continued by another run.
do
  local TapeStepModel = cr.Model:subclass "Own"
  function TapeStepModel:train_step(data)
    local loss
    local tape = cr.GradientTape(function()
      loss = cr.ops.mean(cr.ops.square(self(data.x) - data.y))
    end)
    local trained_weights = self.trainable_weights
    self.optimizer:apply_gradients(tape:gradient(loss, trained_weights), trained_weights)
    return { loss = loss, twice = loss * 2 }
  end
  local function make_own_model()
    cr.random.seed(4)
    local input = cr.Input { shape = { 3 } }
    local model = TapeStepModel { inputs = input, outputs = cr.layers.Dense(1)(input) }
    model:compile { optimizer = "sgd", loss = "mse" }
    return model
  end
  for _, maker_and_options in ipairs { { make_own_model, {} },
    { make_model, { watch = { "gradients" } } } } do
    local run_options = { epochs = 3, batch_size = 6, verbose = 0, validation_data = { x, y } }
    for name, value in pairs(maker_and_options[2]) do run_options[name] = value end
    local function new_model()
      cr.clear_session()  -- names are counted from 1
      return maker_and_options[1]()
    end
    local expected_history = new_model():fit(x, y, run_options).history
    for _, steps in ipairs { 3, 4, 5, 8 } do
      local first_run = new_model():start_training(x, y, run_options)
      first_run:advance(steps)
      local state = first_run:snapshot()
      local second_run = new_model():start_training(x, y, run_options)
      second_run:restore(state)
      local resumed_history = second_run:finish().history
      for name, values in pairs(expected_history) do check.same(resumed_history[name], values) end
    end
  end
end

-- A run saved in a file, in a snapshot, or with the model is continued by another run.
local path, model_path = check.temporary ".h5", check.temporary ".h5"
model = make_model()
run = model:start_training(x, y, options)
run:advance(6)
local snapshot = run:snapshot()
run:save(path)
model:save(model_path)
local fresh_model = make_model(11)
local resumed_run = fresh_model:start_training(x, y, options)
assert(resumed_run:load(path) == resumed_run)
assert(resumed_run.epoch == 1 and resumed_run.batch == 2)
resumed_run:finish()
check.same(weights(fresh_model), weights(fitted_model))
run:finish()
run:restore(snapshot)
assert(run.batch == 2)
run:finish()
check.same(weights(model), weights(fitted_model))
local loaded_model = cr.models.load_model(model_path)
local loaded_run = loaded_model:start_training(x, y, options)
loaded_run:restore()
loaded_run:finish()
check.same(weights(loaded_model), weights(fitted_model))
check.fails(function() loaded_run:restore(3) end, "a snapshot", "run:load")
check.fails(function() make_model():start_training(x, y, options):restore() end, "restore")
os.remove(path)
os.remove(model_path)

-- A run that is changed while it is paused, and runs paused and stopped by callbacks.
local PausingCallback = cr.callbacks.Callback:subclass "Pausing"
function PausingCallback:on_batch_end(batch)
  if batch == 1 then self.run:pause() end
end
model = make_model()
run = model:start_training(x, y, options)
local pausing_callback = PausingCallback()
pausing_callback.run = run
run:add_callback(pausing_callback)
assert(#run:finish().epoch == 0 and run.batch == 2)
run:remove_callback(pausing_callback)
run.epochs = 2
model.learning_rate = 0
local old_weights = weights(model)
assert(#run:finish().epoch == 2)
check.same(weights(model), old_weights)
run = make_model():start_training(x, y, options)
run:advance(5)
run:stop()
assert(#run:finish().epoch == 2 and run.ended)
check.fails(function() run.epochs = -1 end, "0 or more")
check.fails(function() run:advance(-1) end, "number of batches")
check.fails(function() model:start_training(x, y, { epoch = 3 }) end, "did you mean 'epochs'?")

-- A dataset and its shards, which are parts of the dataset's batches.
local data = cr.data.dataset(x, y, { batch_size = 6 })
assert(data.samples == 24 and data.batches == 4)
check.near(model:evaluate(data, { verbose = 0 })[1],
  model:evaluate(x, y, { batch_size = 6, verbose = 0 })[1])
assert(model:predict(cr.data.dataset(x)).shape[1] == 24)
local shard = data:shard(2, 3)
assert(shard.samples == 8 and shard.batches == 4)
check.near(model:predict(shard):slice(1, 2), model:predict(x):slice(3, 4):totable())
assert(#model:fit(data, { verbose = 0, validation_data = shard }).history.val_loss == 1)
check.fails(function() data:shard(0, 3) end, "count from 1")
check.fails(function() data:shard(4, 3) end, "shard")
check.fails(function() data:shard(1, 7) end, "batches of 6 samples")
local call_count = 0
local generated_data = cr.data.generator(function()
  call_count = call_count + 1
  if call_count <= 5 then return x:slice(call_count, call_count),
    y:slice(call_count, call_count) end
end)
assert(generated_data.samples == nil)
local second_prediction, fourth_prediction = model:predict(x:slice(2, 2)):totable(),
  model:predict(x:slice(4, 4)):totable()
check.near(model:predict(generated_data:shard(2, 2)),
  { second_prediction[1], fourth_prediction[1] })

-- Replacing layers of the model during a run.
local new_head = cr.layers.Dense(2, { name = "head" })
local original_model = make_model()
local rewired_model = cr.models.rewire(original_model,
  { [original_model.layers[3]] = new_head, [original_model.layers[2].name] = false },
  { name = "other" })
assert(rewired_model.name == "other" and rewired_model:predict(x).shape[2] == 2
  and #rewired_model.layers == 3)
assert(rewired_model.layers[2] == original_model.layers[1]
  and original_model:predict(x).shape[2] == 1)
check.fails(function() cr.models.rewire(original_model, { dens = new_head }) end, "No such layer")
check.fails(function() cr.models.rewire(original_model, { [new_head] = false }) end,
  "no layer 'head'")
check.fails(function()
  cr.models.rewire(original_model, { [original_model.layers[1]] = "head" })
end, "expected a layer or a symbol")

-- Calling fit again continues a run that was aborted.
local FailingCallback = cr.callbacks.Callback:subclass "GivesUp"
function FailingCallback:on_epoch_end(epoch)
  if epoch == 1 then error "given up" end
end
local backup_path = check.temporary ".h5"
local function run_with_backup(seed, callback)
  local trained_model = make_model(seed)
  local history = trained_model:fit(x, y,
    { epochs = 3, batch_size = 6, verbose = 0, callbacks = callback, resume = backup_path })
  return trained_model, history
end
check.fails(function() run_with_backup(7, FailingCallback()) end, "given up")
local trained_model, history = run_with_backup(11)
assert(#history.epoch == 3)
check.same(weights(trained_model), weights(fitted_model))
assert(not io.open(backup_path), "the file of a run that ended is removed")
check.fails(function() fitted_model:fit(x, y, { resume = 3 }) end, "the path of a file")

-- The number of epochs is saved with a run only if it was changed; otherwise the new run's options
-- determine it.
do
  local saved_run = make_model():start_training(x, y, options)
  saved_run:advance(5)
  saved_run:save(path)
  local longer_options = { epochs = 4, batch_size = 6, verbose = 0 }
  assert(make_model():start_training(x, y, longer_options):load(path).epochs == 4)
  saved_run.epochs = 5
  saved_run:save(path)
  local later_run = make_model():start_training(x, y, options):load(path)
  assert(later_run.epochs == 5 and later_run:restore(later_run:snapshot()) == later_run)
  assert(#later_run:finish().history.loss == 5)
  os.remove(path)
end
