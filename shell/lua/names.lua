-- Hints for names that do not exist: similar names, and the tables of the module that contain the
-- name.
local cr, shell = ...
local names = {}

local python = shell.library "prompt/python_names"

-- The names in a table of the module; for a table of classes also their aliases.
local function members(t)
  local found, kind = {}, cr.describe(t)
  for _, word in ipairs(kind and kind.words or {}) do found[#found + 1] = word end
  for key in next, shell.filled(t) do
    if type(key) == "string" and key:find "^%a" then found[#found + 1] = key end
  end
  return found
end

-- Calls visit(path, name) for everything in the table and in the tables below it.
local function visit_all(path, t, visit, around)
  if around[t] or rawget(t, "subclass") then return end
  around[t] = true
  for _, name in ipairs(members(t)) do
    visit(path .. "." .. name, name)
    local value = rawget(t, name)
    if type(value) == "table" then visit_all(path .. "." .. name, value, visit, around) end
  end
  around[t] = nil
end

--- The path of everything in the module whose path ends in this name or dotted path
--- ("layers.Dense"), the shortest path first.
function names.paths(word)
  local found, seen, ending = {}, {}, "." .. word
  visit_all("cr", cr, function(path)
    local is_meant = path == word or path:sub(-#ending) == ending
    if is_meant and not seen[path] then found[#found + 1], seen[path] = path, true end
  end, {})
  table.sort(found, function(a, b) return #a < #b or #a == #b and a < b end)
  return found
end

--- The value at a path such as "cr.layers.Dense".
function names.value(path)
  local value = cr
  for name in path:gmatch "%.([^.]+)" do value = value[name] end
  return value
end

local function nearest(word, candidates)
  return shell.did_you_mean(word, candidates):match "'(.*)'"
end

-- A name in the module of which `word` is a misspelling.
local function misspelled_elsewhere(word)
  local found
  visit_all("cr", cr, function(_, name)
    if not found and shell.is_misspelling(word, name) then found = name end
  end, {})
  return found
end

-- The first few paths, each in quotes, as a text: "'cr.losses.mse' or 'cr.metrics.mse'".
local function quoted(paths)
  local few = {}
  for i = 1, math.min(#paths, 3) do few[i] = "'" .. paths[i] .. "'" end
  return table.concat(few, " or ")
end

-- The list of paths in Crescent that replace the name `word` of the Python module at `path`.
local function counterparts_of(word, path)
  local reduction = word:match "^reduce_(%l+)$"
  if reduction and rawget(cr.ops, reduction) then return { "cr.ops." .. reduction } end
  return python.paths[path .. "." .. word] or python.paths[word] or {}
end

local function question(paths)
  return #paths == 0 and "" or " (did you mean " .. quoted(paths) .. "?)"
end

--- The hint for a name of Python that the table at `path` does not have, or "" if it is none.
function names.counterpart(word, path)
  if python.texts[word] then return "; " .. python.texts[word] end
  for _, dtype in ipairs(shell.dtypes()) do
    if word == dtype then return string.format("; dtypes are texts: \"%s\"", word) end
  end
  return question(counterparts_of(word, path))
end

--- The hint " (did you mean 'cr.layers.Dense'?)" for a name that other tables of the module have.
function names.elsewhere(word, path)
  local others = {}
  for _, other in ipairs(names.paths(word)) do
    if other ~= path then others[#others + 1] = other end
  end
  return question(others)
end

--- Returns the first of these hints that applies: the counterpart of a name of Python; the same
--- name in other tables; a similar candidate; if `everywhere` is true, a name anywhere in the
--- module of which the word is a misspelling.
function names.guess(word, candidates, everywhere, path)
  path = path or ""
  local hint = names.counterpart(word, path)
  if hint == "" then hint = names.elsewhere(word, path) end
  if hint == "" then hint = question { nearest(word, candidates) } end
  local misspelled = hint == "" and everywhere and misspelled_elsewhere(word)
  return misspelled and question(names.paths(misspelled)) or hint
end

--- Fails for a missing name in the table of the module; returns nil if the key is not a name.
function names.fail_missing(path, t, key)
  if type(key) == "string" then
    shell.fail(path, " has no '", cr.printable(key), "'", names.guess(key, members(t), true, path))
  end
end

return names
