-- Checks the layer Swish (gradients, shapes, files, precisions, ...) and trains with it.
--   CRESCENT_PLUGIN_PATH=build crescent test.lua
local cr = require "crescent"

print(cr.check.layer(cr.layers.Swish, { initializer = "normal" }, { 3 }))

local x = cr.random.normal { 4, 3 }
local model = cr.Sequential { cr.layers.Swish { input_shape = { 3 } }, cr.layers.Dense(1) }
model:compile { optimizer = "adam", loss = "mse" }
model:fit(x, cr.zeros { 4, 1 }, { epochs = 3, verbose = 0 })
print "ok acme.swish"
