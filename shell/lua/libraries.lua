-- The parts of the module that are written in Lua. Each is a file that gets the table of the module
-- and the table `shell` as arguments, and runs once, when it is first needed: local blocks =
-- shell.library "applications/blocks". Members of `shell`:
--
-- define(name, doc, options, body) makes a function with the help, completion and messages of all
--   functions of the module. The name may include the type of the result, "size -> an integer"; for
--   functions made without define, comments have the types, after @param and @return. An option is
--   {name =, type =, doc =} with `default` or `required = true`; the body gets one value for each.
--   With `takes_names` or `takes_lists`, a table with names or a list that is given for the option
--   is its value, and not a table of options or a list of several values.
-- methods has the bodies of methods of objects that are written in Lua.
-- draw(way, figure, options) draws a figure as a picture of the class `way`, such as "terminal"
--   (crescent/io/picture.h); save_picture(path, figure, options) draws it into a file.
-- fail(...) raises an error at the line of the user's code; expect(kind, value, name, argument)
--   does so unless type(value) is `kind`; shown(value) is the text of a value in a message.
-- warn(text) warns the user.
-- counted_name(class) returns the next automatic name of a layer of this class.
-- save_feature_space(path, config) saves a FeatureSpace; returns false if the format of the file
--   does not support that.
-- given_options(object) returns the table of options with which an object of a class in Lua was
--   made.
-- become_stack(model) makes a model of a class in Lua a sequence of layers, like Sequential.
--   add_to_stack(model, layer, in_config) appends a layer, which the configuration of the model
--   contains if `in_config` is true or if init has run; pop_from_stack(model) removes the last one.
-- dtypes() returns the names of all dtypes. note_path(path, table) tells messages where a table of
--   the module is.
-- dataset_class(name) returns the class of datasets with this name; nil if there is none.
-- set_base(name, make) sets the function that makes the base for classes derived from a built-in
--   class of layers; without a name, the one for all other classes.
-- did_you_mean(word, names) is the hint of a message about an unknown name.
-- is_structure(x) is true for lists and tables with names, false for objects.
-- filled(t) adds those members of the table that are otherwise added when a missing one is first
--   read, and returns the table.
-- internal_names(t) is the set of the names in the table t that only the program uses.
-- family(name) is the family of a name that has an example, such as "reductions".
-- fitting_columns(n, least) is n, or less if the terminal has fewer columns, but not below `least`.
-- printing has the settings of cr.config.print; set_printing(precision, threshold, width) applies
--   them to tensors.
-- create_folder(path) makes a folder, with those that it is in; remove_folder(path) removes it with
--   all that is in it; remove_search(folder) removes the journal and the trials of a search.
-- direction_of(model, log) is "min" or "max": which values of a log are good; nil if that is
--   unknown.
-- in_first_process(f) calls f in one of the processes that a launcher started; alone(f) calls f,
--   whose training runs have nothing to do with other processes, and returns its result.
-- max_epochs(), max_steps_per_epoch() are limits of all runs, nil without one;
--   set_max_epochs(limit) and set_max_steps_per_epoch(limit) set them.
-- call_format(name, method, arguments) calls a method of the format of files with this name.
-- set_shares_inference(on) says whether processes share evaluate and predict, too;
--   shares_inference() returns it.
-- set_shards_data(on) says whether all processes are given the same data, of which each takes its
--   share, or each its own part; shards_data() returns it.
-- set_weight_layouts(list) says how weights that layers make are divided: rows of pattern and rank,
--   and of axis, parts and stride where processes divide an axis.
-- set_data_parallel(on) says whether processes share batches; is_data_parallel() returns it.
-- At the prompt, variables has functions that return the values of local variables, by name, and
--   print_help(text) prints a text that may be longer than the screen.
local cr, shell = ...
shell.printing, shell.methods, shell.variables = {}, {}, {}

function shell.print_help(text) print(text) end

local loaded_libraries = {}
function shell.library(name)
  if loaded_libraries[name] == nil then
    loaded_libraries[name] = shell.source(name)(cr, shell) or true
  end
  return loaded_libraries[name]
end

--- Raises an error at the line of the user's code that called these libraries. If that code is not
--- Lua, the function made with shell.define reports the line.
function shell.fail(...)
  local level, frame = 2, nil
  repeat
    level = level + 1
    frame = debug.getinfo(level, "S")
  until not frame or not frame.source:find "^=crescent/"
  local has_line = frame and frame.what ~= "C"
  error(table.concat { ... }, has_line and level or 2)
end

--- The text of a value in a message, a string in quotes.
function shell.shown(value)
  return type(value) == "table" and "a table" or shell.library("show").show_value(value, 1, {})
end

--- Fails unless the value of an argument has this type of Lua.
function shell.expect(kind, value, name, argument)
  if type(value) == kind then return end
  shell.fail(name, ": argument '", argument, "': expected a ", kind, ", got ", shell.shown(value))
end

-- For each function that function_refusing_colon has made, the function that it calls.
local bodies = setmetatable({}, { __mode = "k" })

-- A function of the module at `path` that calls the function of Lua `body`, and fails if it gets
-- the module before its arguments, as in cr.tree:flatten(x). cr.describe finds `body` as upvalue.
local function function_refusing_colon(path, name, module, body)
  local function checked_function(...)
    if rawequal(..., module) and select("#", ...) > 1 then
      error(string.format("%s: what %s contains is called with '.', not with ':': %s.%s(...)",
        name, path, path, name), 2)
    end
    return body(...)
  end
  bodies[checked_function] = body
  return checked_function
end

--- Makes two mistakes raise errors: reading a missing name in the table of the module or in a
--- nested table, and calling functions in these tables with ':'. If users see another table
--- instead of this one, it is `facade`.
local function guard(path, table, facade)
  shell.note_path(path, facade or table)
  setmetatable(table, {
    __internal = shell.internal_names(table),
    __index = function(_, key) return shell.library("names").fail_missing(path, table, key) end,
  })
  for name, value in next, table do
    if type(value) == "function" and debug.getinfo(value, "S").what == "Lua" then
      table[name] = function_refusing_colon(path, name, facade or table, bodies[value] or value)
    elseif type(name) == "string" and type(value) == "table" and not getmetatable(value) then
      guard(path .. "." .. name, value)
    end
  end
end

--- Adds the members of the table that are otherwise added when a missing one is first read; returns
--- the table that contains them, which is another one if `table` only refuses assignments.
function shell.filled(table)
  local meta = getmetatable(table)
  if type(meta) ~= "table" then return table end
  local fill = rawget(meta, "__fill")
  if fill then fill() end
  return rawget(meta, "__members") or table
end

--- The set of the names in a table that only the program uses.
function shell.internal_names(table)
  local meta = getmetatable(table)
  local members = type(meta) == "table" and rawget(meta, "__members")
  if members then meta = getmetatable(members) end
  return type(meta) == "table" and rawget(meta, "__internal") or {}
end

--- Returns the table. When a missing member of it is first read, the library `name` runs and its
--- members are added. If users see another table instead of this one, it is `facade`.
local function lazy_table(name, path, table, facade)
  table = table or {}
  local is_filled = false
  local function fill()
    if is_filled then return end
    is_filled = true
    for key, value in pairs(shell.library(name)) do table[key] = value end
    guard(path, table, facade)
  end
  return setmetatable(table, {
    __fill = fill,
    __index = function(_, key)
      fill()
      local value = rawget(table, key)
      return value == nil and shell.library("names").fail_missing(path, table, key) or value
    end,
    __pairs = function()
      fill()
      return pairs(table)
    end,
  })
end

cr.applications = lazy_table("applications", "cr.applications")
-- The metamethod __describe of a callable table returns the function to describe.
local feature_space = {}
cr.utils.FeatureSpace = setmetatable(feature_space, {
  __fill = function()
    for key, value in pairs(shell.library "feature_space") do rawset(feature_space, key, value) end
  end,
  __index = function(_, key)
    local space = shell.library "feature_space"
    local value = rawget(space, key)
    if value ~= nil then return value end
    return shell.library("names").fail_missing("cr.utils.FeatureSpace", space, key)
  end,
  __call = function(_, ...) return shell.library "feature_space"(...) end,
  __describe = function() return getmetatable(shell.library "feature_space").__describe() end,
})
for _, name in ipairs { "tree", "saving", "dtype_policies", "visualization", "distribution" } do
  cr[name] = lazy_table(name, "cr." .. name)
end
for _, name in ipairs { "preprocessing", "random", "tuners", "utils" } do
  lazy_table(name, "cr." .. name, cr[name])
end

-- cr.config is an empty table, so that assignments to its members, which are functions, fail.
do
  local facade = {}
  local settings = lazy_table("config", "cr.config", cr.config, facade)
  local meta = getmetatable(settings)
  cr.config = setmetatable(facade, {
    __members = settings,
    __fill = meta.__fill,
    __index = settings,
    __newindex = function(_, name)
      shell.library("names").fail_assigning_setting(shell.filled(settings), name)
    end,
    __pairs = function() return pairs(shell.filled(settings)) end,
  })
end

-- cr.quantizers has classes, which its metatable finds, and functions, which are added when a name
-- that is no class of it is first read.
do
  local meta = getmetatable(cr.quantizers)
  local class_at, pairs_of_classes, is_filled = meta.__index, meta.__pairs, false
  function meta.__fill()
    if is_filled then return end
    is_filled = true
    for name, body in pairs(shell.library "quantizers") do rawset(cr.quantizers, name, body) end
  end
  function meta.__index(table, name)
    meta.__fill()
    local value = rawget(table, name)
    return value == nil and class_at(table, name) or value
  end
  function meta.__pairs(table)
    meta.__fill()
    return pairs_of_classes(table)
  end
end

for _, name in ipairs { "plot", "optimize" } do
  shell.methods["study." .. name] = function(...)
    return shell.library("tuners/studies")[name](...)
  end
end

-- The library plotting sets these methods when it runs.
for _, name in ipairs { "history.plot", "model.plot" } do
  shell.methods[name] = function(...)
    shell.library "plotting"
    return shell.methods[name](...)
  end
end

-- cr.data contains functions, and finds the classes of datasets, which plugins define, when they
-- are read.
setmetatable(cr.data, {
  __index = function(data, name)
    local class = type(name) == "string" and shell.dataset_class(name) or nil
    return class or shell.library("names").fail_missing("cr.data", data, name)
  end,
})

--- A new class derived from Sequential, whose models are stacks of layers. Its options are rows
--- {name, default, doc}.
--- @param self the class
--- @param name a string
--- @param options a table of defaults
--- @return a class
local function subclass(self, name, options)
  return cr.layers.Sequential:subclass(name, options)
end

--- The model whose get_config returned the configuration.
--- @param self the class
--- @param config a table with names
--- @return a model
local function from_config(self, config) return cr.models.from_config(config) end

-- cr.Sequential is a table: calling it makes a model, and its function subclass derives a class.
local make_sequential = cr.Sequential
cr.Sequential = setmetatable({ subclass = subclass, from_config = from_config }, {
  __call = function(_, ...) return make_sequential(...) end,
  __describe = function() return make_sequential end,
  __tostring = function() return "<class Sequential>" end,
  __index = function(class, name)
    return shell.library("names").fail_missing("class Sequential", class, name)
  end,
})
cr.models.Sequential = cr.Sequential

rawset(cr.ops, "image", lazy_table("elastic", "cr.ops.image"))
shell.set_base("Wrapper", function() return shell.library "wrapper" end)
shell.set_base("Sequential", function() return shell.library "stacks" end)
shell.set_base("Functional", function() return cr.Model end)
shell.set_base("", function(...) return shell.library "derived"(...) end)

debug.setmetatable(cr.null, {
  __tostring = function(value)
    return value == cr.null and "null" or string.format("userdata: %p", value)
  end,
})

--- A value as readable text.
--- @param value any value
--- @return a string
function cr.show(value) return shell.library("show").show(value) end

--- Prints values as the prompt does: tables with their contents, other values as by tostring.
--- @param ... any value
--- @return nothing
function cr.print(...) return shell.library("show").print(...) end

--- Prints the documentation of a class, a function, an object or a namespace.
--- @param ... any value
--- @return nothing
function cr.help(...)
  return shell.library "help"(...)
end

--- Completions of the end of a text: a list of names, the number of characters of the text they
--- replace, and a list of their descriptions.
--- @param line a string
--- @return a list of names, how many characters they replace, a list of texts
function cr.complete(line)
  shell.expect("string", line, "complete", "line")
  return shell.library("prompt/completion").complete(line)
end

--- The values that begin with a prefix and may follow `line`, which ends where an option ("option
--- = "), an argument or a key is expected: a list of values and a list of their descriptions.
--- @param line a string
--- @param prefix a string
--- @return a list of values, a list of texts
function cr.complete_value(line, prefix)
  shell.expect("string", line, "complete_value", "line")
  shell.expect("string", prefix, "complete_value", "prefix")
  return shell.library("prompt/completion").complete_value(line, prefix)
end

--- The signature of the function or class whose call is being typed at the end of a text.
--- @param line a string
--- @return a string or nil
function cr.hint(line)
  shell.expect("string", line, "hint", "line")
  return shell.library("prompt/completion").hint(line)
end

--- An error message, with or without a traceback, and with a hint if there is one; `source` is the
--- text of the chunk that failed, unless it is in a file.
--- @param message a string
--- @param source a string
--- @return a string
function cr.explained(message, source)
  shell.expect("string", message, "explained", "message")
  return shell.library "prompt/hints"(message, source)
end

--- The functions of the prompt that are written in Lua (shell/lua/prompt.lua).
--- @param ... any value
--- @return a table with names
function cr.begin_prompt(...) return shell.library "prompt"(...) end

guard("cr", cr)
lazy_table("plotting", "cr", cr)

-- What only the program calls; help, completion and the listing leave it out.
getmetatable(cr).__internal = {
  begin_prompt = true, complete = true, complete_value = true, explained = true, hint = true,
  printable = true,
}
