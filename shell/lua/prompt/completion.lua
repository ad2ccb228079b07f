-- Completions of a text that is being typed, and the signature of the call in it.
local cr, shell = ...
local show = shell.library "show"
local show_value, is_name, keywords = show.show_value, show.is_name, show.keywords
local typed_call = shell.library "prompt/typed_call"
local values = shell.library "prompt/value_completion"
local typed_value = shell.library "prompt/typed_value"
local types = shell.library "prompt/types"
local lua_functions = shell.library "help/lua_functions"
local completion = {}

-- Adds those names that begin with `prefix` to `candidates`. help(name, index) returns the
-- description of a name: a text, or a table with a value to be described.
local function add_names(candidates, names, prefix, help)
  for i, name in ipairs(names or {}) do
    if type(name) == "string" and name:sub(1, #prefix) == prefix and is_name(name) then
      candidates[name] = candidates[name] or help(name, i)
    end
  end
end

local function add_options_of(candidates, options, prefix)
  for _, option in ipairs(options or {}) do
    add_names(candidates, { option.name }, prefix, function() return option.doc end)
  end
end

local function add_methods(candidates, description, prefix)
  add_names(candidates, description.methods, prefix, function(_, i)
    local signature = (description.signatures or {})[i]
    return signature and (signature[2] ~= "" and signature[2] or signature[1]) or "a method"
  end)
end

-- The description of a value in one line.
local function help_of_value(value)
  local kind = type(value)
  if kind == "number" or kind == "string" or kind == "boolean" then
    return (show_value(value, 1, {}))
  end
  local description = lua_functions.of(value) or cr.describe(value) or {}
  if description.doc and description.doc ~= "" then return description.doc end
  return description.signature or description.what or kind
end

-- Adds to `candidates` the names that may follow a dot or a colon after this value.
local function add_members(value, prefix, only_methods, candidates)
  local description = cr.describe(value)
  if description then
    add_methods(candidates, description, prefix)
    if not only_methods then
      add_names(candidates, description.properties, prefix, function() return "a property" end)
      add_names(candidates, description.names, prefix, function(name) return { value[name] } end)
      if description.class then add_options_of(candidates, description.class.options, prefix) end
    end
  end
  local depth, t = 0, value
  while type(t) == "table" and depth < 10 do
    for key, field in next, shell.filled(t) do
      local is_visible = not shell.internal_names(t)[key]
      if is_visible and (not only_methods or type(field) == "function") then
        add_names(candidates, { key }, prefix, function() return { field } end)
      end
    end
    local meta = getmetatable(t)
    t, depth = type(meta) == "table" and rawget(meta, "__index") or nil, depth + 1
  end
  if type(value) == "string" then add_members(string, prefix, only_methods, candidates) end
end

-- Adds the members that an object will have of which only the type is known.
local function add_members_of_type(known, prefix, only_methods, candidates)
  types.each_member(known, function(row, is_method)
    if only_methods and not is_method then return end
    add_names(candidates, { row.name }, prefix, function()
      if row.doc ~= "" then return row.doc end
      return is_method and (row.signature or row.text) or "a property"
    end)
  end)
  if known.class and not only_methods then
    add_options_of(candidates, known.class.options, prefix)
  end
  if known.fields then add_members(known.fields, prefix, only_methods, candidates) end
end

-- The description of the function or class that is called at the end of the text; nil if it is
-- unknown.
local function description_of(callee)
  return callee and typed_value.description(typed_value.at_end(callee)) or nil
end

local function add_options(callee, prefix, candidates)
  local description = description_of(callee)
  if not description then return end
  add_options_of(candidates, description.options, prefix)
  if description.class and description.class.kind == "layer" then
    add_options_of(candidates, description.class.arguments, prefix)
    add_names(candidates, { "training", "mask" }, prefix, function() return "of every layer" end)
  end
  if description.what == "function" and not description.options then
    add_names(candidates, description.parameters, prefix, function() return "a parameter" end)
  end
end

-- The sorted list of names in `candidates`, and the list of their descriptions.
local function sorted_candidates(candidates)
  local names, descriptions = {}, {}
  for name in next, candidates do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    local help = candidates[name]
    if type(help) == "table" then help = help[1] ~= nil and help_of_value(help[1]) or "" end
    descriptions[i] = cr.printable(help)
  end
  return names, descriptions
end

function completion.complete(line)
  local candidates = {}
  local object_text, separator, prefix = line:match "^(.*[%w_%)%]}\"'])([%.:])([%w_]*)$"
  if object_text then
    local known = typed_value.at_end(object_text)
    if known and known.value ~= nil then
      add_members(known.value, prefix, separator == ":", candidates)
    elseif known then
      add_members_of_type(known, prefix, separator == ":", candidates)
    end
  else
    prefix = line:match "([%a_][%w_]*)$" or ""
    for text, help in next, values.literals(line:sub(1, #line - #prefix)) do
      if text:sub(1, #prefix) == prefix then candidates[text] = help end
    end
    local call = next(candidates) == nil and typed_call.enclosing(line)
    if call then add_options(call, prefix, candidates) end
    if next(candidates) == nil or prefix ~= "" and not call then
      for key, value in next, shell.variables do
        add_names(candidates, { key }, prefix, function() return { value() } end)
      end
      for key, value in next, _G do
        add_names(candidates, { key }, prefix, function() return { value } end)
      end
      for word in next, keywords do
        if prefix ~= "" and word:sub(1, #prefix) == prefix then
          candidates[word] = "a word of Lua"
        end
      end
    end
  end
  local names, descriptions = sorted_candidates(candidates)
  return names, #prefix, descriptions
end

--- Returns two lists for a string that is typed at the end of the line: the values that the string
--- may have and that begin with `prefix`, and their descriptions.
function completion.complete_value(line, prefix)
  local candidates = {}
  for value, help in next, values.strings(line) do
    if value:sub(1, #prefix) == prefix then candidates[value] = help end
  end
  return sorted_candidates(candidates)
end

-- Returns two lists of texts: the names of the required options, and "name=default" for the others
-- that are not keyword_only. Options that are parameters or in the set `typed_names` are left out.
local function options_of(description, typed_names)
  local required_names, optional_texts, parameter_set = {}, {}, {}
  if description.what == "function" then
    for _, name in ipairs(description.parameters) do parameter_set[name] = true end
  end
  for _, option in ipairs(description.options or {}) do
    local is_known = parameter_set[option.name] or typed_names[option.name]
    if option.required and not is_known then
      required_names[#required_names + 1] = option.name
    elseif not option.keyword_only and not is_known then
      local default = option.default == nil and "..." or show_value(option.default, 1, {})
      optional_texts[#optional_texts + 1] = option.name .. "=" .. default
    end
  end
  return required_names, optional_texts
end

-- The text of a call with its options from number `first` to number `last`.
local function call_text(name, required_names, optional_texts, first, last)
  local parts = table.move(required_names, 1, #required_names, 1, {})
  local shown_options = table.move(optional_texts, first, last, 1, {})
  if first > 1 then table.insert(shown_options, 1, "...") end
  if last < #optional_texts then shown_options[#shown_options + 1] = "..." end
  if #shown_options > 0 then parts[#parts + 1] = "{" .. table.concat(shown_options, ", ") .. "}" end
  return name .. "(" .. table.concat(parts, ", ") .. ")"
end

-- The number of the first option whose name begins with `typed_name`; 1 if there is none.
local function number_of_option(options, typed_name)
  for i, text in ipairs(options) do
    if typed_name and text:sub(1, #typed_name) == typed_name then return i end
  end
  return 1
end

-- The text of the call with all its options if it fits into the columns; otherwise with as many
-- options as fit, beginning with the option whose name is being typed.
local function fitted_call_text(name, required_names, optional_texts, typed_name, columns)
  local text = call_text(name, required_names, optional_texts, 1, #optional_texts)
  if #text <= columns then return text end
  local first, last = number_of_option(optional_texts, typed_name), #optional_texts + 1
  repeat
    last = last - 1
    text = call_text(name, required_names, optional_texts, first, last)
  until #text <= columns or last <= first
  return text
end

function completion.hint(line)
  local callee = typed_call.enclosing(line)
  local description = description_of(callee)
  if not description then return nil end
  local name = description.name
  local required_names, optional_texts = options_of(description, typed_call.options_before(line))
  if description.what == "function" then
    local parameters
    name, parameters = description.signature:match "^([^(]*)%((.*)%)$"
    if callee:find ":%s*[%w_]+$" then parameters = parameters:gsub("^self,? ?", "") end
    if #optional_texts > 0 then parameters = parameters:gsub(",? ?options=nil$", "") end
    if parameters ~= "" then table.insert(required_names, 1, parameters) end
  end
  if not name then return nil end
  local columns = (shell.printing.width or shell.fitting_columns(1000, 20)) - 1
  return fitted_call_text(name, required_names, optional_texts, typed_call.option(line), columns)
end

return completion
