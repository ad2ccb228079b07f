-- acme.waves 0.1.0: A dataset of sine curves, each batch of which is computed from its index.
-- provides: dataset Waves
local cr = require "crescent"

local Waves = cr.data.Dataset:subclass("Waves", {
  { "batches", 8, "How many batches a pass has." },
  { "batch_size", 16, "How many curves a batch has." },
})

function Waves:len() return self.batches end

-- Returns batch `number`, counted from 1: curves of 32 points (batch_size, 32), and how often each
-- goes up and down (batch_size, 1). A dataset of files would read the batch here.
function Waves:get(number)
  local size = self.batch_size
  local cycle_counts = cr.ops.reshape(cr.ops.arange(size), { size, 1 }) % 4 + 1
  local points = cr.ops.reshape(cr.ops.linspace(0, 2 * math.pi, 32), { 1, 32 }) + number
  return cr.ops.sin(cycle_counts * points), cycle_counts
end

return { Waves = Waves }
