-- Pages of the reference: one for each class, each table of functions, each type of objects, and
-- the program's commands.
local cr, host = ...
local html, notes, pictures = host.part "html", host.part "notes", host.part "pictures"
local listing = host.listing
local escaped, element = html.escaped, html.element
local reference = {}

-- ---- the page and anchor of each name

-- The plurals of kinds that are not made with an s. The plural of a kind is the name of the table
-- of its classes: cr.losses for the kind loss.
local plurals = { loss = "losses", dataset = "data", distillation_loss = "distillation" }
local function plural_of(kind) return plurals[kind] or kind .. "s" end

local function file_of(path) return path:gsub("[^%w%.]", "-") .. ".html" end
local function type_file(name) return file_of("type." .. name) end

local function parent_of(path) return path:match "^(.*)%.[^%.]*$" end
local function last_name(path) return path:match "[^%.]*$" end

--- The names of the methods of objects. Members of base classes, such as cr.Layer.build, are
--- documented as methods of objects.
local method_names = {}
for _, type in ipairs(listing.types) do
  for _, method in ipairs(type.methods) do method_names[method.name] = true end
end
local function is_member(path)
  return parent_of(path):find "%.%u[%w]*$" and method_names[last_name(path)]
end

local anchors = {} -- the page and anchor of each full name
for _, class in ipairs(listing.classes) do anchors[class.path] = file_of(class.path) end
for _, row in ipairs(listing.functions) do
  if not is_member(row.path) then
    anchors[row.path] = file_of(parent_of(row.path)) .. "#" .. last_name(row.path)
  end
end
for _, row in ipairs(listing.namespaces) do anchors[row.path] = file_of(row.path) end
for _, type in ipairs(listing.types) do
  for _, method in ipairs(type.methods) do
    anchors[type.name .. ":" .. method.name] = type_file(type.name) .. "#" .. method.name
  end
end

--- The page of a name as it is written in code: cr.layers.Dense, layers.Dense or model:fit; nil if
--- there is none.
function reference.page_of(name) return anchors[name] or anchors["cr." .. name] end

-- ---- parts of pages

local function literal(value)
  if type(value) == "string" then return '"' .. value .. '"' end
  if math.type(value) == "float" then return ("%.12g"):format(value) end
  return type(value) == "table" and cr.show(value) or tostring(value)
end

local function default_of(row)
  return row.required and "required" or element("code", escaped(literal(row.default)))
end

--- The HTML for the type of a row; the names of kinds of classes link to their pages.
local function type_of(row)
  local text = escaped(row.type == "" and "anything" or row.type)
  if row.kind and anchors["cr." .. plural_of(row.kind)] then
    local link = element("a", row.kind, ('href="%s"'):format(anchors["cr." .. plural_of(row.kind)]))
    text = text:gsub("of kind " .. row.kind, "of kind " .. link:gsub("%%", "%%%%"))
  end
  return text
end

local function range_of(row)
  local text = ""
  if row.min and row.max then
    text = (" From %s to %s."):format(literal(row.min), literal(row.max))
  elseif row.min or row.max then
    text = (row.min and " At least %s." or " At most %s."):format(literal(row.min or row.max))
  end
  if row.choices then text = text .. " One of: " .. table.concat(row.choices, ", ") .. "." end
  if row.aliases then text = text .. " Also: " .. table.concat(row.aliases, ", ") .. "." end
  return text
end

local function option_grid(rows)
  local lines = {}
  for i, row in ipairs(rows) do
    lines[i] = { element("code", escaped(row.name)), type_of(row), default_of(row),
      escaped(row.doc .. range_of(row)) }
  end
  return html.grid({ "Name", "Type", "Default", "Meaning" }, lines)
end

local function paragraph(text) return text == "" and "" or element("p", escaped(text)) end
local function example_of(row) return row.example and html.session(row.example) or "" end
local function errors_of(row) return row.errors and html.session(row.errors) or "" end

-- ---- signatures, written as the user types the call: f(x, { axis = nil }), Dropout { rate = 0.5 }

local max_width = 90

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat
    return then true until while]]):gmatch "%a+" do
  keywords[word] = true
end

local function member_path(prefix, name)
  if not keywords[name] then return prefix .. name end
  return ("%s[%q]"):format(prefix:gsub("[.:]$", ""), name)
end

local function default_text(row)
  local name = keywords[row.name] and ("[%q]"):format(row.name) or row.name
  return ("%s = %s"):format(name, literal(row.default))
end

--- Joins `prefix`, the words separated by commas, and `suffix`; breaks lines that would be too
--- long.
local function wrapped_call(prefix, words, suffix)
  local lines, line = {}, prefix
  for i, word in ipairs(words) do
    local piece = word .. (i < #words and ", " or "")
    if #line + #piece > max_width and #line > 4 then
      lines[#lines + 1], line = line:gsub(" $", ""), "    "
    end
    line = line .. piece
  end
  lines[#lines + 1] = line .. suffix
  return table.concat(lines, "\n")
end

local function takes_any_number(rows)
  for _, row in ipairs(rows) do
    if row.name == "..." then return true end
  end
  return false
end

--- The text of a call: required parameters by position (all with `by_position`), the others by
--- name.
local function call_text(callee, rows, by_position)
  local positions, names, takes_all_by_position = {}, {}, by_position or takes_any_number(rows)
  for _, row in ipairs(rows) do
    local arguments = (takes_all_by_position or row.required) and positions or names
    arguments[#arguments + 1] = arguments == names and default_text(row)
      or row.variadic and "..." or row.name
  end
  if #names == 0 then return wrapped_call(callee .. "(", positions, ")") end
  if #positions == 0 then return wrapped_call(callee .. " { ", names, " }") end
  names[1] = "{ " .. names[1]
  return wrapped_call(callee .. "(", table.move(names, 1, #names, #positions + 1, positions), " })")
end

local function signature(text)
  return element("pre", html.coloured_lua(text), 'class="signature"')
end

-- ---- classes

local function split_options(options)
  local own_options, shared_options = {}, {}
  for _, option in ipairs(options) do
    local options_of_kind = option.keyword_only and shared_options or own_options
    options_of_kind[#options_of_kind + 1] = option
  end
  return own_options, shared_options
end

local function signature_of(class, own_options) return call_text(class.path, own_options) end

--- Constructs the class with this config. Returns the error message if it is about the option
--- `name`; else nil.
local function error_message_of(class, config, name)
  local succeeded, message = pcall(cr[last_name(parent_of(class.path))][class.name], config)
  message = not succeeded and tostring(message):match "[^\n]+"
  return message and message:find("'" .. name .. "'", 1, true) and message
end

--- A value that the option does not accept, for an example of the error, as a user writes it: 0 and
--- not 0.0.
local function refused_value(option)
  local number = option.min and option.min - 1 or option.max and option.max + 1
  if number then return math.tointeger(number) or number end
  return option.choices and "something"
end

--- The section of a class's page with the example of a mistake, and with the messages about options
--- that are missing or outside of their limits.
local function error_section(class, own_options)
  local lines, session = {}, errors_of(class)
  local function add(message)
    if message and not session:find(escaped(message), 1, true) then lines[#lines + 1] = message end
  end
  for _, option in ipairs(own_options) do
    local value = refused_value(option)
    local config = value and { [option.name] = value }
    add(option.required and error_message_of(class, {}, option.name))
    add(config and error_message_of(class, config, option.name))
  end
  if #lines > 0 then session = session .. element("pre", escaped(table.concat(lines, "\n"))) end
  return session == "" and "" or element("h2", "Errors") .. session
end

local function arguments_of(class)
  if #class.arguments == 0 then return "" end
  local rows = {}
  for i, row in ipairs(class.arguments) do
    rows[i] = { element("code", escaped(row.name)), element("code", escaped(literal(row.default))),
      escaped(row.doc) }
  end
  return element("h2", "Arguments of calls")
    .. html.grid({ "Name", "Default", "Meaning" }, rows)
end

local function members_section(class)
  if #class.members == 0 then return "" end
  local rows = {}
  for i, row in ipairs(class.members) do
    rows[i] = { element("code", escaped(row.text)), escaped(row.doc) }
  end
  return element("h2", "Methods and properties") .. html.grid({ "Name", "Meaning" }, rows)
end

local function options_of(class, own_options, shared_options)
  local text = #own_options > 0 and element("h2", "Options") .. option_grid(own_options) or ""
  if #shared_options == 0 then return text end
  local summary = ("Options of every %s, by name"):format(class.kind)
  return text .. element("details", element("summary", summary) .. option_grid(shared_options))
end

local function kind_line(class)
  local aliases_text = #class.aliases > 0 and "; also " .. table.concat(class.aliases, ", ") or ""
  local namespace_file = file_of(parent_of(class.path))
  local link = element("a", class.kind, ('href="%s"'):format(namespace_file))
  local origin = class.plugin == "" and "the library" or "the plugin " .. class.plugin
  return element("p", link .. escaped(" of " .. origin .. aliases_text), 'class="kind"')
end

local function notes_of(path)
  local text = ""
  for _, note in ipairs(notes.of(path)) do
    text = text .. element("h2", escaped(note.heading)) .. element("p", note.html)
  end
  return text
end

local function index_entries(path, file, row)
  local names = { { path, file, row.doc } }
  for _, alias in ipairs(row.aliases or {}) do
    names[#names + 1] = { parent_of(path) .. "." .. alias, file, row.doc }
  end
  return names
end

local function class_page(class)
  local path = class.path
  local own_options, shared_options = split_options(class.options)
  local example = class.example and element("h2", "Example") .. example_of(class) or ""
  local file = file_of(path)
  return { section = "Reference", parent_file = file_of(parent_of(class.path)),
    title = path,
    file = file, names = index_entries(path, file, class),
    content = element("h1", class.name) .. kind_line(class) .. paragraph(class.doc)
      .. signature(signature_of(class, own_options)) .. pictures.of(class, path) .. example
      .. error_section(class, own_options) .. options_of(class, own_options, shared_options)
      .. arguments_of(class) .. members_section(class) .. notes_of(path) }
end

-- ---- functions

local function parameters_of(row)
  for _, parameter in ipairs(row.parameters) do
    if parameter.type ~= "" or parameter.doc ~= "" then return option_grid(row.parameters) end
  end
  return ""
end

--- The call of a function with its prefix: "cr.ops." for the function of a table, "model:" for a
--- method.
local function full_signature(prefix, row)
  local rows, first = row.parameters or {}, row.parameters and row.parameters[1]
  if prefix:find ":$" and first and first.name == "self" then
    rows = table.move(rows, 2, #rows, 1, {})
  end
  return signature(
    call_text(member_path(prefix, last_name(row.name or row.path)), rows, row.options))
end

local function result_of(row)
  local result = row.result or ""
  return result == "" and "" or element("p", "Gives " .. escaped(result) .. ".")
end

local function function_text(prefix, row, name)
  return element("h3", escaped(name), ('id="%s" class="name"'):format(escaped(name)))
    .. full_signature(prefix, row) .. paragraph(row.doc) .. parameters_of(row) .. result_of(row)
    .. example_of(row) .. (row.errors and paragraph "Errors:" .. errors_of(row) or "")
    .. notes_of(row.path or "")
end

local function name_list(rows)
  local links = {}
  for i, row in ipairs(rows) do
    links[i] = element("a", element("code", escaped(row.name)), ('href="%s"'):format(row.href))
  end
  return html.list(links, 'class="names"')
end

--- The functions grouped by the table that contains them, and the sorted paths of these tables.
local function functions_by_table()
  local tables, table_paths = {}, {}
  for _, row in ipairs(listing.functions) do
    local parent = parent_of(row.path)
    if not is_member(row.path) then
      if not tables[parent] then
        tables[parent] = {}
        table_paths[#table_paths + 1] = parent
      end
      table.insert(tables[parent], row)
    end
  end
  return tables, table_paths
end

--- The classes of a kind grouped by plugin, and the sorted names of the plugins.
local function classes_by_plugin(kind)
  local plugins, plugin_names, count = {}, {}, 0
  for _, class in ipairs(listing.classes) do
    if class.kind == kind then
      if not plugins[class.plugin] then
        plugins[class.plugin], plugin_names[#plugin_names + 1] = {}, class.plugin
      end
      local link = ('href="%s"'):format(file_of(class.path))
      count = count + 1
      table.insert(plugins[class.plugin],
        { element("a", element("code", class.name), link), escaped(class.doc) })
    end
  end
  table.sort(plugin_names)
  return plugins, plugin_names, count
end

--- Lists of the classes with their descriptions, under the names of their plugins if there are
--- several.
local function class_lists(kind)
  local plugins, plugin_names, count = classes_by_plugin(kind)
  local text = ""
  for _, plugin in ipairs(plugin_names) do
    local heading = #plugin_names == 1 and "Classes" or plugin == "" and "What models begin with"
      or plugin:gsub("_", " "):gsub("^%l", string.upper)
    text = text .. element("h2", escaped(heading)) .. html.grid({ "Name", "Is" }, plugins[plugin])
  end
  return text, count
end

--- Whether the table at `path` gets an entry in the menu: cr.ops does, cr.ops.image and cr.Layer do
--- not.
local function is_main(path) return not path:find "%..+%." and not path:find "%.%u" end

--- The HTML for the list of the Lua tables inside the Lua table `path` that have no entry in the
--- menu; `table_paths` has the paths of all documented tables.
local function subtables_html(path, table_paths)
  local rows = {}
  for _, table_path in ipairs(table_paths) do
    if table_path ~= path and parent_of(table_path) == path and not is_main(table_path) then
      rows[#rows + 1] = { name = table_path, href = file_of(table_path) }
    end
  end
  return #rows > 0 and element("h2", "Tables in it") .. name_list(rows) or ""
end

local function count_text(count, word)
  return ("%d %s%s"):format(count, word, count == 1 and "" or word:find "ss$" and "es" or "s")
end

local function table_page(path, functions, namespace, table_paths)
  local file, links, texts, names = file_of(path), {}, {}, {}
  for i, row in ipairs(functions) do
    local name = last_name(row.path)
    links[i] = { name = name, href = "#" .. name }
    texts[i] = function_text(parent_of(row.path) .. ".", row, name)
    names[i] = { row.path, file .. "#" .. name, row.doc }
  end
  local classes, count = class_lists(namespace and namespace.kind)
  local content = element("h1", path) .. paragraph(namespace and namespace.doc or "") .. classes
  if #links > 0 then content = content .. element("h2", "Functions") .. name_list(links) end
  content = content .. subtables_html(path, table_paths)
  names[#names + 1] = { path, file, namespace and namespace.doc or "" }
  local summary = count > 0 and count_text(count, "class")
    or #links > 0 and count_text(#links, "function") or ""
  return { section = "Reference", title = path, menu = is_main(path) and path, summary = summary,
    file = file, parent_file = not is_main(path) and file_of(parent_of(path)), names = names,
    content = content .. table.concat(texts, "\n") }
end

local function table_pages(pages)
  local tables, table_paths = functions_by_table()
  local namespaces = {}
  for _, row in ipairs(listing.namespaces) do
    namespaces[row.path] = row
    if not tables[row.path] then table_paths[#table_paths + 1], tables[row.path] = row.path, {} end
  end
  for _, path in ipairs(table_paths) do -- add the tables that contain nothing but other tables
    local parent = parent_of(path)
    if parent and not tables[parent] then
      table_paths[#table_paths + 1], tables[parent] = parent, {}
    end
  end
  table.sort(table_paths)
  for _, path in ipairs(table_paths) do
    pages[#pages + 1] = table_page(path, tables[path], namespaces[path], table_paths)
  end
end

-- ---- objects

--- The types of objects by name; rows of the listing with the same name are merged.
local function merged_types()
  local types, ordered_types = {}, {}
  for _, row in ipairs(listing.types) do
    local type = types[row.name]
    if not type then
      type = { name = row.name, parent = row.parent, methods = {}, properties = {} }
      types[row.name], ordered_types[#ordered_types + 1] = type, type
    end
    type.example = type.example or row.example
    table.move(row.methods, 1, #row.methods, #type.methods + 1, type.methods)
    table.move(row.properties, 1, #row.properties, #type.properties + 1, type.properties)
  end
  return ordered_types
end

local function properties_of(type)
  if #type.properties == 0 then return "" end
  local rows = {}
  for i, row in ipairs(type.properties) do
    rows[i] = { element("code", escaped(row.name)), escaped(row.type),
      row.settable and "settable" or "", escaped(row.doc) }
  end
  return element("h2", "Properties", 'id="properties"')
    .. html.grid({ "Name", "Type", "", "Meaning" }, rows)
end

local function type_page(type)
  local file, links, texts, names = type_file(type.name), {}, {}, {}
  for i, row in ipairs(type.methods) do
    links[i] = { name = row.name, href = "#" .. row.name }
    texts[i] = function_text(type.name:gsub(" ", "_") .. ":", row, row.name)
    names[i] = { type.name .. ":" .. row.name, file .. "#" .. row.name, row.doc }
  end
  for _, row in ipairs(type.properties) do
    names[#names + 1] = { type.name .. "." .. row.name, file .. "#properties", row.doc }
  end
  local parent = type.parent and element("p", "Has all that "
    .. element("a", escaped(type.parent), ('href="%s"'):format(type_file(type.parent)))
    .. " has.", 'class="kind"') or ""
  local methods = #links > 0 and element("h2", "Methods") .. name_list(links) or ""
  return { section = "Objects", title = type.name, menu = type.name, summary = "", file = file,
    names = names, content = element("h1", escaped(type.name)) .. parent .. example_of(type)
      .. properties_of(type) .. methods .. table.concat(texts, "\n") }
end

-- ---- the program

local function command_page()
  local rows, names = {}, {}
  for i, command in ipairs(host.commands) do
    rows[i] = { element("code", escaped(command.usage)), escaped(command.doc) }
    names[i] = { "crescent " .. command.name, "commands.html", command.doc }
  end
  local variables = {}
  for i, variable in ipairs(host.variables) do
    variables[i] = { element("code", escaped(variable.name)), escaped(variable.doc) }
    names[#names + 1] = { variable.name, "commands.html#environment", variable.doc }
  end
  local summary = "What the program does beside running scripts."
  return { section = "Reference", title = "Commands", menu = "Commands", summary = summary,
    file = "commands.html", names = names,
    content = element("h1", "Commands") .. paragraph(summary)
      .. html.grid({ "Command", "Does" }, rows)
      .. element("h2", "Environment variables", 'id="environment"')
      .. html.grid({ "Name", "Meaning" }, variables) }
end

function reference.pages()
  local pages = { command_page() }
  table_pages(pages)
  for _, class in ipairs(listing.classes) do pages[#pages + 1] = class_page(class) end
  for _, type in ipairs(merged_types()) do
    if #type.methods + #type.properties > 0 then pages[#pages + 1] = type_page(type) end
  end
  notes.check(anchors)
  return pages
end

return reference
