-- Checks that every fault of plugins (P), Lua and the prompt (L) in tests/faults/README.md has a
-- test marked with its name in brackets: as a tag of a Catch2 test case, or as a word of the
-- comment at a script's top.
--   lua5.4 tests/documents/faults.lua [FOLDER]        FOLDER: another tree
local script_folder = arg[0]:match "^(.*)/[^/]*$" or "."
local root = arg[1] or script_folder .. "/../.."
local kFaultCounts = { P = 14, L = 9 }

local marked_faults = {}
local tests = assert(io.popen(("grep -rhoE '\\[[PL][0-9]{2}\\]' '%s/tests' --include=*.cpp "
  .. "--include=*.lua --include='build_*'"):format(root)))
for mark in tests:lines() do marked_faults[mark:sub(2, 4)] = true end
tests:close()

local file = assert(io.open(root .. "/tests/faults/README.md"))
local listed_faults = {}
for line in file:lines() do
  local name = line:match "^| ([PL]%d%d) |"
  if name then listed_faults[name] = true end
end
file:close()

local errors = {}
for letter, count in pairs(kFaultCounts) do
  for i = 1, count do
    local name = ("%s%02d"):format(letter, i)
    if not listed_faults[name] then
      errors[#errors + 1] = "tests/faults/README.md has no row " .. name
    end
    if not marked_faults[name] then errors[#errors + 1] = "no test is marked [" .. name .. "]" end
  end
end
table.sort(errors)
for _, line in ipairs(errors) do io.stderr:write(line, "\n") end
os.exit(#errors == 0)
