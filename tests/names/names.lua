-- Every public name of Keras 3.15 in the namespaces below must exist in Crescent, with the same
-- options in the same order with the same defaults, or be listed in exceptions.lua with the reason;
-- names listed there must not exist.
--   names.lua
-- reads $CRESCENT_SHARED/reference/keras-names.json: {namespace: {name: signature}}
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/names"
package.path = script_folder .. "/?.lua;" .. package.path
local json = require "json"
local exceptions = require "exceptions"

local file = assert(io.open((os.getenv "CRESCENT_SHARED" or "../shared")
  .. "/reference/keras-names.json"))
local recorded = json.read(file:read "a").values
file:close()

local problems, compared, excepted = {}, 0, 0
local function problem(...) problems[#problems + 1] = string.format(...) end

-- ---- signatures: "(units, activation=None, *, name='x', **kwargs)"

local function split(text)
  local parts, depth, quote, part = {}, 0, nil, ""
  for c in text:gmatch "." do
    if quote then quote = c ~= quote and quote or nil
    elseif c == "'" then quote = c
    elseif c:find "[%(%[{]" then depth = depth + 1
    elseif c:find "[%)%]}]" then depth = depth - 1 end
    if c == "," and depth == 0 and not quote then
      parts[#parts + 1], part = part, ""
    else
      part = part .. c
    end
  end
  if part:find "%S" then parts[#parts + 1] = part end
  return parts
end

local constants = { None = "nil", True = "true", False = "false" }
--- The Lua value of a Python literal; nil and false for values that Lua does not have (objects of
--- classes).
local function value_of(text)
  if constants[text] then return load("return " .. constants[text])(), true end
  if text:find "^[%(%[]" then
    local list = {}
    for _, item in ipairs(split(text:sub(2, -2))) do
      list[#list + 1] = value_of(item:match "^%s*(.-)%s*$")
    end
    return list, true
  end
  local f = load("return " .. text)
  local ok, value = pcall(f or error)
  return value, ok and text:find "^[%-%d'\"]" ~= nil
end

--- The parameters of a signature as {name=, default=, has_default=, known=}, in order, without *
--- and **.
local function parameters_of(signature)
  local list = {}
  for _, part in ipairs(split(signature:match "^%((.*)%)$" or "")) do
    local name, default = part:match "^%s*([%w_]+)[^=]*=%s*(.-)%s*$"
    name = name or part:match "^%s*([%w_]+)"
    if name and not part:find "^%s*%*" then
      local value, known = nil, false
      if default then value, known = value_of(default) end
      list[#list + 1] = { name = name, default = value, required = default == nil, known = known }
    end
  end
  return list
end

-- ---- comparing defaults and options

--- The value that None stands for in options of Keras.
local meant = { activation = "linear", data_format = "channels_last", dtype = "float32" }

local function equals(a, b)
  -- a number equals a list whose elements are all that number
  if type(a) == "table" or type(b) == "table" then
    a, b = type(a) == "table" and a or { a }, type(b) == "table" and b or { b }
    for i = 1, math.max(#a, #b) do
      if not equals(#a == 1 and a[1] or a[i], #b == 1 and b[1] or b[i]) then return false end
    end
    return true
  end
  if type(a) == "number" and type(b) == "number" then
    return math.abs(a - b) <= 1e-6 * math.max(math.abs(a), math.abs(b))
  end
  if type(a) == "string" and type(b) == "string" then return a:lower() == b:lower() end
  return a == b
end

local function reason(where, name) return (exceptions.rows[where] or {})[name] end
local function is_pending(where, name) return (exceptions.pending[where] or {})[name] end

--- Compares the options of a class with a signature. `skip`: parameters that are tensors.
local function compare_options(where, info, signature, skip)
  if is_pending("options of", where) or is_pending("layers", where:match "^layers%.(.*)") then
    return
  end
  local options, places, place, has_defaults = {}, {}, 0, false
  for _, option in ipairs(info.options) do
    has_defaults = has_defaults or option.default ~= nil
    options[option.name] = option
    for _, alias in ipairs(option.aliases or {}) do options[alias] = option end
    if not option.keyword_only then place = place + 1; places[option.name] = place end
  end
  local last_place = 0
  for _, parameter in ipairs(parameters_of(signature)) do
    local name, option = parameter.name, options[parameter.name]
    local excused = reason("options", where .. "." .. name)
      or reason("options", where:gsub("[^.]*$", "*.") .. name)
    if skip[name] then goto continue end
    compared = compared + 1
    if excused then
      excepted = excepted + 1
    elseif not option then
      problem("%s: no option '%s'", where, name)
    else
      -- options that can be given by position must have the same positions as in Keras
      local place = places[option.name]
      if place and place < last_place then
        problem("%s: option '%s' is not where Keras has it", where, name)
      end
      last_place = place or last_place
      local default = option.default
      local wanted = parameter.default == nil and meant[name] or parameter.default
      -- the default of `name` is derived from the class, so it is not compared
      if name == "name" or not has_defaults then default = wanted end
      if parameter.known and not option.required
        and not equals(default == nil and meant[name] or default, wanted) then
        problem("%s: '%s' is %s by default, Keras has %s", where, name, tostring(default),
          tostring(parameter.default))
      end
    end
    ::continue::
  end
end

local function compare_name(namespace, space, name, signature)
  compared = compared + 1
  local ok, value = pcall(function() return space[name] end)
  local exists, why = ok and value ~= nil, reason(namespace, name)
  if why then
    excepted = excepted + 1
    if exists then
      problem("%s.%s is there: take it out of the exceptions (%s)", namespace, name, why)
    end
    return
  end
  if not exists and is_pending(namespace, name) then return end
  if not exists then return problem("%s.%s is missing", namespace, name) end
  local info = cr.describe(value)
  local has_options = info and (info.what == "class" and info.name
    or info.what == "function" and info.options)
  if type(signature) ~= "string" or not has_options then return end
  local skip = { x = true, inputs = true, y_true = true, y_pred = true, args = true, kwargs = true,
    fn = name ~= "MeanMetricWrapper" or nil }
  compare_options(namespace .. "." .. name, info, signature, skip)
end

local namespaces = { "layers", "losses", "metrics", "optimizers", "optimizers.schedules",
  "initializers", "regularizers",
  "constraints", "callbacks", "activations", "ops", "utils", "random", "config", "models", "saving",
  "tree", "dtype_policies", "distribution",
  "applications", "preprocessing.image", "preprocessing.sequence", "datasets.mnist",
  "datasets.imdb", "visualization" }
for _, namespace in ipairs(namespaces) do
  local space = cr
  for part in namespace:gmatch "[%w_]+" do
    local ok, inner = pcall(function() return space[part] end)
    space = ok and inner or {}
  end
  for _, name in ipairs(recorded[namespace].keys) do
    compare_name(namespace, space, name, recorded[namespace].values[name])
  end
end

-- ---- methods and properties of objects

local input = cr.Input { shape = { 3 } }
local objects = {
  Layer = cr.layers.Dense(3), Sequential = cr.Sequential {},
  Model = cr.Model(input, cr.layers.Dense(2)(input)),
  ["optimizers.Optimizer"] = cr.optimizers.SGD(), ["metrics.Metric"] = cr.metrics.Mean(),
  ["losses.Loss"] = cr.losses.MeanSquaredError(),
  ["callbacks.Callback"] = cr.callbacks.TerminateOnNaN(),
  KerasTensor = input, Variable = cr.Variable(cr.zeros { 2 }),
}
for class, object in pairs(objects) do
  local described, members = cr.describe(object), {}
  for _, list in ipairs { described.methods, described.properties } do
    for _, name in ipairs(list) do members[name] = true end
  end
  for _, member in ipairs(described.class and described.class.members or {}) do
    members[member.name] = true
  end
  local where = "methods of " .. class
  for _, name in ipairs(recorded[where].keys) do
    compared = compared + 1
    local why = reason(where, name) or reason("methods", name)
    if why then
      excepted = excepted + 1
      if members[name] and reason(where, name) then
        problem("%s: %s is there: take it out of the exceptions (%s)", where, name, why)
      end
    elseif not members[name] and not is_pending("methods", name) then
      problem("%s: no %s", where, name)
    end
  end
end

table.sort(problems)
if #problems > 0 then
  error(#problems .. " of " .. compared .. " names and options:\n" .. table.concat(problems, "\n"),
    0)
end
print(string.format("%d names and options compared, %d excepted", compared, excepted))
