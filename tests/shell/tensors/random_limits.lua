-- Random numbers stay within their limits in every dtype.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops = cr.ops

local function min_and_max(x)
  x = x:cast "float64"
  return ops.min(x):item(), ops.max(x):item()
end

-- uniform numbers are below the upper limit, truncated normal ones within two standard deviations
for _, dtype in ipairs { "float16", "bfloat16", "float32", "float64" } do
  for _, limits in ipairs { { 0, 1 }, { -1, 0 }, { -3, -2 }, { 0, 0.1 }, { 1, 1.25 } } do
    local low, high = table.unpack(limits)
    local bound = cr.tensor({ high }):cast(dtype):cast "float64":totable()[1]
    for _, n in ipairs { 5, 1023, 1025, 100003 } do
      local minimum, maximum = min_and_max(cr.random.uniform({ n }, low, high, dtype, 7))
      local what = string.format("%s from %g to %g: %.9g to %.9g", dtype, low, high, minimum,
        maximum)
      assert(maximum < bound
        and minimum >= cr.tensor({ low }):cast(dtype):cast "float64":totable()[1],
        what)
      if n > 100000 then assert(maximum > high - 0.05 * (high - low), what) end
    end
  end
  for _, deviation in ipairs { 1, 0.05, 3 } do
    for _, n in ipairs { 1023, 1025, 100003 } do
      local minimum, maximum = min_and_max(
        cr.random.truncated_normal({ n }, 0.5, deviation, dtype, 3))
      local allowed_deviation = 2 * deviation
      assert(minimum >= 0.5 - allowed_deviation and maximum <= 0.5 + allowed_deviation,
        string.format("%s, deviation %g: %.9g to %.9g", dtype, deviation, minimum, maximum))
    end
  end
end
-- 16-bit random numbers are those of float32, rounded
for _, dtype in ipairs { "float16", "bfloat16" } do
  local half_width_numbers = cr.random.normal({ 3001 }, 1, 2, dtype, 5)
  check.same(half_width_numbers:totable(),
    cr.random.normal({ 3001 }, 1, 2, "float32", 5):cast(dtype):totable())
end
