local cr = require "crescent"
local layer, x, direction = cr.layers.Ema { decay = 0.75 }, cr.random.normal { 50, 7 },
  cr.random.normal { 50, 7 }
local y = layer(x)
for i, row in ipairs(x:totable()) do -- compares y with averages computed by a plain loop
  local average = 0
  for t, value in ipairs(row) do
    average = 0.75 * average + 0.25 * value
    assert(math.abs(y[i][t] - average) < 1e-5)
  end
end
-- Compares the gradient with a central difference along `direction`.
local function loss(distance) return cr.ops.sum(cr.ops.square(layer(x + direction * distance))) end
local tape = cr.GradientTape(function(tape) tape:watch(x) value = loss(0) end)
local slope, difference = cr.ops.sum(tape:gradient(value, x) * direction):item(),
  (loss(0.01) - loss(-0.01)):item() / 0.02
assert(math.abs(slope - difference) < 0.01 * math.abs(slope) + 0.01)
for threads = 1, 3 do -- results do not depend on the number of threads
  cr.config.set_threads(threads)
  assert(cr.ops.max(cr.ops.abs(layer(x) - y)):item() == 0)
end
local model = cr.Sequential { cr.layers.Ema { input_shape = { 7 } } }
local rows = model:profile(x, { by = "instruction", print_fn = function() end }).rows
assert(rows[1].kernel == "acme.ema", rows[1].kernel)
