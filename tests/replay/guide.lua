-- Checks the chapter of the guide on `crescent replay`: runs its block of Lua as a script, and its
-- command, whose output must be that in the comment after the command.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local program = require "program"

local file <close> = assert(io.open(program.here
  .. "/../../examples/guide/11-several-machines.md"))
local text = file:read "a"
local script
for block in text:gmatch "\n```lua\n(.-)\n```" do
  if block:find "ReplayRecorder" then script = block end
end
local record, step, expected_output =
  text:match "\ncrescent replay (%S+) %-%-step (%d+) +# ([^\n]*)\n"

program.with_folder(function(folder)
  local train <close> = assert(io.open(folder .. "/train.lua", "w"))
  train:write(script)
  train:flush()
  local status, output = program.run_in(folder, "train.lua")
  assert(status == 0, output)
  status, output = program.run_in(folder, "replay", record, "--step", step)
  assert(status == 0 and output == expected_output .. "\n", output)
end)
print "the guide's step was equal"
