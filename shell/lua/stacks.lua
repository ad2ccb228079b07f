-- The base class for classes derived from Sequential: cr.Sequential:subclass "Mine". Their models
-- apply layers one after another. The layers are given when a model is made, Mine { layer, layer },
-- added by model:add(layer), or made by the init of the class:
-- Mine.super.init(self, { layer, layer }).
local cr, shell = ...

local Stack = cr.Model:subclass "Sequential"

-- Removes the layers from the options of a model, or from a list, and returns them. In options that
-- were read from a file, they are configurations, from which the layers are made.
local function take_layers(options)
  local layers = {}
  for _, layer in ipairs(options.layers or {}) do
    layers[#layers + 1] = type(layer) == "table" and cr.layers.deserialize(layer) or layer
  end
  for i = 1, #options do layers[#layers + 1], options[i] = options[i], nil end
  options.layers = nil
  return layers
end

--- Makes the model a sequence of the layers in `options`, like Sequential. The configuration of the
--- model contains these layers if `options` are those with which the model was made; otherwise the
--- init of the derived class has made the layers, and makes them again when the model is loaded.
function Stack:init(options)
  local are_in_config = rawequal(options, shell.given_options(self))
  shell.become_stack(self)
  for _, layer in ipairs(take_layers(options or {})) do
    shell.add_to_stack(self, layer, are_in_config)
  end
end

--- Adds the layers that are still in the model's options because its init has not added them.
function Stack:add_kept_layers()
  for _, layer in ipairs(take_layers(shell.given_options(self))) do self:add(layer) end
end

function Stack:add(layer) shell.add_to_stack(self, layer) end

function Stack:pop() shell.pop_from_stack(self) end

-- Implements the call of the base class, which a derived class Mine calls as Mine.super.call(self,
-- inputs). It is not a method of Stack itself, so that models whose class does not define call run
-- without Lua.
local function call(self, inputs)
  for _, layer in ipairs(self.layers) do inputs = layer(inputs) end
  return inputs
end
local meta = getmetatable(Stack)
meta.__index = setmetatable({ call = call }, { __index = meta.__index })

return Stack
