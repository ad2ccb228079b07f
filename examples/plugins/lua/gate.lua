-- acme.gate 0.1.0: A layer that lets a learned part of its input through.
-- provides: layer Gate
local cr = require "crescent"

local Gate = cr.Layer:subclass "Gate"

function Gate:build(input_shape)
  self.share = self:add_weight { name = "share", shape = { input_shape[#input_shape] },
    initializer = "zeros" }
end

function Gate:call(x) return x * cr.ops.sigmoid(self.share) end

return { Gate = Gate }
