-- Methods and properties that built-in classes declare.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

-- the cell of a recurrent layer is an object, not a configuration
local cell = cr.layers.LSTMCell(3)
local rnn = cr.layers.RNN(cell)
assert(rawequal(rnn.cell, cell) and rnn.cell.units == 3)
assert(rnn:get_config().cell.class_name == "LSTMCell")
local stack = cr.layers.RNN { cell = { cr.layers.GRUCell(2), cr.layers.GRUCell(5) } }
assert(#stack.cell.cells == 2 and stack.cell.cells[2].units == 5)
check.fails(function() rnn.cell = cell end, "'cell' cannot be set")
check.fails(function() cr.layers.RNN(function() end) end, "a function cannot be used as layer")

-- the states of a stateful layer are read, reset and set
local stateful = cr.layers.SimpleRNN(2, { stateful = true, batch_input_shape = { 1, 3, 1 } })
assert(#stateful.states == 0)
local x = cr.ones { 1, 3, 1 }
stateful(x)
assert(#stateful.states == 1 and cr.ops.max(cr.ops.abs(stateful.states[1])):item() > 0)
stateful:reset_state()
check.near(stateful.states[1], { { 0, 0 } })
stateful:reset_states(cr.tensor { { 0.5, -0.5 } })
check.near(stateful.states[1], { { 0.5, -0.5 } })
stateful:reset_states { { { 0.25, 1 } } }
check.near(stateful.states[1], { { 0.25, 1 } })
local first = stateful(x)
stateful:reset_states { states = { cr.tensor { { 0.25, 1 } } } }
check.same(stateful(x):totable(), first:totable())
stateful:reset_states()
check.near(stateful.states[1], { { 0, 0 } })
check.fails(function()
  stateful:reset_states { x, x }
end, "expects 1 states, but it received 2 state values")
check.fails(function()
  stateful:reset_states { stats = x }
end, "SimpleRNN.reset_states: no argument 'stats' (did you mean 'states'?)")
check.fails(function() rnn:reset_states() end, "must be stateful to reset its states")

-- properties of callbacks can be read after training
local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 1 } }) }
model:compile { optimizer = cr.optimizers.SGD { learning_rate = 0.0 }, loss = "mse" }
local stopping = cr.callbacks.EarlyStopping { monitor = "loss", patience = 2 }
assert(stopping.best == nil and stopping.stopped_epoch == 0)
model:fit(cr.ones { 4, 1 }, cr.zeros { 4, 1 }, { epochs = 9, verbose = 0, callbacks = stopping })
assert(stopping.stopped_epoch == 2 and stopping.wait == 2 and stopping.best ~= nil)

-- an optimizer that wraps another one
local inner = cr.optimizers.SGD()
local scaled = cr.optimizers.LossScaleOptimizer { inner_optimizer = inner }
assert(rawequal(scaled.inner_optimizer, inner) and scaled.dynamic_scale.name == "dynamic_scale")

-- help and completion list methods and properties
local description = cr.describe(cr.layers.RNN)
local texts = {}
for _, member in ipairs(description.members) do texts[member.name] = member.text end
assert(texts.cell == "cell: an object of kind layer", texts.cell)
assert(texts.reset_states == "reset_states(states)", texts.reset_states)
the_rnn = rnn
assert(#cr.complete "the_rnn:reset_st" == 2)
print "ok members"
