-- The measurements and predictions of tests/bench/scale. The script starts itself again by mpirun:
--   all_reduce          times all_reduce by size
--   alone NAME STEPS BATCH    times steps of processes that each train a separate model
--   together NAME STEPS BATCH times steps of processes that train one model, on a batch for each
local script_folder = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = script_folder .. "/?.lua;" .. script_folder .. "/../distribution/?.lua;"
  .. package.path
local cr = require "crescent"
local ranks = require "ranks"

local sizes = { 16, 1 << 10, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24 }
local networks = {  -- the assumed time of a message in seconds, and bytes per second
  { name = "1 Gbit", latency = 50e-6, rate = 0.125e9 },
  { name = "10 Gbit", latency = 20e-6, rate = 1.25e9 },
  { name = "100 Gbit", latency = 5e-6, rate = 12.5e9 },
}

-- ---- the work of the processes that mpirun starts

--- The workload of tests/bench/workloads with this name.
local function workload(name)
  local measured_workload
  local original_arg = arg
  arg = { [0] = original_arg[0] }
  local measure = require "measure"
  measure.all = function(_, w) measured_workload = w end
  measure.train, measure.predict, measure.op = measure.all, function() end, function() end
  dofile(script_folder .. "/workloads/" .. name .. ".lua")
  arg = original_arg
  return measured_workload
end

local function print_once(...) if cr.config.communicator().rank == 0 then print(...) end end

local function median(values)
  table.sort(values)
  return values[(#values + 1) // 2]
end

local tasks = {}

function tasks.all_reduce()
  local all_reduced = cr.compiled(function(x) return cr.ops.all_reduce(x) end)
  for _, bytes in ipairs(sizes) do
    local x, calls = cr.zeros { bytes // 4 }, math.max(3, math.min(300, (1 << 23) // bytes))
    local window_seconds = {}
    for w = 1, 6 do
      local begin = cr.utils.clock()
      for _ = 1, calls do all_reduced(x) end
      if w > 1 then table.insert(window_seconds, (cr.utils.clock() - begin) / calls) end
    end
    print_once("all_reduce", bytes, median(window_seconds))
  end
end

--- Times training steps that `count` processes share; each process has its own batch of
--- `batch_of_process` samples.
local function time_steps(w, step_count, batch_of_process, count)
  cr.config.set_threads(1)
  cr.random.seed(0)
  local model, batch = w.model(), batch_of_process * count
  model:compile { optimizer = w.optimizer, loss = w.loss }
  local x, y = w.x(batch * step_count), w.y(batch * step_count)
  local function epoch() model:fit(x, y, { batch_size = batch, verbose = 0 }) end
  epoch()
  local window_seconds = {}
  for i = 1, 5 do
    local begin = cr.utils.clock()
    epoch()
    window_seconds[i] = (cr.utils.clock() - begin) / step_count
  end
  print_once("step", median(window_seconds))
  print_once("batch", batch_of_process)
  local weight_count = 0
  for _, weight in ipairs(model.trainable_weights) do
    weight_count = weight_count + weight.value.size
  end
  print_once("weights", weight_count)
end

--- Times steps of the workload with this name, on its batch size unless another one is given.
local function time_workload(name, step_count, batch, count)
  local w = workload(name)
  time_steps(w, tonumber(step_count), tonumber(batch) or w.batch, count)
end

function tasks.alone(name, step_count, batch)
  cr.distribution.set_distribution(nil)
  time_workload(name, step_count, batch, 1)
end

function tasks.together(name, step_count, batch)
  time_workload(name, step_count, batch, cr.config.communicator().size)
end

local task_name, name, step_count, batch =
  (ranks.task or ""):match "^(%S+) ?(%S*) ?(%S*) ?(%S*)$"
if tasks[task_name] then return tasks[task_name](name, step_count, batch) end

-- ---- the work of the process that the user starts

--- Starts `count` processes with this task; returns the lines that the first process writes, each
--- as a list of words.
local function lines_of_processes(count, ...)
  local has_passed, text = ranks.start(count, table.concat({ ... }, " "))
  assert(has_passed, text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do
    local words = {}
    for word in line:gmatch "%S+" do table.insert(words, word) end
    table.insert(lines, words)
  end
  return lines
end

--- Fits seconds = latency + bytes * per_byte, with errors relative to the seconds.
local function fit(points)
  local w, wx, wxx, wy, wxy = 0, 0, 0, 0, 0
  for _, p in ipairs(points) do
    local weight = 1 / (p.seconds * p.seconds)
    w, wx, wxx = w + weight, wx + weight * p.bytes, wxx + weight * p.bytes * p.bytes
    wy, wxy = wy + weight * p.seconds, wxy + weight * p.bytes * p.seconds
  end
  local per_byte = (w * wxy - wx * wy) / (w * wxx - wx * wx)
  return { latency = math.max(0, (wy - per_byte * wx) / w), per_byte = per_byte }
end

local options = { steps = 8, only = "mlp,cnn,resnet20,transformer", batch = "" }
for i = 1, #arg, 2 do options[arg[i]:match "^%-%-(%w+)$"] = arg[i + 1] end

--- Starts `count` processes with this task; returns the seconds of a training step, the number of
--- weights, and the batch size of a process.
local function step_of(name, task_name, count)
  local numbers = {}
  for _, words in ipairs(lines_of_processes(count, task_name, name, options.steps,
    options.batch)) do
    numbers[words[1]] = tonumber(words[2])
  end
  return assert(numbers.step, name .. ": no time was measured"), numbers.weights, numbers.batch
end

if options.rates then
  for name in options.only:gmatch "[^,]+" do
    local seconds_alone, _, batch = step_of(name, "alone", 1)
    local rate = "%-32s %14.3f samples/s"
    print(rate:format(name .. "_1_process", batch / seconds_alone))
    print(rate:format(name .. "_2_processes", 2 * batch / step_of(name, "together", 2)))
  end
  return
end

print "all_reduce between processes of this machine, in microseconds"
local costs = {}
for _, count in ipairs { 2, 4, 8 } do
  local points, texts = {}, {}
  for _, words in ipairs(lines_of_processes(count, "all_reduce")) do
    local bytes, seconds = tonumber(words[2]), tonumber(words[3])
    table.insert(points, { bytes = bytes, seconds = seconds })
    table.insert(texts, ("%d B %.4g"):format(bytes, seconds * 1e6))
  end
  costs[count] = fit(points)
  print(("%d processes: %s"):format(count, table.concat(texts, ", ")))
  print(("  fitted: %.3g us + %.3g us per MiB"):format(costs[count].latency * 1e6,
    costs[count].per_byte * (1 << 20) * 1e6))
end

--- Seconds of an all_reduce over a network: 2 log2(n) messages, in which every process sends and
--- receives its share of the bytes twice.
local function network_seconds(network, count, bytes)
  return 2 * math.ceil(math.log(count, 2)) * network.latency
    + 2 * (count - 1) / count * bytes / network.rate
end

for name in options.only:gmatch "[^,]+" do
  local function step(task_name, count) return step_of(name, task_name, count) end
  local seconds_of_one, weight_count = step("alone", 1)
  print(("\n%s: %d weights, %.4g ms a step on one core"):format(name, weight_count,
    seconds_of_one * 1e3))
  for _, count in ipairs { 2, 4 } do
    local separate_seconds = step("alone", count)
    local predicted_seconds = separate_seconds + costs[count].latency
      + costs[count].per_byte * weight_count * 4
    local shared_seconds = step("together", count)
    print(("  %d processes here: predicted %.4g ms, measured %.4g ms (%+.0f %%)"):format(count,
      predicted_seconds * 1e3, shared_seconds * 1e3,
      100 * (predicted_seconds / shared_seconds - 1)))
  end
  -- Ways to train with many machines. Each row has a name and two functions. The first returns the
  -- number of bytes whose all_reduce takes as long as the communication of a step. The second
  -- returns the bytes of weights, gradients and Adam's state in each process. Divided weights are
  -- gathered in the forward and in the backward pass.
  local strategies = {
    { "data parallel", function() return 4 * weight_count end,
      function() return 16 * weight_count end },
    { "bfloat16 gradients", function() return 2 * weight_count end,
      function() return 16 * weight_count end },
    { "4 batches a step", function() return weight_count end,
      function() return 16 * weight_count end },
    { "divided weights", function() return 8 * weight_count end,
      function(count) return 16 * weight_count / count end },
  }
  print "  share of the time that is spent computing, and memory of weights, by machines:"
  for _, network in ipairs(networks) do
    for _, strategy in ipairs(strategies) do
      local texts = {}
      for exponent = 1, 10, 3 do
        local count = 1 << exponent
        local efficiency = seconds_of_one / (seconds_of_one + network_seconds(network, count,
          strategy[2]()))
        table.insert(texts, ("%d: %.0f %% (%.3g MB)"):format(count, 100 * efficiency,
          strategy[3](count) / 1e6))
      end
      print(("  %-8s %-19s %s"):format(network.name, strategy[1], table.concat(texts, "  ")))
    end
  end
end
