-- The value of an expression in a text that is being typed, as far as it is known without a call.
local cr, shell = ...
local keywords = shell.library "show".keywords
local typed_value = {}

-- The field of a value; nil if there is none, or if reading it fails.
local function field(value, key)
  local ok, result = pcall(function() return value[key] end)
  return ok and result or nil
end

--- The value of a path such as cr.layers or model:fit.
function typed_value.of_path(path)
  local value = _G
  for name in path:gmatch "[%a_][%w_]*" do
    local variable = value == _G and shell.variables[name]
    if variable then value = variable() else value = field(value, name) end
    if value == nil then return nil end
  end
  return value
end

local text_functions = {}
for _, name in ipairs { "format", "gsub", "lower", "rep", "reverse", "sub", "upper" } do
  text_functions[string[name]] = true
end

-- An example of the result of calling `callable`: a string or a tensor; nil if the result is of
-- another type or unknown.
local function example_of_result(callable)
  if text_functions[callable] then return "" end
  local description = callable ~= nil and cr.describe(callable)
  if not description then return nil end
  local is_layer = description.what ~= "class" and description.class
    and description.class.kind == "layer"
  local gives_tensor = is_layer or description.what == "model"
    or (description.result or ""):find "^a tensor"
  return gives_tensor and cr.zeros { 1 } or nil
end

-- Whether brackets or a string behind this text are the arguments of a call.
local function is_callee(text)
  return text:find "[%w_%]%)}\"']$" and not keywords[text:match "[%a_]*$"]
end

--- The value of the expression at the end of the text: a path, a string, an element with a literal
--- key, an example of the result of a call, or a field of one of these; nil if the value is
--- unknown.
function typed_value.at_end(text)
  local list_text, key = text:match "^(.-)%[([^%[%]]*)%]$"
  if list_text then
    return field(typed_value.at_end(list_text), tonumber(key) or key:match "^%s*['\"](.*)['\"]%s*$")
  end
  local callee, arguments = text:match "^(.-)%s*(%b())$"
  if not callee then callee = text:match "^(.-)%s*%b{}$" end
  if callee and is_callee(callee) then return example_of_result(typed_value.at_end(callee)) end
  if callee then return arguments and typed_value.at_end(arguments:sub(2, -2)) end
  local callee = text:match "^(.-)%s*\"[^\"]*\"$" or text:match "^(.-)%s*'[^']*'$"
  if callee and is_callee(callee) then return example_of_result(typed_value.at_end(callee)) end
  if callee then return "" end
  local object, name = text:match "^(.*[%)%]}\"'])[%.:]([%a_][%w_]*)$"
  if object then return field(typed_value.at_end(object), name) end
  local path = text:match "[%a_][%w_%.:]*$"
  return path and not keywords[path] and typed_value.of_path(path) or nil
end

return typed_value
