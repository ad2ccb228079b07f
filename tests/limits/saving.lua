-- Saving and loading a model needs little memory beyond the weights (S13 of
-- tests/faults/README.md).
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../shell/support/?.lua;") .. package.path
local check = require "check"
local memory = require "memory"
local cr = require "crescent"

--- By how much peak memory during `work` exceeds the memory in use before, and the time in seconds.
local function cost(work)
  collectgarbage()
  collectgarbage()
  local reset = assert(io.open("/proc/self/clear_refs", "w"))
  reset:write "5"  -- resets the recorded peak
  reset:close()
  local old_mib, start = memory.mib "VmRSS", os.time()
  local result = work()
  return memory.mib "VmHWM" - old_mib, os.difftime(os.time(), start), result
end

local function large_model()
  local layers = {}
  for i = 1, 8 do layers[i] = cr.layers.Dense(2048, { input_shape = { 2048 } }) end
  return cr.Sequential(layers)
end

local model = large_model()
local weights_mib = model:count_params() * 4 / 2 ^ 20
for _, ending in ipairs { ".h5", ".keras", ".weights.h5" } do
  local path = check.temporary(ending)
  local is_whole_model = ending == ".h5" or ending == ".keras"
  local save_mib, save_seconds = cost(function()
    if is_whole_model then model:save(path) else model:save_weights(path) end
  end)
  local load_mib, load_seconds = cost(function()
    if is_whole_model then return cr.models.load_model(path) end
    model:load_weights(path)
  end)
  if is_whole_model then load_mib = load_mib - weights_mib end
  print(
    ("fault: S13 %s, %.0f MB of weights: saved in %d s with %.0f MB more, loaded in %d s with %.0f")
      :format(ending, weights_mib, save_seconds, save_mib, load_seconds, load_mib))
  assert(save_mib < 64 and load_mib < 64, ending)
  os.remove(path)
end
