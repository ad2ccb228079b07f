-- Random small trainings are recorded, and a random step of each is computed again: it is equal.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local program = require "program"

local first, last = tonumber(arg[1] or 1), tonumber(arg[2] or 50)
for seed = first, last do
  program.with_folder(function(folder)
    program.record(seed, folder)
    math.randomseed(seed)
    local step = math.random(program.steps_of(folder))
    local status, text = program.run("replay", folder, "--step", step)
    local expected = ("^step %d: equal %%(%%d+ tensors%%)\n$"):format(step)
    assert(status == 0 and text:find(expected), ("training %d: %s"):format(seed, text))
  end)
end
print((last - first + 1) .. " steps were equal")
