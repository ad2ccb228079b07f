-- The memory use of this process as the system reports it.
local memory = {}

--- The memory use in MiB that Linux calls `name`: "VmRSS" is the current use, "VmHWM" the peak.
function memory.mib(name)
  for line in io.lines "/proc/self/status" do
    local kib = line:match("^" .. name .. ":%s*(%d+)")
    if kib then return tonumber(kib) / 1024 end
  end
end

return memory
