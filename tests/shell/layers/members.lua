-- Methods and properties that built-in classes declare.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

-- the cell of a recurrent layer is an object, not a configuration
local cell = cr.layers.LSTMCell(3)
local rnn = cr.layers.RNN(cell)
assert(rawequal(rnn.cell, cell) and rnn.cell.units == 3)
assert(rnn:get_config().cell.class_name == "LSTMCell")
local stacked_rnn = cr.layers.RNN { cell = { cr.layers.GRUCell(2), cr.layers.GRUCell(5) } }
assert(#stacked_rnn.cell.cells == 2 and stacked_rnn.cell.cells[2].units == 5)
check.fails(function() rnn.cell = cell end, "'cell' cannot be set")
check.fails(function() cr.layers.RNN(function() end) end, "a function cannot be used as layer")

-- the states of a stateful layer are read, reset and set
local stateful_rnn = cr.layers.SimpleRNN(2, { stateful = true, batch_input_shape = { 1, 3, 1 } })
assert(#stateful_rnn.states == 0)
local x = cr.ones { 1, 3, 1 }
stateful_rnn(x)
assert(#stateful_rnn.states == 1 and cr.ops.max(cr.ops.abs(stateful_rnn.states[1])):item() > 0)
stateful_rnn:reset_state()
check.near(stateful_rnn.states[1], { { 0, 0 } })
stateful_rnn:reset_states(cr.tensor { { 0.5, -0.5 } })
check.near(stateful_rnn.states[1], { { 0.5, -0.5 } })
stateful_rnn:reset_states { { { 0.25, 1 } } }
check.near(stateful_rnn.states[1], { { 0.25, 1 } })
local first_output = stateful_rnn(x)
stateful_rnn:reset_states { states = { cr.tensor { { 0.25, 1 } } } }
check.same(stateful_rnn(x):totable(), first_output:totable())
stateful_rnn:reset_states()
check.near(stateful_rnn.states[1], { { 0, 0 } })
check.fails(function()
  stateful_rnn:reset_states { x, x }
end, "expects 1 states, but it received 2 state values")
check.fails(function()
  stateful_rnn:reset_states { stats = x }
end, "SimpleRNN.reset_states: no argument 'stats' (did you mean 'states'?)")
check.fails(function() rnn:reset_states() end, "must be stateful to reset its states")

-- properties of callbacks can be read after training
local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 1 } }) }
model:compile { optimizer = cr.optimizers.SGD { learning_rate = 0.0 }, loss = "mse" }
local early_stopping = cr.callbacks.EarlyStopping { monitor = "loss", patience = 2 }
assert(early_stopping.best == nil and early_stopping.stopped_epoch == 0)
model:fit(cr.ones { 4, 1 }, cr.zeros { 4, 1 }, { epochs = 9, verbose = 0,
  callbacks = early_stopping })
assert(early_stopping.stopped_epoch == 2 and early_stopping.wait == 2
  and early_stopping.best ~= nil)

-- an optimizer that wraps another one
local inner_optimizer = cr.optimizers.SGD()
local loss_scaling = cr.optimizers.LossScaleOptimizer { inner_optimizer = inner_optimizer }
assert(rawequal(loss_scaling.inner_optimizer, inner_optimizer)
  and loss_scaling.dynamic_scale.name == "dynamic_scale")

-- help and completion list methods and properties
local description = cr.describe(cr.layers.RNN)
local member_texts = {}
for _, member in ipairs(description.members) do member_texts[member.name] = member.text end
assert(member_texts.cell == "cell: an object of kind layer", member_texts.cell)
assert(member_texts.reset_states == "reset_states(states)", member_texts.reset_states)
the_rnn = rnn
assert(#cr.complete "the_rnn:reset_st" == 2)
print "ok members"
