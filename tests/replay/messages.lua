-- The messages of `crescent replay` about records, scripts and models that do not fit each other.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local program = require "program"

local function write(path, text)
  local file <close> = assert(io.open(path, "w"))
  file:write(text)
end

local script = [[
cr.utils.set_random_seed(1)
local x = cr.random.normal { 40, 3 }
BEFORE
local model = cr.Sequential { cr.layers.Dense(UNITS, { input_shape = { 3 }, name = "first" }),
  cr.layers.Dense(1, { name = "last" }) }
model:compile { optimizer = "adam", loss = "mse", metrics = { "mae" } }
model:fit(x, cr.ops.sum(x, 1, true) * FACTOR, { epochs = EPOCHS, batch_size = 8, verbose = 0, DATA
  callbacks = { MORE
    cr.callbacks.ReplayRecorder("NAME", { save_freq = 4, max_to_keep = KEPT, FREQ }) } })
print "behind fit"
]]

--- The text of `script` with its words in capitals replaced: by `changes[word]`, or by a default.
local function script_with(changes)
  local values = { UNITS = "4", EPOCHS = "4", KEPT = "nil", FREQ = "", NAME = "record",
    FACTOR = "1", DATA = "", BEFORE = "", MORE = "" }
  for name, text in pairs(changes or {}) do values[name] = text end
  return (script:gsub("%u%u%u%u+", values))
end

--- Records the script in a folder, changes the script, and replays a step with it. Checks the exit
--- status of the replay and that its output contains the remaining arguments.
local function check(step, changes, status, ...)
  local expected_parts = { ... }
  program.with_folder(function(folder)
    write(folder .. "/train.lua", script_with { KEPT = changes.KEPT, FREQ = changes.FREQ })
    local recording_status, text = program.run_in(folder, "train.lua")
    assert(recording_status == 0 and text == "behind fit\n", text)
    write(folder .. "/train.lua", changes.script or script_with(changes))
    local replay_status
    replay_status, text = program.run("replay", folder .. "/record", "--step", step)
    assert(replay_status == status, ("status %d for %d: %s"):format(replay_status, status, text))
    for _, expected_part in ipairs(expected_parts) do
      assert(text:find(expected_part, 1, true), ("no %q in: %s"):format(expected_part, text))
    end
  end)
end

check(1, {}, 0, "step 1: equal (", " tensors)")
for _, step in ipairs { 4, 5, 6, 20 } do check(step, {}, 0, "step " .. step .. ": equal (") end

-- If the changed script records into another folder, its recorder does not take over the state of
-- the recorder in the record; the step is equal nevertheless.
check(7, { NAME = "elsewhere" }, 0, "step 7: equal (")

-- Messages about the record.
check(21, {}, 2, "step 21 was not recorded: ", "has the steps 1 to 20")
check(3, { KEPT = "2" }, 2, "the first backup in ", "is that after step 16", "max_to_keep")
check(18, { KEPT = "2" }, 0, "step 18: equal")
check(9, { FREQ = "record_freq = 3" }, 0, "step 9: equal")
check(7, { FREQ = "record_freq = 3" }, 2, "step 7 was not recorded", "has the steps 3 to 18 that",
  "can be divided by record_freq = 3")
program.with_folder(function(folder)
  local status, text = program.run("replay", folder, "--step", 1)
  assert(status == 2 and text:find("is no record of a training run", 1, true), text)
end)

-- Messages about the data.
check(7, { BEFORE = "x = x * 2" }, 1, "step 5: the data differ: the inputs of the batch",
  "step 7 was asked for, and is computed from the backup after step 4")
check(5, { FACTOR = "2" }, 1, "step 5: the data differ: the targets of the batch")
check(5, { DATA = "shuffle = false," }, 2, "had shuffle=\"samples\", this one has \"none\"")
check(5, { DATA = "sample_weight = cr.ones { 40 } * 2," }, 1,
  "step 5: the data differ: the sample weights of the batch")
check(7, { BEFORE = "x = x:slice(1, 32)" }, 2, "the snapshot was taken with 40 samples of data")

-- Messages about the model and the script.
check(7, { UNITS = "5" }, 2, "variable 'first/kernel' is float32(3, 5)", "(3, 4)")
check(7, { EPOCHS = "1" }, 2, "the run ended after step 5, before step 7")
check(7, { script = "print 'hello'" }, 2, "hello", "ended with exit status 0",
  "did not compute step 7 of a fit with this ReplayRecorder")
check(7, { script = "error 'oh'" }, 2, "oh", "ended with exit status 1")

-- The message names the value that differs, and where, if there is a backup: here that of step 8.
local changing_code = [[
cr.callbacks.LambdaCallback { on_train_batch_end = function()
  if model.optimizer.iterations:item() ~= 8 then return end
  model.weights[3]:assign_add(cr.tensor { { 0 }, { 0 }, { 0.5 }, { 0 } })
end },]]
check(8, { MORE = changing_code }, 1, "step 8: last/kernel differs first (1 of ",
  "largest difference 0.5", "at (3, 1): recorded ")

-- Several fits: the second one is recorded in a folder of its own.
program.with_folder(function(folder)
  write(folder .. "/train.lua", [[
cr.utils.set_random_seed(1)
local x = cr.random.normal { 40, 3 }
local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
model:compile { optimizer = "adam", loss = "mse" }
for _, name in ipairs { "first", "second" } do
  model:fit(x, cr.ops.sum(x, 1, true), { epochs = 3, batch_size = 8, verbose = 0,
    callbacks = { cr.callbacks.ReplayRecorder(name), cr.callbacks.CSVLogger(name .. ".csv") } })
end]])
  assert(program.run_in(folder, "train.lua") == 0)
  os.remove(folder .. "/second.csv")
  for _, name in ipairs { "first", "second" } do
    local status, text = program.run("replay", folder .. "/" .. name, "--step", 9)
    assert(status == 0 and text:find "step 9: equal", name .. ": " .. text)
  end
  assert(not io.open(folder .. "/second.csv"), "a replay wrote a file")
end)

-- A run that was killed and continues also continues the count of its steps; a run with another
-- seed begins at step 1.
program.with_folder(function(folder)
  write(folder .. "/train.lua", [[
local killed_after, seed = tonumber(arg[1]), tonumber(arg[2])
cr.utils.set_random_seed(seed)
local x = cr.random.normal { 40, 3 }
local model = cr.Sequential { cr.layers.Dense(4, { input_shape = { 3 } }), cr.layers.Dropout(0.5),
  cr.layers.Dense(1) }
model:compile { optimizer = "adam", loss = "mse" }
local Killed = cr.callbacks.Callback:subclass "Killed"
local batches = 0
function Killed:on_train_batch_end()
  batches = batches + 1
  if batches == killed_after then os.execute "kill -9 $PPID" end
end
model:fit(x, cr.ops.sum(x, 1, true), { epochs = 4, batch_size = 8, verbose = 0, callbacks = {
  cr.callbacks.ReplayRecorder("record", { save_freq = 5 + seed }), Killed(),
  cr.callbacks.BackupAndRestore("backup", { save_freq = 5 }) } })]])
  assert(program.run_in(folder, "train.lua", 13, 1) ~= 0)
  assert(program.run_in(folder, "train.lua", 0, 1) == 0)
  assert(program.run_in(folder, "train.lua", 8, 2) ~= 0)
  assert(program.run_in(folder, "train.lua", 0, 2) == 0)
  for step = 1, 20 do
    local status, text = program.run("replay", folder .. "/record", "--step", step)
    assert(status == 0, text)
  end
end)

-- A training run that the script itself loads from a file.
program.with_folder(function(folder)
  write(folder .. "/train.lua", [[
cr.utils.set_random_seed(1)
local x = cr.random.normal { 40, 3 }
local model = cr.Sequential { cr.layers.Dense(4, { input_shape = { 3 } }), cr.layers.Dense(1) }
model:compile { optimizer = "adam", loss = "mse" }
local run = model:start_training(x, cr.ops.sum(x, 1, true), { epochs = 4, batch_size = 8,
  verbose = 0, callbacks = cr.callbacks.ReplayRecorder("record", { save_freq = 6 }) })
if io.open "run.h5" then run:load "run.h5" end
run:advance(10)
run:save "run.h5"]])
  for _ = 1, 2 do assert(program.run_in(folder, "train.lua") == 0) end
  for _, step in ipairs { 1, 7, 10, 11, 12, 20 } do
    local status, text = program.run("replay", folder .. "/record", "--step", step)
    assert(status == 0, text)
  end
end)

-- A replay does not change the files that the script saved in the recorded run.
program.with_folder(function(folder)
  write(folder .. "/train.lua", [[
local x = cr.ones { 8, 3 }
local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
model:compile { optimizer = "adam", loss = "mse" }
local recorder = cr.callbacks.ReplayRecorder("record", { save_freq = 2 })
for stage = 1, 2 do
  model:fit(x, cr.ones { 8, 1 }, { epochs = 4, batch_size = 4, verbose = 0, callbacks = recorder })
  model:save "model.keras"
  model:save_weights "model.weights.h5"
end]])
  assert(program.run_in(folder, "train.lua") == 0)
  local function model_checksum() return select(2, program.run_in(folder, "-e",
    "print((io.popen 'cat model.keras model.weights.h5 | cksum'):read 'a')")) end
  local checksum_before = model_checksum()
  local status, text = program.run("replay", folder .. "/record", "--step", 13)
  assert(status == 0, text)
  assert(model_checksum() == checksum_before)
end)

-- Messages about the command line.
for _, wrong_arguments in ipairs { {}, { "record" }, { "--step", 3 }, { "record", "--step", "x" },
  { "record", "--step", 0 }, { "record", "--stp", 3 } } do
  local status, text = program.run("replay", table.unpack(wrong_arguments))
  assert(status == 2 and text:find("usage: crescent replay", 1, true), text)
end
print "every message was as expected"
