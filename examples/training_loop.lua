-- A custom training loop: a GradientTape computes the gradients, and the step is compiled.
--   crescent examples/training_loop.lua
local cr = require "crescent"
local layers = cr.layers
cr.random.seed(1)

-- The data: points on two interleaved spirals; the class, 0 or 1, tells the spiral.
local points, labels = {}, {}
for i = 1, 1000 do
  local class, t = i % 2, 0.5 + i / 1000 * 8
  points[i] = { t * math.cos(t + class * math.pi) / 8, t * math.sin(t + class * math.pi) / 8 }
  labels[i] = class
end
local x, y = cr.tensor(points), cr.tensor(labels, "int32")

local model = cr.Sequential {
  layers.Dense(64, { activation = "relu", input_shape = { 2 } }),
  layers.Dense(64, { activation = "relu" }),
  layers.Dense(2),
}
local optimizer = cr.optimizers.Adam(0.01)
local loss_function = cr.losses.SparseCategoricalCrossentropy { from_logits = true }
local accuracy = cr.metrics.SparseCategoricalAccuracy()

-- The Lua function runs once, while it is traced; later calls run the compiled program.
local step = cr.compiled(function(points, labels)
  local loss, logits
  local tape = cr.GradientTape(function()
    logits = model(points, { training = true })
    loss = loss_function(labels, logits)
  end)
  optimizer:apply_gradients(tape:gradient(loss, model.trainable_weights), model.trainable_weights)
  accuracy:update_state(labels, logits)
  return loss
end)

print "Two spirals, told apart by a training loop of one's own:"
for epoch = 1, 30 do
  local order = cr.random.permutation(#x)
  local shuffled_x, shuffled_y = cr.ops.take(x, order, 0), cr.ops.take(y, order, 0)
  accuracy:reset_state()
  local loss
  for first_row = 1, #x, 100 do
    loss = step(shuffled_x:slice(first_row, first_row + 99),
      shuffled_y:slice(first_row, first_row + 99))
  end
  if epoch % 10 == 0 then
    print(string.format("epoch %d: loss %.4f, accuracy %.3f", epoch, loss:item(),
      accuracy:result():item()))
  end
end
assert(accuracy:result():item() > 0.95)

-- Shows the predicted probability of class 1 at each point of a grid over the plane (white: 1).
local grid_points = {}
for row = 1, 40 do
  for column = 1, 40 do grid_points[#grid_points + 1] = { (column - 20) / 18, (20 - row) / 18 } end
end
cr.imshow(model:predict(cr.tensor(grid_points)):softmax(-1)
  :slice({ 1, 2 }, { -1, 2 }):reshape { 40, 40 })
