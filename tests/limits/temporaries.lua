-- 100,000 temporary tensors of 100 kB stay under twice what is alive (and a little for the
-- interpreter).
local cr = require "crescent"
local alive = {}
for i = 1, 200 do alive[i] = cr.ones { 25600 } end

local function peak()
  for line in io.lines "/proc/self/status" do
    local kilobytes = line:match "^VmHWM:%s*(%d+)"
    if kilobytes then return tonumber(kilobytes) / 1024 end
  end
end

local x = cr.ones { 25600 }
local _ = x + 1
collectgarbage()
local before = peak()
for _ = 1, 100000 do local temporary = x + 1 end
local after = peak()
print(string.format("peak %.1f MB before, %.1f MB after", before, after))
assert(after - before < 200 * 25600 * 4 / 1024 / 1024 + 8, "temporaries are not collected in time")
print "ok temporaries"
