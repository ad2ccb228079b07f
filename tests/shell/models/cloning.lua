-- clone_model with functions that choose layers and calls, and with inputs of its own.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local clone_model = cr.models.clone_model

local function same_layer(layer) return layer end
local function wider(layer)
  local config = layer:get_config()
  if config.units then config.units = config.units + 1 end
  return cr.layers[layer.class_name]:from_config(config)
end
local function names_of(model)
  local names = {}
  for i, layer in ipairs(model.layers) do names[i] = layer.class_name end
  return table.concat(names, " ")
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

-- clone_function gives each layer
check.same(clone_model(model, { clone_function = wider }):get_layer "hidden".units, 4)
local shared = clone_model(model, { clone_function = same_layer })
assert(shared:get_layer "hidden" == model:get_layer "hidden")
check.near(shared(x), model(x), 0)

-- call_function calls each layer, and may call others
local with_dropout = clone_model(model, { clone_function = same_layer,
  call_function = function(layer, inputs, arguments)
    assert(arguments == nil)
    local result = layer(inputs)
    return layer.class_name == "Dense" and cr.layers.Dropout(0.5)(result) or result
  end })
check.same(names_of(with_dropout), "InputLayer Dense Dropout Concatenate Dense Dropout")
check.near(with_dropout(x), model(x), 0)
local doubled = clone_model(model, { call_function = function(layer, inputs)
  if layer.name ~= "hidden" then return layer(inputs) end
  return layer(inputs) * 2
end })
doubled:set_weights(model:get_weights())
local twice = model:get_layer "hidden"(x) * 2
check.near(doubled(x), model:get_layer "out"(cr.ops.concatenate({ twice, x }, 1)), 1e-5)
assert(doubled:get_layer "hidden" ~= model:get_layer "hidden")

-- arguments of a call reach the function
local attended = cr.Input { 6, 4 }
local attention = cr.layers.MultiHeadAttention { num_heads = 2, key_dim = 3, name = "attention" }
local attending = cr.Model { inputs = attended,
  outputs = attention(attended, attended, { use_causal_mask = true }) }
local seen
local again = clone_model(attending, { clone_function = same_layer,
  call_function = function(layer, inputs, arguments)
    seen = arguments
    return layer(inputs, arguments)
  end })
assert(seen.use_causal_mask == true)
local sequence = cr.random.normal { 2, 6, 4 }
check.near(again(sequence), attending(sequence), 0)

-- input_tensors become the inputs
local other = cr.Input { 4, name = "other" }
local moved = clone_model(model, { input_tensors = { other }, clone_function = same_layer })
check.same(moved.inputs[1].name, other.name)
check.near(moved(x), model(x), 0)
check.same(clone_model(model, other).inputs[1].name, other.name)
check.fails(function() clone_model(model, { input_tensors = { other, other } }) end,
  "input_tensors: expected 1, one for each input of", "got 2")

-- recursive reaches the layers of nested models
local deep = cr.layers.Dense(3, { name = "deep" })
local inner = cr.Sequential({ cr.Input { 3 }, deep }, { name = "inner" })
local outer = cr.Sequential { cr.Input { 3 }, inner }
local flat = {}
local function note(layer) flat[#flat + 1] = layer.name; return layer end
clone_model(outer, { clone_function = note })
check.same(flat, { "inner" })
flat = {}
local deep_copy = clone_model(outer, { clone_function = note, recursive = true })
check.same(flat, { "deep" })
check.near(deep_copy(cr.ones { 1, 3 }), outer(cr.ones { 1, 3 }), 0)
check.same(deep_copy:get_layer "inner" == inner, false)

-- mistakes
check.fails(function() clone_model(outer, { call_function = note }) end,
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
