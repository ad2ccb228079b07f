-- Gradients at points where functions are not differentiable, as Keras defines them, eager and
-- compiled.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops, layers = cr.ops, cr.layers

local function gradient(f, x)
  local y
  local tape = cr.GradientTape(function(tape)
    tape:watch(x)
    y = ops.sum(f(x))
  end)
  return tape:gradient(y, { x })[1]
end

--- Checks the gradients of the function at these positions, also in rows longer than a block.
local function check_gradients(what, f, positions, expected)
  for _, dtype in ipairs { "float32", "float64", "float16", "bfloat16" } do
    local x = cr.tensor(positions):cast(dtype)
    check.near(gradient(f, x):cast "float64", expected, 2e-3, what .. ", " .. dtype)
    local repeated_x = ops.tile(x, { 1000 })
    local compiled_gradient = cr.compiled(function(t) return gradient(f, t) end)
    check.same(compiled_gradient(repeated_x):totable(), ops.tile(gradient(f, x),
      { 1000 }):totable(),
      what .. ", compiled, " .. dtype)
  end
end

local function activation(name) return cr.activations[name] end

check_gradients("relu", ops.relu, { -1, 0, 1 }, { 0, 0, 1 })
for _, relu6 in ipairs { ops.relu6, activation "relu6", layers.ReLU(6),
  cr.activations.relu { max_value = 6 } } do
  check_gradients("relu6", relu6, { -1, 0, 3, 6, 7 }, { 0, 0, 1, 0, 0 })
end
for _, hard_tanh in ipairs { ops.hard_tanh, activation "hard_tanh" } do
  check_gradients("hard_tanh", hard_tanh, { -2, -1, 0, 1, 2 }, { 0, 0, 1, 0, 0 })
end
for _, hard_sigmoid in ipairs { ops.hard_sigmoid, activation "hard_sigmoid" } do
  check_gradients("hard_sigmoid", hard_sigmoid, { -4, -3, 0, 3, 4 }, { 0, 0, 1 / 6, 0, 0 })
end
for _, hard_silu in ipairs { ops.hard_silu, activation "hard_silu" } do
  check_gradients("hard_silu", hard_silu, { -4, -3, 0, 3, 4 }, { 0, 0, 0.5, 1, 1 })
end
for _, sparse_sigmoid in ipairs { ops.sparse_sigmoid, activation "sparse_sigmoid" } do
  check_gradients("sparse_sigmoid", sparse_sigmoid, { -2, -1, 0, 1, 2 }, { 0, 0, 0.5, 0, 0 })
end
-- clip has the gradient 1 at its limits, and so has relu at the limits max_value and threshold
check_gradients("clip", function(x) return ops.clip(x, 0, 6) end, { -1, 0, 3, 6, 7 },
  { 0, 1, 1, 1, 0 })
for _, make in ipairs { layers.ReLU, cr.activations.relu } do
  check_gradients("relu with a limit", make { max_value = 2 }, { -1, 0, 1, 2, 3 },
    { 0, 0, 1, 1, 0 })
  check_gradients("relu with a limit and a slope", make { max_value = 2, negative_slope = 0.5 },
    { -1, 0, 1, 2, 3 }, { 0.5, 0, 1, 1, 0 })
  check_gradients("relu with a slope", make { negative_slope = 0.5 }, { -1, 0, 1 }, { 0.5, 0.5, 1 })
  check_gradients("relu with a threshold", make { threshold = 1 }, { 0, 1, 2 }, { 0, 0, 1 })
  check_gradients("relu with a threshold and a slope", make { threshold = 1, negative_slope = 0.5 },
    { 0, 1, 2 }, { 0.5, 0, 1 })
  -- values: relu of Keras is 0 at its threshold, and gives no NaN for infinity
  local f = make { max_value = 6, threshold = 1, negative_slope = 0.5 }
  check.near(f(cr.tensor { -3, 0, 1, 2, 9 }), { -2, -0.5, 0, 2, 6 })
  check.near(make { max_value = 6 }(cr.tensor { -math.huge, math.huge }), { 0, 6 })
end
check.same(ops.relu6(cr.tensor { -1, 3, 9 }:cast "int32").dtype, "int32")
for _, f in ipairs { ops.relu6, layers.ReLU(6), ops.hard_tanh } do
  local y = f(cr.tensor { 0 / 0 })
  assert(ops.all(ops.isnan(y)):item(), "NaN goes through")
end
