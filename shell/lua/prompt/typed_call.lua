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

local typed_call = {}

--- Whether brackets or a string behind this text are the arguments of a call, or a key.
function typed_call.is_callee(text)
  return text:find "[%w_%]%)}\"']$" ~= nil and not keywords[text:match "[%w_]*$"]
    and not text:find "%f[%w_%.]%d[%w_%.]*$"
end

-- The text before the bracket at this position, without blanks at its end, if it can be called; nil
-- otherwise.
local function callee_before(text, position)
  local callee = text:sub(1, position - 1):match "^(.-)%s*$"
  return typed_call.is_callee(callee) and callee or nil
end

--- The position of the bracket that the last character of the text closes, and this character; nil
--- if the text does not end in a bracket that closes one.
function typed_call.last_brackets(text)
  local masked_text, depth = without_strings(text), 0
  local last = masked_text:sub(-1)
  if not closing_brackets[last] then return nil end
  for position = #masked_text, 1, -1 do
    local character = masked_text:sub(position, position)
    if closing_brackets[character] then
      depth = depth + 1
    elseif opening_brackets[character] then
      depth = depth - 1
      if depth == 0 then return position, last end
    end
  end
end

--- The position of the quotation mark at which the string at the end of the text begins; nil if the
--- text does not end in a string.
function typed_call.last_string(text)
  return without_strings(text):match "()([\"'])_*%2$"
end

-- Calls visit(position, rest) for each position of the text outside brackets and strings, with the
-- text from there on, in which strings are masked. visit returns how many bytes it has read.
local function visit_outside_brackets(text, visit)
  local masked_text, depth, position = without_strings(text), 0, 1
  while position <= #masked_text do
    local character, length = masked_text:sub(position, position), nil
    if opening_brackets[character] then
      depth = depth + 1
    elseif closing_brackets[character] then
      depth = depth - 1
    elseif depth == 0 then
      length = visit(position, masked_text)
    end
    position = position + (length or 1)
  end
end

--- The list of the items that commas separate in the text of arguments or of a list.
function typed_call.items(text)
  local items, start = {}, 1
  visit_outside_brackets(text, function(position, masked_text)
    if masked_text:sub(position, position) ~= "," then return end
    items[#items + 1] = text:sub(start, position - 1):match "^%s*(.-)%s*$"
    start = position + 1
  end)
  items[#items + 1] = text:sub(start):match "^%s*(.-)%s*$"
  return items
end

local operator_patterns = { "^(%.%.)", "^([~=<>]=)", "^(//)", "^([%+%-%*/%%%^<>#])",
  "^%f[%w_](and)%f[^%w_]", "^%f[%w_](or)%f[^%w_]", "^%f[%w_](not)%f[^%w_]" }

--- The operands of an expression, and the set of its operators, in which "comparison" stands for
--- all comparisons.
function typed_call.operands(text)
  local operands, operators, start = {}, {}, 1
  local function add_operand(last)
    local operand = text:sub(start, last):match "^%s*(.-)%s*$"
    if operand ~= "" then operands[#operands + 1] = operand end
  end
  visit_outside_brackets(text, function(position, masked_text)
    for _, pattern in ipairs(operator_patterns) do
      local operator = masked_text:match(pattern, position)
      if operator then
        add_operand(position - 1)
        start = position + #operator
        operators[operator:find "[~=<>]" and "comparison" or operator] = true
        return #operator
      end
    end
  end)
  add_operand(#text)
  return operands, operators
end

--- Returns the text before the innermost open bracket that is the bracket of a call: "model:fit"
--- for "model:fit(x, y, {" and "f(x):fit" for "f(x):fit{".
function typed_call.enclosing(text)
  local masked_text = without_strings(text)
  local brackets = open_brackets(masked_text)
  for i = #brackets, 1, -1 do
    local callee = callee_before(masked_text, brackets[i].at)
    if callee then return text:sub(1, #callee) end
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

--- Finds the call of which a value that is typed at the end of the text is an argument. Returns
--- {callee =, name =, position =}: the text that ends in what is called, and the name and the
--- position of the argument; `name` is nil if the argument has none. For a value in a list, the
--- argument is the list. `is_key` is true if the value is a key of what precedes the bracket.
--- Returns nil if the value is neither an argument nor a key.
function typed_call.argument(text)
  local masked_text = without_strings(text)
  local callee = callee_before(masked_text, #masked_text + 1)
  if callee then return { callee = text:sub(1, #callee), position = 1 } end
  local brackets = open_brackets(masked_text)
  local innermost_bracket = brackets[#brackets]
  if not innermost_bracket then return end
  local name = masked_text:sub(innermost_bracket.start):match "^%s*([%a_][%w_]*)%s*=%s*$"
  local position = innermost_bracket.commas + 1
  for i = #brackets, 1, -1 do
    local text_before = masked_text:sub(1, brackets[i].at - 1)
    local key = text_before:match "([%a_][%w_]*)%s*=%s*$"
    callee = callee_before(masked_text, brackets[i].at)
    if callee then
      local is_key = brackets[i].bracket == "["
      return { callee = text:sub(1, #callee), name = name, position = position, is_key = is_key }
    end
    local outer_bracket = brackets[i - 1]
    if not outer_bracket or brackets[i].bracket ~= "{" then return end
    name = key or (outer_bracket.bracket == "(" and name) or nil
    position = outer_bracket.commas + 1
  end
end

return typed_call
