-- The dataset Waves is found by its name, and a model trains with it.
--   CRESCENT_PLUGIN_PATH=. crescent test.lua
local cr = require "crescent"

local data = cr.data.Waves { batches = 4 }
assert(data.batches == 4)
local curve_count = 0
for x, count in data:elements() do
  assert(x.shape[1] == 16 and x.shape[2] == 32 and count.shape[2] == 1)
  curve_count = curve_count + #x
end
assert(curve_count == 64)
local model = cr.Sequential {
  cr.layers.Dense(16, { activation = "tanh", input_shape = { 32 } }),
  cr.layers.Dense(1),
}
model:compile { optimizer = "adam", loss = "mse" }
model:fit(data, { epochs = 3, verbose = 0 })
print "ok acme.waves"
