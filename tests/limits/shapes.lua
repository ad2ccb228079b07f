-- Peak memory of a process that predicts and trains on many shapes: shapes.lua KIND FIRST LAST.
-- Prints "peak KILOBYTES".
local cr = require "crescent"
local kind, first, last = arg[1], tonumber(arg[2]), tonumber(arg[3])
cr.utils.set_random_seed(1)

local model_makers = {
  lengths = function() -- a model for sequences of any length
    local model = cr.Sequential { cr.layers.LSTM(64, { input_shape = { -1, 32 } }),
      cr.layers.Dense(1) }
    return model, function(n) return cr.random.normal { 16, n, 32 }, cr.random.normal { 16, 1 } end
  end,
  batches = function()
    local model = cr.Sequential { cr.layers.Dense(1024, { input_shape = { 1024 } }),
      cr.layers.Dense(1024) }
    return model, function(n) return cr.random.normal { n, 1024 }, cr.random.normal { n, 1024 } end
  end,
}
local model, make = model_makers[kind]()
model:compile { optimizer = "sgd", loss = "mse" }
for n = first, last do
  local x, y = make(n)
  model:predict_on_batch(x)
  model:train_on_batch(x, y)
  x, y = nil, nil
  collectgarbage()
end
for line in io.lines "/proc/self/status" do
  local kilobytes = line:match "^VmHWM:%s*(%d+)"
  if kilobytes then print("peak " .. kilobytes) end
end
