-- Hints for names that do not exist: similar names, and the tables of the module that contain the
-- name.
local cr, shell = ...
local names = {}

-- The names in Crescent that correspond to names of Python libraries; a list if there are several.
local python = {
  K = "cr.ops", array = "cr.tensor", constant = "cr.tensor", jax = "cr", keras = "cr",
  np = "cr.ops", numpy = "cr.ops", tf = "cr", torch = "cr", Tensor = "cr.tensor",
  F = "cr.ops", functional = "cr.ops", gather = "cr.ops.take", jit = "cr.compiled",
  linalg = "cr.ops", load = { "cr.models.load_model", "cr.data.read" },
  manual_seed = "cr.random.seed", matplotlib = "cr.plot",
  mixed_precision = "cr.config.set_dtype_policy",
  nn = "cr.layers", pandas = "cr.data", pd = "cr.data", rand = "cr.random.uniform",
  randn = "cr.random.normal", save = { "model:save", "cr.data.write_npy" },
  set_seed = "cr.random.seed", tensorflow = "cr", train_test_split = "cr.data.split",
  BatchNorm1d = "cr.layers.BatchNormalization", BatchNorm2d = "cr.layers.BatchNormalization",
  BCELoss = "cr.losses.BinaryCrossentropy", BCEWithLogitsLoss = "cr.losses.BinaryCrossentropy",
  CrossEntropyLoss = "cr.losses.SparseCategoricalCrossentropy",
  DataLoader = "cr.data.from_tensor_slices", LayerNorm = "cr.layers.LayerNormalization",
  Linear = "cr.layers.Dense", Module = "cr.Model", MSELoss = "cr.losses.MeanSquaredError",
  Schedule = "cr.schedules.LearningRateSchedule", StandardScaler = "cr.layers.Normalization",
}

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

-- The name in the module that is most similar to `word`.
local function nearest_elsewhere(word)
  local all, seen = {}, {}
  visit_all("cr", cr, function(_, name)
    if not seen[name] then all[#all + 1], seen[name] = name, true end
  end, {})
  return nearest(word, all)
end

-- The first few paths, each in quotes, as a text: "'cr.losses.mse' or 'cr.metrics.mse'".
local function quoted(paths)
  local few = {}
  for i = 1, math.min(#paths, 3) do few[i] = "'" .. paths[i] .. "'" end
  return table.concat(few, " or ")
end

--- The hint " (did you mean 'x'?)" for a name that is not among the candidates: its counterpart if
--- it is a name of Python, else the paths at which the module has the name, else a similar
--- candidate, else, if `everywhere` is true, a similar name in the module. Returns "" if there is
--- none of these.
function names.guess(word, candidates, everywhere)
  local known = python[word]
  local paths = type(known) == "table" and known or known and { known } or names.paths(word)
  if #paths == 0 then paths = { nearest(word, candidates) } end
  if #paths == 0 and everywhere then
    local near = nearest_elsewhere(word)
    paths = near and names.paths(near) or paths
  end
  return #paths == 0 and "" or " (did you mean " .. quoted(paths) .. "?)"
end

--- The hint for a name of a class or function of Python, or "" if the name is none.
function names.counterpart(word)
  return python[word] and names.guess(word, {}) or ""
end

--- Fails for a missing name in the table of the module; returns nil if the key is not a name.
function names.fail_missing(path, t, key)
  if type(key) == "string" then
    shell.fail(path, " has no '", cr.printable(key), "'", names.guess(key, members(t), true))
  end
end

return names
