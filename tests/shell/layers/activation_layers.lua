-- Layers used as activations of other layers.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers

local x = cr.random.uniform({ 2, 4, 3 }, -1, 1, { seed = 3 })

--- Checks that `activation_layer`, used as the activation of another layer, computes the same as
--- the function, in Dense, in convolutions and in every step of a recurrent layer.
local function check_same_as(activation_layer, function_)
  for _, make in ipairs {
    function(f) return layers.Dense(5, { activation = f }) end,
    function(f) return layers.Conv1D(5, 2, { activation = f }) end,
    function(f) return layers.LSTM(5, { activation = f }) end,
    function(f) return layers.GRU(5, { recurrent_activation = f }) end,
    function(f) return layers.RNN(layers.SimpleRNNCell(5, { activation = f })) end,
    function(f) return layers.Bidirectional(layers.LSTM(5, { activation = f })) end,
    function(f) return layers.Activation { activation = f } end,
  } do
    local a, b = make(activation_layer), make(function_)
    a(x) b(x)
    b:set_weights(a:get_weights())
    check.near(a(x), b(x), 1e-6, a.name)
  end
end
check_same_as(layers.LeakyReLU(0.1), cr.activations.leaky_relu { negative_slope = 0.1 })
check_same_as(layers.ReLU { max_value = 0.25 }, cr.activations.relu { max_value = 0.25 })
check_same_as(layers.Activation "sigmoid", "sigmoid")
check_same_as({ class_name = "ELU", config = { alpha = 0.5 } }, cr.activations.elu { alpha = 0.5 })

-- a model with a layer as the activation of Dense trains like one with this layer after Dense
local function new_model(activation_, next_layer)
  local list = {
    layers.Dense(4, { activation = activation_, input_shape = { 3 }, kernel_initializer = "ones" }),
  }
  list[#list + 1] = next_layer
  list[#list + 1] = layers.Dense(2, { activation = layers.Softmax(), kernel_initializer = "ones" })
  local model = cr.Sequential(list)
  model:compile { optimizer = "sgd", loss = "mse" }
  return model
end
local fused_model, separate_model = new_model(layers.LeakyReLU(0.1)),
  new_model(nil, layers.LeakyReLU(0.1))
local rows, targets = x:reshape { 8, 3 }, cr.ones { 8, 2 }
local options = { epochs = 3, verbose = 0, shuffle = false }
check.near(fused_model:fit(rows, targets, options).history.loss,
  separate_model:fit(rows, targets, options).history.loss)

-- files and copies contain the activation layer
for _, ending in ipairs { ".keras", ".h5" } do
  local path = check.temporary(ending)
  fused_model:save(path)
  local loaded_model = cr.models.load_model(path)
  os.remove(path)
  check.near(loaded_model:predict(rows, { verbose = 0 }), fused_model:predict(rows,
    { verbose = 0 }))
  check.same(loaded_model.layers[1]:get_config().activation.class_name, "LeakyReLU")
  check.near(loaded_model.layers[1]:get_config().activation.config.negative_slope, 0.1)
end
assert(fused_model:to_json():find('"module": "keras.layers", "class_name": "LeakyReLU"', 1, true))

-- layers with weights or state are refused as activations, because the layer that applies an
-- activation does not build or update it
check.fails(function() layers.Dense(2, { activation = layers.PReLU() })(rows) end,
  "PReLU has weights", "put it behind")
check.fails(function() layers.Dense(2, { activation = layers.Dropout(0.5) })(rows) end,
  "Dropout has random numbers", "put it behind")
check.fails(function()
  layers.Dense(2, { activation = layers.ActivityRegularization(0.1) })(rows)
end, "ActivityRegularization has losses", "put it behind")
check.fails(function() layers.Dense(2, { activation = "LeakyReLU" }) end, "leaky_relu")

-- applied to symbols, activations become layers of the graph
local input_symbol = cr.Input { shape = { 3 } }
local function sum_of_activations(x)
  return cr.activations.sigmoid(x) * 5 + cr.activations.elu(x, 0.5) + cr.activations.get "relu"(x)
end
local graph, values = cr.Model(input_symbol, sum_of_activations(input_symbol)),
  cr.random.normal { 4, 3 }
check.near(graph:predict(values, { verbose = 0 }), sum_of_activations(values))
for _, ending in ipairs { ".keras", ".h5" } do
  local path = check.temporary(ending)
  graph:save(path)
  check.near(cr.models.load_model(path):predict(values, { verbose = 0 }),
    sum_of_activations(values))
  os.remove(path)
end

-- activations with options become the operations that Keras writes, or the layer ReLU
local activations, two_inputs = cr.activations, cr.Input { shape = { 4, 3 } }
for activation_config, expected_output in pairs {
  ['"Elu", "config": {"name": "elu", "alpha": 0.5}'] = activations.elu(two_inputs, 0.5),
  ['"LeakyRelu", "config": {"name": "leaky_relu", "negative_slope": 0.1}'] =
  activations.leaky_relu(two_inputs, 0.1),
  ['"Gelu", "config": {"name": "gelu", "approximate": true}'] = activations.gelu(two_inputs, true),
  ['"Softmax", "config": {"name": "softmax", "axis": 1}'] = activations.softmax(two_inputs, 1),
  ['"Celu", "config": {"name": "celu", "alpha": 0.5}'] = activations.get { class_name = "celu",
    config = { alpha = 0.5 } } (two_inputs),
  ['"class_name": "ReLU", "config": {"name": "re_lu"'] = activations.relu(two_inputs,
  { max_value = 6 }),
} do
  local reread_model = cr.models.model_from_json(cr.Model(two_inputs, expected_output):to_json())
  local text = reread_model:to_json():gsub("([a-z_]+)_%d+", "%1")
  assert(text:find(activation_config, 1, true), activation_config .. " is not in " .. text)
end
check.near(cr.Model(two_inputs, activations.softmax(two_inputs, 1)):predict(x, { verbose = 0 }),
  activations.softmax(x, 1))

-- softmax over several axes; the configuration has the axes
do
  local cube = cr.random.normal({ 2, 3, 4 }, { seed = 6 })
  for _, name in ipairs { "softmax", "log_softmax" } do
    local expected = cr.ops[name](cube:reshape { 2, 12 }):reshape { 2, 3, 4 }
    check.near(cr.activations[name](cube, { axis = { 1, 2 } }), expected, 1e-6, name)
    check.near(cr.activations[name](cube, { -1, 1 }), expected, 1e-6, name)
    local activation = cr.activations.get { class_name = name, config = { axis = { 1, 2 } } }
    check.same(activation:get_config(), { axis = { 1, 2 } })
    check.near(activation(cube), expected, 1e-6, name)
  end
  check.fails(function() cr.activations.glu(cube, { axis = { 1, 2 } }) end, "one axis, got [1, 2]")
  check.fails(function() cr.activations.softmax(cube, { axis = {} }) end, "at least one axis")
end

-- a mask of Softmax broadcasts to the inputs, not the other way round
local logits = cr.tensor { { 1.0, 2, 1 } }
for _, shape in ipairs { { 2, 3 }, { 1, 1, 3 }, { 1, 2 } } do
  check.fails(function()
    cr.layers.Softmax()(logits, { mask = cr.ones(shape):cast "bool" })
  end, "mask: expected a shape that broadcasts to that of the input, (1, 3), got")
end
check.same(cr.layers.Softmax()(logits, { mask = cr.ones { 3 }:cast "bool" }).shape, { 1, 3 })
