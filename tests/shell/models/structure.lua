-- Models of Lua classes whose layers are replaced, shared or added after training has begun.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

local x, y = cr.random.normal { 8, 4 }, cr.random.normal { 8, 3 }

local function changes_weights(layer, f)
  local old_weights = layer:get_weights()
  f()
  for i, value in ipairs(layer:get_weights()) do
    if cr.ops.max(cr.ops.abs(value - old_weights[i])):item() > 0 then return true end
  end
  return false
end

local BlockModel = cr.Model:subclass "Net"
function BlockModel:init()
  self.body, self.head = cr.layers.Dense(5), cr.layers.Dense(3)
  self.blocks = {}
end
function BlockModel:call(inputs)
  local h = self.body(inputs)
  for _, block in ipairs(self.blocks) do h = block(h) end
  return self.head(h)
end

local net = BlockModel()
net:compile { optimizer = "adam", loss = "mse" }
net:fit(x, y, { verbose = 0 })
net:predict(x)

-- a replaced head is used for prediction and training
local old_head, new_head = net.head, cr.layers.Dense(3)
net.head = new_head
check.near(net:predict(x), net(x):totable())
assert(changes_weights(new_head, function() net:train_on_batch(x, y) end), "the new head learns")
assert(not changes_weights(old_head, function()
  net:train_on_batch(x, y)
end), "the old head is no part of the model")
assert(#net.weights == 4 and #net.optimizer.variables == 2 + 2 * 4)

-- a replaced head of a model inside another model is used as well
local outer_model = cr.Sequential { cr.layers.Dense(4, { input_shape = { 4 } }), net }
outer_model:compile { optimizer = "adam", loss = "mse" }
outer_model:train_on_batch(x, y)
net.head = cr.layers.Dense(3)
check.near(outer_model:predict(x), outer_model(x):totable())
assert(changes_weights(net.head, function() outer_model:fit(x, y, { verbose = 0 }) end))

-- a layer that is in two attributes stays in the model until both attributes are set to nil
net.same = net.head
net.same = nil
assert(changes_weights(net.head, function() net:train_on_batch(x, y) end))
assert(#net.weights == 4)

-- layers in a table are found by compile
local block = cr.layers.Dense(5)
table.insert(net.blocks, block)
net:compile { optimizer = "adam", loss = "mse" }
net:train_on_batch(x, y)
assert(#net.weights == 6)
assert(changes_weights(block, function() net:train_on_batch(x, y) end))

-- a nested Sequential grows and shrinks
local inner_model = cr.Sequential { cr.layers.Dense(4, { input_shape = { 4 } }) }
local model = cr.Sequential { inner_model, cr.layers.Dense(3) }
model:compile { optimizer = "adam", loss = "mse" }
model:fit(x, y, { verbose = 0 })
local added_layer = cr.layers.Dense(4)
inner_model:add(added_layer)
assert(changes_weights(added_layer, function() model:fit(x, y, { verbose = 0 }) end))
check.near(model:predict(x), model(x):totable())
inner_model:add(cr.layers.Dense(7))
check.fails(function() model:predict(x) end, inner_model.name, model.name, "(None, 7)")
inner_model:pop()
check.near(model:predict(x), model(x):totable())
local path = check.temporary ".h5"
model:save(path)
check.near(cr.models.load_model(path):predict(x), model:predict(x):totable())
os.remove(path)

-- a model for which no input size was declared
local text_model = cr.Sequential { cr.layers.Embedding(10, 4), cr.layers.LSTM(3),
  cr.layers.Dense(1) }
text_model:compile { optimizer = "adam", loss = "mse" }
text_model:fit(cr.ones { 4, 11 }, cr.ones { 4, 1 }, { verbose = 0 })
text_model:fit(cr.ones { 4, 12 }, cr.ones { 4, 1 }, { verbose = 0 })
assert(text_model:predict(cr.ones { 2, 7 }).shape[1] == 2)
local model = cr.Sequential { cr.layers.Dense(2, { input_shape = { 11 } }) }
check.fails(function() model:predict(cr.ones { 4, 12 }) end, "(11,)", "(12,)")
