-- What training from files costs over training from memory, for every order of samples.
--   crescent tests/bench/behaviour/input.lua [--threads N] [--seconds S]     less than a second: few samples
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local layers = cr.layers

local samples = measure.total_seconds < 1 and 512 or 16384
local x, y = measure.uniform(784)(samples), measure.integers(10)(samples)
local path = os.tmpname()
os.remove(path)
local files = { path .. ".h5", path .. ".x.npy", path .. ".y.npy" }
cr.data.write_hdf5(files[1], { x = x, y = y })
cr.data.write_npy(files[2], x)
cr.data.write_npy(files[3], y)
local sources = {
  { "memory", x, y },
  { "hdf5", cr.data.open_hdf5(files[1], "x"), cr.data.open_hdf5(files[1], "y") },
  { "npy", cr.data.open_npy(files[2]), cr.data.open_npy(files[3]) },
}
local model = cr.Sequential {
  layers.Dense(512, { activation = "relu", input_shape = { 784 } }),
  layers.Dense(512, { activation = "relu" }),
  layers.Dense(10),
}
model:compile { optimizer = "adam", loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true } }

for _, order in ipairs { { "in_order", false }, { "shuffled_batches", "batch" }, { "shuffled", true } } do
  local memory
  for _, source in ipairs(sources) do
    local name, inputs, targets = table.unpack(source)
    local function epochs() model:fit(inputs, targets, { batch_size = 128, epochs = 2, shuffle = order[2], verbose = 0 }) end
    epochs()
    local speed = 2 * samples / measure.seconds_per_call(epochs)
    memory = memory or speed
    measure.emit("input_" .. order[1] .. "_" .. name, speed, "samples/s")
    if name ~= "memory" then measure.emit("input_" .. order[1] .. "_" .. name .. "_cost", 100 * (memory / speed - 1), "%") end
  end
end
for _, file in ipairs(files) do os.remove(file) end
