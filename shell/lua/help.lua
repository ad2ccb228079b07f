-- Help texts for functions, classes, objects and names.
local cr, shell = ...
local show = shell.library "show"
local show_value, sorted_keys = show.show_value, show.sorted_keys
local members = shell.library "help/members"
local lua_functions = shell.library "help/lua_functions"

-- Breaks the text into lines of `width` columns. On a terminal with less than 100 columns, lines
-- are shorter by the missing columns.
local function wrapped_text(text, indent, width)
  return show.wrapped_text(text, indent, width - 100 + shell.fitting_columns(100, 40))
end

-- The text that describes the limits of an option's values.
local function limits_text(option)
  local minimum, maximum = option.min, option.max
  if minimum and maximum then return string.format(" from %g to %g", minimum, maximum) end
  return minimum and string.format(", at least %g", minimum)
    or maximum and string.format(", at most %g", maximum) or ""
end

local function option_lines(options)
  local lines = {}
  for _, option in ipairs(options) do
    local default = option.required and "required"
      or "default " .. (option.default == nil and "nil" or show_value(option.default, 1, {}))
    local kind = option.type == "" and "anything" or option.type
    if kind:find "^a name, configuration or object" then kind = option.kind or kind end
    local choices = option.choices and " One of: " .. table.concat(option.choices, ", ") .. "."
      or ""
    local doc_text = option.doc .. choices
    local type_text = kind .. limits_text(option) .. "; " .. default
    if doc_text == "" then doc_text, type_text = type_text, nil end
    lines[#lines + 1] = show.row(option.name, 25, doc_text, type_text)
  end
  return table.concat(lines, "\n")
end

local function argument_lines(arguments)
  local lines = {}
  for _, argument in ipairs(arguments) do
    local default = argument.default == nil and ""
      or " (default " .. show_value(argument.default, 1, {}) .. ")"
    lines[#lines + 1] = show.row(argument.name, 25, argument.doc .. default)
  end
  return table.concat(lines, "\n")
end

local function member_lines(members)
  local lines = {}
  for _, member in ipairs(members) do
    lines[#lines + 1] = show.row(member.text, 25, member.doc)
  end
  return table.concat(lines, "\n")
end

-- The text of a heading, and of the prompt's entries and their output (`lines`) below it; empty if
-- there are no entries.
local function session_text(heading, lines)
  return lines == "" and "" or "\n\n" .. heading .. ":\n  "
    .. lines:gsub("\n$", ""):gsub("\n", "\n  ")
end

-- The text of the example for this name, and of the entries that show its errors.
local function example_text(name)
  return session_text("Example", shell.example(name)) .. session_text("Errors", shell.errors(name))
end

-- The name under which a function may have an example: its path in the module or, for a method, the
-- name in its signature.
local function name_of_function(f, value)
  local paths = shell.names_with_example(f.name)
  for _, path in ipairs(paths) do
    local ok, path_value = pcall(shell.library("names").value, path)
    if ok and path:find "^cr%." and rawequal(path_value, value) then return path end
  end
  for _, kind in ipairs(#paths > 0 and cr.listing().types or {}) do
    for _, method in ipairs(kind.methods) do
      if method.name == f.name and method.signature == f.signature and method.example then
        return kind.name == "operations" and "cr.ops." .. f.name or kind.name .. "." .. f.name
      end
    end
  end
  return ""
end

local function class_help(class)
  local own_options, common_options = {}, {}
  for _, option in ipairs(class.options) do
    table.insert(option.keyword_only and common_options or own_options, option)
  end
  local text = string.format("%s (%s%s)", class.name, class.kind,
    class.plugin ~= "" and ", plugin " .. class.plugin or "")
  if class.doc ~= "" then text = text .. "\n" .. wrapped_text(class.doc, "", 100) end
  if #own_options > 0 then
    text = text .. "\n\nOptions, in order:\n" .. option_lines(own_options)
  end
  if #common_options > 0 then
    local names = {}
    for i, option in ipairs(common_options) do names[i] = option.name end
    text = text .. "\n\n" .. wrapped_text("By name only: " .. table.concat(names, ", "), "  ", 98)
  end
  if #class.arguments > 0 then
    text = text .. "\n\nArguments of a call, by name, beside training and mask:\n"
      .. argument_lines(class.arguments)
  end
  if #class.members > 0 then
    text = text .. "\n\nIts objects also have:\n" .. member_lines(class.members)
  end
  return text .. example_text(class.path)
end

-- The text about the arguments of a method, without self; empty if no argument is documented.
local function arguments_text(arguments)
  local rows, is_any_documented = {}, false
  for _, row in ipairs(arguments) do
    if row.name ~= "self" then rows[#rows + 1] = row end
    is_any_documented = is_any_documented
      or row.name ~= "self" and (row.type ~= "" or row.doc ~= "")
  end
  return is_any_documented and "\n\nArguments, in order or by name:\n" .. option_lines(rows) or ""
end

local function function_help(f, value)
  local text = f.signature .. (f.doc ~= "" and "\n" .. wrapped_text(f.doc, "", 100) or "")
  if f.options and #f.options > 0 then
    text = text .. "\n\n" .. f.word:gsub("^%l", string.upper) .. "s, in order or by name:\n"
      .. option_lines(f.options)
  else
    text = text .. arguments_text(f.arguments or {})
  end
  if f.result and f.result ~= "" then text = text .. "\n\nGives " .. f.result .. "." end
  return f.name and text .. example_text(name_of_function(f, value)) or text
end

local function members_help(object)
  local lines = {}
  if object.class then lines[#lines + 1] = class_help(object.class) .. "\n" end
  if object.properties and #object.properties > 0 then
    lines[#lines + 1] = "Properties: "
      .. wrapped_text(table.concat(object.properties, ", "), "  ", 96)
  end
  if object.statistics then
    lines[#lines + 1] = "Elements: " .. show_value(object.statistics, 0, {})
  end
  lines[#lines + 1] = members.methods_of(object)
  return table.concat(lines, "\n") .. example_text(object.what)
end

-- The path of a base: "cr.Layer", "cr.losses.Loss".
local function path_of_base(base)
  local name = base.__name
  if rawget(cr, name) == base then return "cr." .. name end
  for namespace, names in next, cr do
    if type(names) == "table" and rawget(names, name) == base then
      return "cr." .. namespace .. "." .. name
    end
  end
  return name
end

--- Help for a base such as cr.Layer or cr.losses.Loss: how a class is made, and the members of its
--- objects.
local function base_help(base)
  local name = path_of_base(base)
  local lines = {
    name .. ": what classes of one's own derive from.",
    "",
    string.format('  local Mine = %s:subclass("Mine", { { "option", 1, "What it says." } })', name),
    "  function Mine:init(options) ... end",
    "",
    "Methods:",
  }
  for _, key in ipairs(sorted_keys(base, 1)) do
    local method = type(base[key]) == "function" and cr.describe(base[key])
    if method then
      lines[#lines + 1] = "  " .. method.signature
        .. (method.doc ~= "" and "\n      " .. wrapped_text(method.doc, "      ", 90) or "")
    end
  end
  return table.concat(lines, "\n") .. example_text(name)
end

local general_help = [[
Crescent: deep learning with the object model of Keras.

  help(cr.layers)         what there is
  help(cr.layers.Dense)   options of a class
  help(model.fit)         a method
  help(model)             an object and its methods
  help "quantile"         what has the name
  help "padding"          what speaks of a word
  cr.plugins.list()       plugins

  x, y = cr.random.normal{100, 3}, cr.random.normal{100, 1}
  hidden = cr.layers.Dense(8, {activation = "relu", input_shape = {3}})
  model = cr.Sequential{ hidden, cr.layers.Dense(1) }
  model:compile{ optimizer = "adam", loss = "mse" }
  history = model:fit(x, y, {epochs = 5})
  model:save("model.h5")

t[2], t[{1, -1}], t[{ {1, 3}, {} }], t[mask], t[rows]: positions count from 1,
ranges have both ends, {1, -1, 2} a step; all of it can be assigned. Functions
of Keras (cr.ops) count from 0. t:equal(3) compares elements; t == 3 is always
false in Lua, for a tensor is no number.

Tab completes names, fields, methods, options and their values; Ctrl-R searches
the history; Alt-Enter begins another line; Ctrl-X Ctrl-E edits the entry in
$EDITOR. Ctrl-C stops training after the current batch; Ctrl-D, exit and quit
end, exit(3) with that status.

?Dense and Dense? help, ??word searches, :help lists commands. _ is the last
result, _5 that of entry 5; the last 100 are kept. A ; at the end shows nothing.
A local lasts to the end of the session.]]

local help_text

-- Help for all methods of this name: signatures such as "model:fit(x, y)", and their documentation.
local function methods_help(name)
  local lines = {}
  for _, kind in ipairs(cr.listing().types) do
    for _, method in ipairs(kind.methods) do
      if method.name == name then
        lines[#lines + 1] = kind.name .. ":" .. method.signature:gsub("%(self,? ?", "(") .. "\n"
          .. wrapped_text(method.doc, "", 100) .. example_text(kind.name .. "." .. name)
      end
    end
  end
  return #lines > 0 and table.concat(lines, "\n\n")
end

local max_results = 12 -- The largest number of results that are shown for each group.

-- Lines for those rows whose name or description contains the word: the name and the first
-- sentence.
local function rows_about(word, title, rows, name_of)
  local matches = {}
  for _, row in ipairs(rows) do
    local name = name_of(row)
    local is_in_name = name:lower():find(word, 1, true)
    if is_in_name or row.doc:lower():find(word, 1, true) then
      matches[#matches + 1] = { (is_in_name and "0" or "1") .. name, name,
        show.first_sentence(row.doc) }
    end
  end
  table.sort(matches, function(a, b) return a[1] < b[1] end)
  local lines = {}
  for i = 1, math.min(#matches, max_results) do
    lines[i] = show.row(matches[i][2], 33, matches[i][3])
  end
  if #matches > max_results then
    lines[#lines + 1] = string.format("  ... %d more", #matches - max_results)
  end
  return #lines > 0 and title .. ":\n" .. table.concat(lines, "\n")
end

local function methods_of(types)
  local methods = {}
  for _, kind in ipairs(types) do
    for _, method in ipairs(kind.name == "operations" and {} or kind.methods) do
      methods[#methods + 1] = { name = kind.name .. ":" .. method.name, doc = method.doc }
    end
  end
  return methods
end

-- Searches classes, functions and methods for a word.
local function search(word)
  local listing, groups = cr.listing(), {}
  local function add(...) groups[#groups + 1] = rows_about(word:lower(), ...) or nil end
  local function path_of(row) return row.path end
  add("Classes", listing.classes, path_of)
  add("Functions", listing.functions, path_of)
  add("Methods", methods_of(listing.types), function(row) return row.name end)
  return #groups > 0 and "; these speak of it:\n\n" .. table.concat(groups, "\n\n") or "."
end

local function not_found_text(name)
  local suggestion = shell.library("names").guess(name, {}, true)
  return string.format("Nothing is called '%s'%s", name, suggestion)
    .. (suggestion == "" and search(name) or ".")
end

--- Help for everything in the module with this name: "Dense", "layers.Dense", "fit".
local function help_of_name(name)
  local names, texts, seen_texts = shell.library "names", {}, {}
  for _, path in ipairs(names.paths(name)) do
    local text = help_text(names.value(path))
    if not seen_texts[text] then texts[#texts + 1], seen_texts[text] = text, true end
  end
  return #texts > 0 and table.concat(texts, "\n\n") or methods_help(name)
    or not_found_text(name)
end

function help_text(...)
  if select("#", ...) == 0 then return general_help end
  local value = ...
  if type(value) == "string" then return help_of_name(value) end
  local description = lua_functions.of(value) or cr.describe(value)
  if not description then
    if type(value) == "table" and rawget(value, "subclass") then return base_help(value) end
    if type(value) == "table" then return members.of_table(value) end
    return string.format("A %s: %s", type(value), cr.show(value))
  end
  if description.what == "function" then return function_help(description, value) end
  if description.what == "class" then return class_help(description) end
  if description.what == "namespace" then
    return string.format("%s Every %s there is:%s", description.doc, description.kind,
      members.classes_of(description, value))
  end
  return members_help(description)
end

-- Breaks lines that are longer than the terminal is wide and keeps their indentation; lines of
-- examples are not broken.
local function fitted_text(text)
  local columns = shell.fitting_columns(100, 40)
  return (text:gsub("[^\n]+", function(line)
    if #line <= columns or line:find "^%s+>+ " then return nil end
    local indent = line:match "^%s*"
    return indent .. show.wrapped_text(line, indent .. "  ", columns - #indent - 2)
  end))
end

-- The body of cr.help.
return function(...) shell.print_help(fitted_text(cr.printable(help_text(...)))) end
