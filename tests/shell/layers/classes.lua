-- Classes written in Lua: layers, models, losses, metrics, callbacks and functions of a tensor such
-- as activations.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
local x, y = cr.random.normal { 32, 3 }, cr.random.normal { 32, 1 }

-- a layer with declared options needs neither init nor get_config
local ScalingLayer = cr.Layer:subclass("Scaled", { { "units", 4, "Width." }, { "factor", 2.0 } })
function ScalingLayer:build(shape)
  self.kernel = self:add_weight { name = "kernel", shape = { shape[#shape], self.units },
    initializer = "ones" }
end
function ScalingLayer:call(inputs, args)
  assert(type(args.training) == "boolean")
  return inputs:matmul(self.kernel) * self.factor
end
local scaling_layer = ScalingLayer(5, { name = "s" })
assert(scaling_layer.units == 5 and scaling_layer.factor == 2.0 and scaling_layer.name == "s")
check.near(scaling_layer(cr.ones { 1, 3 }), { { 6, 6, 6, 6, 6 } })
assert(scaling_layer.kernel == scaling_layer.weights[1] and #scaling_layer.trainable_weights == 1)
assert(scaling_layer:get_config().units == 5
  and ScalingLayer:from_config(scaling_layer:get_config()).factor == 2.0)
assert(ScalingLayer().name == "scaled" or ScalingLayer().name:find "^scaled")
check.fails(function() ScalingLayer { unit = 3 } end, "Scaled", "'unit'", "did you mean 'units'?")
check.fails(function() ScalingLayer("five")(cr.ones { 1, 3 }) end, "five")
assert(tostring(ScalingLayer):find "Scaled" and tostring(scaling_layer):find "Scaled")
check.same(scaling_layer:compute_output_shape { -1, 3 }, { -1, 5 })

-- attributes belong to the layer, not to the Lua value that refers to it
scaling_layer.note = { "kept" }
local model = cr.Sequential { layers.InputLayer { input_shape = { 3 } }, scaling_layer }
scaling_layer = nil
collectgarbage() collectgarbage()
assert(model.layers[1].note[1] == "kept" and model:get_layer "s" == model.layers[1])
assert(model.layers[1].missing == nil)

-- derived classes: super, inherited options and methods
local ShiftedLayer = ScalingLayer:subclass("Child", { { "shift", 1.0 } })
function ShiftedLayer:call(inputs, args)
  return ShiftedLayer.super.call(self, inputs, args) + self.shift
end
check.near(ShiftedLayer { units = 1 }(cr.ones { 1, 3 }), { { 7 } })
assert(ShiftedLayer(2).units == 2)

-- errors inside a layer keep their text and position, and name the layer once
local FailingLayer = cr.Layer:subclass "Broken"
function FailingLayer:call() error "wrong on purpose" end
local ok, message = pcall(FailingLayer { name = "b" }, x)
assert(not ok and message:find "classes.lua:%d+: wrong on purpose"
  and select(2, message:gsub("wrong on purpose", "")) == 1)
local NoResultLayer = cr.Layer:subclass "Nothing"
function NoResultLayer:call() end
check.fails(function() NoResultLayer { name = "n" }(x) end, "n", "returned nothing")
local EmptyTableLayer = cr.Layer:subclass "Empty"
function EmptyTableLayer:call() return {} end
check.fails(function() EmptyTableLayer { name = "e" }(x) end,
  "Layer e: call() returned an empty table")
check.fails(function() EmptyTableLayer()(cr.Input { shape = { 3 } }) end, "returned an empty table")
check.fails(function() NoResultLayer { whatever = 1 } end, "Nothing", "'whatever'")
check.fails(function() cr.Layer {} end, "subclass")
check.fails(function() cr.Layer:subclass() end, "expected a string")
do -- a class with the name of a built-in one gets the package "Custom", as in Keras
  local SecondDense = cr.Layer:subclass "Dense"
  function SecondDense:call(x) return x * 2 end
  local layer = SecondDense()
  assert(layer.class_name == "Custom>Dense" and layer.name:find "^dense_%d+$")
  check.near(layer(cr.ones { 1 }), { 2 })
  assert(layers.Dense(1).class_name == "Dense" and layers.get(layer) == layer)
end
check.fails(function() cr.Layer.subclass "X" end, "subclass")
check.fails(function() cr.optimizers.LossScaleOptimizer:subclass "X" end, "subclass",
  "LossScaleOptimizer is written in C++", "derive from cr.optimizers.Optimizer",
  "self.inner = cr.optimizers.LossScaleOptimizer(...)")

-- sublayers in tables, losses, state that is not trained, several inputs and outputs
local StackLayer = cr.Layer:subclass "Stack"
function StackLayer:init(config)
  self.blocks = {}
  for i = 1, config.count do self.blocks[i] = layers.Dense(3, { activation = "tanh" }) end
end
function StackLayer:build()
  self.calls = self:add_weight { name = "calls", shape = {}, initializer = "zeros",
    trainable = false }
end
function StackLayer:call(inputs)
  self.calls:assign_add(1)
  for _, block in ipairs(self.blocks) do inputs = block(inputs) end
  self:add_loss((inputs * inputs):mean() * 0.1)
  return { inputs, inputs:sum(-1) }
end
local stack = StackLayer { count = 3 }
local outputs = stack(x)
assert(#outputs == 2 and #stack.weights == 7 and #stack.trainable_weights == 6
  and stack.calls.value:item() == 1)
assert(#stack.losses == 1)
stack.blocks = nil
assert(#stack.weights == 1)
local SeveralOutputLayer = cr.Layer:subclass "Several"
function SeveralOutputLayer:call(inputs) return inputs, { inputs * 2, inputs * 3 }, nil end
check.near(SeveralOutputLayer()(cr.ones { 1 })[3], { 3 })
local several_layer = SeveralOutputLayer { name = "several" }
check.fails(function() several_layer(nil) end, "several", "got nil", "table.unpack(layer(x))")

-- build called by the user runs the class's build once; a class without build is built by its call
local DenseLayer = cr.Layer:subclass "Inner"
function DenseLayer:build(shape)
  self.w = self:add_weight { name = "w", shape = { shape[#shape], 2 } }
end
function DenseLayer:call(inputs) return inputs:matmul(self.w) end
local inner = DenseLayer()
inner:build { -1, 3 }
assert(inner.built and #inner.weights == 1)
inner(x)
assert(#inner.weights == 1)
local TwoLayerModel = cr.Model:subclass "Outer"
function TwoLayerModel:init() self.first, self.last = DenseLayer(), layers.Dense(4) end
function TwoLayerModel:call(inputs) return self.last(self.first(inputs)) end
local outer = TwoLayerModel()
outer:build { -1, 3 }
check.same(outer:count_params(), 6 + 12)
local NestedLayer = cr.Layer:subclass "Eager"
function NestedLayer:init() self.inner = DenseLayer() end
function NestedLayer:build(shape) self.inner:build(shape) end
function NestedLayer:call(inputs) return self.inner(inputs) end
local eager_layer = NestedLayer()
eager_layer(x)
assert(#eager_layer.weights == 1)

local SumLayer = cr.Layer:subclass "Sum"
function SumLayer:build(shapes) assert(#shapes == 2 and shapes[1][2] == 3) end
function SumLayer:call(inputs) return inputs[1] + inputs[2] end
check.same(SumLayer() { cr.Input { shape = { 3 } }, cr.Input { shape = { 3 } } }.shape, { -1, 3 })

-- a model class trains like any other model, at compiled speed: call runs only while the step is
-- traced
local call_count = 0
local TwoLayerModel = cr.Model:subclass "Net"
function TwoLayerModel:init()
  self.first, self.last = layers.Dense(8, { activation = "relu" }), layers.Dense(1)
end
function TwoLayerModel:call(inputs)
  call_count = call_count + 1
  return self.last(self.first(inputs))
end
local net = TwoLayerModel()
net:compile { optimizer = "sgd", loss = "mse" }
local history = net:fit(x, y, { epochs = 5, batch_size = 8, verbose = 0 })
assert(#history.history.loss == 5 and history.history.loss[5] < history.history.loss[1])
assert(call_count < 8, "call ran " .. call_count .. " times")
assert(#net.weights == 4 and net:count_params() == 41)

-- losses and metrics: classes and functions
local SquaredLoss = cr.losses.Loss:subclass("Squared", { { "factor", 1.0 } })
function SquaredLoss:call(t, p) return ((t - p) * (t - p)):mean(-1) * self.factor end
check.near(SquaredLoss { factor = 2.0 }(cr.zeros { 2, 1 }, cr.ones { 2, 1 }), 2)
local MaximumMetric = cr.metrics.Metric:subclass "Largest"
function MaximumMetric:init() self.value = self:add_variable "value" end
function MaximumMetric:update_state(_, p) self.value:assign(cr.ops.maximum(self.value, p:max())) end
function MaximumMetric:result() return self.value end
function MaximumMetric:reset_state() self.value:assign(0) end
local function gap(t, p) return cr.ops.abs(t - p):mean(-1) end
local function new_model()
  return cr.Sequential { layers.Dense(1, { input_shape = { 3 }, kernel_initializer = "zeros" }) }
end
local built_in_model, own_model = new_model(), new_model()
built_in_model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae" } }
own_model:compile { optimizer = "sgd", loss = SquaredLoss(), metrics = { gap, MaximumMetric() } }
local a = built_in_model:fit(x, y, { epochs = 2, verbose = 0, shuffle = false }).history
local b = own_model:fit(x, y, { epochs = 2, verbose = 0, shuffle = false }).history
check.near(b.loss, a.loss)
check.near(b["function"] or b.gap, a.mae or a.mean_absolute_error)
assert(#b.largest == 2)
own_model:compile { optimizer = "sgd", loss = function(t, p) return (t - p):square():mean(-1) end }
own_model:fit(x, y, { verbose = 0 })
check.fails(function()
  own_model:compile { optimizer = "sgd", loss = function() error "bad loss" end }
  own_model:fit(x, y, { verbose = 0 })
end, "bad loss")

-- Lua functions as activation, initializer and regularizer
local dense = layers.Dense(2, {
  activation = function(t) return t * 3 end,
  kernel_initializer = function(shape, dtype) return cr.ones(shape, dtype) end,
  kernel_regularizer = function(w) return w:sum() end,
})
check.near(dense(cr.ones { 1, 2 }), { { 6, 6 } })
check.near(dense.losses[1], 4)
local lambda = layers.Lambda(function(t) return t:sum(-1) end)
check.same(lambda(cr.Input { shape = { 4 } }).shape, { -1 })
check.near(lambda(cr.ones { 2, 3 }), { 3, 3 })
-- files store a Lambda of a built-in function as an Activation, which every version of Keras can
-- read
local json = cr.Sequential { layers.Lambda("relu", { input_shape = { 2 } }) }:to_json()
check.same({ json:find '"Activation"' ~= nil, json:find "Lambda" }, { true })

-- callbacks read logs, may add values to them, and can stop training
local events = {}
local RecordingCallback = cr.callbacks.Callback:subclass "Watch"
function RecordingCallback:init(config) self.limit = config.limit end
function RecordingCallback:on_train_begin() events[#events + 1] = "begin" end
function RecordingCallback:on_epoch_end(epoch, logs)
  events[#events + 1] = epoch
  logs.doubled = logs.loss * 2
  if epoch + 1 >= self.limit then self.model.stop_training = true end
end
function RecordingCallback:on_train_batch_end(_, logs) assert(logs.loss) end
built_in_model = new_model()
built_in_model:compile { optimizer = "sgd", loss = "mse" }
history = built_in_model:fit(x, y, { epochs = 10, verbose = 0,
  callbacks = { RecordingCallback { limit = 3 } } })
check.same(events, { "begin", 0, 1, 2 })
check.near(history.history.doubled[3], history.history.loss[3] * 2)
local FailingCallback = cr.callbacks.Callback:subclass "Bad"
function FailingCallback:on_epoch_end() error { code = 7 } end
local is_ok, error_value = pcall(built_in_model.fit, built_in_model, x, y,
  { verbose = 0, callbacks = FailingCallback() })
assert(not is_ok and type(error_value) == "table" and error_value.code == 7,
  "an error value comes back as it was raised")

-- registered classes and functions are found by name, saved and loaded
local scaled_model = cr.Sequential { layers.InputLayer { input_shape = { 3 } }, ScalingLayer(2) }
local path = check.temporary ".h5"
scaled_model:save(path)
check.near(cr.models.load_model(path):predict(x), scaled_model:predict(x):totable())
local lambda_model = cr.Sequential { layers.Dense(2, { input_shape = { 3 } }),
  layers.Lambda(function(t)
  return t * 2
end, { name = "twice" }) }
lambda_model:save(path)
check.fails(function() cr.models.load_model(path):predict(x) end, "twice", "custom_objects")
local loaded_model = cr.models.load_model(path, { custom_objects = { twice = function(t)
  return t * 2
end } })
check.near(loaded_model:predict(x), lambda_model:predict(x):totable())
os.remove(path)
do -- the help for a base explains how to derive a class from it
  local printed_texts, original_print = {}, print
  print = function(text) printed_texts[#printed_texts + 1] = text end
  cr.help(cr.Layer)
  cr.help(cr.losses.Loss)
  cr.help(ScalingLayer)
  print = original_print
  assert(printed_texts[1]:find('cr.Layer:subclass("Mine"', 1, true)
    and printed_texts[1]:find "add_weight%(self")
  assert(printed_texts[2]:find('cr.losses.Loss:subclass("Mine"', 1, true))
  assert(printed_texts[3]:find "^Scaled %(layer, plugin Lua%)\n\n%S", printed_texts[3])
end
ScalingLayer = cr.Layer:subclass("Scaled", { { "units", 1 } })
assert(ScalingLayer().units == 1, "a class may be defined again")

do -- if get_config returns only options, the base adds the name and its other options in every file
  local InnerLayer = cr.Layer:subclass "ConfigInner"
  function InnerLayer:init(config) self.units = config.units end
  function InnerLayer:build(shape)
    self.w = self:add_weight { name = "w", shape = { shape[#shape], self.units } }
  end
  function InnerLayer:call(x) return x:matmul(self.w) end
  function InnerLayer:get_config() return { units = self.units } end
  local OuterLayer = cr.Layer:subclass "ConfigOuter"
  function OuterLayer:init() self.inner = InnerLayer { units = 3 } end
  function OuterLayer:call(x) return self.inner(x) end
  function OuterLayer:get_config() return {} end
  local model = cr.Sequential { cr.Input { shape = { 4 } }, InnerLayer { units = 5, name = "five" },
    OuterLayer { trainable = false } }
  for _, ending in ipairs { ".h5", ".keras" } do
    local path = check.temporary(ending)
    model:save(path)
    local loaded_model = cr.models.load_model(path)
    check.near(loaded_model:predict(cr.ones { 2, 4 }), model:predict(cr.ones { 2, 4 }), 0)
    assert(loaded_model.layers[1].name == "five" and not loaded_model.layers[2].trainable)
    os.remove(path)
  end
end

do -- variables of a metric with initializers; reset_state sets them to zero
  local CountingMetric = cr.metrics.Metric:subclass "CounterFromOne"
  function CountingMetric:init()
    self.count = self:add_weight { name = "count", initializer = "ones" }
    self.rows = self:add_variable { shape = { 2 }, initializer = "zeros" }
  end
  function CountingMetric:update_state() self.count:assign_add(1) end
  function CountingMetric:result() return self.count + self.rows:sum() end
  local counter = CountingMetric()
  counter:update_state(cr.ones { 1 })
  check.near(counter:result(), 2)
  counter:reset_state()
  check.near(counter:result(), 0)
end

do -- a variable that a metric makes in its first update keeps its values from batch to batch
  local RunningMaximum = cr.metrics.Metric:subclass "MostSoFar"
  function RunningMaximum:update_state(targets)
    local values = cr.ops.max(targets, 0)
    self.most = self.most or self:add_variable { name = "most", shape = values.shape }
    self.most:assign(cr.ops.maximum(self.most, values))
  end
  function RunningMaximum:result() return cr.ops.sum(self.most) end
  local rows = cr.tensor { { 5 }, { 1 }, { 2 }, { 0.5 } }
  for _, eagerly in ipairs { true, false } do
    local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 1 } }) }
    model:compile { optimizer = "sgd", loss = "mse", metrics = { RunningMaximum() },
      run_eagerly = eagerly }
    local options = { epochs = 2, batch_size = 1, shuffle = false, verbose = 0 }
    check.same(model:fit(rows, rows, options).history.most_so_far, { 5, 5 })
  end
end

do -- weights that a failed build has added are removed before the next build
  local build_fails = true
  local FailingBuild = cr.Layer:subclass "Late"
  function FailingBuild:build(shape)
    self.w = self:add_weight { name = "w", shape = { shape[#shape] }, initializer = "ones" }
    self.b = self:add_weight { name = "b", shape = { 1 }, trainable = false }
    self.inner = cr.layers.Dense(1)
    self.inner:build(shape)
    if build_fails then error "no luck" end
  end
  function FailingBuild:call(x) return self.inner(x * self.w + self.b) end
  local late_layer, x = FailingBuild(), cr.ones { 2, 3 }
  check.fails(function() late_layer(x) end, "no luck")
  check.same(#late_layer.weights, 0)
  build_fails = false
  late_layer(x)
  check.same(#late_layer.weights, 4)
  check.same(#late_layer.trainable_weights, 3)
  -- if the given weights do not fit, the layer stays unbuilt
  local weighted_layer = cr.layers.Dense(2, { weights = { cr.ones { 4, 2 }, cr.ones { 2 } } })
  for _ = 1, 2 do check.fails(function() weighted_layer(x) end, "(4, 2)") end
  check.same(weighted_layer.built, false)
end
print "ok classes"

do -- an option must have the type of its default: number, string or boolean
  local TypedLayer = cr.Layer:subclass("Typed", { { "scale", 1.0 }, { "text", "a" },
    { "flag", true }, { "any" } })
  function TypedLayer:call(x) return x end

  local DerivedLayer = TypedLayer:subclass "TypedChild"
  for _, class in ipairs { TypedLayer, DerivedLayer } do
    local name = class == TypedLayer and "Typed" or "TypedChild"
    check.fails(function() class { scale = "2" } end, name .. ": option 'scale'",
      'expected a number, got "2"')
    check.fails(function() class { text = 3 } end, name .. ": option 'text'",
      "expected a string, got 3")
    check.fails(function() class { flag = 1 } end, name .. ": option 'flag'",
      "expected a boolean, got 1")
    class { scale = 2, text = "b", flag = false, any = { 1 } }
    class { scale = { 2, 2 }, text = cr.null, any = "x" }
  end
end
