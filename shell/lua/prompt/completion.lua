-- Completions of a text that is being typed, and the signature of the call in it.
local cr, shell = ...
local show = shell.library "show"
local show_value, is_name, words = show.show_value, show.is_name, show.words
local typed_call = shell.library "prompt/typed_call"
local values_of = shell.library "prompt/value_completion"
local typed_value = shell.library "prompt/typed_value"
local value_of = typed_value.of_path
local completion = {}

-- Adds those names that begin with `prefix` to `found`. help(name, index) returns the description
-- of a name: a text, or a table with a value to be described.
local function add_names(found, names, prefix, help)
  for i, name in ipairs(names or {}) do
    if type(name) == "string" and name:sub(1, #prefix) == prefix and is_name(name) then
      found[name] = found[name] or help(name, i)
    end
  end
end

local function add_options_of(found, options, prefix)
  for _, option in ipairs(options or {}) do
    add_names(found, { option.name }, prefix, function() return option.doc end)
  end
end

local function add_methods(found, what, prefix)
  add_names(found, what.methods, prefix, function(_, i)
    local signature = (what.signatures or {})[i]
    return signature and (signature[2] ~= "" and signature[2] or signature[1]) or "a method"
  end)
end

-- The description of a value in one line.
local function help_of_value(value)
  local kind = type(value)
  if kind == "number" or kind == "string" or kind == "boolean" then
    return (show_value(value, 1, {}))
  end
  local what = cr.describe(value) or {}
  if what.doc and what.doc ~= "" then return what.doc end
  return what.signature or what.what or kind
end

-- Adds to `found` the names that may follow a dot or a colon after this value.
local function members(value, prefix, only_methods, found)
  local what = cr.describe(value)
  if what then
    add_methods(found, what, prefix)
    if not only_methods then
      add_names(found, what.properties, prefix, function() return "a property" end)
      add_names(found, what.names, prefix, function(name) return { value[name] } end)
      if what.class then add_options_of(found, what.class.options, prefix) end
    end
  end
  local depth, t = 0, value
  while type(t) == "table" and depth < 10 do
    for key, field in next, shell.filled(t) do
      if not only_methods or type(field) == "function" then
        add_names(found, { key }, prefix, function() return { field } end)
      end
    end
    local meta = getmetatable(t)
    t, depth = type(meta) == "table" and rawget(meta, "__index") or nil, depth + 1
  end
  if type(value) == "string" then members(string, prefix, only_methods, found) end
end

-- The description of the function or class at this path; nil if it is unknown.
local function description_of(path)
  local value = path and value_of(path)
  return value ~= nil and cr.describe(value) or nil
end

local function add_options(path, prefix, found)
  local what = description_of(path)
  if not what then return end
  add_options_of(found, what.options, prefix)
  if what.class and what.class.kind == "layer" then
    add_options_of(found, what.class.arguments, prefix)
    add_names(found, { "training", "mask" }, prefix, function() return "of every layer" end)
  end
  if what.what == "function" and not what.options then
    add_names(found, what.parameters, prefix, function() return "a parameter" end)
  end
end

-- The sorted list of names in `found`, and the list of their descriptions.
local function listed(found)
  local names, helps = {}, {}
  for name in next, found do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    local help = found[name]
    if type(help) == "table" then help = help[1] ~= nil and help_of_value(help[1]) or "" end
    helps[i] = cr.printable(help)
  end
  return names, helps
end

function completion.complete(line)
  local found = {}
  local before, mark, prefix = line:match "^(.*[%w_%)%]}\"'])([%.:])([%w_]*)$"
  if before then
    local value = typed_value.at_end(before)
    if value ~= nil then members(value, prefix, mark == ":", found) end
  else
    prefix = line:match "([%a_][%w_]*)$" or ""
    local call = typed_call.enclosing(line)
    if call then add_options(call, prefix, found) end
    if next(found) == nil then
      for key, value in next, shell.variables do
        add_names(found, { key }, prefix, function() return { value() } end)
      end
      for key, value in next, _G do
        add_names(found, { key }, prefix, function() return { value } end)
      end
      for word in next, words do
        if prefix ~= "" and word:sub(1, #prefix) == prefix then found[word] = "a word of Lua" end
      end
    end
  end
  local names, helps = listed(found)
  return names, #prefix, helps
end

--- Returns two lists for a string that is typed at the end of the line: the values that the string
--- may have and that begin with `prefix`, and their descriptions.
function completion.complete_value(line, prefix)
  local found = {}
  for value, help in next, values_of(line, value_of) do
    if value:sub(1, #prefix) == prefix then found[value] = help end
  end
  return listed(found)
end

-- The texts of what a call needs besides its parameters, and of its options with their defaults,
-- but for those in the set `typed`.
local function options_of(what, typed)
  local given, named, is_parameter = {}, {}, {}
  if what.what == "function" then
    for _, name in ipairs(what.parameters) do is_parameter[name] = true end
  end
  for _, option in ipairs(what.options or {}) do
    local is_known = is_parameter[option.name] or typed[option.name]
    if option.required and not is_known then
      given[#given + 1] = option.name
    elseif not option.keyword_only and not is_known then
      local default = option.default == nil and "..." or show_value(option.default, 1, {})
      named[#named + 1] = option.name .. "=" .. default
    end
  end
  return given, named
end

-- The text of a call with its options from number `first` to number `last`.
local function call_text(name, given, named, first, last)
  local parts = table.move(given, 1, #given, 1, {})
  local shown = table.move(named, first, last, 1, {})
  if first > 1 then table.insert(shown, 1, "...") end
  if last < #named then shown[#shown + 1] = "..." end
  if #shown > 0 then parts[#parts + 1] = "{" .. table.concat(shown, ", ") .. "}" end
  return name .. "(" .. table.concat(parts, ", ") .. ")"
end

-- The number of the first option whose name begins with `typed`; 1 if there is none.
local function number_of_option(named, typed)
  for i, text in ipairs(named) do
    if typed and text:sub(1, #typed) == typed then return i end
  end
  return 1
end

-- The text of the call with all its options, or with as many as fit into the columns, from the one
-- on whose name is typed.
local function fitted(name, given, named, typed, columns)
  local text = call_text(name, given, named, 1, #named)
  if #text <= columns then return text end
  local first, last = number_of_option(named, typed), #named + 1
  repeat
    last = last - 1
    text = call_text(name, given, named, first, last)
  until #text <= columns or last <= first
  return text
end

function completion.hint(line)
  local path = typed_call.enclosing(line)
  local what = description_of(path)
  if not what then return nil end
  local name, given, named = what.name, options_of(what, typed_call.options_before(line))
  if what.what == "function" then
    local parameters
    name, parameters = what.signature:match "^([^(]*)%((.*)%)$"
    if path:find ":" then parameters = parameters:gsub("^self,? ?", "") end
    if #named > 0 then parameters = parameters:gsub(",? ?options=nil$", "") end
    if parameters ~= "" then table.insert(given, 1, parameters) end
  end
  if not name then return nil end
  local columns = (shell.printing.width or shell.fitting_columns(1000, 20)) - 1
  return fitted(name, given, named, typed_call.option(line), columns)
end

return completion
