-- Registration of functions and classes of the user, and serialization of objects as tables.
local cr, shell = ...
local objects = {}

local registered_objects = {}   -- the registered classes and functions by name
-- the registered classes without the functions; names in files and configurations refer to these
-- classes
local classes = {}
shell.set_custom_classes(classes)

-- Registers a function or class under a name; nil withdraws the name.
local function register(name, object)
  if type(object) == "function" then
    shell.register_function(name, object)
  elseif type(registered_objects[name]) == "function" then
    shell.withdraw_function(name)
  end
  classes[name] = type(object) ~= "function" and object or nil
  registered_objects[name] = object
end

-- Fails for a value that cannot be registered; `caller` is the function that the user called.
local function check_object(caller, name, object)
  local description = cr.describe(object)
  local is_known = type(object) == "function" or type(object) == "string"
    or description and description.what == "class"
  if type(name) == "string" and is_known then return end
  shell.fail(caller, ": expected a class or a function for '", tostring(name), "', got ",
    shell.shown(object))
end

--- The registered name of an object, or the name of its class.
--- @param object any value
--- @return a string or nil
local function name_of(object)
  local best_name
  for name, registered_object in pairs(registered_objects) do
    if rawequal(registered_object, object) and (not best_name or name:find ">") then
      best_name = name
    end
  end
  if best_name then return best_name end
  local description = cr.describe(object)
  return description and (description.name or object.class_name) or nil
end

-- What get_custom_objects returns: assigning a field registers, or with nil withdraws, its name.
local custom_view = setmetatable({}, {
  __index = registered_objects,
  __newindex = function(_, name, object)
    if object ~= nil then check_object("get_custom_objects", name, object) end
    register(name, object)
  end,
  __pairs = function() return pairs(registered_objects) end,
  __tostring = function() return cr.show(registered_objects) end,
})

objects.get_custom_objects = shell.define("get_custom_objects -> a table of classes by name",
  "All registered classes and functions by name. Assigning a field registers one: "
    .. "get_custom_objects().twice = twice; nil withdraws it.",
  {}, function() return custom_view end)

objects.register_keras_serializable = shell.define(
  "register_keras_serializable -> a function that registers",
  "Returns a function that registers a class or function under a name, for files and "
    .. "configurations.", {
    { name = "package", type = "a text", default = "Custom",
      doc = "Prefix of the name: package>name." },
    { name = "name", type = "a text",
      doc = "Name; nil: that of the class. Functions require one." },
  }, function(package, name)
    return function(object)
      local own_name = name or name_of(object)
      if not own_name then
        shell.fail "register_keras_serializable: a function has no name of its own: give one"
      end
      own_name = own_name:match "[^>]*$"
      register(package .. ">" .. own_name, object)
      if type(object) == "function" then
        registered_objects[own_name] = object
      else
        register(own_name, object)
      end
      if type(object) == "table" then shell.register_class(package .. ">" .. own_name, object) end
      return object
    end
  end)

objects.get_registered_name = name_of

--- The function or class registered under a name, or nil. Tables with other names may be searched
--- before and after.
--- @param name a string
--- @param custom_objects a table of classes by name
--- @param module_objects a table of classes by name
--- @return a class or a function, or nil
function objects.get_registered_object(name, custom_objects, module_objects)
  return custom_objects and custom_objects[name] or registered_objects[name]
    or module_objects and module_objects[name] or nil
end

local Scope = {}
Scope.__index = Scope

function Scope.__close(ended_scope)
  for name in pairs(ended_scope.objects) do register(name, ended_scope.previous_objects[name]) end
end

function Scope.__tostring(scope)
  local names = {}
  for name in pairs(scope.objects) do names[#names + 1] = name end
  table.sort(names)
  return string.format("<scope of %s>", table.concat(names, ", "))
end

local function new_scope(by_name)
  local previous_objects = {}
  for name, object in pairs(by_name) do
    previous_objects[name] = registered_objects[name]
    register(name, object)
  end
  return setmetatable({ objects = by_name, previous_objects = previous_objects }, Scope)
end

--- Registers classes and functions by name while a function runs, custom_object_scope({ twice =
--- twice }, function() ... end), or until the end of a block, local scope <close> =
--- custom_object_scope { twice = twice }.
--- @param custom_objects a table of classes by name
--- @param f a function
--- @return what the function returns, or a scope to close
function objects.custom_object_scope(custom_objects, f)
  if type(custom_objects) ~= "table" then
    shell.fail("custom_object_scope: expected a table with names, got ",
      shell.shown(custom_objects))
  end
  if f ~= nil then shell.expect("function", f, "custom_object_scope", "f") end
  for name, object in pairs(custom_objects) do check_object("custom_object_scope", name, object) end
  local scope = new_scope(custom_objects)
  if f == nil then return scope end
  local open_scope <close> = scope
  return f()
end
objects.CustomObjectScope = objects.custom_object_scope

-- The kinds of classes, and the paths of the tables in cr that hold them.
local namespaces = {
  { "layer", "layers" }, { "loss", "losses" },
  { "distillation_loss", "distillation" }, { "metric", "metrics" },
  { "optimizer", "optimizers" }, { "schedule", "optimizers.schedules" },
  { "initializer", "initializers" },
  { "regularizer", "regularizers" }, { "constraint", "constraints" },
  { "activation", "activations" }, { "callback", "callbacks" },
}

--- An object as a table of its module, class and configuration; plain values are returned
--- unchanged.
--- @param object any value
--- @return a table with names
function objects.serialize_keras_object(object)
  local is_object = type(object) == "userdata" and pcall(function() return object.get_config end)
  if not is_object then return object end
  local config, kind = cr.layers.serialize(object), cr.describe(object).what
  for _, namespace in ipairs(namespaces) do
    if namespace[1] == kind then config.module = "keras." .. namespace[2] end
  end
  return config
end

-- The tables of classes in which a class is searched: at first the one that the configuration
-- names.
local function tables_for(config)
  local named_tables, other_tables = {}, {}
  for _, namespace in ipairs(namespaces) do
    local classes_of_kind = cr
    for name in namespace[2]:gmatch "%w+" do classes_of_kind = classes_of_kind[name] end
    local tables = config.module == "keras." .. namespace[2] and named_tables or other_tables
    tables[#tables + 1] = classes_of_kind
  end
  return table.move(other_tables, 1, #other_tables, #named_tables + 1, named_tables)
end
local models = { Sequential = true, Functional = true, Model = true }

--- The object of a result of serialize_keras_object; custom_objects provides further classes and
--- functions by name.
--- @param config a table with names
--- @param custom_objects a table of classes by name
--- @return an object
function objects.deserialize_keras_object(config, custom_objects)
  if type(config) ~= "table" or config.class_name == nil then return config end
  local open_scope <close> = new_scope(custom_objects or {})
  local registered_class = classes[config.class_name]
  if registered_class then
    local name = type(registered_class) == "string" and registered_class
      or cr.describe(registered_class).name
    config = { class_name = name, config = config.config }
  end
  if models[config.class_name] then return cr.models.from_config(config) end
  for _, classes_of_kind in ipairs(tables_for(config)) do
    local is_known = pcall(function() return assert(classes_of_kind[config.class_name]) end)
    if is_known then return classes_of_kind.deserialize(config) end
  end
  shell.fail("deserialize_keras_object: no class '", tostring(config.class_name),
    "'; classes of one's own are given in custom_objects")
end

-- ---- Config

local Config = {}

local methods = {
  as_dict = function(self)
    local copy = {}
    for key, value in pairs(rawget(self, "values")) do copy[key] = value end
    return copy
  end,
  update = function(self, settings)
    for key, value in pairs(settings) do self[key] = value end
  end,
  freeze = function(self) rawset(self, "frozen", true) end,
  unfreeze = function(self) rawset(self, "frozen", false) end,
  get = function(self, key, default)
    local value = rawget(self, "values")[key]
    if value == nil then return default end
    return value
  end,
}

function Config.__index(self, key)
  local value = rawget(self, "values")[key]
  if value == nil then return methods[key] end
  return value
end

function Config.__newindex(self, key, value)
  if rawget(self, "frozen") then
    shell.fail("Cannot set attribute '", tostring(key), "': the Config is frozen")
  end
  rawget(self, "values")[key] = value
end

function Config.__pairs(self) return pairs(rawget(self, "values")) end

--- A table of settings that can be frozen: Config {rate = 0.1}.
--- @param values a table with names
--- @return a Config
function objects.Config(values)
  if values ~= nil then shell.expect("table", values, "Config", "values") end
  local config = setmetatable({ values = {}, frozen = false }, Config)
  config:update(values or {})
  return config
end

return objects
