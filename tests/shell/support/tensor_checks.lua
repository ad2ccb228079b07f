-- Functions that make small tensors and compare their elements with expected values.
local check = require "check"
local cr = require "crescent"
local tensor_checks = {}

--- A tensor of integers from nested tables of numbers.
function tensor_checks.ints(values, dtype) return cr.tensor(values):cast(dtype or "int32") end

local function number_text(x) return x ~= x and "nan" or string.format("%.5g", x) end

local function flat_texts(values, texts)
  if type(values) ~= "table" then values = { values } end
  for _, value in ipairs(values) do
    if type(value) == "table" then flat_texts(value, texts) else
      if type(value) == "boolean" then value = value and 1 or 0 end
      texts[#texts + 1] = number_text(value)
    end
  end
  return texts
end

--- Compares the elements of the tensor, as one flat list, with those of `expected` and, if `dtype`
--- is given, its dtype; `what` names the case in messages.
function tensor_checks.check(what, x, expected, dtype)
  check.same(flat_texts(x:totable(), {}), flat_texts(expected, {}), what)
  if dtype then check.same(x.dtype, dtype, what .. ": dtype") end
end

return tensor_checks
