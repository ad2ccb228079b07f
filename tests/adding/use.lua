-- Uses the layer, op, loss, metric and optimizer that the test has added to the tree in the same
-- way as built-in ones: by name, with options, in training, in files.
package.path = arg[0]:match "^(.*)/[^/]*$" .. "/../shell/support/?.lua;" .. package.path
local check = require "check"

-- the added op `cube` on an odd number of elements and on integers, and its gradient
local x = cr.random.uniform({ 1001 }, -2, 2)
check.near(cr.ops.cube(x), x * x * x, 1e-6)
check.near(cr.ops.cube(cr.tensor({ 2, -3 }, "int32")), { 8, -27 })
local y
local tape = cr.GradientTape(function() y = cr.ops.cube(x):sum() end, x)
check.near(tape:gradient(y, x), x * x * 3, 1e-5)

-- A model with all added classes: Shift adds 2 to the cube of each of the three inputs, and Dense
-- adds up its outputs.
local input = cr.Input { 3 }
local shifted_input = cr.layers.Shift { offset = 2 }(cr.ops.cube(input))
local model = cr.Model(input,
  cr.layers.Dense(1, { kernel_initializer = "ones", use_bias = false })(shifted_input))
model:compile { optimizer = cr.optimizers.SignDescent { learning_rate = 0.25 },
  loss = "mean_fourth_power", metrics = { "largest_error" } }
local data, targets = cr.tensor { { 1, 0, -1 }, { 2, 0, 0 } }, cr.tensor { { 4 }, { 15 } }
local loss, largest_error = table.unpack(model:evaluate(data, targets, { verbose = 0 }))
check.near({ loss, largest_error }, { (2 ^ 4 + 1) / 2, 2 })
-- model:validate compares compiled training steps with a computation in float64; it works with the
-- added op
local function quiet() end
assert(model:validate(data, targets, { print_fn = quiet }).ok)
assert(model:validate(data, { print_fn = quiet }).undecided == 0)
-- All gradients are positive, so SignDescent subtracts the learning rate from each weight, which
-- gives 0.75.
model:fit(data, targets, { epochs = 1, batch_size = 2, verbose = 0 })
check.near(model:predict(data), { { 6 * 0.75 }, { 14 * 0.75 } })

-- the added classes are saved in files
local path = os.tmpname() .. ".h5"
model:save(path)
local loaded_model = cr.models.load_model(path)
check.near(loaded_model:predict(data), model:predict(data), 0)
check.near(loaded_model:evaluate(data, targets, { verbose = 0 }),
  model:evaluate(data, targets, { verbose = 0 }), 0)
local small_model = cr.Sequential { cr.layers.Shift { offset = 2, input_shape = { 3 } } }
small_model:save(path, { target = "keras2" })
check.near(cr.models.load_model(path, { compile = false }):predict(data), data + 2)
os.remove(path)
