-- Saves and loads 400 MB of weights (4 MB if S is below 1). For comparison it writes and syncs a
-- file of that size, and reads it again from the page cache.
--   crescent tests/bench/behaviour/save_load.lua [--seconds S]
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"
local width = (measure.total_seconds < 1) and 500 or 5000
local clock = cr.utils.clock

local path = os.tmpname()
os.remove(path)
path = path .. ".h5"
local model = cr.Sequential { cr.layers.Dense(2 * width, { input_shape = { width } }),
  cr.layers.Dense(width) }
local megabytes = model:count_params() * 4 / 1e6

--- The shortest of five times in seconds. The first times are longer because of page faults in
--- fresh memory.
local function shortest_seconds(f)
  local seconds = math.huge
  for _ = 1, 5 do
    local begin = clock()
    f()
    seconds = math.min(seconds, clock() - begin)
  end
  return seconds
end

local function run(command) assert(os.execute(command .. " 2>/dev/null")) end
local copy = path .. ".copy"
local write_seconds = shortest_seconds(function()
  run(string.format("dd if=/dev/zero of=%s bs=1M count=%d conv=fsync", copy,
    math.ceil(megabytes / 1.048576)))
end)
local read_seconds = shortest_seconds(function() run(string.format("dd if=%s of=/dev/null bs=1M",
  copy)) end)
os.remove(copy)
local save_seconds = shortest_seconds(function() model:save_weights(path) end)
local load_seconds = shortest_seconds(function() model:load_weights(path) end)
os.remove(path)

measure.emit("disk_write", megabytes / write_seconds, "MB/s")
measure.emit("save_weights", megabytes / save_seconds, "MB/s")
measure.emit("save_weights_of_disk", write_seconds / save_seconds, "x")
measure.emit("disk_cached_read", megabytes / read_seconds, "MB/s")
measure.emit("load_weights", megabytes / load_seconds, "MB/s")
measure.emit("load_weights_of_disk", read_seconds / load_seconds, "x")
