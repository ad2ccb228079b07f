-- Checks that random models can contain every layer of cr.layers; layers that are excluded need a
-- stated reason.
local cr = require "crescent"
local folder = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = folder .. "/?.lua;" .. package.path
local draw, layer_kinds = require "model_recipes", require "model_layers"

--- Collects the names of all layers in a recipe (the description of a model), including nested
--- ones.
local function collect(value, drawn_counts)
  if type(value) ~= "table" then return end
  if type(value[1]) == "string" then drawn_counts[value[1]] = true end
  if value.skip then drawn_counts[value.skip] = true end
  for _, item in pairs(value) do collect(item, drawn_counts) end
end

local drawn_counts = {}
for seed = 1, 5000 do collect(draw.recipe(seed).branches, drawn_counts) end
local errors = {}
local function check(is_right, ...)
  if not is_right then errors[#errors + 1] = ("%s %s"):format(...) end
end
local layer_classes = {}
for name in pairs(cr.layers) do
  layer_classes[name] = true
  check(drawn_counts[name] or layer_kinds.never[name], name,
    "is never drawn: add it to model_layers.lua")
  check(not (drawn_counts[name] and layer_kinds.never[name]), name,
    "is drawn, though it is among those that are not")
end
for name in pairs(layer_kinds.never) do
  check(layer_classes[name], name, "is left out, but is no layer")
end
for _, error_text in ipairs(errors) do print(error_text) end
assert(#errors == 0, "layers of random models")
