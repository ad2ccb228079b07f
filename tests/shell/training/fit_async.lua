-- model:fit_async: training in the background, inspected, paused, stepped, stopped.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

cr.random.seed(3)
local x = cr.random.normal { 48, 3 }
local y = x:sum({ 1 }, true)

local function new_model(options)
  cr.random.seed(7)
  local model = cr.Sequential {
    layers.Dense(4, { activation = "tanh", input_shape = { 3 } }),
    layers.Dropout(0.2),
    layers.Dense(1),
  }
  options = options or {}
  options.optimizer, options.loss, options.metrics = "adam", "mse", { "mae" }
  model:compile(options)
  return model
end
local function weight_tables(model)
  local tables = {}
  for k, weight in ipairs(model:get_weights()) do tables[k] = weight:totable() end
  return tables
end
local function merged_options(more_options)
  local fit_options = { epochs = 3, batch_size = 6, verbose = 0, validation_split = 0.25 }
  for name, value in pairs(more_options or {}) do fit_options[name] = value end
  return fit_options
end

-- The results are bit-identical to those of fit; the weights do not change before the script waits.
local fitted_model, model = new_model(), new_model()
local history = fitted_model:fit(x, y, merged_options()).history
local initial_weights = weight_tables(model)
local run = model:fit_async(x, y, merged_options())
check.same(weight_tables(model), initial_weights)
local result = run:wait()
check.same(result.history, history)
check.same(weight_tables(model), weight_tables(fitted_model))
assert(run.state == "ended" and run.model == model and run:status().state == "ended")
check.same(run.history.history, history)
check.same(run:wait().history, history)

-- Runs with callbacks, with generators, with a custom train_step, and op by op.
local function check_same_as_fit(build, data, targets, more_options)
  local results = {}
  for _, method in ipairs { "fit", "fit_async" } do
    cr.random.seed(7)
    local model = build()
    local events = {}
    local fit_options = merged_options(more_options)
    fit_options.validation_split = targets and fit_options.validation_split
    fit_options.callbacks = cr.callbacks.LambdaCallback {
      on_epoch_end = function(epoch, logs) events[#events + 1] = epoch .. ":" .. logs.loss end,
      on_train_batch_end = function(batch) events[#events + 1] = batch end,
      on_train_end = function() events[#events + 1] = "end" end,
    }
    local input = type(data) == "function" and data() or data
    if method == "fit" then
      model:fit(input, targets, fit_options)
    else
      model:fit_async(input, targets, fit_options):wait()
    end
    results[method] = { events, weight_tables(model) }
  end
  check.same(results.fit_async, results.fit)
  assert(#results.fit[1] > 5 and results.fit[1][#results.fit[1]] == "end")
end
check_same_as_fit(new_model, x, y)
check_same_as_fit(function() return new_model { run_eagerly = true } end, x, y, { epochs = 1 })
check_same_as_fit(new_model, function()
  local first_row = 0
  return function()
    first_row = first_row % 8 + 1
    return x:slice(first_row, first_row + 5), y:slice(first_row, first_row + 5)
  end
end, nil, { steps_per_epoch = 8, batch_size = cr.null })
check_same_as_fit(new_model, function()
  return cr.data.from_tensor_slices({ x, y }):map(function(a, b) return a * 2, b end):batch(8)
end, nil, { batch_size = cr.null })
local TapeStepModel = cr.Model:subclass "OwnAsync"
function TapeStepModel:init() self.dense = layers.Dense(1) end
function TapeStepModel:call(inputs) return self.dense(inputs) end
function TapeStepModel:train_step(data)
  local loss
  local tape = cr.GradientTape(function()
    loss = ops.mean(ops.square(self(data.x, { training = true }) - data.y))
  end)
  self.optimizer:apply_gradients(tape:gradient(loss, self.trainable_weights),
    self.trainable_weights)
  return { loss = loss }
end
check_same_as_fit(function()
  local own_model = TapeStepModel {}
  own_model:compile { optimizer = "sgd", loss = "mse" }
  return own_model
end, x, y)

-- Between batches a run can be paused, advanced by steps, inspected and changed.
model = new_model()
run = model:fit_async(x, y, { epochs = 4, batch_size = 6, shuffle = false })
run:pause()
local paused_status = run:status()
assert(paused_status.state == "paused")
local batch_number = paused_status.epoch * 8 + paused_status.batch
run:step(3)
local status = run:status()
assert(status.state == "paused" and status.epochs == 4)
assert(status.epoch * 8 + status.batch == batch_number + 3,
  status.batch .. " after " .. batch_number)
assert(status.logs.loss > 0 and status.logs.mae > 0 and status.batches == 8)
local paused_weights = weight_tables(model)
model:predict(x)
model:trace(x)
cr.sleep(0.05)
check.same(weight_tables(model), paused_weights)
assert(tostring(run):find("paused, epoch 1 of 4, batch", 1, true), tostring(run))
model.optimizer.learning_rate = 0
run:step(2)
-- the new learning rate is used from the next batch on
check.same(weight_tables(model), paused_weights)
model.optimizer.learning_rate = 1e-3
run:step()
assert(weight_tables(model)[1][1][1] ~= paused_weights[1][1][1])
check.fails(function() run:wait() end, "paused", "resume")
run:resume()
assert(run:wait().history.loss[4])

-- run:stop() ends a run as stop_training does: after the epoch, and with on_train_end.
model = new_model()
local end_count = 0
run = model:fit_async(x, y, { epochs = 1000, batch_size = 6,
  callbacks = cr.callbacks.LambdaCallback {
    on_train_end = function() end_count = end_count + 1 end } })
run:pause()
run:step(11)
run:stop()
assert(run.state == "ended" and end_count == 1 and #run.history.history.loss == 2)
run:stop()
run:step(2)
run:resume()
run:pause()
assert(run.state == "ended" and end_count == 1)

-- In scripts, calls that read the status let the run continue, so that loops that poll it end.
run = new_model():fit_async(x, y, { epochs = 5 })
local status_read_count = 0
while run:status().state == "running" do status_read_count = status_read_count + 1 end
assert(run.state == "ended" and status_read_count < 1e6)
run = new_model():fit_async(x, y, { epochs = 2 })
for _ = 1, 1000 do
  cr.sleep(0.01)
  if run.state ~= "running" then break end
end
assert(run.state == "ended")

-- Runs of two models take turns; a model can have only one run.
local first_model, second_model = new_model(), new_model()
local first_run = first_model:fit_async(x, y, { epochs = 100000, batch_size = 6 })
local second_run = second_model:fit_async(x, y, { epochs = 100000, batch_size = 6 })
second_run:pause()
local status_of_first
for _ = 1, 1000 do -- waits, since a thread may need some time to begin
  second_run:step(100)
  status_of_first = first_run:status()
  if status_of_first.epoch * 8 + status_of_first.batch > 5 then break end
end
assert(status_of_first.epoch * 8 + status_of_first.batch > 5, "the other run waited")
for _, call in ipairs {
  function() first_model:fit(x, y) end,
  function() first_model:fit_async(x, y) end,
  function() first_model:start_training(x, y) end,
  function() first_model:evaluate(x, y) end,
  function() first_model:train_on_batch(x, y) end,
  function() first_model:test_on_batch(x, y) end,
  function() first_model:compile { optimizer = "sgd", loss = "mse" } end,
  function() first_model:find_learning_rate(x, y) end,
} do
  check.fails(call, "in training by fit_async", first_model.name, "run:stop()")
end
check.fails(function() first_model:gradient_norms(x, y) end, "gradient_norms", first_model.name,
  "run:pause()")
first_run:stop()
second_run:stop()
first_model:fit(x, y, { verbose = 0 })

-- The gradients of a paused run can be read, and the run goes on as if they had not been.
do
  local watched = new_model()
  local watched_run = watched:fit_async(x, y, merged_options())
  for batches = 1, 5 do
    watched_run:step(batches)
    local norms = watched:gradient_norms(x, y)
    assert(norms.loss > 0 and #norms.weights == 4 and norms.layers[1].gradient > 0)
  end
  watched_run:resume()
  check.same(watched_run:wait().history, history)
  check.same(weight_tables(watched), weight_tables(fitted_model))
end

-- An error of the run is kept in its status, and wait raises it; code that runs on the run's thread
-- must not wait for the run.
model = new_model()
run = model:fit_async(x, y, { callbacks = cr.callbacks.LambdaCallback {
  on_train_batch_end = function(batch) if batch == 1 then error "planted" end end } })
cr.sleep(0.3)
status = run:status()
assert(status.state == "failed" and status.error:find "planted", status.error)
check.fails(function() run:wait() end, "planted")
model:fit(x, y, { verbose = 0 })
run = model:fit_async(x, y, { epochs = 3, callbacks = cr.callbacks.LambdaCallback {
  on_train_batch_end = function()
    assert(run:status().state == "running")
    model:evaluate(x, y, { verbose = 0 })
    check.fails(function() run:wait() end, "cannot wait")
    check.fails(function() model:fit_async(x, y) end, "fit_async")
    cr.sleep(0)
    run:stop()
  end } })
assert(#run:wait().history.loss == 1)
run = model:fit_async(cr.tensor(x:totable()), y, { epochs = 2, nan = "locate" })
run:wait()

-- Garbage collection: runs to which nothing refers continue, and ended ones are freed.
local is_finished = false
model:fit_async(x, y, { epochs = 2, callbacks = cr.callbacks.LambdaCallback {
  on_train_end = function() is_finished = true end } })
collectgarbage()
collectgarbage()
for _ = 1, 500 do
  if is_finished then break end
  cr.sleep(0.01)
end
assert(is_finished)

-- When the process ends during a run, the program stops the run as run:stop() does.
local is_program = io.popen and not (arg[-1] or ""):find "lua5.4"
local ok, text = check.run [[
  local x = cr.ones { 64, 3 }
  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  local run = model:fit_async(x, x:sum({ 1 }, true), { epochs = 100000, batch_size = 4,
    callbacks = cr.callbacks.LambdaCallback { on_train_end = function() print "ended" end } })
  cr.sleep(0.1)
  print(run.state)
]]
assert(ok and text:find "running", text)
assert(not is_program or text:find "ended", text)
ok, text = check.run [[
  local x = cr.ones { 64, 3 }
  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  model:fit_async(x, x:sum({ 1 }, true), { epochs = 100000, batch_size = 4 })
  cr.sleep(0.05)
  os.exit(7)
]]
assert(not ok, text)
ok, text = check.run [[
  local x = cr.ones { 64, 3 }
  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  model:fit_async(x, x:sum({ 1 }, true), { callbacks = cr.callbacks.LambdaCallback {
    on_train_begin = function() error "planted" end } })
  cr.sleep(0.1)
]]
assert(not is_program or text:find "fit_async: model 'sequential_1': .*planted", text)
