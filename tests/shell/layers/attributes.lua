-- Attributes of a Lua object that a trace has read and that change later: training steps and
-- compiled functions use the new value, and are traced again only if a value has changed.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
local ones, twos = cr.ones { 1, 1 }, cr.ones { 1, 1 } * 2

local trace_count = 0
local ScalingLayer = cr.Layer:subclass("Scale", { { "factor", 2.0 } })
function ScalingLayer:call(x)
  trace_count = trace_count + 1
  -- An attribute that the method `call` sets while it is traced does not cause another trace.
  self.seen = (self.seen or 0) + 1
  return self.offset and x * self.factor + self.offset or x * self.factor
end

do -- predict, evaluate, a nested layer, an attribute that was nil, and one that is set to nil
  local inner_layer = ScalingLayer {}
  local model = cr.Sequential { cr.Sequential { inner_layer, layers.Activation "linear" } }
  model:compile { loss = "mse" }
  local function outputs()
    return { model:predict(ones):item(), model(ones):item(),
      model:evaluate(ones, ones * 0, { verbose = 0 }) ^ 0.5 }
  end
  check.near(outputs(), { 2, 2, 2 })
  inner_layer.factor = 5
  check.near(outputs(), { 5, 5, 5 })
  inner_layer.offset = 1
  check.near(outputs(), { 6, 6, 6 })
  inner_layer.offset = nil
  check.near(outputs(), { 5, 5, 5 })
  model:predict(ones)
  local old_trace_count = trace_count
  inner_layer.factor = 5 -- assigning the same value causes no new trace
  inner_layer.note = "nobody reads it"
  model:predict(ones)
  model:predict(ones)
  check.same(trace_count, old_trace_count)
  inner_layer.factor = 3
  model:predict(ones)
  model:predict(ones)
  assert(trace_count > old_trace_count and trace_count <= old_trace_count + 2)
end

do -- training uses the new value in the gradient; weights and optimizer state are kept
  local scale = ScalingLayer { factor = 1.0 }
  local model = cr.Sequential { layers.Dense(1, { use_bias = false, input_shape = { 1 },
    kernel_initializer = "ones" }), scale }
  model:compile { loss = "mse", optimizer = cr.optimizers.SGD(0.1, { momentum = 0.5 }) }
  local function expected_update(w, velocity, factor)
    velocity = 0.5 * velocity - 0.1 * 2 * (factor * w - 2) * factor
    return w + velocity, velocity
  end
  local w, velocity = 1, 0
  for step, factor in ipairs { 1, 1, 3, 3, 0.5, 0.5 } do
    scale.factor = factor
    model:train_on_batch(ones, twos)
    w, velocity = expected_update(w, velocity, factor)
    check.near(model:get_weights()[1]:item(), w, 1e-5, "step " .. step)
  end
  -- an attribute that a callback changes during fit takes effect in the next epoch
  local ChangeFactor = cr.callbacks.Callback:subclass "Change"
  function ChangeFactor:on_epoch_end(epoch) scale.factor = epoch + 2 end
  scale.factor = 1
  model:fit(ones, twos, { epochs = 3, verbose = 0, callbacks = { ChangeFactor() } })
  for _, factor in ipairs { 1, 2, 3 } do w, velocity = expected_update(w, velocity, factor) end
  check.near(model:get_weights()[1]:item(), w, 1e-5)
end

do -- attributes of losses, metrics, regularizers and models, also in compiled functions
  local ShiftedLoss = cr.losses.Loss:subclass("Off", { { "by", 1.0 } })
  function ShiftedLoss:call(y_true, y_pred) return (y_true + self.by - y_pred):square():mean(-1) end
  local OffsetSum = cr.metrics.Metric:subclass("Plus", { { "more", 1.0 } })
  function OffsetSum:init() self.sum = self:add_variable { name = "sum" } end
  function OffsetSum:update_state(y_true) self.sum:assign_add(y_true:sum() + self.more) end
  function OffsetSum:result() return self.sum * self.more end
  local SumPenalty = cr.regularizers.Regularizer:subclass("Penalty", { { "rate", 1.0 } })
  function SumPenalty:call(w) return w:sum() * self.rate end
  local shifted_loss, offset_sum, penalty = ShiftedLoss {}, OffsetSum {}, SumPenalty {}
  local model = cr.Sequential { layers.Dense(1, { kernel_initializer = "ones", use_bias = false,
    kernel_regularizer = penalty, input_shape = { 1 } }) }
  model:compile { loss = shifted_loss, metrics = { offset_sum }, optimizer = cr.optimizers.SGD(0) }
  local function logs() return model:evaluate(ones, ones, { verbose = 0, return_dict = true }) end
  check.near(logs().loss, 1 + 1)
  check.near(logs().plus, 2)
  shifted_loss.by, penalty.rate, offset_sum.more = 3, 10, 2
  check.near(logs().loss, 9 + 10)
  check.near(logs().plus, 6)

  local Net = cr.Model:subclass "Net"
  function Net:init()
    self.dense, self.twice = layers.Dense(1, { kernel_initializer = "ones" }), false
  end
  function Net:call(x)
    local y = self.dense(x)
    return self.twice and y + y or y
  end
  local net = Net {}
  check.near(net:predict(ones):item(), 1)
  net.twice = true
  check.near(net:predict(ones):item(), 2)
  net.dense = layers.Dense(1, { kernel_initializer = "zeros", bias_initializer = "ones" })
  check.near(net:predict(ones):item(), 2)
  net.dense = ScalingLayer { factor = 7.0 }
  check.near(net:predict(ones):item(), 14)

  local scale = ScalingLayer {}
  local function f(x) return scale(x) + 1 end
  local compiled_function = cr.compiled and cr.compiled(f)
  if compiled_function then
    check.near(compiled_function(ones):item(), 3)
    scale.factor = 9
    check.near(compiled_function(ones):item(), 10)
  end
end

-- a weight that the options leave out is nil once the layer is built
local unbiased_layer = cr.layers.Dense(2, { use_bias = false })
check.fails(function() return unbiased_layer.bias end, "no attribute 'bias'",
  "weights are made when")
unbiased_layer:build { -1, 3 }
check.same(unbiased_layer.bias, nil)
check.fails(function() return unbiased_layer.bios end, "no attribute 'bios'")

-- weights of integers and booleans start with zeros
local CountingLayer = cr.Layer:subclass "Counter"
function CountingLayer:build()
  self.count = self:add_weight { name = "count", shape = { 2 }, dtype = "int32", trainable = false }
  self.flags = self:add_weight { name = "flags", shape = { 2 }, dtype = "bool", trainable = false }
end
function CountingLayer:call(x) return x end
local counter = CountingLayer()
counter(cr.ones { 1, 2 })
check.same(counter.count:totable(), { 0, 0 })
check.same(counter.flags:totable(), { false, false })

-- an input takes only one of the options that set its shape
check.fails(function() cr.Input { shape = { 2, 3 }, batch_shape = { 4, 5 } } end,
  "You cannot pass both `shape` and `batch_shape` at the same time.")
check.fails(function() cr.Input { batch_size = 7, batch_shape = { 4, 5 } } end,
  "You cannot pass both `batch_size` and `batch_shape` at the same time.")

-- the limits of renormalization: rmin must not exceed rmax, and no limit may be negative
for limits, message in pairs {
  [{ rmax = 0.0, rmin = 1.0 }] = "rmax should be greater than rmin",
  [{ dmax = -1.0 }] = "dmax should be non-negative",
} do
  check.fails(function()
    cr.layers.BatchNormalization { renorm = true, renorm_clipping = limits }
  end, message)
end

-- Flatten of sizes that are not known yet
check.same(cr.layers.Flatten()(cr.Input { batch_shape = { 5, 2, -1 } }).shape, { 5, -1 })
check.same(cr.layers.Flatten()(cr.Input { batch_shape = { -1, 2, -1 } }).shape, { -1, -1 })

-- get_config and from_config keep null as the value of an option whose default is not null
local bidirectional = cr.layers.Bidirectional(cr.layers.LSTM(2), { merge_mode = cr.null })
check.same(bidirectional:get_config().merge_mode, cr.null)
local copy = cr.layers.Bidirectional:from_config(bidirectional:get_config())
check.same(#copy(cr.ones { 1, 2, 3 }), 2)
local weights_only_config = cr.quantizers.Int8QuantizationConfig { activation_quantizer = cr.null }
check.same(weights_only_config:get_config().activation_quantizer, cr.null)
check.same(cr.layers.Dense(2):get_config().kernel_regularizer, nil)
