-- model:add_loss and model:add_metric with symbols, as in Keras 2, in a variational autoencoder.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

cr.utils.set_random_seed(1)
local x, noise = cr.Input { shape = { 6 } }, cr.Input { shape = { 2 } }
local hidden = layers.Dense(5, { activation = "tanh", name = "hidden" })(x)
local code_mean, code_log_variance = layers.Dense(2, { name = "mean" })(hidden),
  layers.Dense(2, { name = "spread" })(hidden)
local code = code_mean + ops.exp(code_log_variance * 0.5) * noise
local decoded = layers.Dense(6, { name = "decoded" })(code)
local divergence = ops.sum(
  ops.square(code_mean) + ops.exp(code_log_variance) - code_log_variance - 1, -1) * 0.5
local vae = cr.Model({ x, noise }, decoded)
vae:add_loss(ops.sum(ops.square(x - decoded), -1) + divergence)
vae:add_metric(divergence, "divergence")
vae:compile { optimizer = "sgd" }

local data, noise_data = cr.random.normal { 32, 6 }, cr.random.normal { 32, 2 }

-- the expected losses, computed by hand
local function expected_losses(model)
  local h = model:get_layer "hidden"(data)
  local m, s = model:get_layer "mean"(h), model:get_layer "spread"(h)
  local y = model:get_layer "decoded"(m + (s * 0.5):exp() * noise_data)
  local kl = ops.sum(m * m + s:exp() - s - 1, -1) * 0.5
  return (ops.sum((data - y) * (data - y), -1) + kl):mean():item(), kl:mean():item()
end
local function check_model(model)
  local loss, kl = expected_losses(model)
  local result = model:evaluate({ data, noise_data }, nil, { verbose = 0, return_dict = true })
  check.near(result.loss, loss, 1e-4)
  check.near(result.divergence, kl, 1e-4)
  check.near(model:predict { data, noise_data }, vae:predict({ data, noise_data }):totable())
end
check_model(vae)

-- the gradient also reaches layers that only the added loss needs
local old_loss = expected_losses(vae)
local history = vae:fit({ data, noise_data }, nil, { epochs = 20, verbose = 0 }).history
assert(expected_losses(vae) < 0.9 * old_loss)
assert(#history.divergence == 20)
check_model(vae)

-- files, copies and changed models keep added losses; saving for a version of Keras that cannot
-- express them reports it
for _, ending in ipairs { ".h5", ".keras" } do
  local path = check.temporary(ending)
  vae:save(path)
  local loaded_model = cr.models.load_model(path)
  check_model(loaded_model)
  check.same(loaded_model:fit({ data, noise_data }, nil,
    { epochs = 1, verbose = 0, shuffle = false }).history.loss,
    cr.models.load_model(path):fit({ data, noise_data }, nil,
      { epochs = 1, verbose = 0, shuffle = false }).history.loss)
  os.remove(path)
end
local copy = cr.models.clone_model(vae)
copy:set_weights(vae:get_weights())
copy:compile { optimizer = "sgd" }
check_model(copy)
local json_model = cr.models.model_from_json(vae:to_json { target = "crescent" })
json_model:set_weights(vae:get_weights())
json_model:compile { optimizer = "sgd" }
check_model(json_model)
check.fails(function() vae:to_json() end, "no losses of symbols")
check.fails(function()
  vae:save(check.temporary ".h5", { target = "keras2" })
end, "no metrics of symbols")
local rewired_model = cr.models.rewire(vae,
  { [vae:get_layer "decoded"] = layers.Dense(6, { name = "other" }) })
rewired_model:compile { optimizer = "sgd" }
local rewired_results = rewired_model:evaluate({ data, noise_data }, nil,
  { verbose = 0, return_dict = true })
assert(rewired_results.loss > 0 and rewired_results.divergence > 0)

-- the added losses of a model inside another model count too
local outer_model = cr.Model({ x, noise }, vae { x, noise } * 2)
outer_model:compile { optimizer = "sgd" }
check.near(outer_model:evaluate({ data, noise_data }, nil, { verbose = 0,
  return_dict = true }).loss,
  (expected_losses(vae)), 1e-4)

-- error messages for mistakes
check.fails(function()
  vae:add_loss(layers.Dense(1)(cr.Input { shape = { 3 } }))
end, "Graph disconnected")
check.fails(function() vae:add_metric(divergence) end, "expected a name")
check.fails(function() layers.Dense(1):add_loss(divergence) end, "dense", "symbols are for models")
check.fails(function()
  cr.Sequential { layers.Dense(1) }:add_loss(divergence)
end, "not made of symbols")
check.fails(function() vae:add_loss(cr.ops.cast(divergence, "int32")) end, "floating type")

-- Every layer accepts an activity_regularizer, whose loss is a mean over the samples, and stores it
-- in its config.
local samples = cr.random.normal({ 4, 6, 2 })
for name, options in pairs { Flatten = {}, MaxPooling1D = {}, LayerNormalization = {},
  Dropout = { rate = 0.5 }, Activation = { activation = "tanh" },
  Conv1D = { filters = 2, kernel_size = 2 }, LSTM = { units = 3 } } do
  options.activity_regularizer = "l2"
  local layer = layers[name](options)
  local output = layer(samples)
  check.near(layer.losses[1], (ops.sum(output * output) * 0.01 / 4):item(), 1e-5)
  check.same(layer:get_config().activity_regularizer.class_name, "L2")
  local copy = layers[name]:from_config(layer:get_config())
  copy(samples)
  check.same(#copy.losses, 1)
end
check.same(layers.Flatten():get_config().activity_regularizer, nil)
check.fails(function()
  layers.ActivityRegularization { activity_regularizer = "l2" }
end, "l1 and l2")

-- The regularizer's loss counts in training, and is saved.
local penalized_model = cr.Sequential { layers.Reshape({ 3 }, { input_shape = { 3, 1 },
  activity_regularizer = cr.regularizers.L1(0.5) }) }
penalized_model:compile { optimizer = "sgd", loss = "mse" }
local row = cr.ones { 2, 3, 1 }
check.near(penalized_model:evaluate(row, cr.ones { 2, 3 }, { verbose = 0 }), 1.5, 1e-6)
local first_layer = cr.models.model_from_json(penalized_model:to_json()).layers[1]
first_layer(row)
check.near(first_layer.losses[1], 1.5, 1e-6)

-- Without autocast a layer computes in the dtype of its input.
local half_layer = layers.Flatten { dtype = "mixed_bfloat16" }
check.same(tostring(half_layer(row).dtype), "bfloat16")
local uncast_layer = layers.Flatten { dtype = "mixed_bfloat16", autocast = false }
check.same(tostring(uncast_layer(row).dtype), "float32")

do -- several losses at once, and the argument `inputs`, as in Keras 2
  local ones, twos = cr.ones { 1, 1 }, cr.ones { 1, 1 } * 2
  local LossLayer = cr.Layer:subclass "Adding"
  function LossLayer:call(x)
    self:add_loss(x:sum(), x)
    self:add_loss({ x:sum() * 10, x:sum() * 100 }, { x })
    return x
  end
  local model = cr.Sequential { LossLayer { input_shape = { 1 } } }
  model:compile { loss = "mse" }
  check.near(model:evaluate(twos, twos, { verbose = 0 }), 222)
  check.same(#model.layers[1]:get_losses_for(model.inputs), 3)
  local i = cr.Input { shape = { 1 } }
  local o = layers.Dense(1, { kernel_initializer = "ones" })(i)
  local graph = cr.Model { inputs = i, outputs = o }
  graph:add_loss({ o, o * 2 }, i)
  graph:add_loss(o * 3, { inputs = { i } })
  graph:compile { loss = "mse" }
  check.near(graph:evaluate(ones, ones, { verbose = 0 }), 6)
  check.fails(function() graph:add_loss(o, "x") end, "expected a tensor")
end

do -- add_loss adds the sum of a tensor, as in Keras 3
  local TensorLossLayer = cr.Layer:subclass "SummingLosses"
  function TensorLossLayer:call(x)
    self:add_loss(x)
    return x
  end
  local model = cr.Sequential { cr.Input { 2 }, TensorLossLayer() }
  model:compile { loss = "mse" }
  local x = cr.tensor { { 1.0, 2 }, { 3, 4 } }
  check.near(model:evaluate(x, x, { verbose = 0 }), 10)
end
