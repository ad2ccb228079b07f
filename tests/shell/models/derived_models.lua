-- Classes derived from Sequential and from Functional: stacks and graphs of layers with additional
-- methods. Training, saving and loading them works as for the built-in classes.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local L = cr.layers

local x, y = cr.random.normal { 8, 3 }, cr.random.normal { 8, 1 }

local function filled_model(model)
  for i, weight in ipairs(model.weights) do
    weight:assign(cr.ops.cos(cr.arange(weight.value.size):reshape(weight.shape) + i) * 0.3)
  end
  return model
end

local function fit_losses(model)
  model:compile { optimizer = cr.optimizers.SGD(0.05), loss = "mse" }
  return model:fit(x, y, { epochs = 3, shuffle = false, verbose = 0 }).history.loss
end

--- Saves the model, and compares the loaded model with it: class, layers, predictions, training.
local function check_files(model, layer_count)
  for _, ending in ipairs { ".keras", ".h5" } do
    local path = check.temporary(ending)
    model:save(path)
    local loaded_model = cr.models.load_model(path)
    check.same(loaded_model.class_name, model.class_name)
    check.same(#loaded_model.layers, layer_count, ending)
    check.near(loaded_model:predict(x), model:predict(x), 1e-6, ending)
    local fit_args = { shuffle = false, verbose = 0 }
    local copy = cr.models.load_model(path)
    check.near(loaded_model:fit(x, y, fit_args).history.loss, copy:fit(x, y, fit_args).history.loss,
      1e-7)
    os.remove(path)
  end
end

local function new_model()
  return cr.Sequential { L.Dense(4, { activation = "tanh" }), L.Dense(1) }
end
local expected_model = filled_model((function()
  local m = new_model() m:build { 8, 3 } return m
end)())
local expected_losses = fit_losses(expected_model)

do -- a model has the layers that are given and those that are added
  local DerivedSequential = cr.Sequential:subclass "Given"
  local makers = {
    function() return DerivedSequential { L.Dense(4, { activation = "tanh" }), L.Dense(1) } end,
    function()
      return DerivedSequential { L.Input { shape = { 3 } }, L.Dense(4, { activation = "tanh" }),
        L.Dense(1) }
    end,
    function()
      local first = L.Dense(4, { activation = "tanh", input_shape = { 3 } })
      return DerivedSequential { first, L.Dense(1), name = "named" }
    end,
    function()
      local model = DerivedSequential()
      model:add(L.Dense(4, { activation = "tanh" }))
      model:add(L.Dense(7))
      model:pop()
      model:add(L.Dense(1))
      return model
    end,
  }
  for i, make in ipairs(makers) do
    local model = make()
    if not model.built then model:build { 8, 3 } end
    check.near(fit_losses(filled_model(model)), expected_losses, 1e-6, "way " .. i)
    check.same(#model.layers, 2)
    check.same(model:get_layer(1).units, 4)
    check_files(model, 2)
  end
end

do -- loading runs init, which makes layers again; files contain layers that were added after init
  local TwoDenseModel = cr.Sequential:subclass("Made", { { "units", 4, "Of the first layer." } })
  function TwoDenseModel:init(options)
    TwoDenseModel.super.init(self, { L.Dense(self.units, { activation = "tanh" }) })
    self:add(L.Dense(1))
  end
  local model = TwoDenseModel { units = 4 }
  model:build { 8, 3 }
  check.near(fit_losses(filled_model(model)), expected_losses, 1e-6)
  assert(model:get_config().layers == nil)
  check_files(model, 2)
  local longer_model = TwoDenseModel { 5 }
  longer_model:add(L.Dense(1, { use_bias = false }))
  fit_losses(longer_model)
  check.same(#longer_model:get_config().layers, 1)
  check_files(longer_model, 3)
end

do -- a derived class with its own call and training step
  local DoubledModel = cr.Sequential:subclass("Doubled", { { "by", 2.0 } })
  function DoubledModel:call(inputs) return DoubledModel.super.call(self, inputs) * self.by end
  function DoubledModel:train_step(data)
    self.seen = (self.seen or 0) + 1
    return DoubledModel.super.train_step(self, data)
  end
  local model = DoubledModel { layers = { L.Dense(4, { activation = "tanh" }), L.Dense(1) },
    by = 3 }
  model:build { 8, 3 }
  filled_model(model)
  local base_model = new_model()
  base_model:build { 8, 3 }
  check.near(model:predict(x), filled_model(base_model):predict(x) * 3, 1e-6)
  fit_losses(model)
  assert(model.seen >= 1)
  check_files(model, 2)
  local DerivedModel = DoubledModel:subclass "Deeper"
  local deeper_model = DerivedModel { layers = { L.Dense(1) } }
  check.same(deeper_model(x).shape, { 8, 1 })
end

do -- a stack within a model, and a stack that training builds
  local BlockModel = cr.Sequential:subclass "Block"
  local i = cr.Input { shape = { 3 } }
  local model = cr.Model { inputs = i,
    outputs = L.Dense(1)(BlockModel { L.Dense(4), L.ReLU() }(i)) }
  fit_losses(model)
  check_files(model, 3)
  local deferred_stack = BlockModel { L.Dense(4), L.Dense(1) }
  assert(not deferred_stack.built)
  fit_losses(deferred_stack)
  assert(deferred_stack.built)
  check.same(deferred_stack.inputs[1].shape[2], 3)
  check_files(deferred_stack, 2)
end

do -- a class derived from Functional
  local ScaledGraph = cr.layers.Functional:subclass("Graph", { { "by", 2.0 } })
  function ScaledGraph:predict_step(data) return self(data) * self.by end
  local i = cr.Input { shape = { 3 } }
  local model = ScaledGraph { inputs = i, outputs = L.Dense(1)(i), by = 5 }
  check.same(#model.layers, 2)
  fit_losses(model)
  check_files(model, 2)
end

do -- error messages for mistakes
  local UnfilledModel = cr.Sequential:subclass "Mine"
  function UnfilledModel:init() end
  check.fails(function() UnfilledModel():add(L.Dense(1)) end, "has no stack of layers yet",
    "Mine.super.init(self, { ... })")
  local LayerStack = cr.Sequential:subclass "Good"
  check.fails(function() LayerStack { 3 } end, "layer")
  check.fails(function() LayerStack():pop() end, "no layers")
  check.fails(function() LayerStack { L.Dense(1, { name = "a" }), L.Dense(1, { name = "a" }) } end,
    'The name "a" is used 2 times')
end

print "ok derived models"
