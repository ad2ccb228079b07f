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
local keras_names = json.read(file:read "a").values
file:close()

local problems, compared_count, excepted_count = {}, 0, 0
local function add_problem(...) problems[#problems + 1] = string.format(...) end

-- ---- signatures: "(units, activation=None, *, name='x', **kwargs)"

local function split_at_commas(text)
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
    for _, item in ipairs(split_at_commas(text:sub(2, -2))) do
      list[#list + 1] = value_of(item:match "^%s*(.-)%s*$")
    end
    return list, true
  end
  local f = load("return " .. text)
  local ok, value = pcall(f or error)
  return value, ok and text:find "^[%-%d'\"]" ~= nil
end

--- The parameters of a signature as {name=, default=, required=, is_literal=}, in order, without
--- those that begin with * or **. `is_literal`: whether Lua can express the default.
local function parameters_of(signature)
  local list = {}
  for _, part in ipairs(split_at_commas(signature:match "^%((.*)%)$" or "")) do
    local name, default = part:match "^%s*([%w_]+)[^=]*=%s*(.-)%s*$"
    name = name or part:match "^%s*([%w_]+)"
    if name and not part:find "^%s*%*" then
      local value, is_literal = nil, false
      if default then value, is_literal = value_of(default) end
      list[#list + 1] = { name = name, default = value, required = default == nil,
        is_literal = is_literal }
    end
  end
  return list
end

-- ---- comparing defaults and options

--- The value that None stands for in options of Keras.
local meaning_of_none = { activation = "linear", data_format = "channels_last", dtype = "float32" }

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

local function reason(location, name) return (exceptions.rows[location] or {})[name] end
local function is_pending(location, name) return (exceptions.pending[location] or {})[name] end

--- Compares the options of a class with a signature, except the parameters in `ignored_names`.
local function compare_options(location, info, signature, ignored_names)
  if is_pending("options of", location) or is_pending("layers", location:match "^layers%.(.*)") then
    return
  end
  local options, positions, position, has_defaults = {}, {}, 0, false
  for _, option in ipairs(info.options) do
    has_defaults = has_defaults or option.default ~= nil
    options[option.name] = option
    for _, alias in ipairs(option.aliases or {}) do options[alias] = option end
    if not option.keyword_only then position = position + 1; positions[option.name] = position end
  end
  local last_position = 0
  for _, parameter in ipairs(parameters_of(signature)) do
    local name, option = parameter.name, options[parameter.name]
    local exception = reason("options", location .. "." .. name)
      or reason("options", location:gsub("[^.]*$", "*.") .. name)
    if ignored_names[name] then goto continue end
    compared_count = compared_count + 1
    if exception then
      excepted_count = excepted_count + 1
    elseif not option then
      add_problem("%s: no option '%s'", location, name)
    else
      -- options that can be given by position must have the same positions as in Keras
      local position = positions[option.name]
      if position and position < last_position then
        add_problem("%s: option '%s' is not where Keras has it", location, name)
      end
      last_position = position or last_position
      local default = option.default
      local wanted = parameter.default == nil and meaning_of_none[name] or parameter.default
      -- the default of `name` is derived from the class, so it is not compared
      if name == "name" or not has_defaults then default = wanted end
      if parameter.is_literal and not option.required
        and not equals(default == nil and meaning_of_none[name] or default, wanted) then
        add_problem("%s: '%s' is %s by default, Keras has %s", location, name, tostring(default),
          tostring(parameter.default))
      end
    end
    ::continue::
  end
end

local function compare_name(namespace, space, name, signature)
  compared_count = compared_count + 1
  local ok, value = pcall(function() return space[name] end)
  local is_there, exception = ok and value ~= nil, reason(namespace, name)
  if exception then
    excepted_count = excepted_count + 1
    if is_there then
      add_problem("%s.%s is there: take it out of the exceptions (%s)", namespace, name, exception)
    end
    return
  end
  if not is_there and is_pending(namespace, name) then return end
  if not is_there then return add_problem("%s.%s is missing", namespace, name) end
  local info = cr.describe(value)
  local has_options = info and (info.what == "class" and info.name
    or info.what == "function" and info.options)
  if type(signature) ~= "string" or not has_options then return end
  local ignored_names = { x = true, inputs = true, y_true = true, y_pred = true, args = true,
    kwargs = true, fn = name ~= "MeanMetricWrapper" or nil }
  compare_options(namespace .. "." .. name, info, signature, ignored_names)
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
    local ok, inner_space = pcall(function() return space[part] end)
    space = ok and inner_space or {}
  end
  for _, name in ipairs(keras_names[namespace].keys) do
    compare_name(namespace, space, name, keras_names[namespace].values[name])
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
  local description, members = cr.describe(object), {}
  for _, list in ipairs { description.methods, description.properties } do
    for _, name in ipairs(list) do members[name] = true end
  end
  for _, member in ipairs(description.class and description.class.members or {}) do
    members[member.name] = true
  end
  local location = "methods of " .. class
  for _, name in ipairs(keras_names[location].keys) do
    compared_count = compared_count + 1
    local exception = reason(location, name) or reason("methods", name)
    if exception then
      excepted_count = excepted_count + 1
      if members[name] and reason(location, name) then
        add_problem("%s: %s is there: take it out of the exceptions (%s)", location, name,
          exception)
      end
    elseif not members[name] and not is_pending("methods", name) then
      add_problem("%s: no %s", location, name)
    end
  end
end

table.sort(problems)
if #problems > 0 then
  error(#problems .. " of " .. compared_count .. " names and options:\n"
    .. table.concat(problems, "\n"), 0)
end
print(string.format("%d names and options compared, %d excepted", compared_count, excepted_count))
