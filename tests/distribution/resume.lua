-- A run that was killed continues from its last backup, also with another number of processes, and
-- ends with the same bits as a run that was not killed.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks = require "ranks"

local function train(folder, rank, callbacks)
  cr.config.enable_op_determinism()
  cr.utils.set_random_seed(7)
  local x = cr.random.normal { 150, 6 }
  local model = cr.Sequential {
    cr.layers.Dense(8, { activation = "relu", input_shape = { 6 } }), cr.layers.Dropout(0.2),
    cr.layers.BatchNormalization { synchronized = true }, cr.layers.Dense(1) }
  model:compile { optimizer = "adam", loss = "mse", metrics = { "mae" } }
  local history = model:fit(x, cr.ops.sum(x, 1, true),
    { epochs = 8, batch_size = 40, verbose = 0, callbacks = callbacks })
  local numbers = {}
  for _, weight in ipairs(model:get_weights()) do
    for _, number in ipairs(weight:reshape({ -1 }):totable()) do numbers[#numbers + 1] = number end
  end
  for _, loss in ipairs(history.history.loss) do numbers[#numbers + 1] = loss end
  ranks.write(folder, rank, "end", numbers)
end

if ranks.started then
  local folder, victim, batch, delay = ranks.task:match "^(.*):(.*):(.*):(.*)$"
  local rank, batches = cr.config.communicator().rank, 0
  -- The run has 32 batches and is killed by the process of rank `victim`: in batch number `batch`
  -- this process starts a timer that kills it after `delay` seconds, wherever it is then. If the
  -- run is faster than the timer, the process kills itself in batch 28.
  local Killed = cr.callbacks.Callback:subclass "Killed"
  function Killed:on_train_batch_end()
    batches = batches + 1
    if rank ~= tonumber(victim) then return end
    if batches == tonumber(batch) then
      os.execute("(victim=$PPID; sleep " .. delay .. "; kill -9 $victim) &")
    end
    if self.model.optimizer.iterations:item() >= 28 then os.execute "kill -9 $PPID" end
  end
  train(folder, rank, { Killed(),
    cr.callbacks.BackupAndRestore(folder .. "/backup", { save_freq = 3, double_checkpoint = true }),
    cr.callbacks.ModelCheckpoint(folder .. "/best.keras"),
    cr.callbacks.CSVLogger(folder .. "/log.csv", { append = true }) })
  return
end

local function check_same(results, expected, what)
  assert(#results == #expected, what .. ": " .. #results .. " numbers")
  for i, number in ipairs(expected) do
    assert(results[i] == number, string.format("%s: %.17g for %.17g", what, results[i], number))
  end
end

local whole_folder = ranks.folder()
train(whole_folder, 0, {})
local expected = ranks.read(whole_folder, 0)["end"]
os.execute("rm -r " .. whole_folder)

math.randomseed(tonumber(os.getenv "CRESCENT_KILL_SEED") or 1)
for trial = 1, 5 do
  local folder = ranks.folder()
  -- The run is killed twice, each time in another process and at another moment; then it runs to
  -- its end.
  for _ = 1, 2 do
    local count = math.random(2, 4)
    local ok = ranks.start(count, string.format("%s:%d:%d:%.4f", folder,
      math.random(0, count - 1), math.random(1, 8), math.random() * 0.02))
    assert(not ok, "nobody was killed")
  end
  local count = math.random(1, 4)
  local ok, text = ranks.start(count, folder .. ":none:0:0")
  assert(ok, text)
  for rank = 0, count - 1 do
    check_same(ranks.read(folder, rank)["end"], expected, "trial " .. trial .. ", rank " .. rank)
  end
  local remaining_files = io.popen("ls -A " .. folder .. "/backup"):read "a"
  assert(remaining_files == "", "files are left: " .. remaining_files)
  os.execute("rm -r " .. folder)
end
print "10 processes were killed, and every run ended with the same bits"
