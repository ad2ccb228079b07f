-- Finds the call in which an incomplete text ends: the path of what is called, and the name or the
-- position of the argument that comes next.
local _, shell = ...
local keywords = shell.library "show".keywords

local opening_brackets = { ["("] = true, ["["] = true, ["{"] = true }
local closing_brackets = { [")"] = true, ["]"] = true, ["}"] = true }

-- Replaces the contents of closed strings in the text, because brackets in strings do not count.
local function without_strings(text)
  return (text:gsub("([\"'])(.-)%1", function(quote, inside)
    return quote .. ("_"):rep(#inside) .. quote
  end))
end

-- The brackets that are open at the end of the text, the innermost last. Each is a table: `bracket`
-- is the character, `at` its position, `commas` the number of commas after it, and `start` the
-- position after the last of these commas (or after the bracket).
local function open_brackets(text)
  local brackets = {}
  for at, character in text:gmatch "()([%(%)%[%]{},])" do
    if opening_brackets[character] then
      brackets[#brackets + 1] = { bracket = character, at = at, commas = 0, start = at + 1 }
    elseif closing_brackets[character] then
      brackets[#brackets] = nil
    elseif #brackets > 0 then
      brackets[#brackets].commas = brackets[#brackets].commas + 1
      brackets[#brackets].start = at + 1
    end
  end
  return brackets
end

-- The path of names at the end of a text; nil if the text does not end with a path.
local function path_at_end(text)
  local path = text:match "([%a_][%w_%.:]*)%s*$"
  if path and not keywords[path] then return path end
end

local typed_call = {}

--- Returns the path before the innermost open bracket that follows a path: "model:fit" for
--- "model:fit(x, y, {" and "layers.Dense" for "layers.Dense{".
function typed_call.enclosing(text)
  text = without_strings(text)
  local brackets = open_brackets(text)
  for i = #brackets, 1, -1 do
    local path = path_at_end(text:sub(1, brackets[i].at - 1))
    if path then return path end
  end
end

--- Returns the name of the option whose name or value is typed at the end of the text, in a table
--- of options; nil if there is none. The name may be incomplete.
function typed_call.option(text)
  text = without_strings(text)
  local brackets = open_brackets(text)
  local innermost_bracket = brackets[#brackets]
  if innermost_bracket and innermost_bracket.bracket == "{" then
    return text:match("^%s*([%a_][%w_]*)", innermost_bracket.start)
  end
end

--- Returns the set of the names of the options that precede, in the same table of options, the
--- option that is typed at the end of the text.
function typed_call.options_before(text)
  text = without_strings(text)
  local open_list, names = open_brackets(text), {}
  local innermost_bracket = open_list[#open_list]
  if not innermost_bracket or innermost_bracket.bracket ~= "{" then return names end
  local items = text:sub(innermost_bracket.at + 1, innermost_bracket.start - 1)
  for _, brackets in ipairs { "%b{}", "%b()", "%b[]" } do items = items:gsub(brackets, "") end
  for name in items:gmatch "([%a_][%w_]*)%s*=%f[^=]" do names[name] = true end
  return names
end

--- Finds the call of which a string that is typed at the end of the text is an argument. Returns
--- {path =, name =, position =}: the path of what is called, and the name and the position of the
--- argument; `name` is nil if the argument has none. For a string in a list, the argument is the
--- list. `is_key` is true if the string is a key of the value at the path. Returns nil if the
--- string is neither an argument nor a key.
function typed_call.argument(text)
  text = without_strings(text)
  local callee = path_at_end(text)
  if callee then return { path = callee, position = 1 } end
  local brackets = open_brackets(text)
  local innermost_bracket = brackets[#brackets]
  if not innermost_bracket then return end
  local name = text:sub(innermost_bracket.start):match "^%s*([%a_][%w_]*)%s*=%s*$"
  local position = innermost_bracket.commas + 1
  for i = #brackets, 1, -1 do
    local text_before = text:sub(1, brackets[i].at - 1)
    local path, key = path_at_end(text_before), text_before:match "([%a_][%w_]*)%s*=%s*$"
    if path then
      return { path = path, name = name, position = position, is_key = brackets[i].bracket == "[" }
    end
    local outer_bracket = brackets[i - 1]
    if not outer_bracket or brackets[i].bracket ~= "{" then return end
    name = key or (outer_bracket.bracket == "(" and name) or nil
    position = outer_bracket.commas + 1
  end
end

return typed_call
