-- Measures workloads: after a warm-up, the median of five windows of wall-clock time. Prints "name
-- value unit".
--   crescent tests/bench/workloads/NAME.lua [--threads N] [--bf16] [--seconds S] [--batch N]
--     [--only NAME,NAME] [--cores] [--list] [--validate]
-- --list only prints the names of the workloads. --cores prints upper bounds of the speed-up on 4,
-- 8, 16 and 32 cores that follow from how the work is divided; the instructions that lose most time
-- on 16 cores come first. --batch is the batch size of training. --validate compares the first
-- steps with op-by-op execution instead of measuring, in a separate process, so that it does not
-- affect memory and caches.
local cr = require "crescent"
local validate = require "validate"

local options = { threads = 0, seconds = 3 }
do
  local i = 1
  while arg[i] do
    local name = arg[i]:match "^%-%-(%w+)$"
    if name == "bf16" or name == "list" or name == "cores" or name == "validate" then
      options[name] = true
    elseif name == "threads" or name == "seconds" or name == "batch" then
      i = i + 1
      options[name] = assert(tonumber(arg[i]), "expected a number after --" .. name)
    elseif name == "only" then
      i = i + 1
      options.only = "," .. assert(arg[i], "expected names after --only") .. ","
    else
      error("unknown option " .. arg[i]
        .. "; known: --threads N, --bf16, --seconds S, --batch N, --only NAME,NAME, --cores, "
        .. "--list, --validate", 0)
    end
    i = i + 1
  end
end
-- one thread, since threads would share the caches and change each other's times
if options.cores then options.threads = 1 end
if options.threads > 0 then cr.config.set_threads(options.threads) end
if options.bf16 then cr.config.set_dtype_policy "mixed_bfloat16" end
cr.random.seed(0)

local measure = {}

--- Whether `--only` asks for this workload.
local function is_chosen(name)
  if options.list then print(name) end
  return not options.list and (not options.only or options.only:find("," .. name .. ",", 1, true))
end

local function emit(name, value, unit)
  print(string.format("%-32s %14.3f %s", name, value, unit))
end

--- Seconds per call of f: the median of five measurements.
local function seconds_per_call(f)
  local clock, window = cr.utils.clock, options.seconds / 5
  local begin = clock()
  f()
  -- number of calls between two readings of the clock
  local calls = math.max(1, math.floor(window / 10 / (clock() - begin)))
  local windows = {}
  for w = 1, 5 do
    local count, start, now = 0, clock(), nil
    repeat
      for _ = 1, calls do f() end
      count, now = count + calls, clock()
    until now - start >= window
    windows[w] = (now - start) / count
  end
  table.sort(windows)
  return windows[3]
end

--- The peak memory of this process so far, in MiB.
local function peak_memory()
  for line in io.lines "/proc/self/status" do
    local kib = line:match "^VmHWM:%s+(%d+)"
    if kib then return tonumber(kib) / 1024 end
  end
end

measure.emit, measure.seconds_per_call, measure.peak_memory = emit, seconds_per_call, peak_memory
measure.total_seconds = options.seconds

--- Prints how the work of a step is divided into parts: the instructions that take at least 1 % of
--- the time, and the whole step.
local function print_division(name, profile)
  local cores, total = profile.cores, {}
  for c in ipairs(cores) do
    total[c] = 0
    for _, row in ipairs(profile.rows) do total[c] = total[c] + row.seconds_on[c] end
  end
  local function idle(row) return row.seconds_on[4] - row.seconds_on[1] / cores[4] end
  table.sort(profile.rows, function(a, b) return idle(a) > idle(b) end)
  print(string.format("# %9s %6s %9s %6s %6s %6s %6s  %s", "us", "parts", "largest_%", "x4", "x8",
    "x16", "x32", "kernel"))
  for _, row in ipairs(profile.rows) do
    local s = row.seconds_on
    if s[1] >= total[1] / 100 then
      print(string.format("# %9.1f %6d %9.1f %6.1f %6.1f %6.1f %6.1f  %s, %s, %s", s[1] * 1e6,
        row.parts, 100 * row.largest_part,
        s[1] / s[2], s[1] / s[3], s[1] / s[4], s[1] / s[5], row.op, row.kernel, row.shapes))
    end
  end
  for c = 2, #cores do emit(name .. "_on_" .. cores[c], total[1] / total[c], "times") end
end

--- The batch size. If so little time is given that the run can only show that the workload works,
--- large networks get at most 4 samples.
local function batch_of(w, batch)
  return w.is_large and options.seconds < 0.1 and math.min(batch, 4) or batch
end

--- Measures training. The functions w.x and w.y make the inputs and targets of a number of samples;
--- w.flops is the number of floating-point operations of a forward pass per sample.
function measure.train(name, w)
  if not is_chosen(name) then return end
  local batch = options.batch or batch_of(w, w.batch)
  if options.validate then return validate.training(name, w, batch, options.bf16) end
  local model, samples = w.model(), batch * w.batches
  model:compile { optimizer = w.optimizer, loss = w.loss }
  local x, y = w.x(samples), w.y(samples)
  if options.cores then
    return print_division(name, model:profile(x, y, { batch_size = batch,
      print_fn = function() end }))
  end
  local function epoch() model:fit(x, y, { batch_size = batch, verbose = 0 }) end
  epoch()
  local seconds = seconds_per_call(epoch)
  if w.per_step then
    emit(name, seconds / w.batches * 1e6, "us/step")
  else
    emit(name, samples / seconds, "samples/s")
    emit(name .. "_speed", 3 * w.flops * samples / seconds / 1e9, "GFLOP/s")
  end
  emit(name .. "_memory", peak_memory(), "MiB")
end

--- Measures predict_on_batch: the time of a call for one sample, or samples per second for larger
--- batches.
function measure.predict(name, w)
  if not is_chosen(name) then return end
  local model, x = w.model(), w.x(w.batch)
  if options.validate then return validate.prediction(name, model, x, options.bf16) end
  if options.cores then
    return print_division(name, model:profile(x, { batch_size = w.batch,
      print_fn = function() end }))
  end
  local function call() model:predict_on_batch(x) end
  for _ = 1, 5 do call() end
  local seconds = seconds_per_call(call)
  if w.batch == 1 then
    emit(name, seconds * 1e6, "us/call")
  else
    emit(name, w.batch / seconds, "samples/s")
  end
end

--- Measures a function of tensors in bytes moved per second. The last parameters are functions that
--- make the arguments of f.
function measure.op(name, bytes, f, ...)
  if not is_chosen(name) or options.cores then return end
  local inputs = {}
  for i, make in ipairs { ... } do inputs[i] = make() end
  if options.validate then return validate.op(name, f, inputs) end
  local seconds = seconds_per_call(function() return f(table.unpack(inputs)) end)
  emit(name, bytes / seconds / 1e9, "GB/s")
end

--- Measures the training of a model, and its predictions for each batch size in `w.predictions`.
function measure.all(name, w)
  measure.train(name .. "_train" .. (w.per_step and "_step" or ""), w)
  for _, batch in ipairs(w.predictions or {}) do
    measure.predict(name .. "_predict_b" .. batch,
      { model = w.model, x = w.x, batch = batch_of(w, batch) })
  end
end

--- A function that makes uniform numbers in [0, 1) of this shape for n samples.
function measure.uniform(...)
  local shape = { ... }
  return function(n) return cr.random.uniform { n, table.unpack(shape) } end
end
function measure.integers(limit, ...)
  local shape = { ... }
  return function(n)
    return cr.ops.cast(cr.random.uniform({ n, table.unpack(shape) }, 0, limit), "int32")
  end
end

return measure
