-- Seconds from starting the process to the first computed tensor: the median of several starts.
--   crescent tests/bench/start.lua PROGRAM
local cr = require "crescent"
local command = string.format("exec '%s' -e 'cr.ones { 1 }:sum()'",
  assert(arg[1], "expected the program to start"))

local seconds = {}
for i = 1, 15 do
  local begin = cr.utils.clock()
  assert(os.execute(command))
  seconds[i] = cr.utils.clock() - begin
end
table.sort(seconds)
print(string.format("%-32s %14.4f s", "import_s", seconds[#seconds // 2 + 1]))
