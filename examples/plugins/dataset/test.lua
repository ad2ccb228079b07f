-- A model learns which curve a point is of.
--   CRESCENT_PLUGIN_PATH=build crescent test.lua
local cr = require "crescent"

local x, y = cr.ops.spirals(200, { turns = 0.5 })
assert(x.shape[1] == 200 and x.shape[2] == 2 and cr.ops.sum(y):item() == 100)
local model = cr.Sequential {
  cr.layers.Dense(32, { activation = "tanh", input_shape = { 2 } }),
  cr.layers.Dense(2, { activation = "softmax" }),
}
model:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy" }
model:fit(x, y, { epochs = 3, verbose = 0 })
print "ok acme.spirals"
