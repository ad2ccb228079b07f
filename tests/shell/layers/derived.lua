-- Classes derived from built-in ones inherit everything that they do not define.
local cr = require "crescent"
package.path = arg[0]:match "^(.*)/[^/]*$" .. "/../support/?.lua;" .. package.path
local check = require "check"
local layers = cr.layers

local function train_with_layer(layer, x, y)
  local model = cr.Sequential { layer, layers.Flatten(), layers.Dense(1) }
  model:compile { optimizer = cr.optimizers.SGD(0.05), loss = "mse" }
  model:build(x.shape)
  for i, weight in ipairs(model.weights) do
    weight:assign(cr.ops.cos(cr.arange(weight.value.size):reshape(weight.shape) + i) * 0.3)
  end
  local history = model:fit(x, y, { epochs = 3, shuffle = false, verbose = 0 })
  return model, history.history.loss
end

-- ---- a derived layer trains like its base class, also after saving and loading ---------------

local steps, images = cr.random.normal { 8, 4, 3 }, cr.random.normal { 8, 5, 5, 2 }
for _, row in ipairs {
  { "Dense", { units = 3, activation = "tanh", kernel_regularizer = "l2" }, steps },
  { "Dense", { units = 3, use_bias = false, activity_regularizer = "l2" }, steps },
  { "Dense", { units = 2, kernel_constraint = cr.constraints.MaxNorm(0.5) }, steps },
  { "Conv2D", { filters = 3, kernel_size = 2, padding = "same" }, images },
  { "LSTM", { units = 3, return_sequences = true, kernel_regularizer = "l1" }, steps },
  { "GRU", { units = 2 }, steps },
  { "BatchNormalization", {}, steps },
  { "LayerNormalization", { axis = -1 }, steps },
  { "MaxPooling2D", {}, images },
  { "LeakyReLU", { negative_slope = 0.1 }, steps },
} do
  local name, options, x = table.unpack(row)
  local Derived, y = layers[name]:subclass("My" .. name), cr.random.normal { 8, 1 }
  local model, losses = train_with_layer(Derived(options), x, y)
  local _, expected = train_with_layer(layers[name](options), x, y)
  check.near(losses, expected, 1e-6, name)
  local layer = model.layers[1]
  for option, value in pairs(options) do
    if type(value) ~= "userdata" and option ~= "activity_regularizer" then
      check.same(layer:get_config()[option], value, option)
    end
  end
  if name == "Dense" then assert(layer.kernel == layer.inner.kernel) end
  for _, ending in ipairs { ".keras", ".h5" } do
    local path = check.temporary(ending)
    model:save(path)
    local loaded_model = cr.models.load_model(path)
    check.same(loaded_model.layers[1].class_name, "My" .. name)
    check.near(loaded_model:predict(x), model:predict(x), 1e-6, name .. ending)
    check.near(loaded_model:evaluate(x, y, { verbose = 0 }),
      model:evaluate(x, y, { verbose = 0 }), 1e-6)
    os.remove(path)
  end
end

-- ---- overridden methods -------------------------------------------------------------------------

local ScaledDense = layers.Dense:subclass("Scaled", { { "scale", 2.0, "Factor of the result." } })
function ScaledDense:call(inputs) return ScaledDense.super.call(self, inputs) * self.scale end
check.near(ScaledDense(2, { kernel_initializer = "ones", scale = 3 })(cr.ones { 1, 4 }),
  { { 12, 12 } })
local ShiftedDense = ScaledDense:subclass("Shifted", { { "by", 1.0 } })
function ShiftedDense:call(inputs) return ShiftedDense.super.call(self, inputs) + self.by end
check.near(ShiftedDense { 2, kernel_initializer = "ones" }(cr.ones { 1, 4 }), { { 9, 9 } })
local TransposedDense = layers.Dense:subclass "Transposed"
function TransposedDense:call(inputs) return inputs:matmul(self.kernel) - self.bias end
local transposed = TransposedDense { 2, kernel_initializer = "ones", bias_initializer = "ones" }
check.near(transposed(cr.ones { 1, 4 }), { { 3, 3 } })
local DeeperDense = layers.Dense:subclass "Deeper"
function DeeperDense:init(options)
  DeeperDense.super.init(self, options)
  self.more = layers.Dense(3)
end
function DeeperDense:call(inputs) return self.more(DeeperDense.super.call(self, inputs)) end
check.same(DeeperDense(2)(cr.ones { 1, 4 }).shape, { 1, 3 })
check.same(DeeperDense { 2, dtype = "mixed_bfloat16" }(cr.ones { 1, 4 }).dtype, "bfloat16")

local DerivedMasking = layers.Masking:subclass "MyMasking"
local masked_steps = cr.tensor { { { 1, 2 }, { 0, 0 } } }
check.same(DerivedMasking():compute_mask(masked_steps):totable(), { { true, false } })
local DerivedLSTM = layers.LSTM:subclass "MyRecurrent"
local base_lstm = layers.LSTM { 2, kernel_initializer = "ones", recurrent_initializer = "ones" }
local derived_lstm = DerivedLSTM { 2, kernel_initializer = "ones", recurrent_initializer = "ones" }
check.near(derived_lstm(DerivedMasking()(masked_steps)), base_lstm(layers.Masking()(masked_steps)))

-- ---- classes derived from losses, regularizers and other kinds ----------------------------------

local x, y = cr.random.normal { 4, 3 }, cr.random.normal { 4, 2 }
local DoubledHuber = cr.losses.Huber:subclass "Doubled"
function DoubledHuber:call(y_true, y_pred)
  return DoubledHuber.super.call(self, y_true, y_pred) * 2
end
local TripledL2 = cr.regularizers.L2:subclass "Penalty"
function TripledL2:call(weight) return TripledL2.super.call(self, weight) * 3 end
local DerivedMaxNorm = cr.constraints.MaxNorm:subclass "Bounded"
local ShiftedConstant = cr.initializers.Constant:subclass "Start"
function ShiftedConstant:call(shape, dtype)
  return ShiftedConstant.super.call(self, shape, dtype) + 1
end
local HalvedDecay = cr.optimizers.schedules.ExponentialDecay:subclass "Slower"
function HalvedDecay:call(step) return HalvedDecay.super.call(self, step) * 0.5 end

local function train_with(loss, penalty, bound, start, schedule)
  local model = cr.Sequential { layers.Dense { 2, input_shape = { 3 }, kernel_regularizer = penalty,
    kernel_constraint = bound, kernel_initializer = start } }
  model:compile { optimizer = cr.optimizers.SGD(schedule), loss = loss }
  model:fit(x, y, { epochs = 2, shuffle = false, verbose = 0 })
  return model
end
local derived_model = train_with(DoubledHuber { delta = 0.5 }, TripledL2(0.01),
  DerivedMaxNorm(1.5), ShiftedConstant(0.25), HalvedDecay(0.1, 10, 0.9))
local huber = cr.losses.Huber { delta = 0.5, reduction = "none" }
local equivalent_model = train_with(function(t, p) return huber(t, p) * 2 end,
  cr.regularizers.L2(0.03), cr.constraints.MaxNorm(1.5), cr.initializers.Constant(1.25),
  cr.optimizers.schedules.ExponentialDecay(0.05, 10, 0.9))
check.near(derived_model:get_weights()[1], equivalent_model:get_weights()[1], 1e-6)
local path = check.temporary ".keras"
derived_model:save(path)
local loaded_model = cr.models.load_model(path)
loaded_model:fit(x, y, { shuffle = false, verbose = 0 })
derived_model:fit(x, y, { shuffle = false, verbose = 0 })
check.near(loaded_model:get_weights()[1], derived_model:get_weights()[1], 1e-6)
os.remove(path)

-- ---- member names that the base uses for something else -----------------------------------------

local ids = cr.tensor({ { 1, 2, 0 }, { 3, 1, 1 } }, "int32")
local ScaledEmbedding = layers.Embedding:subclass("Table", { { "scale", 2.0 } })
function ScaledEmbedding:call(inputs)
  return ScaledEmbedding.super.call(self, inputs) * self.scale
end
local DerivedEinsumDense = layers.EinsumDense:subclass "Summed"
local DerivedAttention = layers.MultiHeadAttention:subclass "MyAttention"
for _, row in ipairs {
  { ScaledEmbedding, layers.Embedding, { input_dim = 5, output_dim = 2 }, ids, 2 },
  { DerivedEinsumDense, layers.EinsumDense, { "ab,bc->ac", 3, bias_axes = "c" },
    cr.random.normal { 2, 4 }, 1 },
} do
  local Derived, Base, options, inputs, factor = table.unpack(row)
  local derived_network = cr.Sequential { Derived(options) }
  local base_network = cr.Sequential { Base(options) }
  derived_network(inputs)
  base_network(inputs)
  base_network:set_weights(derived_network:get_weights())
  check.near(derived_network:predict(inputs), base_network:predict(inputs) * factor, 1e-6)
  for _, ending in ipairs { ".keras", ".h5" } do
    local model_path = check.temporary(ending)
    derived_network:save(model_path)
    check.near(cr.models.load_model(model_path):predict(inputs), derived_network:predict(inputs),
      1e-6)
    os.remove(model_path)
  end
end
local derived_attention, base_attention = DerivedAttention(2, 3), layers.MultiHeadAttention(2, 3)
derived_attention(steps, steps)
base_attention(steps, steps)
base_attention:set_weights(derived_attention:get_weights())
check.near(derived_attention(steps, steps), base_attention(steps, steps), 1e-6)
check.near(derived_attention(steps, steps, { use_causal_mask = true }),
  base_attention(steps, steps, { use_causal_mask = true }), 1e-6)

-- ---- classes derived from metrics, callbacks and optimizers -------------------------------------

local function new_model()
  local model = cr.Sequential { layers.Dense { 2, input_shape = { 3 } } }
  for i, weight in ipairs(model.weights) do
    weight:assign(cr.ops.cos(cr.arange(weight.value.size):reshape(weight.shape) + i) * 0.3)
  end
  return model
end

local ScaledError = cr.metrics.MeanSquaredError:subclass("Tenfold", { { "factor", 10.0 } })
function ScaledError:result() return ScaledError.super.result(self) * self.factor end
local measured_model = new_model()
measured_model:compile { optimizer = "sgd", loss = "mse",
  metrics = { ScaledError { name = "ten" }, "mse" } }
local logs = measured_model:fit(x, y, { epochs = 3, batch_size = 2, verbose = 0 }).history
check.near(logs.ten[3], logs.mse[3] * 10, 1e-5)
assert(logs.ten[3] ~= logs.ten[1])

local CountingEarlyStopping = cr.callbacks.EarlyStopping:subclass("Patient", { { "told", 0 } })
function CountingEarlyStopping:on_epoch_end(epoch, values)
  self.told = self.told + 1
  CountingEarlyStopping.super.on_epoch_end(self, epoch, values)
end
local function epochs_until(callback)
  local model = new_model()
  model:compile { optimizer = cr.optimizers.SGD(0.0), loss = "mse" }
  return #model:fit(x, y, { epochs = 20, verbose = 0, callbacks = { callback } }).history.loss
end
local patient_callback = CountingEarlyStopping { monitor = "loss", patience = 2 }
check.same(epochs_until(patient_callback),
  epochs_until(cr.callbacks.EarlyStopping { monitor = "loss", patience = 2 }))
check.same(patient_callback.told, epochs_until(patient_callback))

for _, name in ipairs { "SGD", "Adam", "AdamW", "RMSprop", "Nadam", "Lion", "Ftrl" } do
  local Base = cr.optimizers[name]
  local Derived = Base:subclass("My" .. name, { { "steps", 0 } })
  local function losses(optimizer)
    local model = new_model()
    model:compile { optimizer = optimizer, loss = "mse" }
    local history = model:fit(x, y, { epochs = 5, batch_size = 2, shuffle = false, verbose = 0 })
    return history.history.loss, model
  end
  check.near(losses(Derived()), losses(Base()), 1e-6, name)
  check.near(losses(Derived { learning_rate = 0.05, clipnorm = 0.1 }),
    losses(Base { learning_rate = 0.05, clipnorm = 0.1 }), 1e-6, name)
  local _, model = losses(Derived(0.02))
  local model_path = check.temporary ".keras"
  model:save(model_path)
  local loaded_copy = cr.models.load_model(model_path)
  local fit_args = { batch_size = 2, shuffle = false, verbose = 0 }
  check.near(loaded_copy:fit(x, y, fit_args).history.loss, model:fit(x, y, fit_args).history.loss,
    1e-6, name)
  os.remove(model_path)
end
local HalvedSGD = cr.optimizers.SGD:subclass "Halved"
function HalvedSGD:update_step(gradient, variable, rate, state)
  HalvedSGD.super.update_step(self, gradient * 0.5, variable, rate, state)
end
local halved_model, slow_model = new_model(), new_model()
halved_model:compile { optimizer = HalvedSGD(0.1), loss = "mse" }
slow_model:compile { optimizer = cr.optimizers.SGD(0.05), loss = "mse" }
for _, model in ipairs { halved_model, slow_model } do model:fit(x, y,
  { shuffle = false, verbose = 0 }) end
check.near(halved_model:get_weights()[1], slow_model:get_weights()[1], 1e-6)

check.fails(function() cr.optimizers.LossScaleOptimizer:subclass "X" end,
  "LossScaleOptimizer is written in C++")

-- ---- layers that learn from data: their configuration and files contain what they have learned

local words = cr.tensor { "the cat", "on the mat", "sat on", "the dog" }
local counts, numbers = cr.tensor({ 3, 7, 7, 9 }, "int32"), cr.random.normal { 4, 3 }
for _, row in ipairs {
  { "TextVectorization", { output_sequence_length = 3 }, words,
    cr.tensor { "on a cat", "mat", "", "x" } },
  { "TextVectorization", { output_mode = "tf_idf" }, words, words },
  { "StringLookup", {}, words, cr.tensor { "sat on", "mat", "the dog", "x" } },
  { "IntegerLookup", { output_mode = "one_hot" }, counts, cr.tensor({ 7, 9, 1, 3 }, "int32") },
  { "Discretization", { num_bins = 3 }, numbers, numbers * 2 },
  { "Normalization", { axis = -1 }, numbers, numbers * 2 },
  { "StringLookup", { vocabulary = { "sat on", "mat" } }, nil, cr.tensor { "mat", "x", "x", "x" } },
} do
  local name, options, data, inputs = table.unpack(row)
  local Derived = layers[name]:subclass("Learned" .. name, { { "shift", 0 } })
  function Derived:call(inputs_) return Derived.super.call(self, inputs_) + self.shift end
  local derived_options = { shift = 1 }
  for option, value in pairs(options) do derived_options[option] = value end
  local derived_layer, base_layer = Derived(derived_options), layers[name](options)
  if data then
    derived_layer:adapt(data)
    base_layer:adapt(data)
  end
  check.near(derived_layer(inputs), base_layer(inputs) + 1, 1e-6, name)
  if name:find "Lookup" or name:find "Text" then
    check.same(derived_layer:get_vocabulary(), base_layer:get_vocabulary())
  end
  if base_layer:get_config().vocabulary then
    check.same(derived_layer:get_config().vocabulary, base_layer:get_config().vocabulary)
  end
  local model = cr.Sequential { derived_layer, layers.Flatten(), layers.Dense(1) }
  if #inputs.shape == 1 then
    local i = cr.Input { shape = {}, dtype = inputs.dtype }
    local features = layers.Rescaling { 1 }(derived_layer(i))
    if #features.shape == 1 then features = cr.ops.expand_dims(features, -1) end
    model = cr.Model { inputs = i, outputs = layers.Dense(1)(features) }
  end
  model:compile { optimizer = "sgd", loss = "mse" }
  model:fit(inputs, cr.ones { 4, 1 }, { verbose = 0 })
  for _, ending in ipairs { ".keras", ".h5" } do
    local model_path = check.temporary(ending)
    model:save(model_path)
    local loaded_copy = cr.models.load_model(model_path)
    check.near(loaded_copy:predict(inputs), model:predict(inputs), 1e-6, name .. ending)
    loaded_copy:fit(inputs, cr.ones { 4, 1 }, { verbose = 0 })
    os.remove(model_path)
  end
  local weights_path = check.temporary ".weights.h5"
  model:save_weights(weights_path)
  local copy = cr.models.clone_model(model)
  copy:load_weights(weights_path)
  check.near(copy:predict(inputs), model:predict(inputs), 1e-6, name .. " weights")
  os.remove(weights_path)
end

do -- errors name the class and the line that called it
  local DerivedDense = cr.layers.Dense:subclass "Mine"
  check.fails(function() DerivedDense "a" end, "derived.lua:", "Mine: option 'units'",
    "expected an integer")
  local message = select(2, pcall(function() DerivedDense(3)(cr.ones { 2 }) end))
  assert(message:find "derived.lua:%d+: Input 0 is incompatible" and not message:find "crescent/")
  local DerivedCheckpoint = cr.callbacks.ModelCheckpoint:subclass "Saved"
  DerivedCheckpoint { filepath = "a.h5", save_freq = 10 } -- save_freq may be an integer or "epoch"
end
