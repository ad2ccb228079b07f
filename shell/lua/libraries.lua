-- The parts of the module that are written in Lua. Each is a file that gets the table of the module
-- and the table below as arguments, and runs once, when it is first needed: local blocks =
-- shell.library "applications/blocks". shell.define(name, doc, options, body) makes a function with
-- the help, completion and messages of all functions of the module. An option is {name =, type =,
-- doc =} with `default` or `required = true`; the body gets one value for each. shell.warn(text)
-- shows a warning, shell.counted_name(class) returns the next automatic name of a layer,
-- shell.save_feature_space(path, config) saves a FeatureSpace if the format supports it, and
-- shell.set_base(name, make) sets the function that makes the Lua base of a built-in class.
local cr, shell = ...

local loaded = {}
function shell.library(name)
  if loaded[name] == nil then loaded[name] = shell.source(name)(cr, shell) or true end
  return loaded[name]
end

--- Raises an error at the line outside of these libraries that led to it. If a function made with
--- define was called in between, that function finds the line.
function shell.fail(...)
  local level, outside = 2, nil
  repeat
    level = level + 1
    outside = debug.getinfo(level, "S")
  until not outside or not outside.source:find "^=crescent/"
  local is_line = outside and outside.what ~= "C"
  error(table.concat { ... }, is_line and level or 2)
end

--- The table, to which the fields of the library of this name are added when a missing field is
--- first read.
local function filled_later(name, table)
  table = table or {}
  local function fill()
    if not getmetatable(table) then return end
    setmetatable(table, nil)
    for key, value in pairs(shell.library(name)) do table[key] = value end
  end
  return setmetatable(table, {
    __fill = fill,
    __index = function(_, key)
      fill()
      return table[key]
    end,
    __pairs = function()
      fill()
      return pairs(table)
    end,
  })
end

cr.applications = filled_later "applications"
-- A callable table names its function by __describe.
local feature_space = {}
cr.utils.FeatureSpace = setmetatable(feature_space, {
  __fill = function()
    for key, value in pairs(shell.library "feature_space") do rawset(feature_space, key, value) end
  end,
  __index = function(_, key) return shell.library("feature_space")[key] end,
  __call = function(_, ...) return shell.library "feature_space"(...) end,
  __describe = function() return getmetatable(shell.library "feature_space").__describe() end,
})
for _, name in ipairs { "tree", "saving", "dtype_policies", "visualization" } do
  cr[name] = filled_later(name)
end
for _, name in ipairs { "config", "preprocessing", "random", "utils" } do
  filled_later(name, cr[name])
end

filled_later("elastic", cr.ops.image)
shell.set_base("Wrapper", function() return shell.library "wrapper" end)

shell.library "session"
