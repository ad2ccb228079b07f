-- The base class for layers that wrap another layer: cr.layers.Wrapper:subclass("Mine", { {
-- "scale", 1.0 } }). The wrapped layer is the option `layer`; the init of a derived class calls
-- Mine.super.init(self, options).
local cr = ...

local Wrapper = cr.Layer:subclass("Wrapper", { { "layer", cr.null, "The wrapped layer." } })

function Wrapper:init()
  local layer = self.layer
  if type(layer) == "table" then layer = cr.layers.deserialize(layer) end
  if not layer then error("expected a layer, as the first option or as `layer`", 0) end
  self.layer = layer
end

function Wrapper:build(input_shape)
  if not self.layer.built then self.layer:build(input_shape) end
end

return Wrapper
