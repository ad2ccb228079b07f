-- The parts of the module that are written in Lua. Each is a file that is given the module's table and the table below,
-- and runs once, when another asks for it: local blocks = shell.library "applications/blocks".
-- shell.define(name, doc, options, body) makes a function with declared options, for help, completion and messages;
-- shell.warn(text) tells the user something.
local cr, shell = ...

local loaded = {}
function shell.library(name)
  if loaded[name] == nil then loaded[name] = shell.source(name)(cr, shell) or true end
  return loaded[name]
end

--- An error in the name of the user's line that led here.
function shell.fail(...)
  local level = 2
  local info = debug.getinfo(level, "S")
  while info and (info.what == "C" or info.source:find("=crescent/", 1, true) == 1) do
    level = level + 1
    info = debug.getinfo(level, "S")
  end
  error(table.concat { ... }, level)
end

--- A table that the library of this name fills when somebody first looks into it.
local function filled_later(name)
  local table = {}
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

shell.library "session"
