-- The parts of the module that are written in Lua. Each is a file that gets the table of the module
-- and the table below as arguments, and runs once, when it is first needed: local blocks =
-- shell.library "applications/blocks". shell.define(name, doc, options, body) makes a function with
-- the help, completion and messages of all functions of the module. The name may go on with what
-- the function gives, "size -> an integer"; of other functions comments say types, @param and
-- @return. An option is {name =, type =, doc =} with `default` or `required = true`; the body gets
-- one value for each; `takes_names` and `takes_lists` say that a table in its place is its value,
-- not options or several values. shell.methods has the bodies of methods of objects that are
-- written in Lua. shell.draw(way, figure, options) draws (crescent/io/picture.h),
-- shell.save_picture(path, figure, options) into a file. shell.warn(text) tells the user something,
-- shell.counted_name(class) draws the next automatic name of a layer,
-- shell.save_feature_space(path, config) writes one where the format of such files has a word for
-- it, shell.dataset_class(name) is the class of datasets of this name or nil, shell.set_base(name, make) says what stands for a built-in class of layers where others are
-- derived from it (without a name: what derives a class from any other), shell.did_you_mean(word, names) is the hint of a message about a name,
-- shell.is_structure(x) tells lists and tables of names from objects, shell.filled(t) is the table
-- with what it gets when it is first read, shell.fitting_columns(n, least) is n, or what the
-- terminal has of it, shell.printing is what cr.config.print was told, and
-- shell.set_printing(precision, threshold, width) tells tensors. At the prompt shell.variables gives
-- functions, by names, that give the values of local variables, and shell.print_help(text) prints
-- what may be longer than the screen.
local cr, shell = ...
shell.printing, shell.methods, shell.variables = {}, {}, {}

function shell.print_help(text) print(text) end

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

--- Makes it an error to read a name that the table of the module lacks, in the tables below it too.
local function guard(path, table)
  setmetatable(table, {
    __index = function(_, key) return shell.library("names").fail(path, table, key) end,
  })
  for name, value in next, table do
    if type(name) == "string" and type(value) == "table" and not getmetatable(value) then
      guard(path .. "." .. name, value)
    end
  end
end

--- The table itself, filled where that waits until somebody looks into it.
function shell.filled(table)
  local meta = getmetatable(table)
  local fill = type(meta) == "table" and rawget(meta, "__fill")
  if fill then fill() end
  return table
end

--- The table, which gets what the library of this name has besides, when somebody first looks for
--- what is not there.
local function filled_later(name, path, table)
  table = table or {}
  local is_filled = false
  local function fill()
    if is_filled then return end
    is_filled = true
    for key, value in pairs(shell.library(name)) do table[key] = value end
    guard(path, table)
  end
  return setmetatable(table, {
    __fill = fill,
    __index = function(_, key)
      fill()
      local value = rawget(table, key)
      return value == nil and shell.library("names").fail(path, table, key) or value
    end,
    __pairs = function()
      fill()
      return pairs(table)
    end,
  })
end

cr.applications = filled_later("applications", "cr.applications")
-- A table that can be called says by __describe which function that is.
local feature_space = {}
cr.utils.FeatureSpace = setmetatable(feature_space, {
  __fill = function()
    for key, value in pairs(shell.library "feature_space") do rawset(feature_space, key, value) end
  end,
  __index = function(_, key)
    local space = shell.library "feature_space"
    local value = rawget(space, key)
    if value ~= nil then return value end
    return shell.library("names").fail("cr.utils.FeatureSpace", space, key)
  end,
  __call = function(_, ...) return shell.library "feature_space"(...) end,
  __describe = function() return getmetatable(shell.library "feature_space").__describe() end,
})
for _, name in ipairs { "tree", "saving", "dtype_policies", "visualization" } do
  cr[name] = filled_later(name, "cr." .. name)
end
for _, name in ipairs { "config", "preprocessing", "random", "utils" } do
  filled_later(name, "cr." .. name, cr[name])
end

-- Beside its functions cr.data has the classes of datasets, which are in plugins.
setmetatable(cr.data, {
  __index = function(data, name)
    local class = type(name) == "string" and shell.dataset_class(name) or nil
    return class or shell.library("names").fail("cr.data", data, name)
  end,
})

filled_later("elastic", "cr.ops.image", cr.ops.image)
shell.set_base("Wrapper", function() return shell.library "wrapper" end)
shell.set_base("", function(...) return shell.library "derived"(...) end)

for _, name in ipairs { "show", "plotting" } do shell.library(name) end

--- Prints what is known of a class, a function, an object or a namespace.
--- @param ... any value
--- @return nothing
function cr.help(...) return shell.library "help"(...) end

--- Completions of the end of a text: a list of names, how many characters of the text they replace,
--- and a list of what is said about each.
--- @param line a string
--- @return a list of names, how many characters they replace, a list of texts
function cr.complete(line) return shell.library("completion").complete(line) end

--- What an option can be whose text has been begun: `line` ends with "option = "; a list of values
--- and one of what is said about each.
--- @param line a string
--- @param prefix a string
--- @return a list of values, a list of texts
function cr.complete_value(line, prefix)
  return shell.library("completion").complete_value(line, prefix)
end

--- How the function or class is called whose call is being typed at the end of a text.
--- @param line a string
--- @return a string or nil
function cr.hint(line) return shell.library("completion").hint(line) end

--- The message of an error, a traceback behind it or not, with a hint where there is one; source
--- is the text that it is about, unless that is in a file.
--- @param message a string
--- @param source a string
--- @return a string
function cr.explained(message, source) return shell.library "hints"(message, source) end

--- What is written in Lua of the prompt; see there.
--- @param ... any value
--- @return a table with names
function cr.begin_prompt(...) return shell.library "prompt"(...) end

guard("cr", cr)
