-- Output that would be the same in all processes is printed and written once; a decision of one
-- process, such as stopping, applies to all.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks = require "ranks"

if not ranks.started then
  local folder = ranks.folder()
  local ok, text = ranks.start(3, folder)
  assert(ok, text)
  local _, titles = text:gsub("Epoch 1/4", "")
  assert(titles == 1, titles .. " times the first epoch: " .. text)
  local _, summaries = text:gsub("Total params", "")
  assert(summaries == 1, summaries .. " summaries: " .. text)
  for rank = 0, 2 do
    local results = ranks.read(folder, rank)
    -- Rank 1 stops one run in its third batch; early stopping ends another run after two epochs.
    assert(results.stopped[1] == 3, "rank " .. rank .. " stopped after " .. results.stopped[1])
    assert(results.early[1] == 2, "rank " .. rank .. " had epochs: " .. results.early[1])
    assert(results.own[1] == 1, "rank " .. rank .. " trained on other data than its own")
    assert(results.threads[1] >= 1)
  end
  local file = assert(io.open(folder .. "/log.csv"))
  local _, lines = file:read("a"):gsub("\n", "")
  assert(lines == 5, lines .. " lines in the table")
  file:close()
  assert(cr.models.load_model(folder .. "/m.keras"))
  os.execute("rm -r " .. folder)

  -- Ctrl-C is sent to mpirun. All processes stop after the same batch, one of them prints the
  -- message, and the backup of the run stays.
  folder = ranks.folder()
  ok, text = ranks.start(3, folder .. ":endless", "OMPI_MCA_odls_base_sigkill_timeout=10",
    string.format("p=$!; until [ $(ls %s | grep -c started) = 3 ]; do sleep 0.1; done; "
      .. "kill -INT $p; wait $p", folder))
  assert(not ok, "the run came to an end")
  local steps = ranks.read(folder, 0).steps[1]
  assert(steps > 0, text)
  for rank = 1, 2 do
    local step_count = ranks.read(folder, rank).steps[1]
    assert(step_count == steps,
      "rank " .. rank .. " stopped after " .. step_count .. ", rank 0 after " .. steps)
  end
  local _, interruptions = text:gsub("fit: interrupted", "")
  assert(interruptions == 1, interruptions .. " times: " .. text)
  assert(io.open(folder .. "/backup/run.h5")):close()
  os.execute("rm -r " .. folder)
  print "one voice of 3 processes"
  return
end

local folder, rank = ranks.task, cr.config.communicator().rank
local x, y = cr.ops.ones { 20, 3 }, cr.ops.ones { 20, 1 }
local function make_model()
  cr.utils.set_random_seed(5)
  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  return model
end

if folder:find ":endless" then
  folder = folder:match "^(.*):"
  local Endless = cr.callbacks.Callback:subclass "Endless"
  function Endless:on_train_batch_end(batch)
    if batch == 1 then io.open(folder .. "/started" .. rank, "w"):close() end
  end
  function Endless:on_train_end()
    ranks.write(folder, rank, "steps", { self.model.optimizer.iterations:item() })
  end
  make_model():fit(x, y, { epochs = 1000000, batch_size = 5, verbose = 0, callbacks = { Endless(),
    cr.callbacks.BackupAndRestore(folder .. "/backup", { save_freq = false }) } })
  return
end

local model = make_model()
model:summary()
model:fit(x, y, { epochs = 4, batch_size = 5, callbacks = {
  cr.callbacks.CSVLogger(folder .. "/log.csv"),
  cr.callbacks.ModelCheckpoint(folder .. "/m.keras") } })

local Stopping = cr.callbacks.Callback:subclass "Stopping"
function Stopping:on_train_batch_end(batch)
  if rank == 1 and batch == 2 then self.model.stop_training = true end
end
model = make_model()
model:fit(x, y, { epochs = 4, batch_size = 5, verbose = 0, callbacks = { Stopping() } })
ranks.write(folder, rank, "stopped", { model.optimizer.iterations:item() })

model = make_model()
local history = model:fit(x, y, { epochs = 9, verbose = 0, callbacks = {
  cr.callbacks.EarlyStopping { monitor = "loss", patience = 1, min_delta = 1e9 } } })
ranks.write(folder, rank, "early", { #history.history.loss })
ranks.write(folder, rank, "threads", { cr.config.threads() })

-- Without a distribution each process trains on data of its own.
cr.distribution.set_distribution(nil)
assert(cr.distribution.distribution() == nil)
model = make_model()
model:fit(cr.ops.ones { 2, 3 } * rank, cr.ops.zeros { 2, 1 }, { verbose = 0 })
local weights = model:get_weights()[1]:totable()
local is_untrained = weights[1][1] == make_model():get_weights()[1]:totable()[1][1]
ranks.write(folder, rank, "own", { (rank == 0) == is_untrained and 1 or 0 })
