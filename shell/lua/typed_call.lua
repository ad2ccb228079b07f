-- The call that a text which is being typed is in: the path of what is called, and which of its
-- arguments comes next, by name or by position.
local _, shell = ...
local words = shell.library "show".words

local opening = { ["("] = true, ["["] = true, ["{"] = true }
local closing = { [")"] = true, ["]"] = true, ["}"] = true }

-- The text with the contents of closed strings replaced, so that brackets in them do not count.
local function without_strings(text)
  return (text:gsub("([\"'])(.-)%1", function(quote, inside)
    return quote .. ("_"):rep(#inside) .. quote
  end))
end

-- The brackets that are open at the end of the text, the innermost last: the bracket, its position,
-- how many commas follow it, and where what follows the last of them begins.
local function open_brackets(text)
  local open = {}
  for at, c in text:gmatch "()([%(%)%[%]{},])" do
    if opening[c] then
      open[#open + 1] = { bracket = c, at = at, commas = 0, start = at + 1 }
    elseif closing[c] then
      open[#open] = nil
    elseif #open > 0 then
      open[#open].commas = open[#open].commas + 1
      open[#open].start = at + 1
    end
  end
  return open
end

-- The path of names that a text ends in.
local function path_at_end(text)
  local path = text:match "([%a_][%w_%.:]*)%s*$"
  if path and not words[path] then return path end
end

local typed_call = {}

--- The path of what is called by the innermost bracket that is open and follows a path:
--- "model:fit(x, y, {" or "layers.Dense{".
function typed_call.enclosing(text)
  text = without_strings(text)
  local open = open_brackets(text)
  for i = #open, 1, -1 do
    local path = path_at_end(text:sub(1, open[i].at - 1))
    if path then return path end
  end
end

--- The call in which a text behind this one is an argument, {path, name or position}; nil without
--- one. Of a list that is an argument, each item counts as that argument; `is_key` says that the
--- text is a key of the value at the path.
function typed_call.argument(text)
  text = without_strings(text)
  local called = path_at_end(text)
  if called then return { path = called, position = 1 } end
  local open = open_brackets(text)
  local innermost = open[#open]
  if not innermost then return end
  local name = text:sub(innermost.start):match "^%s*([%a_][%w_]*)%s*=%s*$"
  local position = innermost.commas + 1
  for i = #open, 1, -1 do
    local before = text:sub(1, open[i].at - 1)
    local path, key = path_at_end(before), before:match "([%a_][%w_]*)%s*=%s*$"
    if path then
      return { path = path, name = name, position = position, is_key = open[i].bracket == "[" }
    end
    local outer = open[i - 1]
    if not outer or open[i].bracket ~= "{" then return end
    name = key or (outer.bracket == "(" and name) or nil
    position = outer.commas + 1
  end
end

return typed_call
