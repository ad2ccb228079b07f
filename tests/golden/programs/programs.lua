-- Models of Keras with custom classes: the folder `programs` of the recorded cases has these
-- classes in Lua, and a script for each that loads, evaluates, trains and saves the model. Exactly
-- the files listed in differing.lua may differ; archives that are saved again must have their
-- arrays under the paths of Keras.
--   crescent programs.lua
local cases = os.getenv "CRESCENT_GOLDEN" .. "/programs"
if not io.open(cases .. "/check.lua") then
  print("skipped: " .. cases .. "/check.lua is not there")
  os.exit(77)
end
local expected = dofile((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/differing.lua")

local original_print, original_exit, original_getenv = print, os.exit, os.getenv
local program = arg[-1]
local scratch = os.tmpname()
os.remove(scratch)
local problems, total = {}, nil
-- The script prints one line for each file that differs, then the number of files that agree.
function print(file, problem)
  if problem then problems[file] = problem else total = tonumber(file:match "^%d+/(%d+)$") end
end
function os.exit() end
function os.getenv(name) return name == "BACK" and scratch or original_getenv(name) end
arg = { cases }
dofile(cases .. "/check.lua")

--- The list of arrays in an archive, one per line.
local function arrays_in(path)
  local pipe = assert(io.popen(string.format("'%s' inspect '%s' --json", program, path)))
  local text = pipe:read "a"
  pipe:close()
  local arrays = {}
  local array = '"name": "([^"]*vars/%d+)", "dtype": "(%w+)", "shape": (%b[])'
  for name, dtype, shape in text:gmatch(array) do
    arrays[#arrays + 1] = name .. " " .. dtype .. " " .. shape
  end
  return table.concat(arrays, "\n"), #arrays
end

local compared_count = 0
for folder in io.popen("ls '" .. scratch .. "'"):lines() do
  local saved_path = scratch .. "/" .. folder .. "/keras.keras"
  local recorded, count = arrays_in(cases .. "/" .. folder .. "/model.keras")
  if io.open(saved_path) and not problems[folder .. ".keras"] then
    compared_count = compared_count + count
    local written = arrays_in(saved_path)
    if written ~= recorded then
      problems[folder .. ".keras"] = "saved again it has\n" .. written .. "\nwhere Keras has\n"
        .. recorded
    end
  end
end
os.execute("rm -rf '" .. scratch .. "'")

local failed = not total or total == 0 or compared_count == 0
local differing_count = 0
for file, problem in pairs(problems) do
  differing_count = differing_count + 1
  if not expected[file] then
    original_print(file .. " differs, and is not in differing.lua: " .. problem)
    failed = true
  end
end
for file in pairs(expected) do
  if not problems[file] then
    original_print(file .. " agrees: take it out of differing.lua")
    failed = true
  end
end
original_print(string.format("%d files, %d agree; %d arrays were where they were", total or 0,
  (total or 0) - differing_count, compared_count))
original_exit(not failed)
