-- The callback Target stops the training after the first epoch, since the loss is below 1e6.
--   CRESCENT_PLUGIN_PATH=build crescent test.lua
local cr = require "crescent"

local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
model:compile { optimizer = "adam", loss = "mse" }
local history = model:fit(cr.random.normal { 4, 3 }, cr.zeros { 4, 1 },
  { epochs = 5, verbose = 0, callbacks = { cr.callbacks.Target(1e6) } })
assert(#history.history.loss == 1)
print "ok acme.target"
