-- Assertions for the test scripts in this folder.
local check = {}

function check.near(got, expected, tolerance, what)
  tolerance, what = tolerance or 1e-5, what or "value"
  if type(got) == "userdata" then got = got:totable() end
  if type(expected) == "userdata" then expected = expected:totable() end
  if type(expected) == "table" then
    assert(type(got) == "table" and #got == #expected, what .. ": another length")
    for i = 1, #expected do check.near(got[i], expected[i], tolerance, what .. "[" .. i .. "]") end
  else
    -- an infinite expected value would accept every number
    local is_finite = math.abs(expected) < math.huge
    assert(got == expected or is_finite
      and math.abs(got - expected) <= tolerance * math.max(1, math.abs(expected)),
      string.format("%s: got %.8g, want %.8g", what, got, expected))
  end
end

function check.same(got, expected, what)
  what = what or "value"
  if type(expected) ~= "table" then
    assert(got == expected,
      string.format("%s: got %s, want %s", what, tostring(got), tostring(expected)))
    return
  end
  assert(type(got) == "table", what .. ": not a table")
  for key in pairs(expected) do
    check.same(got[key], expected[key], what .. "." .. tostring(key))
  end
  for key in pairs(got) do
    assert(expected[key] ~= nil, what .. ": unexpected " .. tostring(key))
  end
end

--- The message that the prompt shows for a line of code that fails.
function check.message_of(code)
  local chunk, message = load(code, "=prompt")
  if chunk then
    local ok, failure = pcall(chunk)
    assert(not ok, code .. ": no error")
    message = failure
  end
  return (require("crescent").explained(message, code):gsub("^prompt:1: ", ""))
end

--- Requires that the function fails, with a message that contains every given text.
function check.fails(f, ...)
  local ok, err = pcall(f)
  assert(not ok, "expected an error")
  for _, text in ipairs { ... } do
    assert(tostring(err):find(text, 1, true),
      "the message lacks '" .. text .. "':\n" .. tostring(err))
  end
end

function check.temporary(ending)
  local name = os.tmpname()
  os.remove(name)
  return name .. ending
end

--- Runs a script in a new process of the same interpreter, with additional environment variables
--- ("NAME='value'"); returns whether it succeeded, and all of its output.
function check.run(code, environment)
  local script, out = check.temporary ".lua", check.temporary ".txt"
  local file = assert(io.open(script, "w"))
  file:write("local cr = require 'crescent'\n", code)
  file:close()
  local interpreter = arg[-1]
  local ok = os.execute(string.format("%s '%s' '%s' > '%s' 2>&1", environment or "", interpreter,
    script, out))
  file = assert(io.open(out))
  local text = file:read "a"
  file:close()
  os.remove(script)
  os.remove(out)
  return ok, text
end

return check
