-- Temporary tensors are collected in time, and errors leave nothing behind.
local cr = require "crescent"

local function resident()
  for line in io.lines "/proc/self/status" do
    local kilobytes = line:match "^VmRSS:%s*(%d+)"
    if kilobytes then return tonumber(kilobytes) / 1024 end
  end
end

-- A sanitizer keeps freed memory for a while.
local sanitized = io.open("/proc/self/maps"):read("a"):find "lib[at]san"
local live = cr.ones { 4, 1024, 1024 } -- 16 MiB that stay
local x = live[1]:reshape { 1024, 1024 }:slice(1, 64)
local _ = (x + 1):sum():item()
local before, most = resident(), 0
for i = 1, 100000 do
  local small = x + i -- 256 KiB each: 25 GiB in all
  if i % 1000 == 0 then most = math.max(most, resident()) end
end
assert(sanitized or most < before + 32, string.format("memory went from %.0f to %.0f MiB", before, most))

-- failing calls free what they had made
local function rounds(n, f)
  for _ = 1, n do pcall(f) end
  collectgarbage()
  local start = resident()
  for _ = 1, 10 * n do pcall(f) end
  collectgarbage()
  local grown = resident() - start
  assert(sanitized or grown < 8, string.format("%.1f MiB more after errors", grown))
end
rounds(2000, function() return x:matmul(cr.ones { 3, 3 }) end)
rounds(2000, function() return cr.layers.Dense { units = 3, nonsense = { 1, 2, 3 } } end)
rounds(2000, function() return cr.tensor { { 1, 2 }, { 3, "x" } } end)
rounds(500, function() return cr.GradientTape(function() error "stop" end) end)
local Bad = cr.Layer:subclass "BadInMemory"
function Bad:call(x) return x:matmul(x):matmul(error "stop") end
local bad = Bad()
rounds(500, function() return bad(cr.ones { 8, 8 }) end)

-- coroutines may call into the module
local worker = coroutine.wrap(function()
  for i = 1, 3 do coroutine.yield(cr.ones { 2 } * i) end
  local layer = cr.layers.Lambda(function(t) return t + 1 end)
  coroutine.yield(layer(cr.ones { 2 }))
end)
for _ = 1, 3 do worker() end
assert(worker():sum():item() == 4)
print "ok memory"
