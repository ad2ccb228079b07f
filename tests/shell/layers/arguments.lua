-- Arguments of layer calls: layers declare them; they are checked, passed on, and stored in graphs
-- and files.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
local x, h, c = cr.random.normal { 2, 3, 4 }, cr.random.normal { 2, 5 }, cr.random.normal { 2, 5 }

-- an argument that the layer does not declare is an error
check.fails(function()
  layers.Dense(2)(x, { nonsense = 1 })
end, "Dense", "'nonsense'", "training, mask")
check.fails(function()
  layers.LSTM(5)(x, { initial_stat = { h, c } })
end, "LSTM", "did you mean 'initial_state'?")
check.fails(function()
  layers.InputLayer { input_shape = { 3 }, activity_regularizer = "l2" }
end, "activity_regularizer is not supported")
check.fails(function() layers.Dense(2)(x, { trainin = true }) end, "did you mean 'training'?")
check.fails(function()
  cr.Sequential { layers.Dense(2) }(x, { use_causal_mask = true })
end, "'use_causal_mask'")
check.fails(function()
  layers.LSTM(5)(x, { constants = { h } })
end, "constants", "the cell takes none")
check.fails(function() layers.Dense(2)(x, { mask = 5 }) end, "mask", "5")
check.fails(function()
  layers.LSTM(5)(x, { mask = { true, false } })
end, "mask", "expected tensors")
local step_mask = cr.tensor { { true, true, false }, { true, false, false } }
check.fails(function() layers.LSTM(5)(x, { mask = { step_mask, step_mask } }) end,
  "2 masks for 1 inputs")

-- initial states that are given by name equal those among the inputs
local lstm = layers.LSTM(5)
check.near(lstm(x, { initial_state = { h, c } }), lstm({ x, h, c }):totable())
assert((lstm(x) - lstm(x, { initial_state = { h, c } })):abs():max():item() > 1e-4)
for _, class in ipairs { layers.GRU, layers.SimpleRNN } do
  local layer = class(5)
  check.near(layer(x, { initial_state = h }), layer({ x, h }):totable())
end
check.near(layers.RNN(layers.GRUCell(5, { seed = 1 }))(x, { initial_state = h }).shape[2], 5)
check.fails(function() lstm(x, { initial_state = h }) end, "lstm", "2 states", "1")
check.fails(function() lstm({ x, h, c }, { initial_state = { h, c } }) end, "given twice")
check.fails(function()
  lstm(x, { initial_state = "zeros" })
end, "initial_state", "expected tensors")

-- with symbols, arguments are inputs of the layer's node
local symbol_x, symbol_h, symbol_c = cr.Input { shape = { 3, 4 } }, cr.Input { shape = { 5 } },
  cr.Input { shape = { 5 } }
local lstm_output = lstm(symbol_x, { initial_state = { symbol_h, symbol_c } })
assert(#lstm.inbound_nodes == 1 and #lstm.input == 3)
local model = cr.Model({ symbol_x, symbol_h, symbol_c }, lstm_output)
check.near(model:predict { x, h, c }, lstm(x, { initial_state = { h, c } }):totable())
local path = check.temporary ".h5"
model:save(path)
check.near(cr.models.load_model(path):predict { x, h, c }, model:predict({ x, h, c }):totable())
check.near(cr.models.clone_model(model):count_params(), model:count_params())
check.fails(function() lstm(symbol_x, { initial_state = { h, c } }) end, "expected symbols")
check.fails(function() lstm(x, { initial_state = { symbol_h, symbol_c } }) end, "expected tensors")

-- a mask that is passed to a symbolic call is a symbol too
local symbol_mask = cr.Input { shape = { 3 }, dtype = "bool" }
local masked_model = cr.Model({ symbol_x, symbol_mask }, lstm(symbol_x, { mask = symbol_mask }))
check.near(masked_model:predict { x, step_mask }, lstm(x, { mask = step_mask }):totable())
assert((masked_model:predict { x, step_mask } - lstm(x)):abs():max():item() > 1e-4)
for _, ending in ipairs { ".h5", ".keras" } do
  local path = check.temporary(ending)
  masked_model:save(path)
  check.near(cr.models.load_model(path):predict { x, step_mask },
    masked_model:predict({ x, step_mask }):totable())
end
assert(#cr.models.model_from_json(masked_model:to_json()).input == 2)
check.fails(function() lstm(symbol_x, { mask = step_mask }) end, "'mask'", "expected symbols")
check.fails(function() lstm(x, { mask = symbol_mask }) end, "'mask'", "expected tensors")
check.fails(function()
  masked_model:save(check.temporary ".h5", { target = "keras2" })
end, "takes no tensors by name")

-- attention: inputs by name, masks, further outputs
local attention = layers.MultiHeadAttention(2, 3)
local y = cr.random.normal { 2, 6, 4 }
check.near(attention(x, { value = y }), attention({ x, y }):totable())
check.near(attention(x, { value = y, key = y }), attention({ x, y, y }):totable())
check.fails(function() attention(x, { key = y }) end, "'key'", "input 3")
check.fails(function()
  attention({ x, x }, { use_causal_mask = "yes" })
end, "use_causal_mask", "expected a boolean")
check.fails(function()
  attention({ x, x }, { use_casual_mask = true })
end, "did you mean 'use_causal_mask'?")
local causal_mask = cr.tensor { { { true, false, false }, { true, true, false },
  { true, true, true } } }
check.near(attention({ x, x }, { attention_mask = causal_mask }),
  attention({ x, x }, { use_causal_mask = true }):totable())
local output_and_scores = attention({ x, x }, { return_attention_scores = true })
assert(#output_and_scores == 2)
check.same(output_and_scores[2].shape, { 2, 2, 3, 3 })
check.near(attention({ x, x }, { value_mask = step_mask, key_mask = step_mask,
  query_mask = step_mask }),
  attention({ x, x }, { mask = { step_mask, step_mask } }):totable())
check.fails(function()
  attention({ x, x }, { attention_mask = step_mask })
end, "attention_mask", "(batch, t, s)")

-- a symbol as an argument is an edge of the graph, saved and loaded
local mask_input = cr.Input { shape = { 3, 3 } }
local masked_model = cr.Model({ symbol_x, mask_input },
  attention({ symbol_x, symbol_x }, { attention_mask = mask_input }))
local masks = cr.ops.tile and cr.ops.tile(causal_mask:cast "float32", { 2, 1, 1 })
  or cr.ops.concatenate({ causal_mask:cast "float32", causal_mask:cast "float32" }, 0)
check.near(masked_model:predict { x, masks },
  attention({ x, x }, { use_causal_mask = true }):totable())
masked_model:save(path)
check.near(cr.models.load_model(path):predict { x, masks },
  masked_model:predict({ x, masks }):totable())
local cloned_model = cr.models.clone_model(masked_model)
cloned_model:set_weights(masked_model:get_weights())
check.near(cloned_model:predict { x, masks }, masked_model:predict({ x, masks }):totable())

-- classes in Lua declare their arguments
local ScalingLayer = cr.Layer:subclass("Scaled", {}, { { "scale", 1.0, "Factor." }, "shift" })
function ScalingLayer:call(inputs, args)
  local y = inputs * args.scale
  return args.shift and y + args.shift or y
end
local scaled_layer, single_element = ScalingLayer { name = "s" }, cr.ones { 1, 2 }
check.near(scaled_layer(single_element), { { 1, 1 } })
check.near(scaled_layer(single_element, { scale = 3 }), { { 3, 3 } })
check.near(scaled_layer(single_element, { scale = 3, shift = cr.tensor { 1, 2 } }), { { 4, 5 } })
check.fails(function() scaled_layer(single_element, { scale = "big" }) end, "'scale'",
  "expected a number", "big")
check.fails(function() scaled_layer(single_element, { scal = 3 }) end, "did you mean 'scale'?")
check.fails(function()
  scaled_layer(single_element, { offset = 3 })
end, "'offset'", 'subclass(name, options, {"offset"})')
local DoublingLayer = ScalingLayer:subclass("Child", {}, { { "scale", 2.0 } })
check.near(DoublingLayer()(single_element), { { 2, 2 } })
check.fails(function()
  cr.Layer:subclass("Bad", {}, { "training" })
end, "every call has 'training'")
check.fails(function()
  cr.losses.Loss:subclass("Bad", {}, { "scale" })
end, "only layers and models")
local a, b = cr.Input { shape = { 2 } }, cr.Input { shape = { 2 } }
local graph = cr.Model({ a, b }, scaled_layer(a, { shift = b, scale = 2 }))
check.near(graph:predict { single_element, single_element }, { { 3, 3 } })
graph:save(path)
check.near(cr.models.load_model(path):predict { single_element, single_element }, { { 3, 3 } })
os.remove(path)

-- a layer chooses the arguments with which it calls a sublayer
local OuterModel = cr.Model:subclass("Outer", {}, { { "scale", 1.0 } })
function OuterModel:init() self.inner = ScalingLayer() end
function OuterModel:call(inputs, args) return self.inner(inputs, { scale = args.scale }) end
check.near(OuterModel()(single_element, { scale = 4 }), { { 4, 4 } })

-- help and completion list the arguments
local printed_lines = {}
local original_print = print
print = function(text) printed_lines[#printed_lines + 1] = text end
cr.help(layers.LSTM)
print = original_print
assert(table.concat(printed_lines):find "initial_state", "help lists arguments of a call")
lstm_layer = lstm
assert(table.concat(cr.complete "lstm_layer(x, {init", " "):find "initial_state")

do -- further inputs by position: layer(query, value), lstm(x, states), cell(x, states)
  local q, v = cr.ones { 2, 4, 8 }, cr.random.normal { 2, 6, 8 }
  local attention = cr.layers.MultiHeadAttention { num_heads = 2, key_dim = 4 }
  check.near(attention(q, v), attention { q, v })
  check.near(attention(q, v, v, { training = false }), attention { q, v, v })
  local a, b = cr.Input { shape = { 4, 8 } }, cr.Input { shape = { 6, 8 } }
  check.same(attention(a, b).shape, { -1, 4, 8 })
  local lstm = cr.layers.LSTM(3)
  local h, c = cr.ones { 2, 3 }, cr.zeros { 2, 3 }
  check.near(lstm(q, { h, c }), lstm(q, { initial_state = { h, c } }))
  check.fails(function() return cr.layers.Add()(q, v) end, "several inputs go into a table")
  check.fails(function() return cr.layers.Dense(2)(q, 3) end, "got an argument 2")
end

do -- the method call gets arguments one by one if its parameters have their names, else in a table
  local NamedParameters = cr.Layer:subclass("NamedParameters", {}, { { "scale", 3.0 } })
  function NamedParameters:call(inputs, training, mask, scale)
    assert(type(training) == "boolean")
    return training and inputs * scale or mask and inputs * 0 or inputs
  end
  local layer_of_names, single_element = NamedParameters(), cr.ones { 1, 1 }
  layer_of_names.supports_masking = true
  check.near(layer_of_names(single_element), single_element)
  check.near(layer_of_names(single_element, { training = true }), 3 * single_element)
  check.near(layer_of_names(single_element, { training = true, scale = 5 }), 5 * single_element)
  check.near(layer_of_names(single_element, { mask = cr.tensor { { true } } }), 0 * single_element)
  local RestParameters = cr.Layer:subclass "RestOfParameters"
  function RestParameters:call(inputs, training, args)
    return args.training == training and inputs or nil
  end
  check.near(RestParameters()(single_element, { training = true }), single_element)
  local TableParameters = cr.Layer:subclass "TableOfParameters"
  function TableParameters:call(inputs, options)
    return options.training and inputs or inputs * 2
  end
  check.near(TableParameters()(single_element), 2 * single_element)
end

do -- numbers in a table form the first option if that is a list of this length
  local pool = cr.layers.MaxPooling2D { 3, 2, padding = "same" }
  check.same({ pool.pool_size, pool.strides }, { { 3, 2 }, { 3, 2 } })
  pool = cr.layers.MaxPooling2D { { 3, 2 }, { 2, 1 } }
  check.same({ pool.pool_size, pool.strides }, { { 3, 2 }, { 2, 1 } })
  pool = cr.layers.MaxPooling2D(3, 2)
  check.same({ pool.pool_size, pool.strides }, { { 3, 3 }, { 2, 2 } })
  pool = cr.layers.AveragePooling1D { 3, 2 }
  check.same({ pool.pool_size, pool.strides }, { { 3 }, { 2 } })
  check.same(cr.layers.UpSampling2D({ 2, 3 }).size, { 2, 3 })
  check.same(cr.layers.ZeroPadding2D({ 1, 2 }).padding, { { 1, 1 }, { 2, 2 } })
  check.same(cr.layers.Cropping2D({ { 1, 2 }, { 3, 4 } }).cropping, { { 1, 2 }, { 3, 4 } })
  check.same(cr.layers.Reshape { 2, 3 }(cr.ones { 1, 6 }).shape, { 1, 2, 3 })
  check.same(cr.layers.Permute { 2, 1 }(cr.ones { 1, 2, 3 }).shape, { 1, 3, 2 })
  check.same(cr.layers.Reshape({ 2, 3 }, { name = "r" })(cr.ones { 1, 6 }).shape, { 1, 2, 3 })
  check.same(cr.Input { shape = { cr.null, 3 } }.shape, { -1, -1, 3 })
  check.same(cr.Input { shape = { false, 3 } }.shape, { -1, -1, 3 })
  check.fails(function() cr.Input { shape = { nil, 3 } } end, "is written -1")
end
print "ok arguments"
