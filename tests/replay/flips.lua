-- A bit of a weight flips at a random step of a random training, and the replay of that step names
-- the weight. Replays of earlier steps find no difference.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local program = require "program"

for seed = 101, 115 do
  program.with_folder(function(folder)
    program.record(seed, folder)
    math.randomseed(seed)
    local count = program.steps_of(folder)
    local flipped = math.random(count)
    local weight = program.record(seed, folder, flipped):match "^(.-)\n$"
    -- The script without the argument that flips the bit.
    local function replay(step)
      return program.run("replay", folder, "--step", step, program.here .. "/training.lua", seed,
        folder)
    end
    local status, text = replay(flipped)
    local begins = ("step %d: %s differs first (1 of "):format(flipped, weight)
    assert(status == 1 and text:sub(1, #begins) == begins,
      ("training %d, %s: %s"):format(seed, begins, text))
    if flipped > 1 then
      assert(replay(flipped - 1) == 0, "the step before")
    end
    if flipped < count then
      status, text = replay(count)
      assert(status == 0 or text:sub(1, #begins) == begins, "the last step: " .. text)
    end
  end)
end
print "15 flipped bits were found"
