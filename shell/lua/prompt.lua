-- The functions of the interactive prompt: numbering of results, answers to questions such as
-- `?name`, and printing, which omits a table whose rows the command has already printed. The
-- arguments are `session_variables`, functions that return the values of the session's local
-- variables, by name, and `print_paged`, which prints long texts.
local cr, shell = ...
local show = shell.library "show"

local max_results = 100
local variables, print_text
local results, last_result, entry_number = {}, nil, 0
local has_printed = false
local prompt = {}

-- ---- results

local function result_named(name)
  if name == "_" then return last_result end
  local digits = type(name) == "string" and name:match "^_(%d+)$"
  if digits then return results[tonumber(digits)] end
end

-- Makes the global names _ (the last result) and _1, _2, ... refer to results, unless the user has
-- set variables with these names.
local function name_results()
  local meta = getmetatable(_G) or {}
  local previous_index = meta.__index
  function meta.__index(globals, name)
    local value = result_named(name)
    if value ~= nil or previous_index == nil then return value end
    if type(previous_index) ~= "function" then return previous_index[name] end
    -- A tail call would remove this function from the stack, below which previous_index looks for
    -- the code that reads the variable.
    value = previous_index(globals, name)
    return value
  end
  setmetatable(_G, meta)
end

function prompt.begin(entry)
  entry_number, has_printed = entry, false
  results[entry_number - max_results] = nil
end

-- Whether the results of an entry are printed. Not printed are a single nil that a call returned,
-- and a table whose rows the command has just printed.
local function is_worth_showing(is_path, count, value)
  if count ~= 1 or is_path then return count > 0 end
  return value ~= nil and not (has_printed and shell.is_structure(value))
end

--- Stores the first result and prints all results.
function prompt.show(is_silent, is_path, ...)
  local count, texts = select("#", ...), {}
  local value = ...
  if value ~= nil then results[entry_number], last_result = value, value end
  if is_silent or not is_worth_showing(is_path, count, value) then return end
  for i = 1, count do texts[i] = cr.show((select(i, ...))) end
  print_text(table.concat(texts, "\n"), shell.printing.pager ~= false)
end

local function is_tensor(value) return getmetatable(value) == "tensor" end

-- The warning that a value with this text, which is compared with a number, equals no number; nil
-- if the value is neither a tensor nor a list.
local function warning_of_comparison(value, text, number_text)
  if is_tensor(value) then
    return string.format("%s is a tensor, which in Lua equals no number; "
      .. "cr.ops.equal(%s, %s) compares its elements", text, text, number_text)
  elseif shell.is_structure(value) and #value > 0 then
    return string.format("%s is a list, which equals no number; its last item is %s[#%s]", text,
      text, text)
  end
end

--- Returns a function to which the shell adds calls in the code that was entered at the prompt: one
--- call for each comparison, with its index and both operands. The function returns the first
--- operand. It warns, once for each comparison, if a tensor or a list is compared with a number,
--- because Lua calls no metamethod for such a comparison. `operands` holds the texts of both
--- operands of each comparison.
function prompt.watcher(operands)
  local has_warned = {}
  return function(index, watched_value, compared_value)
    if has_warned[index] then return watched_value end
    local watched_text, compared_text = operands[2 * index - 1], operands[2 * index]
    local warning
    if type(compared_value) == "number" then
      warning = warning_of_comparison(watched_value, watched_text, compared_text)
    elseif type(watched_value) == "number" then
      warning = warning_of_comparison(compared_value, compared_text, watched_text)
    end
    if warning then shell.warn(warning) end
    has_warned[index] = warning ~= nil
    return watched_value
  end
end

local value_of

--- Warns if an entry that has been executed, such as "loss, accuracy = model:evaluate(x, y)", gave
--- the first variable a list and the others nothing.
function prompt.warn_of_list(entry)
  local targets, call = entry:match "^%s*([%a_][%w_%s,]*)=%s*([%a_].*[%)}])[%s;]*$"
  local outer_text = call and call:gsub("%b()", ""):gsub("%b[]", ""):gsub("%b{}", "")
  if not call or outer_text:find "[,;\n]" then return end
  local first_name, other_count = nil, 0
  for name in targets:gsub("^local%s", ""):gmatch "[%a_][%w_]*" do
    if not first_name then
      first_name = name
    elseif value_of(name) ~= nil then
      return
    else
      other_count = other_count + 1
    end
  end
  local first_value = value_of(first_name)
  if other_count == 0 or type(first_value) ~= "table" or #first_value <= other_count then return end
  shell.warn(string.format("%s is a list; its values are assigned by %s = table.unpack(%s)",
    first_name,
    targets:match "^(.-)%s*$", call))
end

--- Whether a command took so long that the prompt prints its time.
function prompt.is_long(seconds) return seconds >= (shell.printing.time or 2) end

-- ---- questions

-- The value of a dotted path of names, such as cr.layers; nil if there is none.
function value_of(path)
  local value, is_first = nil, true
  for name in path:gmatch "[^%.:]+" do
    local ok = true
    if is_first and variables[name] then
      value = variables[name]()
    else
      local owner = is_first and _G or value
      ok, value = pcall(function() return owner[name] end)
    end
    if not ok or value == nil then return nil end
    is_first = false
  end
  return value
end

local function help_of(text)
  local path = text:gsub("[\"'%s]", ""):gsub("[%({].*", "")
  local value = path ~= "" and value_of(path) or nil
  if path == "" then
    cr.help()
  elseif value ~= nil then
    cr.help(value)
  else
    cr.help((path:gsub(":", ".")))
  end
end

-- Rows of all names that contain the word, then of names whose descriptions contain it.
local function rows_with(word)
  local name_matches, doc_matches = {}, {}
  local function visit(name, doc)
    local is_in_name = name:lower():find(word, 1, true)
    if not is_in_name and not doc:lower():find(word, 1, true) then return end
    table.insert(is_in_name and name_matches or doc_matches,
      show.row(name, 43, show.first_sentence(doc)))
  end
  local listing = cr.listing()
  for _, class in ipairs(listing.classes) do
    visit(class.name .. " (" .. class.kind .. ")", class.doc)
  end
  for _, f in ipairs(listing.functions) do visit(f.path, f.doc) end
  for _, kind in ipairs(listing.types) do
    for _, method in ipairs(kind.methods) do visit(kind.name .. ":" .. method.name, method.doc) end
  end
  return table.move(doc_matches, 1, #doc_matches, #name_matches + 1, name_matches)
end

local function search(word)
  local rows = rows_with(word:lower())
  if #rows == 0 then rows[1] = string.format("Nothing tells of '%s'.", word) end
  shell.print_help(table.concat(rows, "\n"))
end

--- Remembers the values of the names to which the text of an entry assigns functions.
function prompt.remember_functions(text)
  shell.library("prompt/named_functions").remember(text)
end

--- Whether the entry gave a new function to a name that compiled programs may have called.
function prompt.have_functions_changed()
  return shell.library("prompt/named_functions").have_changed()
end

--- Answers `?name`, `name?` and `??word`; false when the text is no question.
function prompt.answer(text)
  local word = text:match "^%s*%?%?%s*(.-)%s*$"
  local name = text:match "^%s*%?%s*(.-)%s*$" or text:match "^%s*([%a_][%w_%.:]*)%s*%?%??%s*$"
  if word and word ~= "" then
    search(word)
  elseif name then
    help_of((name:gsub("%?", "")))
  else
    return false
  end
  return true
end

function prompt.show_locals()
  local names, lines = {}, {}
  for name in next, variables do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    lines[i] = name .. " = " .. show.show_value(variables[name](), 1, {})
  end
  if #lines == 0 then lines[1] = "There are no local variables." end
  print_text(table.concat(lines, "\n"), shell.printing.pager ~= false)
end

-- ---- the beginning

return function(session_variables, print_paged)
  variables, print_text = session_variables, print_paged
  shell.variables = variables
  function shell.print_help(text) print_text(text, shell.printing.pager ~= false) end
  function _G.print(...)
    has_printed = true
    cr.print(...)
  end
  name_results()
  return prompt
end
