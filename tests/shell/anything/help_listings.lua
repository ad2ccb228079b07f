-- What help shows of tables, kinds of classes, tensors, models and functions of Lua.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
_G.cr = cr

local function help_of(...)
  local lines, print_before = {}, print
  function print(text) lines[#lines + 1] = text end
  local ok, message = pcall(cr.help, ...)
  print = print_before
  assert(ok, message)
  return table.concat(lines, "\n")
end

local function check_has(text, ...)
  for _, part in ipairs { ... } do
    assert(text:find(part, 1, true), "no " .. part .. " in\n" .. text)
  end
end

do -- functions that only the program calls are not shown, offered or listed
  local text = help_of(cr)
  check_has(text, "Tables:\n", "datasets", "\n  describe  ", "\n  zeros  ", "A tensor of zeros.")
  local listed = {}
  for _, row in ipairs(cr.listing().functions) do listed[row.path] = true end
  for _, name in ipairs { "begin_prompt", "complete", "complete_value", "explained", "hint",
    "printable" } do
    assert(not text:find("%f[%w_]" .. name .. "%f[^%w_]"), name)
    check.same(cr.complete("cr." .. name), {}, name)
    assert(not listed["cr." .. name], name)
    assert(type(rawget(cr, name)) ~= "nil", name)
  end
end

do -- long listings are in groups
  check_has(help_of(cr.layers), "\n  pooling:\n      AdaptiveAveragePooling1D,",
    "\n  recurrent:\n      ConvLSTM1D,")
  check_has(help_of(cr.losses), "Every loss there is:\n  BinaryCrossentropy,")
  check_has(help_of(cr.ops), "\n  arithmetic:\n      abs, absolute, add,",
    "\n  sorting:\n      argpartition,")
  local text = help_of(cr.zeros { 2 })
  check_has(text, "\n  shapes:\n      append,", "\n  comparisons:\n      allclose,",
    "x[{ { 1, 3 }, {} }]", "Positions count from 1", "x[mask]", "can be assigned",
    "count from 0")
  check_has(help_of(cr.Sequential()), "\nMethods:\n  add(", "Methods of every layer:\n  add_loss(")
end

-- functions that take or give positions say that these count from 0
for _, name in ipairs { "argmax", "argmin", "nanargmax", "nanargmin", "argsort", "argpartition",
  "take", "take_along_axis", "top_k", "searchsorted", "nonzero", "unravel_index", "one_hot",
  "multi_hot", "scatter", "scatter_update", "slice", "slice_update", "get_item" } do
  check_has(help_of(cr.ops[name]), "from 0")
end

do -- the example of the tensor's help is right
  local x = cr.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
  check.same(x[{ -1, { 2, 3 } }]:totable(), { 5.0, 6.0 })
end

check_has(help_of(cr.datasets.mnist), "load_data", "Loads the data as two tables")
check.same(help_of { alpha = 1, beta = 2 }, "A table with: alpha, beta")
check_has(help_of "Defazio", "(Defazio et al. 2024)")

do -- every function of Lua has a signature and a line
  check_has(help_of(string.format), "string.format(format, ...)", "Fills values into a text")
  check_has(help_of(math.floor), "math.floor(x)", "The largest integer")
  for _, namespace in ipairs { "coroutine", "debug", "io", "math", "os", "package", "string",
    "table", "utf8" } do
    for name, f in pairs(_G[namespace]) do
      if type(f) == "function" then
        assert(help_of(f):find("^" .. namespace .. "%.%w+%b()\n%S"), namespace .. "." .. name)
      end
    end
  end
  for _, name in ipairs { "assert", "collectgarbage", "error", "ipairs", "next", "pairs", "pcall",
    "rawget", "select", "setmetatable", "tonumber", "tostring", "type", "xpcall" } do
    check_has(help_of(_G[name]), name .. "(")
  end
  local names, _, help_lines = cr.complete "('abc'):upp"
  check.same({ names, help_lines }, { { "upper" }, { "The text in capital letters." } })
end

print "ok help_listings"
