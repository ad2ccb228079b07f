-- Checks that the map in core/README.md lists every public header, and that the table in
-- examples/README.md lists every example.
--   lua5.4 tests/documents/maps.lua [FOLDER]        FOLDER: another tree
local script_folder = arg[0]:match "^(.*)/[^/]*$" or "."
local root = arg[1] or script_folder .. "/../.."

local function read(path)
  local file = assert(io.open(root .. "/" .. path))
  local text = file:read "a"
  file:close()
  return text
end

-- The paths below the folder that `find` prints for the condition.
local function find_paths(folder, condition)
  local list = assert(io.popen(("cd '%s/%s' && find . %s | sort"):format(root, folder, condition)))
  local paths = {}
  for line in list:lines() do paths[#paths + 1] = line:sub(3) end
  assert(list:close())
  assert(#paths > 0, folder .. " has nothing to look for")
  return paths
end

local missing = {}
local function check_mentions(document, text, path, word)
  if not text:find(word, 1, true) then missing[#missing + 1] = document .. " lacks " .. path end
end

-- The map has a row for each folder of headers, such as `ops/`, which lists the headers in it.
local headers_map = read "core/README.md":match "\n## Map of the headers\n(.*)$"
for _, path in ipairs(find_paths("core/include/crescent", "-name '*.h'")) do
  local folder, name = path:match "^(.-)/?([^/]*)$"
  check_mentions("core/README.md", headers_map, path, name .. "`")
  if folder ~= "" and not headers_map:find(folder .. "/", 1, true) then
    missing[#missing + 1] = "core/README.md lacks the room " .. folder
  end
end

local examples = read "examples/README.md"
for _, path in ipairs(find_paths("examples", "-maxdepth 1 -type f ! -name README.md")) do
  check_mentions("examples/README.md", examples, path, path)
end
for _, path in ipairs(find_paths("examples", "-mindepth 2 -name CMakeLists.txt")) do
  local folder = path:match "^(.*)/"
  check_mentions("examples/README.md", examples, folder, "](" .. folder .. "/")
end

for _, line in ipairs(missing) do io.stderr:write(line, "\n") end
os.exit(#missing == 0)
