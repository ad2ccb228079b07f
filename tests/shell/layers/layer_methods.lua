-- Information that every layer and model gives about itself, and small methods of Keras.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

-- ---- add_weight with the argument order of Keras 3
local ScalingLayer = cr.Layer:subclass "Scale"
function ScalingLayer:build(shape)
  self.factor = self:add_variable({ shape[#shape] }, "ones",
    { regularizer = "l2", name = "factor" })
  self.fixed = self:add_variable({}, "zeros", "float32", false)
end
function ScalingLayer:call(x) return x * self.factor + self.fixed end
local scale = ScalingLayer()
assert(scale.path == nil)
check.near(scale(cr.ones { 2, 3 }), cr.ones { 2, 3 })
assert(scale.path == scale.name and scale.weights[1].name == "factor"
  and #scale.trainable_weights == 1)
check.near(scale.losses[1], 0.03)
assert(scale.input_dtype == "float32")

-- ---- layer:call(x) is layer(x)
local dense = layers.Dense(4, { activation = "relu" })
check.near(dense:call(cr.ones { 2, 3 }), dense(cr.ones { 2, 3 }))
check.fails(function() dense:call() end, "called without inputs")
check.fails(function() dense:call(cr.ones { 2, 5 }) end, "incompatible")

-- ---- compute_mask, and compute_output_spec, which returns a tensor without values
local ids = cr.tensor({ { 1, 2, 0 }, { 3, 0, 0 } }, "int32")
local embedding = layers.Embedding(5, 2, { mask_zero = true })
check.same(embedding:compute_mask(ids):totable(), { { true, true, false }, { true, false, false } })
assert(dense:compute_mask(cr.ones { 2, 3 }) == nil)
local step_mask = cr.tensor { { 1, 0 }, { 0, 1 } }:cast "bool"
check.same(layers.Activation("relu"):compute_mask(cr.ones { 2, 2, 3 }, step_mask):totable(),
  { { true, false }, { false, true } })
local output_spec = embedding:compute_output_spec(ids)
check.same(output_spec.shape, { 2, 3, 2 })
assert(output_spec.dtype == "float32")
check.fails(function() return output_spec:totable() end, "has no values")
check.same(layers.Dense(7):compute_output_spec(cr.Input { shape = { 3 } }).shape, { -1, 7 })
assert(cr.Input({ shape = { 3, 4 } }).ndim == 3)

-- ---- properties and methods of models
local model = cr.Sequential { layers.Dense(2, { input_shape = { 3 } }) }
assert(model.run_eagerly == false)
model:compile { optimizer = cr.optimizers.SGD { use_ema = true, ema_momentum = 0.5 }, loss = "mse",
  metrics = { "mae" }, run_eagerly = true }
assert(model.run_eagerly == true)
local x, y = cr.ones { 4, 3 }, cr.ones { 4, 2 }
model:train_on_batch(x, y)
assert(#model.metrics_variables >= 2 and model.metrics[1].dtype == "float32")
model:train_on_batch(x, y)
local optimizer, kernel = model.optimizer, model.weights[1]
local average_variable
for _, variable in ipairs(optimizer.variables) do
  if variable.path:find "kernel/average$" then average_variable = variable end
end
optimizer:finalize_variable_values(model.trainable_weights)
check.near(kernel, average_variable)

local path = check.temporary ".onnx"
model:export(path)
local file = assert(io.open(path, "rb"))
assert(#file:read "a" > 100)
file:close()
os.remove(path)
check.fails(function()
  model:export("model", { format = "tf_saved_model" })
end, 'expected format "onnx"')

-- ---- a Lambda with a mask: a tensor, or a function of inputs and masks
local steps = cr.random.uniform { 2, 2, 3 }
local fixed_mask_layer = layers.Lambda(function(t) return t * 2 end, { mask = step_mask })
check.near(layers.GlobalAveragePooling1D()(fixed_mask_layer(steps)),
  layers.GlobalAveragePooling1D()(steps * 2, { mask = step_mask }))
local function negated_mask(_, mask) return ops.logical_not(mask) end
local negating_layer = layers.Lambda(function(t) return t end,
  { name = "turning", mask = negated_mask })
check.same(negating_layer:compute_mask(steps, step_mask):totable(),
  { { false, true }, { true, false } })
local masked_model = cr.Sequential { layers.Masking { input_shape = { 2, 3 } }, negating_layer,
  layers.GlobalAveragePooling1D() }
path = check.temporary ".h5"
masked_model:save(path)
check.fails(function()
  cr.models.load_model(path, { custom_objects = { turning = function(t)
    return t
  end } }):predict(steps)
end, "turning_mask", "custom_objects")
local loaded_model = cr.models.load_model(path, { custom_objects = { turning = function(t)
  return t
end, turning_mask = negated_mask } })
check.near(loaded_model:predict(steps), masked_model:predict(steps))
os.remove(path)
do -- Identity returns structures; layers with a table of vectors are built without a shape
  local a, b = cr.ones { 1, 2 }, cr.zeros { 1 }
  local identity = layers.Identity()
  check.near(identity(a), a)
  check.near(identity { a, b }[2], b)
  check.near(identity({ x = a, y = { b } }).y[1], b)
  local i, j = cr.Input { 2 }, cr.Input { 3 }
  local out = layers.Identity() { i = i, j = j }
  check.same(out.j.shape, { -1, 3 })
  local model = cr.Model { inputs = { i = i, j = j }, outputs = out }
  check.near(model { i = a, j = cr.ones { 1, 3 } }.i, a)
  for _, layer in ipairs { layers.Embedding(3, 4), layers.ReversibleEmbedding(3, 4) } do
    layer:build()
    check.same(layer.embeddings.shape, { 3, 4 })
    check.same(layer(cr.tensor({ { 0, 2 } }, "int32")).shape, { 1, 2, 4 })
  end
  check.fails(function() layers.Dense(2):build() end, "expected a shape")
  check.fails(function() layers.ConvLSTM2D(2, 3, { strides = 2, dilation_rate = 2 }) end,
    "`strides > 1` not supported")
  check.fails(function() layers.Dropout(0.5, { noise_shape = { 2, 0 } }) end, "noise_shape")
end
print "ok layer methods"
