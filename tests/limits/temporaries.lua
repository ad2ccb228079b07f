-- The peak memory for 100,000 temporary tensors of 100 kB must stay below twice the memory that is
-- in use at a time (and a little for the interpreter).
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../shell/support/?.lua;") .. package.path
local memory = require "memory"
local cr = require "crescent"
local living_tensors = {}
for i = 1, 200 do living_tensors[i] = cr.ones { 25600 } end

local x = cr.ones { 25600 }
local _ = x + 1
collectgarbage()
local peak_before = memory.mib "VmHWM"
for _ = 1, 100000 do local temporary = x + 1 end
local peak_after = memory.mib "VmHWM"
print(string.format("peak %.1f MB before, %.1f MB after", peak_before, peak_after))
assert(peak_after - peak_before < 200 * 25600 * 4 / 1024 / 1024 + 8,
  "temporaries are not collected in time")
print "ok temporaries"
