-- What the system says of this process.
local memory = {}

--- In MiB: "VmRSS" what it has, "VmHWM" the most that it had.
function memory.mib(name)
  for line in io.lines "/proc/self/status" do
    local kib = line:match("^" .. name .. ":%s*(%d+)")
    if kib then return tonumber(kib) / 1024 end
  end
end

return memory
