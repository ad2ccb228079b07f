-- Trains a model with one process, or with several processes on one or more machines:
--   crescent cluster.lua                               one process
--   mpirun -n 2 crescent cluster.lua                   two on this machine
--   mpirun --hostfile hosts -n 8 crescent cluster.lua  "node1 slots=4" and "node2 slots=4" in hosts
--   srun --mpi=pmix -N 2 -n 8 crescent cluster.lua     under Slurm
-- Every process runs the whole script; `fit` divides each batch of 64 among the processes, and all
-- processes get the same results.
local cr = require "crescent"

local communicator = cr.config.communicator()
--- Prints in the first process only.
local function print_once(...)
  if communicator.rank == 0 then print(...) end
end
print_once(("A network that learns a spiral, by %d process(es)"):format(communicator.size))

cr.utils.set_random_seed(1)
local radius = cr.random.uniform({ 1500, 1 }, 0, 6)
local label = cr.ops.cast(cr.random.uniform({ 1500, 1 }):greater(0.5), "float32")
local angle = radius + label * math.pi
local x = cr.ops.concatenate({ angle:cos() * radius, angle:sin() * radius }, -1)

local model = cr.Sequential {
  cr.layers.Dense(64, { activation = "relu", input_shape = { 2 } }),
  cr.layers.Dropout(0.1),
  cr.layers.Dense(64, { activation = "relu" }),
  cr.layers.Dense(1, { activation = "sigmoid" }),
}
model:compile { optimizer = cr.optimizers.Adam(0.01), loss = "binary_crossentropy" }
local history = model:fit(x, label, { epochs = 5, batch_size = 64, verbose = 0 })

print_once("epoch      loss")
for epoch, loss in ipairs(history.history.loss) do
  print_once(("%5d  %8.4f"):format(epoch, loss))
end
print_once(("loss after 5 epochs: %.4f"):format(history.history.loss[5]))
