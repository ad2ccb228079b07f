-- Every function that takes a path refuses a path with a zero byte, because the system would
-- truncate the path there.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
model:compile { loss = "mse" }
local x = cr.ones { 4, 2 }
local path_prefix = check.temporary ""
local function path(ending) return path_prefix .. ending .. "\0" .. ending end

local calls_with_path = {
  read_csv = function() cr.data.read_csv(path ".csv") end,
  read_idx = function() cr.data.read_idx(path ".idx") end,
  read_npy = function() cr.data.read_npy(path ".npy") end,
  read_hdf5 = function() cr.data.read_hdf5(path ".h5", "x") end,
  open_idx = function() cr.data.open_idx(path ".idx") end,
  open_npy = function() cr.data.open_npy(path ".npy") end,
  open_hdf5 = function() cr.data.open_hdf5(path ".h5", "x") end,
  write_npy = function() cr.data.write_npy(path ".npy", x) end,
  write_hdf5 = function() cr.data.write_hdf5(path ".h5", { x = x }) end,
  load_model = function() cr.models.load_model(path ".h5") end,
  save = function() model:save(path ".h5") end,
  save_carefully = function() model:save(path ".h5", { overwrite = false }) end,
  save_weights = function() model:save_weights(path ".h5") end,
  load_weights = function() model:load_weights(path ".h5") end,
  checkpoint = function() cr.callbacks.ModelCheckpoint(path ".h5") end,
  plugin = function() cr.plugins.load(path ".so") end,
  script = function() cr.plugins.load(path ".lua") end,
}

-- files at the truncated paths, which must neither be changed nor read
local endings = { ".csv", ".idx", ".npy", ".h5", ".so", ".lua" }
for _, ending in ipairs(endings) do
  local file = assert(io.open(path_prefix .. ending, "w"))
  file:write "as it was"
  file:close()
end
for name, call_with_path in pairs(calls_with_path) do
  local ok, message = pcall(check.fails, call_with_path, "zero byte")
  assert(ok, name .. ": " .. tostring(message))
end
for _, ending in ipairs(endings) do
  local file = assert(io.open(path_prefix .. ending))
  assert(file:read "a" == "as it was", ending .. " was written to")
  file:close()
  os.remove(path_prefix .. ending)
end
print "ok paths"
