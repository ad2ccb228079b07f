-- Listings of what a table of the module, a kind of classes or an object has, long ones in groups:
-- functions and methods of tensors by family, classes by plugin, methods by type.
local cr, shell = ...
local show = shell.library "show"
local types = shell.library "prompt/types"
local lua_functions = shell.library "help/lua_functions"
local members = {}

local max_rows = 45       -- The largest number of functions that have a line each.
local max_ungrouped = 30  -- The largest number of classes that are not divided into groups.

-- The names in lines that fit the terminal.
local function wrapped_names(names, indent)
  return show.wrapped_text(table.concat(names, ", "), indent, 100 - #indent)
end

-- Lines with the names of each group, in the order of the titles.
local function group_lines(groups)
  local titles, lines = {}, {}
  for title in next, groups do titles[#titles + 1] = title end
  table.sort(titles)
  for i, title in ipairs(titles) do
    table.sort(groups[title])
    lines[i] = "  " .. title .. ":\n      " .. wrapped_names(groups[title], "      ")
  end
  return lines
end

local function add_to_group(groups, title, name)
  groups[title] = groups[title] or {}
  table.insert(groups[title], name)
end

-- Families that say nothing of what is in them.
local general_families = { [""] = true, operations = true, own = true }

-- The title of the family of the first of these names that has an example.
local function title_of_family(names)
  for _, name in ipairs(names) do
    local family = shell.family(name)
    if not general_families[family] then return (family:gsub("_", " ")) end
  end
  return "others"
end

-- ---- objects

local indexing_help = [[
Positions count from 1, and -1 is the last; both ends of a range are included:
  x[2]  x[-1]  x[{ 2, 3 }]     a row, the last row, an element
  x[{ { 1, 3 }, {} }]          rows 1 to 3 of all columns; { 1, -1, 2 } is every second
  x[mask]  x[rows]             where a mask is true; the rows in a tensor of positions
  x[{ {}, 1 }] = 0             all of it can be assigned
  x + 1, x * y, x ^ 2, -x      operators compute with elements; x:equal(y) compares them
Methods of Keras, such as x:argmax() and x:take(), count from 0.

Example:
  > x = cr.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
  > x[{ -1, { 2, 3 } }]
  [5. 6.]
  <float32(2)>]]

local has_elements = { tensor = true, variable = true, symbol = true }

local function method_lines(rows)
  table.sort(rows, function(a, b) return a.name < b.name end)
  local lines = {}
  for i, row in ipairs(rows) do
    lines[i] = "  " .. row.signature
      .. (row.doc ~= "" and "\n      " .. show.wrapped_text(row.doc, "      ", 90) or "")
  end
  return table.concat(lines, "\n")
end

-- The methods of a type by its own and those of the types from which it derives.
local function methods_by_type(type_name)
  local texts, name = {}, type_name
  while types.named(name) do
    local rows = {}
    for _, row in next, types.named(name).methods do rows[#rows + 1] = row end
    local title = name == type_name and "Methods:" or "Methods of every " .. name .. ":"
    if #rows > 0 then texts[#texts + 1] = title .. "\n" .. method_lines(rows) end
    name = types.named(name).parent
  end
  return table.concat(texts, "\n\n")
end

--- The methods of an object, which cr.describe describes.
function members.methods_of(object)
  if not has_elements[object.what] then
    local text = types.named(object.what) and methods_by_type(object.what) or ""
    return text ~= "" and text or "Methods: none"
  end
  local groups = {}
  for _, name in ipairs(object.methods) do
    local title = title_of_family { object.what .. "." .. name, "cr.ops." .. name,
      "tensor." .. name }
    add_to_group(groups, title, name)
  end
  return indexing_help .. "\n\nMethods; ?x:sum tells of one:\n"
    .. table.concat(group_lines(groups), "\n")
end

-- ---- kinds of classes

--- The names of the classes of a namespace, such as cr.layers.
function members.classes_of(namespace, classes)
  local names = namespace.names
  if #names <= max_ungrouped then
    return "\n  " .. show.wrapped_text(table.concat(names, ", "), "  ", 96)
  end
  local groups = {}
  for _, name in ipairs(names) do
    local plugin = cr.describe(classes[name]).plugin
    add_to_group(groups, plugin == "" and "models and inputs" or plugin, name)
  end
  return "\n" .. table.concat(group_lines(groups), "\n")
end

-- ---- tables

-- The names under which a function may have an example.
local function paths_of(f, name)
  local paths = {}
  for _, path in ipairs(shell.names_with_example(name)) do
    local ok, value = pcall(shell.library("names").value, path)
    if ok and rawequal(value, f) then paths[#paths + 1] = path end
  end
  return paths
end

local function description_of(value)
  local is_callable = type(value) == "function" or type(value) == "table"
  return is_callable and (lua_functions.of(value) or cr.describe(value)) or nil
end

--- What a table has: tables, functions, each with a line or, if there are many, in families.
function members.of_table(t)
  local functions, tables, others, count = {}, {}, {}, 0
  local internal_names = shell.internal_names(t)
  for _, key in ipairs(show.sorted_keys(t, 1)) do
    local value = rawget(shell.filled(t), key)
    local description = description_of(value)
    local is_function = description and description.what == "function"
    if is_function and not internal_names[key] then
      functions[key], count = description, count + 1
    elseif not internal_names[key] then
      table.insert(type(value) == "table" and tables or others, tostring(key))
    end
  end
  if count == 0 then
    table.move(others, 1, #others, #tables + 1, tables)
    table.sort(tables)
    return "A table with: " .. show.wrapped_text(table.concat(tables, ", "), "  ", 96)
  end
  local texts, lines, groups = {}, {}, {}
  for _, names in ipairs { tables, others } do
    if #names > 0 then
      texts[#texts + 1] = (names == tables and "Tables:\n  " or "Values:\n  ")
        .. wrapped_names(names, "  ")
    end
  end
  for _, key in ipairs(show.sorted_keys(functions, 1)) do
    if count > max_rows then
      add_to_group(groups, title_of_family(paths_of(t[key], key)), key)
    else
      lines[#lines + 1] = show.row(tostring(key), 33, show.first_sentence(functions[key].doc))
    end
  end
  if count > max_rows then lines = group_lines(groups) end
  texts[#texts + 1] = "Functions:\n" .. table.concat(lines, "\n")
  return table.concat(texts, "\n\n")
end

return members
