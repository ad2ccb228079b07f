-- Compares training from files with training from memory, for each way to shuffle the samples.
--   crescent tests/bench/behaviour/input.lua [--threads N] [--seconds S]
-- --seconds is the time for each way to shuffle; less than one second uses few samples.
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
model:compile { optimizer = "adam",
  loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true } }

--- Runs epochs on all sources in turn until `measure.total_seconds` have passed; returns for each
--- source the list of seconds per epoch.
local function measure_sources(shuffle)
  local seconds, begin = {}, cr.utils.clock()
  repeat
    for i, source in ipairs(sources) do
      local _, inputs, targets = table.unpack(source)
      local start = cr.utils.clock()
      model:fit(inputs, targets, { batch_size = 128, shuffle = shuffle, verbose = 0 })
      seconds[i] = seconds[i] or {}
      table.insert(seconds[i], cr.utils.clock() - start)
    end
  until cr.utils.clock() - begin > measure.total_seconds
  return seconds
end

local function median(values)
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  return sorted[(#sorted + 1) // 2]
end

for _, order in ipairs { { "in_order", false }, { "shuffled_batches", "batch" },
  { "shuffled", true } } do
  measure_sources(order[2])
  local seconds = measure_sources(order[2])
  local memory_seconds = seconds[1]
  for i, source in ipairs(sources) do
    local name, extra_costs = "input_" .. order[1] .. "_" .. source[1], {}
    for r, s in ipairs(seconds[i]) do extra_costs[r] = 100 * (s / memory_seconds[r] - 1) end
    measure.emit(name, samples / median(seconds[i]), "samples/s")
    if i > 1 then measure.emit(name .. "_cost", median(extra_costs), "%") end
  end
end
for _, file in ipairs(files) do os.remove(file) end
