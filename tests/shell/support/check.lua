-- What the scripts of this folder share.
local check = {}

function check.near(got, want, tolerance, what)
  tolerance, what = tolerance or 1e-5, what or "value"
  if type(got) == "userdata" then got = got:totable() end
  if type(want) == "table" then
    assert(type(got) == "table" and #got == #want, what .. ": another length")
    for i = 1, #want do check.near(got[i], want[i], tolerance, what .. "[" .. i .. "]") end
  else
    -- an infinite bound would let everything pass
    local finite = math.abs(want) < math.huge
    assert(got == want or finite and math.abs(got - want) <= tolerance * math.max(1, math.abs(want)), string.format("%s: got %.8g, want %.8g", what, got, want))
  end
end

function check.same(got, want, what)
  what = what or "value"
  if type(want) ~= "table" then
    assert(got == want, string.format("%s: got %s, want %s", what, tostring(got), tostring(want)))
    return
  end
  assert(type(got) == "table", what .. ": not a table")
  for key in pairs(want) do check.same(got[key], want[key], what .. "." .. tostring(key)) end
  for key in pairs(got) do assert(want[key] ~= nil, what .. ": unexpected " .. tostring(key)) end
end

--- The function must fail with a message that contains every given text.
function check.fails(f, ...)
  local ok, err = pcall(f)
  assert(not ok, "expected an error")
  for _, text in ipairs { ... } do
    assert(tostring(err):find(text, 1, true), "the message lacks '" .. text .. "':\n" .. tostring(err))
  end
end

function check.temporary(ending)
  local name = os.tmpname()
  os.remove(name)
  return name .. ending
end

return check
