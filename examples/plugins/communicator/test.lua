-- Trains a model with the communicator Alone, which set_communicator finds by the name of its
-- plugin (acme.alone) or of its class (Alone).
--   CRESCENT_PLUGIN_PATH=build crescent test.lua, or CRESCENT_COMMUNICATOR=acme.alone crescent ...
local cr = require "crescent"

cr.config.set_communicator "acme.alone"
local communicator = cr.config.communicator()
assert(communicator.name == "Alone" and communicator.rank == 0 and communicator.size == 1)
local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
model:compile { optimizer = "adam", loss = "mse" }
model:fit(cr.random.normal { 4, 3 }, cr.zeros { 4, 1 }, { epochs = 3, verbose = 0 })
cr.config.set_communicator "single"
cr.config.set_communicator "Alone"
print "ok acme.alone"
