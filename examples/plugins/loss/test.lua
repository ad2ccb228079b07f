-- Compares the loss Quartic with its formula and trains with it.
--   CRESCENT_PLUGIN_PATH=build crescent test.lua
local cr = require "crescent"

local value = cr.losses.Quartic()(cr.tensor { { 0, 0 } }, cr.tensor { { 1, 2 } }):item()
assert(math.abs(value - (1 + 16) / 2) < 1e-5, value)

local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
model:compile { optimizer = "adam", loss = cr.losses.Quartic { scale = 2 } }
model:fit(cr.random.normal { 4, 3 }, cr.zeros { 4, 1 }, { epochs = 3, verbose = 0 })
print "ok acme.quartic"
