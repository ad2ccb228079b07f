-- A script runs while steps of model:fit_async compute: code that uses the model finds it between
-- two batches, other code does not wait, and the weights are bit-identical to those of fit.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

local function weight_tables(model)
  local tables = {}
  for k, weight in ipairs(model:get_weights()) do tables[k] = weight:totable() end
  return tables
end

-- A model of two layers with equal values and gradients, so wide that steps take milliseconds.
local function twin_model(width)
  local input = cr.Input { shape = { width } }
  local function branch(name)
    return layers.Dense(width, { kernel_initializer = "glorot_uniform", use_bias = false,
      name = name })
  end
  local left, right = branch "left", branch "right"
  local model = cr.Model { inputs = input, outputs = left(input) + right(input) }
  right:set_weights(left:get_weights())
  model:compile { optimizer = "adam", loss = "mse" }
  return model, left, right
end

-- A script that resumes while a step is being computed waits for the end of the step only if the
-- script uses the model; the model is then in the state between two batches.
cr.random.seed(1)
local model, left, right = twin_model(768)
local x, y = cr.random.normal { 4096, 768 }, cr.random.normal { 4096, 768 }
local unrelated_model = cr.Sequential { layers.Dense(3, { input_shape = { 2 } }) }
unrelated_model:compile { optimizer = "sgd", loss = "mse" }
local run = model:fit_async(x, y, { epochs = 1000, batch_size = 2048, shuffle = false })
while run:status().batch < 1 do end
local function median(values)
  table.sort(values)
  return values[(#values + 1) // 2]
end
local function batch_count()
  local status = run:status()
  return status.epoch * 2 + status.batch
end
local free_times, waiting_times = {}, {}
local start_time, first_batch = cr.utils.clock(), batch_count()
local left_kernel, right_kernel = left.kernel, right.kernel
for _ = 1, 15 do
  local begin_time = cr.utils.clock()
  cr.sleep(0.002)
  assert(tostring(run):find "running")
  assert((cr.tensor { 1, 2 } + 1):sum():item() == 5)
  assert(cr.Variable(cr.ones { 2 }).value:sum():item() == 2)
  assert(unrelated_model:predict(cr.ones { 1, 2 }).shape[2] == 3
    and #unrelated_model:get_weights() == 2)
  assert(layers.Dense(2)(cr.ones { 1, 2 }).shape[2] == 2)
  free_times[#free_times + 1] = cr.utils.clock() - begin_time
  begin_time = cr.utils.clock()
  assert(ops.all(ops.equal(left_kernel.value, right_kernel.value)):item(), "amid a step")
  waiting_times[#waiting_times + 1] = cr.utils.clock() - begin_time
end
local seconds_per_batch = (cr.utils.clock() - start_time) / (batch_count() - first_batch)
free_times, waiting_times = median(free_times), median(waiting_times)
print(string.format("a batch takes %.0f ms, 2 ms of sleep and what does not touch the model "
  .. "%.1f ms, what does %.0f ms", seconds_per_batch * 1e3, free_times * 1e3, waiting_times * 1e3))
assert(free_times < seconds_per_batch / 2, "it waited for the batch")
assert(waiting_times > seconds_per_batch / 4, "what uses the model did not wait")
-- pause() does not wait; the status of a paused run is its status at the end of the batch
run:pause()
local batches_at_pause = batch_count()
run:step(2)
assert(batch_count() == batches_at_pause + 2 and run.state == "paused")
run:stop()

-- The actions of a script while steps compute.
local small_input = x:slice({ 1, 1 }, { 8, 8 }):clone()
local counter = cr.Variable(0)
local actions = {
  function() return 1 + 1 end,
  function() return cr.random.normal { 16, 16 }:matmul(cr.ones { 16, 16 }):sum():item() end,
  function() return cr.plot({ 1, 2 }, { 3, 4 }, { file = check.picture }) end,
  function() unrelated_model:fit(cr.ones { 4, 2 }, cr.ones { 4, 3 }, { verbose = 0 }) end,
  function() return unrelated_model:predict(cr.ones { 4, 2 }) end,
  function() return cr.Sequential { layers.Dense(4), layers.Dropout(0.5) }:predict(small_input) end,
  function() counter:assign(counter.value + 1) end,
  function() small_input[1] = small_input[2] end,
  function() collectgarbage() end,
  function() collectgarbage "step" end,
  function(m) return m:predict(small_input) end,
  function(m) return m:get_weights() end,
  function(m) return m.layers[1].weights[1].value:sum():item() end,
  function(m) return m.optimizer.learning_rate, m.optimizer.iterations.value:item() end,
  function(m) return m.metrics_names, #m.layers end,
  function(m) m:summary { print_fn = function() end } end,
  function(m) return cr.models.clone_model(m):predict(small_input) end,
  -- evaluate fails during the run because the model is in training, and after it because of the
  -- targets
  function(m, job)
    local ok, reason = pcall(m.evaluate, m, small_input, small_input)
    assert(not ok and (tostring(reason):find "in training" or job.state == "ended"), reason)
  end,
  function(_, job) return job.state, job.history.history, tostring(job) end,
  function(_, job) return job.model.name, job.training_run end,
  function(_, job) job:pause(); job:resume() end,
  function(_, job) job:pause(); job:step(1); job:resume() end,
  function() cr.config.set_program_cache(1 << 24) end,
  function() return setmetatable({}, { __gc = function() return unrelated_model.name end }) end,
  function(m) return setmetatable({}, { __gc = function() return m:get_weights() end }) end,
}
check.picture = check.temporary ".txt"

local function count_entries(build, data, targets, more_options)
  local results, entry_count = {}, 0
  for _, method in ipairs { "fit", "fit_async" } do
    cr.random.seed(7)
    local model = build()
    local options = { epochs = 4, batch_size = 64, verbose = 0, validation_split = 0.25 }
    for name, value in pairs(more_options and more_options(model) or {}) do
      options[name] = value
    end
    local input = type(data) == "function" and data() or data
    if type(data) == "function" then options.validation_split = nil end
    if method == "fit" then
      model:fit(input, targets, options)
    else
      local job = model:fit_async(input, targets, options)
      while job.state ~= "ended" do
        cr.sleep(math.random(3) == 1 and math.random() * 1e-3 or 0)
        entry_count = entry_count + 1
        actions[math.random(#actions)](model, job)
        if job.state == "failed" then job:wait() end
      end
    end
    results[method] = weight_tables(model)
  end
  check.same(results.fit_async, results.fit)
  return entry_count
end

math.randomseed(tonumber(os.getenv "CRESCENT_TEST_SEED" or 3))
x, y = cr.random.normal { 1024, 8 }, cr.random.normal { 1024, 2 }
local function sequential_maker(options)
  return function()
    local model = cr.Sequential { layers.Dense(256, { activation = "tanh", input_shape = { 8 } }),
      layers.Dropout(0.3), layers.Dense(256, { activation = "relu" }), layers.BatchNormalization(),
      layers.Dense(2) }
    local arguments = { optimizer = "adam", loss = "mse", metrics = { "mae" } }
    for name, value in pairs(options or {}) do arguments[name] = value end
    model:compile(arguments)
    return model
  end
end
local ScalingLayer = cr.Layer:subclass "ScaledHere"
function ScalingLayer:build() self.scale = self:add_weight { shape = {}, initializer = "ones" } end
function ScalingLayer:call(inputs) return inputs * self.scale end
local TapeStepModel = cr.Model:subclass "OwnWithEntries"
function TapeStepModel:init() self.dense, self.scaled = layers.Dense(2), ScalingLayer {} end
function TapeStepModel:call(inputs) return self.scaled(self.dense(inputs)) end
function TapeStepModel:train_step(data)
  local loss
  local tape = cr.GradientTape(function()
    loss = ops.mean(ops.square(self(data.x, { training = true }) - data.y))
  end)
  self.optimizer:apply_gradients(tape:gradient(loss, self.trainable_weights),
    self.trainable_weights)
  return { loss = loss + cr.ops.sum(cr.random.normal { 2 }) * 0 } -- draws random numbers
end
local function make_own_model()
  local model = TapeStepModel {}
  model:compile { optimizer = "sgd", loss = "mse" }
  model:predict(x:slice(1, 1)) -- builds the model before an entry can draw random numbers
  return model
end
local function generator()
  local first_row = 0
  return function()
    first_row = first_row % 960 + 1
    return x:slice(first_row, first_row + 63), y:slice(first_row, first_row + 63)
  end
end
local function callbacks(m)
  return { callbacks = cr.callbacks.LambdaCallback {
    on_train_batch_end = function(batch)
      local old_weights = m:get_weights()
      m:predict(small_input)
      unrelated_model:predict(cr.ones { 4, 2 })
      for k, weight in ipairs(m:get_weights()) do
        assert(ops.all(ops.equal(weight, old_weights[k])):item(), "changed within batch " .. batch)
      end
    end,
    on_epoch_end = function() collectgarbage() end } }
end

local entry_count = count_entries(sequential_maker(), x, y, function() return { epochs = 200 } end)
entry_count = entry_count + count_entries(sequential_maker(), x, y, callbacks)
entry_count = entry_count + count_entries(sequential_maker { run_eagerly = true }, x, y,
  function() return { epochs = 1 } end)
entry_count = entry_count + count_entries(
  sequential_maker { loss = function(t, p) return ops.square(t - p) end },
  x, y)
entry_count = entry_count + count_entries(make_own_model, x, y)
entry_count = entry_count + count_entries(sequential_maker(), generator, nil,
  function() return { steps_per_epoch = 12, batch_size = cr.null } end)
print(entry_count .. " entries")
assert(entry_count > 500)

-- Two runs of models that share a layer take turns.
local shared_layer = layers.Dense(512, { input_shape = { 8 }, kernel_initializer = "ones" })
local function model_with_shared_layer(rate)
  local model = cr.Sequential { shared_layer, layers.Dense(2, { kernel_initializer = "ones" }) }
  model:compile { optimizer = cr.optimizers.SGD(rate), loss = "mse" }
  return model
end
local first_run = model_with_shared_layer(1e-7):fit_async(x, y, { epochs = 20, batch_size = 64 })
local second_run = model_with_shared_layer(1e-7):fit_async(x, y, { epochs = 20, batch_size = 64 })
while first_run.state == "running" or second_run.state == "running" do
  cr.sleep(1e-3)
  local kernel = shared_layer.kernel.value -- equal columns get equal updates
  check.same(kernel:slice({ 1, 1 }, { 8, 1 }):totable(),
    kernel:slice({ 1, 512 }, { 8, 512 }):totable())
end
first_run:wait()
second_run:wait()

-- A process ends while a step computes.
local slow_script = [[
  local model = cr.Sequential { cr.layers.Dense(1024, { input_shape = { 1024 } }),
    cr.layers.Dense(1024), cr.layers.Dense(1024) }
  model:compile { optimizer = "adam", loss = "mse" }
  local x = cr.ones { 2048, 1024 }
  local run = model:fit_async(x, x, { epochs = 100, batch_size = 1024, callbacks =
    cr.callbacks.LambdaCallback { on_train_batch_end = function() io.write "b" end } })
  repeat cr.sleep(0.01) until run:status().batch > 0
  cr.sleep(0.005)
]]
for last_line, expected in pairs { ["os.exit(7)"] = false, ["os.exit(0, true)"] = true,
  ["error 'planted'"] = false, ["cr.clear_session()"] = true } do
  local ok, text = check.run(slow_script .. last_line)
  assert((ok or false) == expected, last_line .. ": " .. text)
  assert(not text:find "SIG" and not text:find "crash", text)
  assert(not last_line:find "error" or text:find "planted", text)
end
os.remove(check.picture)
