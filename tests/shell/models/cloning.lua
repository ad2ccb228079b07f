-- clone_model with functions that replace layers and calls, and with new inputs.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local clone_model = cr.models.clone_model

local function same_layer(layer) return layer end
local function widened_layer(layer)
  local config = layer:get_config()
  if config.units then config.units = config.units + 1 end
  return cr.layers[layer.class_name]:from_config(config)
end
local function class_names_of(model)
  local class_names = {}
  for i, layer in ipairs(model.layers) do class_names[i] = layer.class_name end
  return table.concat(class_names, " ")
end

local input = cr.Input { 4, name = "data" }
local hidden = cr.layers.Dense(3, { activation = "relu", name = "hidden" })(input)
local output = cr.layers.Dense(2, { name = "out" })(cr.layers.Concatenate()({ hidden, input }))
local model = cr.Model { inputs = input, outputs = output }
local x = cr.random.normal { 5, 4 }

-- without functions: the same architecture, new weights
local copy = clone_model(model)
check.same(copy.output_shape, model.output_shape)
assert(copy.layers[2] ~= model.layers[2])
copy:set_weights(model:get_weights())
check.near(copy(x), model(x))

-- clone_function returns the copy of each layer
check.same(clone_model(model, { clone_function = widened_layer }):get_layer "hidden".units, 4)
local sharing_model = clone_model(model, { clone_function = same_layer })
assert(sharing_model:get_layer "hidden" == model:get_layer "hidden")
check.near(sharing_model(x), model(x), 0)

-- call_function calls each layer, and may call others
local dropout_model = clone_model(model, { clone_function = same_layer,
  call_function = function(layer, inputs, arguments)
    assert(arguments == nil)
    local result = layer(inputs)
    return layer.class_name == "Dense" and cr.layers.Dropout(0.5)(result) or result
  end })
check.same(class_names_of(dropout_model), "InputLayer Dense Dropout Concatenate Dense Dropout")
check.near(dropout_model(x), model(x), 0)
local doubled_model = clone_model(model, { call_function = function(layer, inputs)
  if layer.name ~= "hidden" then return layer(inputs) end
  return layer(inputs) * 2
end })
doubled_model:set_weights(model:get_weights())
local doubled_hidden = model:get_layer "hidden"(x) * 2
check.near(doubled_model(x), model:get_layer "out"(cr.ops.concatenate({ doubled_hidden, x }, 1)),
  1e-5)
assert(doubled_model:get_layer "hidden" ~= model:get_layer "hidden")

-- call_function gets the arguments of a layer call
local attention_input = cr.Input { 6, 4 }
local attention = cr.layers.MultiHeadAttention { num_heads = 2, key_dim = 3, name = "attention" }
local attention_model = cr.Model { inputs = attention_input,
  outputs = attention(attention_input, attention_input, { use_causal_mask = true }) }
local seen_arguments
local attention_copy = clone_model(attention_model, { clone_function = same_layer,
  call_function = function(layer, inputs, arguments)
    seen_arguments = arguments
    return layer(inputs, arguments)
  end })
assert(seen_arguments.use_causal_mask == true)
local sequence = cr.random.normal { 2, 6, 4 }
check.near(attention_copy(sequence), attention_model(sequence), 0)

-- input_tensors become the inputs
local other_input = cr.Input { 4, name = "other" }
local moved_model = clone_model(model, { input_tensors = { other_input },
  clone_function = same_layer })
check.same(moved_model.inputs[1].name, other_input.name)
check.near(moved_model(x), model(x), 0)
check.same(clone_model(model, other_input).inputs[1].name, other_input.name)
check.fails(function() clone_model(model, { input_tensors = { other_input, other_input } }) end,
  "input_tensors: expected 1, one for each input of", "got 2")

-- with the option recursive, layers of nested models are cloned too
local deep_layer = cr.layers.Dense(3, { name = "deep" })
local inner_model = cr.Sequential({ cr.Input { 3 }, deep_layer }, { name = "inner" })
local outer_model = cr.Sequential { cr.Input { 3 }, inner_model }
local cloned_names = {}
local function note_name(layer) cloned_names[#cloned_names + 1] = layer.name; return layer end
clone_model(outer_model, { clone_function = note_name })
check.same(cloned_names, { "inner" })
cloned_names = {}
local deep_copy = clone_model(outer_model, { clone_function = note_name, recursive = true })
check.same(cloned_names, { "deep" })
check.near(deep_copy(cr.ones { 1, 3 }), outer_model(cr.ones { 1, 3 }), 0)
check.same(deep_copy:get_layer "inner" == inner_model, false)

-- errors for invalid arguments
check.fails(function() clone_model(outer_model, { call_function = note_name }) end,
  "call_function is for graphs, got the Sequential model")
check.fails(function() clone_model(model, { clone_function = 3 }) end,
  "clone_model: argument 'clone_function': expected a function, got 3")
check.fails(function() clone_model(model, { call_function = function() end }) end, "hidden")

do -- the copy of a compiled model is compiled in the same way, with a new optimizer
  local stack = cr.Sequential { cr.Input { 2 }, cr.layers.Dense(1) }
  local i = cr.Input { 2 }
  local graph = cr.Model { inputs = i, outputs = cr.layers.Dense(1)(i) }
  for _, original in ipairs { stack, graph } do
    assert(not clone_model(original).compiled)
    original:compile { optimizer = cr.optimizers.SGD(0.25), loss = "mae", metrics = { "mse" } }
    for _, copy in ipairs { clone_model(original),
      clone_model(original, { clone_function = same_layer }) } do
      assert(copy.compiled and copy.optimizer ~= original.optimizer)
      check.near(copy.optimizer.learning_rate, 0.25)
      copy:set_weights(original:get_weights())
      local x, y = cr.ones { 4, 2 }, cr.zeros { 4, 1 }
      check.near(copy:evaluate(x, y, { verbose = 0 }), original:evaluate(x, y, { verbose = 0 }))
    end
  end
end
