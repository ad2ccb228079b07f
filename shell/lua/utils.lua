-- The part of cr.utils that is written in Lua.
local cr, shell = ...
local utils = {}

for _, name in ipairs { "objects", "pictures", "progress", "files", "samples",
  "bounding_boxes", "confusion" } do
  for key, value in pairs(shell.library("utils/" .. name)) do utils[key] = value end
end

utils.clear_session = cr.clear_session
for _, name in ipairs { "enable_interactive_logging", "disable_interactive_logging",
  "is_interactive_logging_enabled" } do
  utils[name] = cr.config[name]
end

utils.is_keras_tensor = shell.define("is_keras_tensor -> true or false",
  "Whether the value is a symbol of a graph.", {
  { name = "x", type = "a value", doc = "", required = true },
}, function(x)
  local description = cr.describe(x)
  return description ~= nil and description.what == "symbol"
end)

utils.get_source_inputs = shell.define("get_source_inputs -> a list of symbols",
  "The inputs of the graph that produces a symbol.", {
  { name = "tensor", type = "a symbol", doc = "", required = true },
}, function(tensor)
  if not cr.utils.is_keras_tensor(tensor) then
    shell.fail("get_source_inputs: expected a symbol, got ", shell.shown(tensor))
  end
  local sources = {}
  local function follow(symbol)
    local inputs = symbol.node and symbol.node.input_tensors or {}
    for _, input in ipairs(inputs) do follow(input) end
    if #inputs > 0 then return end
    for _, source in ipairs(sources) do
      if source == symbol then return end
    end
    sources[#sources + 1] = symbol
  end
  follow(tensor)
  return sources
end)

local names_of_types = { float = "float32", int = "int32", str = "string" }

utils.standardize_dtype = shell.define("standardize_dtype -> a string",
  "The canonical name of a dtype; nil: the default dtype.", {
  { name = "dtype", type = "a text", doc = "" },
}, function(dtype)
  if dtype == nil then return cr.config.floatx() end
  local name = names_of_types[dtype] or dtype
  return cr.zeros({}, name).dtype
end)

return utils
