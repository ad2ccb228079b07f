-- Hints for names that do not exist: similar names, and the tables of the module that contain the
-- name.
local cr, shell = ...
local names = {}

local python_names = shell.library "prompt/python_names"

-- The names in a table of the module; for a table of classes also their aliases.
local function members(t)
  local member_names, description = {}, cr.describe(t)
  for _, word in ipairs(description and description.words or {}) do
    member_names[#member_names + 1] = word
  end
  for key in next, shell.filled(t) do
    local is_visible = not shell.internal_names(t)[key]
    if is_visible and type(key) == "string" and key:find "^%a" then
      member_names[#member_names + 1] = key
    end
  end
  return member_names
end

-- Calls visit(path, name) for everything in the table and in the tables below it.
local function visit_all(path, t, visit, enclosing_tables)
  if enclosing_tables[t] or rawget(t, "subclass") then return end
  enclosing_tables[t] = true
  for _, name in ipairs(members(t)) do
    visit(path .. "." .. name, name)
    local value = rawget(shell.filled(t), name)
    if type(value) == "table" then
      visit_all(path .. "." .. name, value, visit, enclosing_tables)
    end
  end
  enclosing_tables[t] = nil
end

--- The paths of everything in the module that has this name, or whose path ends in this dotted path
--- ("layers.Dense"); the shortest path first.
function names.paths(word)
  local paths, seen_paths, ending = {}, {}, "." .. word
  visit_all("cr", cr, function(path)
    local ends_in_word = path == word or path:sub(-#ending) == ending
    if ends_in_word and not seen_paths[path] then
      paths[#paths + 1], seen_paths[path] = path, true
    end
  end, {})
  table.sort(paths, function(a, b) return #a < #b or #a == #b and a < b end)
  return paths
end

--- The paths of everything in the module.
function names.all_paths()
  local paths, seen_paths = {}, {}
  visit_all("cr", cr, function(path)
    if not seen_paths[path] then paths[#paths + 1], seen_paths[path] = path, true end
  end, {})
  table.sort(paths, function(a, b) return #a > #b or #a == #b and a < b end)
  return paths
end

--- The value at a path such as "cr.layers.Dense".
function names.value(path)
  local value = cr
  for name in path:gmatch "%.([^.]+)" do value = value[name] end
  return value
end

local function nearest_name(word, candidates)
  return shell.did_you_mean(word, candidates):match "'(.*)'"
end

-- A name in the module of which `word` is a misspelling.
local function misspelled_elsewhere(word)
  local misspelt_name
  visit_all("cr", cr, function(_, name)
    if not misspelt_name and shell.is_misspelling(word, name) then misspelt_name = name end
  end, {})
  return misspelt_name
end

-- The first few paths, each in quotes, as a text: "'cr.losses.mse' or 'cr.metrics.mse'".
local function quoted_paths(paths)
  local parts = {}
  for i = 1, math.min(#paths, 3) do parts[i] = "'" .. paths[i] .. "'" end
  return table.concat(parts, " or ")
end

-- The list of paths in Crescent that replace the name `word` of the Python module at `path`.
local function counterparts_of(word, path)
  local reduction = word:match "^reduce_(%l+)$"
  if reduction and rawget(cr.ops, reduction) then return { "cr.ops." .. reduction } end
  return python_names.paths[path .. "." .. word] or python_names.paths[word] or {}
end

local function question_text(paths)
  return #paths == 0 and "" or " (did you mean " .. quoted_paths(paths) .. "?)"
end

--- The hint for a name that programs in Python use for something that Crescent has under another
--- name or in another form; "" if `word` is no such name. `path` is the path of the table that
--- lacks the name.
function names.counterpart(word, path)
  if python_names.texts[word] then return "; " .. python_names.texts[word] end
  for _, dtype in ipairs(shell.dtypes()) do
    if word == dtype then return string.format("; dtypes are texts: \"%s\"", word) end
  end
  return question_text(counterparts_of(word, path))
end

--- The hint " (did you mean 'cr.layers.Dense'?)" for a name that other tables of the module have.
function names.elsewhere(word, path)
  local other_paths = {}
  for _, other_path in ipairs(names.paths(word)) do
    if other_path ~= path then other_paths[#other_paths + 1] = other_path end
  end
  return question_text(other_paths)
end

--- Returns the first of these hints that applies: the counterpart of a name of Python; the same
--- name in other tables; a similar candidate; if `everywhere` is true, a name anywhere in the
--- module of which the word is a misspelling.
function names.guess(word, candidates, everywhere, path)
  path = path or ""
  local hint = names.counterpart(word, path)
  if hint == "" then hint = names.elsewhere(word, path) end
  if hint == "" then hint = question_text { nearest_name(word, candidates) } end
  local similar_name = hint == "" and everywhere and misspelled_elsewhere(word)
  return similar_name and question_text(names.paths(similar_name)) or hint
end

--- Fails for a missing name in the table of the module; returns nil if the key is not a name.
function names.fail_missing(path, t, key)
  if type(key) == "string" then
    shell.fail(path, " has no '", cr.printable(key), "'", names.guess(key, members(t), true, path))
  end
end

--- Fails for an assignment to a member of cr.config, which has the members `settings`.
function names.fail_assigning_setting(settings, name)
  name = cr.printable(tostring(name))
  if rawget(settings, "set_" .. name) then
    shell.fail("cr.config.", name, " is not assigned; cr.config.set_", name, "(value) sets it")
  end
  if rawget(settings, name) then
    shell.fail("cr.config.", name, " is not assigned; it is a function: cr.config.", name, "(...)")
  end
  shell.fail("cr.config has no '", name, "'",
    names.guess(name, members(settings), true, "cr.config"))
end

return names
