-- Writes files for text editors to host.folder, from the listing of everything that can be called:
-- types for the language server LuaLS (crescent.d.lua) and snippets (crescent.code-snippets).
local cr, host = ...
local listing = cr.listing()

--- The LuaLS name of a type of objects: "crescent.gradient_tape" for "gradient tape".
local function type_name(name) return "crescent." .. name:gsub(" ", "_") end

local luals_types = {
  ["a boolean"] = "boolean", ["true or false"] = "boolean", ["a string"] = "string",
  ["an integer"] = "integer", ["a number"] = "number", ["a function"] = "function",
  ["a table with names"] = "table", ["a shape"] = "integer[]", ["a dtype"] = "string",
  ["a list of dimensions"] = "integer[]", ["a list of strings"] = "string[]", ["nothing"] = "nil",
  ["the object"] = "crescent.object", ["the class or an object"] = "any", ["null"] = "nil",
  ["a list of integers"] = "integer[]", ["a list of numbers"] = "number[]",
}
for _, row in ipairs(listing.types) do
  for _, article in ipairs { "a ", "an ", "the " } do
    luals_types[article .. row.name] = type_name(row.name)
  end
end

--- The LuaLS type of a type in help texts: "integer|nil" for "an integer or nil", "any" if unknown.
local function type_of(type_text)
  local names = {}
  for word in ((type_text or "") .. " or "):gmatch "(.-) or " do
    names[#names + 1] = word == "nil" and "nil" or luals_types[word] or "any"
  end
  local text = table.concat(names, "|")
  return (text:find("any", 1, true) or text == "") and "any" or text
end

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
  return then true until while]]):gmatch "%l+" do
  keywords[word] = true
end
local function identifier(name) return keywords[name] and name .. "_" or name end

local function comment(text) return "--- " .. text:gsub("\n", "\n--- ") end

--- The code that defines a function at a path, with an empty body. A name that is a keyword of Lua
--- is quoted: cr.ops["repeat"].
local function definition(path, names)
  local parent, separator, name = path:match "^(.*)([%.:])([^%.:]*)$"
  if not keywords[name] then
    return ("function %s(%s) end"):format(path, table.concat(names, ", "))
  end
  if separator == ":" then table.insert(names, 1, "self") end
  return ("%s[%q] = function(%s) end"):format(parent, name, table.concat(names, ", "))
end

--- The declaration of a function in the syntax of LuaLS. In a method's declaration the colon
--- implies `self`.
local function declaration(path, row, parameters, result_type)
  local lines, names = { comment(row.doc) }, {}
  for _, parameter in ipairs(parameters) do
    if parameter.name ~= "self" and parameter.name:find "^[%a_][%w_]*$" then
      local name = identifier(parameter.name)
      names[#names + 1] = name
      lines[#lines + 1] = ("---@param %s%s %s %s"):format(name, parameter.required and "" or "?",
        type_of(parameter.type), parameter.doc:gsub("\n", " "))
    end
  end
  if result_type ~= "nil" then lines[#lines + 1] = "---@return " .. result_type end
  lines[#lines + 1] = definition(path, names)
  return table.concat(lines, "\n")
end

--- The type of the table of a class's options.
local function options_type(class)
  local lines = { "---@class " .. type_name("options." .. class.path) }
  for _, option in ipairs(class.options) do
    lines[#lines + 1] = ("---@field %s%s %s %s"):format(option.name, "?", type_of(option.type),
      option.doc:gsub("\n", " "))
  end
  return table.concat(lines, "\n") .. "\n"
end

--- The declarations of a class's constructors: one takes the required options and a table of the
--- others, one takes a table of all options.
local function constructor(class)
  local options_type_name = type_name("options." .. class.path)
  local result_type = luals_types["the " .. class.kind] or "any"
  local parameters = {}
  for _, option in ipairs(class.options) do
    if option.required then parameters[#parameters + 1] = option end
  end
  local other_options = { name = "options", type = options_type_name, doc = "By name.",
    required = false }
  parameters[#parameters + 1] = other_options
  luals_types[options_type_name] = options_type_name
  local overload = ("---@overload fun(options: %s): %s\n"):format(options_type_name, result_type)
  return options_type(class) .. "\n" .. overload
    .. declaration(class.path, class, parameters, result_type) .. "\n"
end

local operators = { "add", "sub", "mul", "div", "mod", "pow", "idiv" }

--- Adds the operators of a type; those of a tensor and a symbol make a symbol.
local function add_operators(lines, name)
  for _, operator in ipairs(operators) do
    for _, row in ipairs { { "crescent.symbol", "crescent.symbol" }, { "any", name } } do
      lines[#lines + 1] = ("---@operator %s(%s): %s"):format(operator, row[1], row[2])
    end
  end
  lines[#lines + 1] = "---@operator unm: " .. name
end

--- What the operators of a type give, by the name of the type.
local operator_results = { tensor = "crescent.tensor", variable = "crescent.tensor",
  symbol = "crescent.symbol" }

--- The parameters of a method: an operation takes the object as its first tensor.
local function parameters_of(type_row, method)
  return table.move(method.parameters, type_row.name == "operations" and 2 or 1,
    #method.parameters, 1, {})
end

local function add_objects(lines)
  local seen_names = {}
  for i, row in ipairs(listing.types) do
    local variable = "type_" .. i
    local parent = row.parent and row.parent ~= row.name and ": " .. type_name(row.parent) or ""
    lines[#lines + 1] = "---@class " .. type_name(row.name)
      .. (seen_names[row.name] and "" or parent)
    if operator_results[row.name] then add_operators(lines, operator_results[row.name]) end
    seen_names[row.name] = true
    for _, property in ipairs(row.properties) do
      lines[#lines + 1] = ("---@field %s %s %s"):format(property.name, type_of(property.type),
        property.doc:gsub("\n", " "))
    end
    lines[#lines + 1] = ("local %s = {}\n"):format(variable)
    for _, method in ipairs(row.methods) do
      lines[#lines + 1] = declaration(variable .. ":" .. method.name, method,
        parameters_of(row, method), type_of(method.result)) .. "\n"
    end
  end
end

--- Adds declarations of the tables that contain the given names to `lines`; each table comes before
--- its members.
local function add_tables(lines)
  local declared_paths = {}
  local function add_table(path)
    local parent = path:match "^(.*)%.[^%.]*$"
    if parent then add_table(parent) end
    if not declared_paths[path] then lines[#lines + 1] = path .. " = {}" end
    declared_paths[path] = true
  end
  for _, row in ipairs(listing.functions) do add_table(row.path:match "^(.*)%.[^%.]*$") end
  for _, class in ipairs(listing.classes) do add_table(class.path:match "^(.*)%.[^%.]*$") end
  lines[#lines + 1] = ""
  return declared_paths
end

local function types()
  local lines = { "---@meta crescent", "-- Written by `crescent editor`.", "" }
  add_objects(lines)
  lines[#lines + 1] = "---@class crescent\ncr = {}"
  local declared_paths = add_tables(lines)
  for _, row in ipairs(listing.functions) do
    if not declared_paths[row.path] then -- a path in `declared_paths` is a callable table
      lines[#lines + 1] = declaration(row.path, row, row.parameters, type_of(row.result)) .. "\n"
    end
  end
  for _, class in ipairs(listing.classes) do
    lines[#lines + 1] = constructor(class)
  end
  lines[#lines + 1] = "return cr\n"
  return table.concat(lines, "\n")
end

local function quoted(text)
  return '"' .. text:gsub('[\\"]', "\\%0"):gsub("%c+", " ") .. '"'
end

--- The snippet for a class: it has a placeholder for each required option.
local function snippet(class)
  local placeholders = {}
  for _, option in ipairs(class.options) do
    if option.required then
      placeholders[#placeholders + 1] = ("${%d:%s}"):format(#placeholders + 1, option.name)
    end
  end
  local body = ("%s(%s)$0"):format(class.path, table.concat(placeholders, ", "))
  return ("  %s: {\"scope\": \"lua\", \"prefix\": %s, \"body\": %s, \"description\": %s}"):format(
    quoted(class.path), quoted(class.name), quoted(body), quoted(class.doc))
end

local function snippets()
  local rows = {}
  for i, class in ipairs(listing.classes) do rows[i] = snippet(class) end
  return "{\n" .. table.concat(rows, ",\n") .. "\n}\n"
end

local function write(name, text)
  local file = assert(io.open(host.folder .. "/" .. name, "w"))
  assert(file:write(text))
  assert(file:close())
end

write("crescent.d.lua", types())
write("crescent.code-snippets", snippets())
print(host.folder .. ": crescent.d.lua for LuaLS, crescent.code-snippets")
