-- Checks of the elements of a tensor that is given in one line.
local check = require "check"
local cr = require "crescent"
local tensor_checks = {}

--- A tensor of integers from nested tables of numbers.
function tensor_checks.ints(values, dtype) return cr.tensor(values):cast(dtype or "int32") end

local function text(x) return x ~= x and "nan" or string.format("%.5g", x) end

local function flat(values, into)
  if type(values) ~= "table" then values = { values } end
  for _, value in ipairs(values) do
    if type(value) == "table" then flat(value, into) else
      if type(value) == "boolean" then value = value and 1 or 0 end
      into[#into + 1] = text(value)
    end
  end
  return into
end

--- Checks the elements of the tensor as one line and, if given, its dtype; the first argument is
--- the name of the case.
function tensor_checks.check(what, x, want, dtype)
  check.same(flat(x:totable(), {}), flat(want, {}), what)
  if dtype then check.same(x.dtype, dtype, what .. ": dtype") end
end

return tensor_checks
