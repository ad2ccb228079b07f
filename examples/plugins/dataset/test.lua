-- A model learns to tell on which of the two spirals a point lies.
--   CRESCENT_PLUGIN_PATH=build crescent test.lua
local cr = require "crescent"

local data = cr.data.Spirals { samples = 200, turns = 0.5 }
assert(data.batches == 200)
for point, class in data:take(1):elements() do
  assert(point.shape[1] == 2 and class:item() == 0)
end
local model = cr.Sequential {
  cr.layers.Dense(32, { activation = "tanh", input_shape = { 2 } }),
  cr.layers.Dense(2, { activation = "softmax" }),
}
model:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy" }
model:fit(data:shuffle(200):batch(32), { epochs = 3, verbose = 0 })
print "ok acme.spirals"
