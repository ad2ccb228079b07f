-- A bit of a weight flips at a random step of a random training, and the replay of that step names
-- the weight. Replays of earlier steps find no difference.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local program = require "program"

for seed = 101, 115 do
  program.with_folder(function(folder)
    program.record(seed, folder)
    math.randomseed(seed)
    local step_count = program.steps_of(folder)
    local flipped_step = math.random(step_count)
    local weight = program.record(seed, folder, flipped_step):match "^(.-)\n$"
    -- Replays a step with the script, but without the argument that flips the bit.
    local function replay(step)
      return program.run("replay", folder, "--step", step, program.here .. "/training.lua", seed,
        folder)
    end
    local status, text = replay(flipped_step)
    local expected_start = ("step %d: %s differs first (1 of "):format(flipped_step, weight)
    assert(status == 1 and text:sub(1, #expected_start) == expected_start,
      ("training %d, %s: %s"):format(seed, expected_start, text))
    if flipped_step > 1 then
      assert(replay(flipped_step - 1) == 0, "the step before")
    end
    if flipped_step < step_count then
      status, text = replay(step_count)
      assert(status == 0 or text:sub(1, #expected_start) == expected_start,
        "the last step: " .. text)
    end
  end)
end
print "15 flipped bits were found"
