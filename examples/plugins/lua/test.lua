-- The plugin's layer is available by its name, and a model trains with it.
--   CRESCENT_PLUGIN_PATH=. crescent test.lua
local cr = require "crescent"

local x = cr.random.normal { 4, 3 }
assert(cr.ops.max(cr.ops.abs(cr.layers.Gate()(x) - x / 2)):item() < 1e-6)
local model = cr.Sequential { cr.layers.Gate { input_shape = { 3 } }, cr.layers.Dense(1) }
model:compile { optimizer = "adam", loss = "mse" }
model:fit(x, cr.zeros { 4, 1 }, { epochs = 3, verbose = 0 })
print "ok acme.gate"
