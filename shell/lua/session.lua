-- What the prompt needs: values as people read them, help, completion.
local cr, shell = ...
local cut_rows, cut_depth, cut_width, cut_numbers, cut_text, cut_lines = 40, 5, 100, 100, 70, 5

-- ---- values -------------------------------------------------------------------------------------

local words = {}
for word in (
  "and break do else elseif end false for function goto if in local nil not or repeat return then true until while")
  :gmatch "%a+" do words[word] = true end

local function is_name(key)
  return type(key) == "string" and key:match "^[%a_][%w_]*$" and not words[key]
end
local function key_text(key)
  if is_name(key) then return key end
  return type(key) == "string" and string.format("[%q]", key) or "[" .. tostring(key) .. "]"
end

local order = { number = 1, string = 2 }
-- Some tables are filled when somebody looks into them.
local function filled(t)
  local meta = getmetatable(t)
  local fill = type(meta) == "table" and rawget(meta, "__fill")
  if fill then fill() end
  return t
end

local function sorted_keys(t, from)
  local keys = {}
  for key in next, filled(t) do
    if not (math.type(key) == "integer" and key >= 1 and key < from) then keys[#keys + 1] = key end
  end
  table.sort(keys, function(a, b)
    local ta, tb = order[type(a)] or 3, order[type(b)] or 3
    if ta ~= tb then return ta < tb end
    if ta == 3 then return tostring(a) < tostring(b) end
    return a < b
  end)
  return keys
end

local function wrapped(text, indent, width)
  local lines, line = {}, ""
  for word in text:gmatch "%S+" do
    if #line + #word + 1 > width and line ~= "" then
      lines[#lines + 1] = line
      line = ""
    end
    line = line == "" and word or line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n" .. indent)
end

local show_value
local function indented(text, indent) return (text:gsub("\n", "\n" .. (" "):rep(indent))) end

-- How many columns a line may have.
local function line_width() return shell.printing.width or shell.fitting_columns(cut_width, 40) end

-- A fraction has no more digits behind the point than tensors have; tiny ones an exponent.
local function number_text(x)
  if math.type(x) == "integer" or x % 1 == 0 or x ~= x then return tostring(x) end
  local digits = shell.printing.precision or 8
  if math.abs(x) < 1e-4 then return string.format("%." .. digits .. "g", x) end
  return (string.format("%." .. digits .. "f", x):gsub("(%..-)0+$", "%1"):gsub("%.$", ".0"))
end

-- The beginning of a text that is too long, and how long it is.
local function string_text(text)
  local quoted = string.format("%q", text:sub(1, cut_text)):gsub("\\\n", "\\n")
  return #text <= cut_text and quoted or string.format("%s... (%d bytes)", quoted, #text)
end

-- "<float32(2, 64, 64, 3)>"
local function spec_text(tensor)
  return string.format("<%s(%s)>", tensor.dtype, table.concat(tensor.shape, ", "))
end

-- In a table a tensor has a few lines, or none; alone its dtype and shape stand below it.
local function tensor_text(tensor, depth)
  if depth == 0 then return tostring(tensor) .. "\n" .. spec_text(tensor) end
  local rows = 1
  for i = 1, #tensor.shape - 1 do rows = rows * tensor.shape[i] end
  local text = rows <= cut_lines and tostring(tensor) or "\n"
  local longest = 0
  for line in text:gmatch "[^\n]+" do longest = math.max(longest, #line) end
  return longest > 0 and longest <= line_width() - 4 * depth and text or spec_text(tensor)
end

local function is_short(value) return type(value) == "number" or type(value) == "boolean" end

-- The items of the list, those that are too many left out, and how many stand side by side.
local function list_parts(t, depth, seen)
  local parts, length, across = {}, #t, true
  for i = 1, length do across = across and is_short(rawget(t, i)) end
  local most = across and (shell.printing.threshold or cut_numbers) or cut_rows
  for i = 1, math.min(length, most) do
    parts[#parts + 1] = show_value(rawget(t, i), depth + 1, seen)
  end
  if length > most then parts[#parts + 1] = string.format("... %d more", length - most) end
  return parts, across and #parts or 0
end

local function named_parts(t, depth, seen, parts)
  local keys = sorted_keys(t, #t + 1)
  for i, key in ipairs(keys) do
    if i > cut_rows then
      parts[#parts + 1] = string.format("... %d more", #keys - cut_rows)
      break
    end
    local name = key_text(key) .. " = "
    parts[#parts + 1] = name .. indented(show_value(rawget(t, key), depth + 1, seen),
      type(rawget(t, key)) == "table" and 0 or #name)
  end
end

-- The first parts in lines that are as long as they may be, the others a line each.
local function in_lines(parts, across, width)
  local lines, line = {}, ""
  for i, part in ipairs(parts) do
    local text = indented(part, 2) .. (i < #parts and "," or "")
    if line ~= "" and i <= across and #line + #text + 1 <= width - 2 then
      line = line .. " " .. text
    else
      lines[#lines + 1] = line ~= "" and line or nil
      line = text
    end
  end
  lines[#lines + 1] = line
  return "{\n  " .. table.concat(lines, "\n  ") .. "\n}"
end

local function show_table(t, depth, seen)
  if seen[t] then return "<the table above>" end
  if depth > cut_depth then return "{...}" end
  seen[t] = true
  local parts, across = list_parts(t, depth, seen)
  named_parts(t, depth, seen, parts)
  seen[t] = nil
  if #parts == 0 then return "{}" end
  local line, width = "{ " .. table.concat(parts, ", ") .. " }", line_width() - 2 * depth
  return #line <= width and not line:find "\n" and line or in_lines(parts, across, width)
end

-- The fields of a table are shown unless it says itself how it looks.
function show_value(value, depth, seen)
  if type(value) == "string" then return depth > 0 and string_text(value) or value end
  if type(value) == "number" then return depth > 0 and number_text(value) or tostring(value) end
  if value == cr.null then return "null" end
  local meta = getmetatable(value)
  if meta == "tensor" then
    local ok, text = pcall(tensor_text, value, depth)
    if ok then return text end
  end
  if type(value) == "table" and not (type(meta) == "table" and rawget(meta, "__tostring")) then
    local kind = cr.describe(value)
    if kind then return "<" .. wrapped(table.concat(kind.names, " "), " ", line_width() - 2) .. ">" end
    return show_table(value, depth, seen)
  end
  local ok, text = pcall(tostring, value)
  return ok and text or "<" .. type(value) .. ">"
end

--- A value as text for people.
function cr.show(value) return show_value(value, 0, {}) end

--- What print is at the prompt: tables are shown with what they hold, other values as by tostring.
function cr.print(...)
  local texts = table.pack(...)
  for i = 1, texts.n do
    local value = texts[i]
    texts[i] = type(value) == "table" and cr.printable(cr.show(value)) or tostring(value)
  end
  io.stdout:write(table.concat(texts, "\t"), "\n")
  io.stdout:flush()
end

-- ---- help ---------------------------------------------------------------------------------------

local function option_lines(options)
  local lines = {}
  for _, option in ipairs(options) do
    local default = option.required and "required"
      or "default " .. (option.default == nil and "nil" or show_value(option.default, 1, {}))
    local kind = option.type:find "^a name, configuration or object" and option.kind or option.type
    local choices = option.choices and " One of: " .. table.concat(option.choices, ", ") .. "."
      or ""
    lines[#lines + 1] = string.format("  %-22s %s", option.name,
      wrapped(option.doc .. choices, (" "):rep(25), 75))
    lines[#lines + 1] = string.format("  %22s %s; %s", "", kind, default)
  end
  return table.concat(lines, "\n")
end

local function argument_lines(arguments)
  local lines = {}
  for _, argument in ipairs(arguments) do
    local default = argument.default == nil and ""
      or " (default " .. show_value(argument.default, 1, {}) .. ")"
    lines[#lines + 1] = string.format("  %-22s %s", argument.name,
      wrapped(argument.doc .. default, (" "):rep(25), 75))
  end
  return table.concat(lines, "\n")
end

local function member_lines(members)
  local lines = {}
  for _, member in ipairs(members) do
    lines[#lines + 1] = string.format("  %-22s %s", member.text,
      #member.text > 22 and "\n" .. (" "):rep(25) or "")
      .. wrapped(member.doc, (" "):rep(25), 75)
  end
  return table.concat(lines, "\n")
end

local function class_help(class)
  local own, common = {}, {}
  for _, option in ipairs(class.options) do
    table.insert(option.keyword_only and common or own, option)
  end
  local text = string.format("%s (%s%s)", class.name, class.kind,
    class.plugin ~= "" and ", plugin " .. class.plugin or "")
  if class.doc ~= "" then text = text .. "\n" .. wrapped(class.doc, "", 100) end
  if #own > 0 then text = text .. "\n\nOptions, in order:\n" .. option_lines(own) end
  if #common > 0 then
    local names = {}
    for i, option in ipairs(common) do names[i] = option.name end
    text = text .. "\n\nBy name only: " .. table.concat(names, ", ")
  end
  if #class.arguments > 0 then
    text = text .. "\n\nArguments of a call, by name, beside training and mask:\n"
      .. argument_lines(class.arguments)
  end
  if #class.members > 0 then
    text = text .. "\n\nIts objects have, beside what each " .. class.kind .. " has:\n"
      .. member_lines(class.members)
  end
  return text
end

local function function_help(f)
  local text = f.signature .. (f.doc ~= "" and "\n" .. wrapped(f.doc, "", 100) or "")
  if f.options and #f.options > 0 then
    text = text .. "\n\n" .. f.word:gsub("^%l", string.upper) .. "s, in order or by name:\n"
      .. option_lines(f.options)
  end
  return text
end

local function members_help(object)
  local lines = {}
  if object.class then lines[#lines + 1] = class_help(object.class) .. "\n" end
  if object.properties and #object.properties > 0 then
    lines[#lines + 1] = "Properties: " .. wrapped(table.concat(object.properties, ", "), "  ", 96)
  end
  lines[#lines + 1] = "Methods:"
  for _, method in ipairs(object.signatures or {}) do
    lines[#lines + 1] = "  " .. method[1]
      .. (method[2] ~= "" and "\n      " .. wrapped(method[2], "      ", 90) or "")
  end
  return table.concat(lines, "\n")
end

-- Where a base is found: "cr.Layer", "cr.losses.Loss".
local function path_of_base(base)
  local name = base.__name
  if rawget(cr, name) == base then return "cr." .. name end
  for space, names in next, cr do
    if type(names) == "table" and rawget(names, name) == base then
      return "cr." .. space .. "." .. name
    end
  end
  return name
end

--- Of cr.Layer, cr.losses.Loss, ...: how a class is made, and what its objects have.
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
        .. (method.doc ~= "" and "\n      " .. wrapped(method.doc, "      ", 90) or "")
    end
  end
  return table.concat(lines, "\n")
end

local general = [[
Crescent: deep learning with the object model of Keras.

  help(cr.layers)          what there is          help(cr.layers.Dense)    options of a class
  help(model.fit)          a method               help(model)              an object and its methods
  cr.plugins.list()        plugins

  x, y = cr.random.normal{100, 3}, cr.random.normal{100, 1}
  model = cr.Sequential{ cr.layers.Dense(8, {activation = "relu", input_shape = {3}}), cr.layers.Dense(1) }
  model:compile{ optimizer = "adam", loss = "mse" }
  history = model:fit(x, y, {epochs = 5})
  model:save("model.h5")

Tab completes names, fields, methods, options and their values; Ctrl-R searches the history; Alt-Enter begins another line;
Ctrl-X Ctrl-E edits the entry in $EDITOR. Ctrl-C stops training after the current batch; Ctrl-D ends.]]

local help_text

-- "model:fit(x, y)": of the methods of this name, with what they do.
local function methods_help(name)
  local lines = {}
  for _, kind in ipairs(cr.listing().types) do
    for _, method in ipairs(kind.methods) do
      if method.name == name then
        lines[#lines + 1] = kind.name .. ":" .. method.signature:gsub("%(self,? ?", "(") .. "\n"
          .. wrapped(method.doc, "", 100)
      end
    end
  end
  return #lines > 0 and table.concat(lines, "\n\n")
end

--- Of everything in the module that has the name: "Dense", "layers.Dense", "fit".
local function help_of_name(name)
  local names, texts, seen = shell.library "names", {}, {}
  for _, path in ipairs(names.paths(name)) do
    local text = help_text(names.value(path))
    if not seen[text] then texts[#texts + 1], seen[text] = text, true end
  end
  return #texts > 0 and table.concat(texts, "\n\n") or methods_help(name)
    or string.format("Nothing is called '%s'%s.", name, names.guess(name, {}, true))
end

function help_text(...)
  if select("#", ...) == 0 then return general end
  local value = ...
  if type(value) == "string" then return help_of_name(value) end
  local what = cr.describe(value)
  if not what then
    if type(value) == "table" and rawget(value, "subclass") then return base_help(value) end
    if type(value) == "table" then
      local names = {}
      for _, key in ipairs(sorted_keys(value, 1)) do names[#names + 1] = tostring(key) end
      return "A table with: " .. wrapped(table.concat(names, ", "), "  ", 96)
    end
    return string.format("A %s: %s", type(value), cr.show(value))
  end
  if what.what == "function" then return function_help(what) end
  if what.what == "class" then return class_help(what) end
  if what.what == "namespace" then
    return string.format("%s Every %s there is:\n  %s", what.doc, what.kind,
      wrapped(table.concat(what.names, ", "), "  ", 96))
  end
  return members_help(what)
end

--- Prints what is known of a class, a function, an object or a namespace.
function cr.help(...) print(cr.printable(help_text(...))) end

-- ---- completion ---------------------------------------------------------------------------------

-- Adds the names with what is to be said about each: a text, or a table with a value.
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

-- What is said about a value in one line.
local function help_of_value(value)
  local kind = type(value)
  if kind == "number" or kind == "string" or kind == "boolean" then
    return (show_value(value, 1, {}))
  end
  local what = cr.describe(value) or {}
  if what.doc and what.doc ~= "" then return what.doc end
  return what.signature or what.what or kind
end

-- Names after a dot or a colon of this value.
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
    for key, field in next, filled(t) do
      if not only_methods or type(field) == "function" then
        add_names(found, { key }, prefix, function() return { field } end)
      end
    end
    local meta = getmetatable(t)
    t, depth = type(meta) == "table" and rawget(meta, "__index") or nil, depth + 1
  end
  if type(value) == "string" then members(string, prefix, only_methods, found) end
end

-- The value of a path such as cr.layers or model.optimizer; nothing is called.
local function value_of(path)
  local value = _G
  for name in path:gmatch "[%a_][%w_]*" do
    local ok, field = pcall(function() return value[name] end)
    if not ok or field == nil then return nil end
    value = field
  end
  return value
end

local opening = { ["("] = true, ["["] = true, ["{"] = true }
local closing = { [")"] = true, ["]"] = true, ["}"] = true }

-- The function or class whose open bracket the cursor is in: "model:fit(x, y, {" or
-- "layers.Dense{".
local function enclosing_call(line)
  local depth = 0
  for i = #line, 1, -1 do
    local c = line:sub(i, i)
    if closing[c] then
      depth = depth + 1
    elseif opening[c] then
      if depth > 0 then
        depth = depth - 1
      else
        local path = line:sub(1, i - 1):match "([%a_][%w_%.:]*)%s*$"
        if path and not words[path] then return path end
      end
    end
  end
end

-- What is known of that function or class.
local function describe_call(path)
  local value = path and value_of((path:gsub(":", ".")))
  return value ~= nil and cr.describe(value) or nil
end

local function add_options(path, prefix, found)
  local what = describe_call(path)
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

-- The names in order, and what is said about each.
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

--- Completions of the end of a text: a list of names, how many characters of the text they replace,
--- and a list of what is said about each.
function cr.complete(line)
  local found = {}
  local path, mark, prefix = line:match "([%a_][%w_%.:]*)([%.:])([%w_]*)$"
  if path then
    local value = value_of((path:gsub(":", ".")))
    if value ~= nil then members(value, prefix, mark == ":", found) end
  else
    prefix = line:match "([%a_][%w_]*)$" or ""
    local call = enclosing_call(line)
    if call then add_options(call, prefix, found) end
    if next(found) == nil then
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

-- Adds the names by which configurations call the classes of a kind.
local function add_names_of_kind(found, kind)
  for _, space in next, cr do
    local what = type(space) == "table" and cr.describe(space)
    if what and what.what == "namespace" and what.kind == kind then
      for _, name in ipairs(what.names) do
        local class = cr.describe(space[name])
        local aliases = class and class.aliases or {}
        for _, alias in ipairs(#aliases > 0 and aliases or { name }) do
          found[alias] = { space[name] }
        end
      end
    end
  end
end

--- What an option can be whose text has been begun: `line` ends with "option = "; a list of values
--- and one of what is said about each.
function cr.complete_value(line, prefix)
  local name = line:match "([%a_][%w_]*)%s*=%s*{?%s*$"
  local what = name and describe_call(enclosing_call(line)) or {}
  local all, found = {}, {}
  for _, option in ipairs(what.options or {}) do
    if option.name == name then
      for _, choice in ipairs(option.choices or {}) do all[tostring(choice)] = option.doc end
      if option.kind then add_names_of_kind(all, option.kind) end
    end
  end
  for value, help in next, all do
    if value:sub(1, #prefix) == prefix then found[value] = help end
  end
  return listed(found)
end

--- How the function or class is called whose call is being typed at the end of a text.
function cr.hint(line)
  local path = enclosing_call(line)
  local what = describe_call(path)
  if not what then return nil end
  if what.what == "function" then
    return (path:find ":" and what.signature:gsub("%(self,? ?", "(", 1) or what.signature)
  end
  local given, named = {}, {}
  for _, option in ipairs(what.kind and what.options or {}) do
    if option.required then
      given[#given + 1] = option.name
    elseif not option.keyword_only then
      local default = option.default == nil and "..." or show_value(option.default, 1, {})
      named[#named + 1] = option.name .. "=" .. default
    end
  end
  if not what.name then return nil end
  if #named > 0 then given[#given + 1] = "{" .. table.concat(named, ", ") .. "}" end
  return what.name .. "(" .. table.concat(given, ", ") .. ")"
end
