-- Processes that mpirun starts share a search: each runs some of the trials, and together these are
-- the trials that a single process runs.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks = require "ranks"

local function search(folder, project)
  local function build(hp)
    local model = cr.Sequential { cr.Input { shape = { 3 } },
      cr.layers.Dense(hp:Int("units", 1, 30), { activation = "tanh" }), cr.layers.Dropout(0.1),
      cr.layers.Dense(1) }
    model:compile { loss = "mse", optimizer = cr.optimizers.SGD(hp:Float("rate", 1e-3, 1e-1)) }
    return model
  end
  local tuner = cr.tuners.BayesianOptimization { build, objective = "loss", max_trials = 16,
    seed = 2, lag = 4, directory = folder, project_name = project, overwrite = true }
  local x = cr.ops.reshape(cr.arange(0, 24), { 8, 3 }):cast "float32" / 24
  tuner:search(x, x:sum({ 1 }, true), { epochs = 3, batch_size = 4, verbose = 0 })
  local lines = {}
  for i, trial in ipairs(tuner.study.trials) do
    lines[i] = string.format("%d %d %.17g %.17g", trial.number, trial.values.units,
      trial.values.rate, trial.score)
  end
  return table.concat(lines, "\n")
end

if ranks.started then
  local before = cr.distribution.distribution()
  local outcome = search(ranks.task, "together")
  assert((cr.distribution.distribution() == nil) == (before == nil),
    "the distribution is another one")
  assert(cr.config.communicator().size > 1)
  local file = assert(io.open(ranks.task .. "/rank" .. cr.config.communicator().rank, "w"))
  file:write(outcome)
  file:close()
  return
end

local folder = ranks.folder()
local expected = search(folder, "alone")
for count = 2, 4, 2 do
  local ok, text = ranks.start(count, folder)
  assert(ok, text)
  for rank = 0, count - 1 do
    local file = assert(io.open(folder .. "/rank" .. rank))
    local text_of_rank = file:read "a"
    file:close()
    assert(text_of_rank == expected,
      ("rank %d of %d found\n%s\nnot\n%s"):format(rank, count, text_of_rank, expected))
  end
end
os.execute("rm -r " .. folder)
print "2 and 4 processes make the trials of one"
