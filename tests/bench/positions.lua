-- A layer for workloads: it adds a trained vector to each step of a sequence.
local cr = require "crescent"
local Positions = cr.Layer:subclass("Positions")

function Positions:build(shape)
  self.positions = self:add_weight { name = "positions", shape = { shape[2], shape[3] },
    initializer = "uniform" }
end

function Positions:call(x) return x + self.positions end

return Positions
