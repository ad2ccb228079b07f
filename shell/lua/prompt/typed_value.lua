-- What is known of an expression in a text that is being typed, without running it. It is a table:
-- `value` is the value of the expression, or `type` the name of the type that its value will have,
-- one of cr.listing(true).types; `class` is the description of the class of the object, `fields` a
-- table with more members of it. `is_list` says that the value is a list of such values, and
-- `method` is the row of the listing for a method. `owner` and `name` say of what it is a member.
local cr, shell = ...
local keywords = shell.library "show".keywords
local typed_call = shell.library "prompt/typed_call"
local types = shell.library "prompt/types"
local typed_value = {}

-- The field of a value; nil if there is none, or if reading it fails.
local function field(value, key)
  if value == nil or key == nil then return nil end
  local ok, result = pcall(function() return value[key] end)
  return ok and result or nil
end

local function trimmed(text) return (text:match "^%s*(.-)%s*$") end

-- The name of the type of what is known; nil if it has none.
local function type_of(known)
  if not known or known.is_list then return nil end
  if known.type then return known.type end
  local is_object = type(known.value) == "userdata"
  local description = is_object and cr.describe(known.value)
  return description and types.named(description.what) and description.what or nil
end

local arithmetic_results = { tensor = "tensor", variable = "tensor", symbol = "symbol" }
local callable_types = {}
for _, name in ipairs { "layer", "model", "loss", "metric", "activation", "regularizer",
  "constraint", "schedule", "initializer", "compiled function" } do callable_types[name] = true end

-- ---- members

--- What is known of the member of a value with this name; nil if it has none.
function typed_value.member(known, name)
  if known.value ~= nil then
    local value = field(known.value, name)
    if value == nil then return nil end
    return { value = value, owner = known, name = name }
  end
  if known.fields and field(known.fields, name) ~= nil then
    return { value = field(known.fields, name), owner = known, name = name }
  end
  local method, property = types.member(known, name)
  if method then return { method = method, owner = known, name = name } end
  return property and types.of_result(property.type, known, name)
end

--- The description of a function, method or class; nil if there is none.
function typed_value.description(known)
  if not known then return nil end
  if known.value ~= nil then return cr.describe(known.value) or types.of_base(known.value) end
  return known.method and types.described_method(known.method)
end

local function of_path(path)
  local known
  for name in path:gmatch "[%a_][%w_]*" do
    if known then
      known = typed_value.member(known, name)
    else
      local variable = shell.variables[name]
      local value
      if variable then value = variable() else value = field(_G, name) end
      known = value ~= nil and { value = value } or nil
    end
    if not known then return nil end
  end
  return known
end

--- The value of a path such as cr.layers or model:fit; nil if there is none.
function typed_value.of_path(path)
  local known = of_path(path)
  return known and known.value
end

-- ---- calls

local text_functions = {}
for _, name in ipairs { "format", "gsub", "lower", "rep", "reverse", "sub", "upper" } do
  text_functions[string[name]] = true
end

-- Whether a symbol is among the arguments: then the result of a layer or an operation is a symbol.
local function has_symbol(arguments)
  for _, argument in ipairs(typed_call.items(arguments)) do
    local list = argument:match "^{(.*)}$"
    if list and has_symbol(list) or type_of(typed_value.of_expression(argument)) == "symbol" then
      return true
    end
  end
  return false
end

-- What is known of the result of calling `callee` with these arguments.
local function of_call(callee, arguments)
  if text_functions[callee.value] then return { value = "" } end
  local description, result = typed_value.description(callee), nil
  if callable_types[type_of(callee)] then
    result = { type = "tensor" }
  elseif description and description.what == "class" then
    return types.object_of(description, callee.value)
  elseif description and description.what == "function" then
    result = types.of_result(description.result, callee.owner, callee.name)
  end
  if not result or result.type ~= "tensor" then return result end
  local is_of_symbol = type_of(callee.owner) == "symbol" or has_symbol(arguments)
  return is_of_symbol and { type = "symbol", is_list = result.is_list } or result
end

-- ---- elements

-- The value of a key that is a number, a string, the length of a list, or a variable with one of
-- these; nil for other keys.
local function value_of_key(text)
  local literal = tonumber(text) or text:match "^['\"](.*)['\"]$"
  if literal then return literal end
  local list_text = text:match "^#%s*(.+)$"
  local known = typed_value.at_end(list_text or text)
  local value = known and known.value
  if list_text then return type(value) == "table" and rawlen(value) or nil end
  return (type(value) == "number" or type(value) == "string") and value or nil
end

-- What is known of an element of `known`, whose key has this text.
local function element(known, key_text)
  local result_type = arithmetic_results[type_of(known)]
  local key = value_of_key(trimmed(key_text))
  if result_type and (key == nil or known.value == nil) then return { type = result_type } end
  if known.value == nil then
    return known.type and (known.is_list or known.may_be_list)
      and { type = known.type, class = known.class } or nil
  end
  local value = field(known.value, key)
  if value ~= nil then return { value = value } end
  if key ~= nil or type(known.value) ~= "table" then return nil end
  local first = { value = field(known.value, 1) } -- the elements of a list are alike
  local first_type = type_of(first)
  return first_type and { type = first_type } or first.value ~= nil and first or nil
end

-- ---- operators

--- What is known of a whole expression, such as "x + 1".
function typed_value.of_expression(text)
  local operands, operators = typed_call.operands(text)
  if #operands == 1 and next(operators) == nil then return typed_value.at_end(operands[1]) end
  if operators.comparison or operators["not"] or operators["#"] then return nil end
  if operators["and"] or operators["or"] then
    for i = #operands, 1, -1 do
      local known = typed_value.at_end(operands[i])
      if known then return known end
    end
    return nil
  end
  if operators[".."] then return { value = "" } end
  local result_type
  for _, operand in ipairs(operands) do
    local operand_type = arithmetic_results[type_of(typed_value.at_end(operand))]
    if result_type ~= "symbol" then result_type = operand_type or result_type end
  end
  return result_type and { type = result_type } or nil
end

-- ---- expressions

--- What is known of the expression at the end of the text: a path, a string, an element, the result
--- of a call, an expression in brackets, or a member of one of these; nil if nothing is known.
function typed_value.at_end(text)
  text = trimmed(text)
  local opening, closing = typed_call.last_brackets(text)
  if opening then
    local before, inside = trimmed(text:sub(1, opening - 1)), text:sub(opening + 1, -2)
    if typed_call.is_callee(before) then
      local known = typed_value.at_end(before)
      if not known then return nil end
      if closing == "]" then return element(known, inside) end
      return of_call(known, inside)
    end
    return closing == ")" and typed_value.of_expression(inside) or nil
  end
  local quote = typed_call.last_string(text)
  if quote then
    local before = trimmed(text:sub(1, quote - 1))
    if not typed_call.is_callee(before) then return { value = "" } end
    local known = typed_value.at_end(before)
    return known and of_call(known, "")
  end
  local object, name = text:match "^(.*[%)%]}\"'])%s*[%.:]%s*([%a_][%w_]*)$"
  if object then
    local known = typed_value.at_end(object)
    return known and typed_value.member(known, name)
  end
  local path = text:match "[%a_][%w_%.:]*$"
  return path and not keywords[path] and of_path(path) or nil
end

return typed_value
