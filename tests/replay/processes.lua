-- Steps that several processes computed with op determinism are equal when one process replays
-- them, whatever data they read; without op determinism, the replay tells why they may differ.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local program = require "program"

local script = [=[
if arg[1] == "deterministic" then cr.config.enable_op_determinism() end
cr.utils.set_random_seed(tonumber(arg[2]))
local x = cr.random.normal { 150, 6 }
local y = cr.ops.sum(x, 1, true)
local model = cr.Sequential {
  cr.layers.Dense(8, { activation = "relu", input_shape = { 6 } }), cr.layers.Dropout(0.2),
  cr.layers.BatchNormalization(), cr.layers.Dense(1) }
model:compile { optimizer = "adam", loss = "mse", metrics = { "mae" } }
local data = {
  arrays = function() return x, y end,
  dataset = function() return cr.data.dataset(x, y, { batch_size = 40, shuffle = true }) end,
  stream = function()
    return cr.data.from_tensor_slices({ x, y }):shuffle(64):batch(40)
  end,
  mapped = function()
    return cr.data.from_tensor_slices({ x, y }):batch(40):map(function(a, b) return a * 2, b end)
  end }
local arguments = { data[arg[3]]() }
table.insert(arguments, { epochs = 3, batch_size = 40, verbose = 0,
  callbacks = { cr.callbacks.ReplayRecorder("record", { save_freq = 5 }) } })
if arg[3] ~= "arrays" then arguments[#arguments].batch_size = nil end
model:fit(table.unpack(arguments))
]=]

--- Records the script by several processes and replays a step in one.
local function replay_of(count, kind, data, step)
  local status, text
  program.with_folder(function(folder)
    local file <close> = assert(io.open(folder .. "/train.lua", "w"))
    file:write(script)
    file:flush()
    local command = "cd %s && mpirun -n %d --timeout 300 '%s' train.lua %s %d %s 2>&1"
    local pipe = assert(io.popen(command:format(folder, count, os.getenv "CRESCENT_PROGRAM", kind,
      count, data)))
    text = pipe:read "a"
    assert(pipe:close(), text)
    status, text = program.run("replay", folder .. "/record", "--step", step)
  end)
  return status, text
end

math.randomseed(1)
for count = 1, 4 do
  for _, data in ipairs { "arrays", "dataset", "stream", "mapped" } do
    local step = math.random(12)
    local status, text = replay_of(count, "deterministic", data, step)
    assert(status == 0 and text:find("step " .. step .. ": equal", 1, true),
      ("%d processes, %s: %s"):format(count, data, text))
  end
end
local status, text = replay_of(3, "plain", "arrays", 12)
assert(status == 1 and text:find(" differs first (", 1, true)
  and text:find("recorded by 3 processes without op determinism", 1, true), text)
print "16 steps of several processes were equal in one"
