-- An error in one process ends all processes, with a message that names the process.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks = require "ranks"

local function model(units)
  local network = cr.Sequential { cr.layers.Dense(units, { input_shape = { 3 } }),
    cr.layers.Dense(1) }
  network:compile { optimizer = "sgd", loss = "mse" }
  return network
end
local function fit(network, samples, options)
  options.verbose = 0
  network:fit(cr.ops.ones { samples, 3 }, cr.ops.ones { samples, 1 }, options)
end

local process_tasks = {}

function process_tasks.other_model(rank) fit(model(rank == 1 and 5 or 4), 8, {}) end
function process_tasks.other_data(rank) fit(model(4), rank == 2 and 9 or 8, {}) end
function process_tasks.other_options(rank) fit(model(4), 8, { epochs = rank == 1 and 2 or 1 }) end

-- Rank 1 does not take part for longer than the timeout of the others.
function process_tasks.hangs(rank)
  cr.config.set_communicator("mpi", { timeout = 1 })
  if rank == 1 then os.execute "sleep 4" end
  cr.ops.all_reduce(cr.ops.ones { 2 })
end
-- Rank 1 is stopped by SIGSTOP, so that it cannot answer the other processes.
function process_tasks.stopped(rank)
  cr.config.set_communicator("mpi", { timeout = 1 })
  if rank == 1 then os.execute "kill -STOP $PPID" end
  cr.ops.all_reduce(cr.ops.ones { 2 })
end
-- After its second batch, rank 2 sleeps for longer than the timeout.
function process_tasks.stands(rank)
  cr.config.set_communicator("mpi", { timeout = 1 })
  local Stopping = cr.callbacks.Callback:subclass "Stopping"
  function Stopping:on_train_batch_end(batch)
    if rank == 2 and batch == 1 then os.execute "sleep 4" end
  end
  fit(model(4), 8, { batch_size = 2, callbacks = { Stopping() } })
end
function process_tasks.wrong_everywhere() error "a mistake in the script" end
function process_tasks.wrong_somewhere(rank) if rank == 1 then error "a mistake of one" end end
function process_tasks.fails(rank)
  local Failing = cr.callbacks.Callback:subclass "Failing"
  function Failing:on_epoch_end() if rank == 1 then error "the disk is full" end end
  fit(model(4), 8, { epochs = 50, callbacks = { Failing() } })
end
function process_tasks.ends(rank)
  if rank == 1 then os.exit(0, true) end
  fit(model(4), 8, {})
end
function process_tasks.dies(rank)
  if rank == 1 then os.execute "kill -9 $PPID" end
  fit(model(4), 8, { epochs = 1000000 })
end

if ranks.started then
  process_tasks[ranks.task](cr.config.communicator().rank)
  return
end

local function expect(task, ...)
  local ok, text = ranks.start(3, task)
  assert(not ok, task .. ": all ended well: " .. text)
  for _, part in ipairs { ... } do
    assert(text:find(part, 1, true), task .. ": expected '" .. part .. "' in: " .. text)
  end
  print("ok " .. task)
  return text
end

expect("other_model", "shapes of weights at rank 1")
expect("other_data", "number of samples at rank 2")
expect("other_options", "epochs at rank 1")
expect("hangs", "the process of rank 1 did not come within 1 seconds")
expect("stopped", "rank 1 (host ", " does not answer; ranks 0, 2 wait in all_reduce_sum")
expect("stands", "the process of rank 2 did not come within 1 seconds", "rank 2 (host ",
  "has been outside of a program, in batch 2 of fit for ",
  "ranks 0, 1 wait for all to agree on the next batch")
local text = expect("wrong_everywhere", "a mistake in the script")
local _, times = text:gsub("crescent: [^\n]*a mistake in the script", "")
assert(times == 1, "told " .. times .. " times: " .. text)
assert(not text:find("rank 0: ", 1, true), text)
expect("wrong_somewhere", "rank 1: ", "a mistake of one")
expect("fails", "the disk is full", "the process of rank 1 left: ")
expect("ends", "the process of rank 1 has ended")
expect("dies", "signal 9")
