-- Weights, symbols, nodes, layers and classes are the same value of Lua wherever they are read, so
-- that they can serve as keys of tables.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

local input = cr.Input { shape = { 3 } }
local dense = cr.layers.Dense(2, { name = "d" })
local model = cr.Model { inputs = input, outputs = dense(input) }
model:compile { optimizer = "adam", loss = "mse" }

local function check_identity(read, what)
  local first = read()
  local by_value = { [first] = what }
  check.same(by_value[read()], what)
  assert(rawequal(first, read()), what)
end
check_identity(function() return model.weights[1] end, "a weight")
check_identity(function() return model.trainable_variables[2] end, "a trainable weight")
check_identity(function() return model.optimizer.iterations end, "the counter of an optimizer")
check_identity(function() return model.inputs[1] end, "an input")
check_identity(function() return dense.output end, "an output")
check_identity(function() return dense.inbound_nodes[1] end, "a node")
check_identity(function() return cr.layers.Dense end, "a class")
assert(rawequal(model.weights[1], dense.kernel) and rawequal(model.outputs[1], dense.output))
assert(not rawequal(model.weights[1], model.weights[2]))

-- symbols of different outputs of one node differ
local outputs = cr.ops.split(input, 3, 1)
local index_by_output = {}
for i, part in ipairs(outputs) do index_by_output[part] = i end
for i, part in ipairs(outputs) do check.same(index_by_output[part], i) end

-- a table of velocities that has weights as keys, as in a training loop with momentum
local velocity = {}
for step = 1, 3 do
  for _, weight in ipairs(model.trainable_weights) do
    velocity[weight] = (velocity[weight] or 0) + step
  end
  collectgarbage()
end
check.same({ velocity[dense.kernel], velocity[dense.bias] }, { 6, 6 })
local velocity_count = 0
for _ in pairs(velocity) do velocity_count = velocity_count + 1 end
check.same(velocity_count, 2)

-- a new weight never gets the Lua value of a freed weight that had the same address
for _ = 1, 200 do
  local layer = cr.layers.Dense(1)
  layer:build { -1, 2 }
  assert(rawequal(layer.weights[1], layer.kernel) and layer.kernel.path:find "kernel")
end
print "ok identity"
