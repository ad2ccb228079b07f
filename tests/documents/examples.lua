-- Runs the first Lua examples of README.md and other documents unchanged. The files that they save
-- are removed.
--   crescent tests/documents/examples.lua
local script_folder = arg[0]:match "^(.*)/[^/]*$" or "."
local root = script_folder .. "/../.."

-- The document, and the heading after which the first Lua example is run.
local kExamples = {
  { "README.md", "A session" },
  { "plugins/README.md", "A layer in Lua" },
}

local function example_of(document, heading)
  local text = assert(io.open(root .. "/" .. document)):read "a"
  local first, last = text:find("\n## " .. heading .. "\n", 1, true)
  assert(first, document .. " has no heading '" .. heading .. "'")
  return assert(text:match("\n```lua\n(.-)\n```\n", last), document .. ": no example of Lua")
end

local temporary_path = os.tmpname()
local saved_path = temporary_path .. ".h5"
for _, row in ipairs(kExamples) do
  local document, heading = table.unpack(row)
  local code = example_of(document, heading)
    :gsub('"examples/', function() return '"' .. root .. "/examples/" end)
    :gsub('save "[^"]*"', function() return ("save %q"):format(saved_path) end)
  local globals = setmetatable({}, { __index = _G })
  assert(load(code, "=" .. document, "t", globals))()
  print("ok " .. document .. ": " .. heading)
end
assert(os.remove(saved_path))
os.remove(temporary_path)
