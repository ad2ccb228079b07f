-- Parts of objects stay valid after the objects are garbage-collected, also in coroutines and
-- finalizers (the fault [L04] in tests/faults/README.md).
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

-- weights, values, layers and symbols stay usable after their model was garbage-collected
local weight, value, layer, output
do
  local model = cr.Sequential { cr.layers.Dense(2, { input_shape = { 3 }, name = "d" }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  weight, layer, output = model.weights[1], model.layers[1], model.outputs[1]
  value = weight.value
end
collectgarbage()
collectgarbage()
check.same(value.shape, { 3, 2 })
check.same({ weight.path, layer.units, output.shape[2] }, { "d/kernel", 2, 2 })
check.same(layer(cr.ones { 1, 3 }).shape, { 1, 2 })

-- tensors pass between coroutines, and an error in one does not affect the others
local double_next = coroutine.wrap(function(x)
  while true do x = coroutine.yield(x * 2) end
end)
check.near(double_next(cr.ones { 2 }), { 2, 2 })
check.near(double_next(cr.zeros { 2 }), { 0, 0 })
local failing_coroutine = coroutine.create(function() cr.zeros { 2 }:reshape { 3 } end)
local ok, message = coroutine.resume(failing_coroutine)
assert(not ok and tostring(message):find "reshape")
check.near(double_next(cr.ones { 1 }), { 2 })

-- finalizers (__gc) and closers (__close) use objects at the end of the process, in any order
local is_ok, text = check.run [[
  local model = cr.Sequential { cr.layers.Dense(2, { input_shape = { 3 } }) }
  kept = setmetatable({ model = model }, { __gc = function(self)
    print("gc", self.model:predict(cr.ones { 1, 3 }, { verbose = 0 }).shape[2])
  end })
  local closer <close> = setmetatable({}, {
    __close = function() print("closed", cr.ones { 1 }) end })
  waiting = coroutine.wrap(function() local y <close> = closer coroutine.yield(cr.ones { 2 }) end)
  waiting()]]
assert(is_ok, text)
for _, line in ipairs { "closed", "gc\t2" } do assert(text:find(line, 1, true), text) end
do -- garbage is collected while the layers of a Sequential model are called on its symbols
  local UnusedLayer = cr.Layer:subclass "CollectedLayer"
  local CollectingLayer = cr.Layer:subclass "CollectingLayer"
  function CollectingLayer:build() self.inner = cr.layers.Dense(3) end
  function CollectingLayer:call(x)
    UnusedLayer()
    collectgarbage()
    collectgarbage()
    return self.inner(x)
  end
  for _ = 1, 10 do
    local model = cr.Sequential { cr.layers.Dense(4, { input_shape = { 3 } }), CollectingLayer(),
      CollectingLayer(), CollectingLayer(), cr.layers.Dense(2) }
    model:predict(cr.ones { 2, 3 }, { verbose = 0 })
    model:quantize "int8"
    assert(model:predict(cr.ones { 2, 3 }, { verbose = 0 }).shape[2] == 2)
  end
end

print "ok lifetimes"
