-- Trains a model on the device Relay, which set_device finds by the name of its plugin (acme.relay)
-- or of its class (Relay).
--   CRESCENT_PLUGIN_PATH=build crescent test.lua, or CRESCENT_DEVICE=acme.relay crescent ...
local cr = require "crescent"

cr.config.set_device "acme.relay"
assert(cr.config.device() == "Relay")
local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
model:compile { optimizer = "adam", loss = "mse" }
model:fit(cr.random.normal { 4, 3 }, cr.zeros { 4, 1 }, { epochs = 3, verbose = 0 })
assert(cr.config.information().compiled > 0)
cr.config.set_device "cpu"
cr.config.set_device "Relay"
print "ok acme.relay"
