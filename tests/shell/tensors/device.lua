-- The current device: its name, its options, available devices. Runs on the device that
-- CRESCENT_DEVICE names.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

local first_device = cr.config.device()
assert(first_device == (os.getenv "CRESCENT_DEVICE" or "cpu"))
local device_by_name = {}
for _, device in ipairs(cr.config.devices()) do device_by_name[device.name] = device end
assert(device_by_name.cpu and #device_by_name.cpu.doc > 0)
check.same(device_by_name.cpu.options, { "threads", "deterministic", "overlap" })
assert(device_by_name[first_device].in_use)

cr.config.set_device("cpu", { threads = 2 })
assert(cr.config.device() == "cpu" and cr.config.threads() == 2)
cr.config.set_device("cpu", { deterministic = true })
assert(cr.config.threads() == 2 and cr.config.is_op_determinism_enabled())
cr.config.enable_op_determinism(false)
assert(not cr.config.is_op_determinism_enabled())
cr.config.set_threads(1)
assert(cr.config.threads() == 1 and cr.config.information().threads == 1)
cr.config.set_device "cpu"
assert(cr.config.threads() == 1)

check.fails(function()
  cr.config.set_device "cpus"
end, "unknown device 'cpus'", "did you mean 'cpu'?")
check.fails(function()
  cr.config.set_device("cpu", { thread = 1 })
end, "no option 'thread'", "did you mean 'threads'?")
check.fails(function() cr.config.set_device("cpu", { threads = -1 }) end, "threads", "-1")
check.fails(function() cr.config.set_threads(1e9) end, "threads")
check.fails(function() cr.config.set_device("cpu", { threads = "many" }) end, "threads")
assert(cr.config.device() == "cpu" and cr.config.threads() == 1)
cr.config.set_device("cpu", { threads = 0 })

-- Results computed on one device can be used on another one.
local x = cr.tensor { 1, 2, 3 }
local square = cr.compiled(function(t) return t * t end)
local squared_x = square(x)
cr.config.set_device(first_device)
check.near(square(squared_x), { 1, 16, 81 })
check.near(squared_x + x, { 2, 6, 12 })
assert(tostring(square(x)) == tostring(squared_x) and square(x)[2] == 4)

-- With a single process, the communicator is "single".
local communicator = cr.config.communicator()
assert(communicator.name == "single" and communicator.rank == 0 and communicator.size == 1)
cr.config.set_communicator "single"
check.fails(function()
  cr.config.set_communicator "singel"
end, "unknown communicator 'singel'", "did you mean 'single'?")
check.fails(function() cr.config.set_communicator("single", { size = 2 }) end, "no option 'size'")
