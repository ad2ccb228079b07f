-- Operations in files of Keras 3: options that Keras does not have, and those that it stores in
-- another place or form.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/models"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"

local float_input = cr.Input { shape = { 4 } }
local integer_input = cr.Input { shape = { 4 }, dtype = "int32" }
local x = cr.tensor { { 3, 1, 2, 7 }, { 0, 5, 4, 1 } }

--- Checks that the call of an operation gets this constant, and that a model made from the JSON
--- predicts the same.
local function expect_constant(input, output, constant)
  local model = cr.Model { inputs = input, outputs = output }
  local json = model:to_json { target = "keras3" }
  assert(json:find('{"class_name": "__tensor__", "config": {' .. constant .. "}}", 1, true), json)
  local expected = model:predict(x:cast(input.dtype), { verbose = 0 }):totable()
  local opened_model = cr.models.model_from_json(json)
  check.same(opened_model:predict(x:cast(input.dtype), { verbose = 0 }):totable(), expected)
end

--- Checks that the node of an operation in Keras' JSON has this configuration and, in `kwargs`,
--- these arguments, and that models made from the JSON and loaded from a file predict the same.
local function expect_node(input, output, configuration, kwargs)
  local model = cr.Model { inputs = input, outputs = output }
  local json = model:to_json { target = "keras3" }
  local node = json:match '"module": "keras%.src%.ops.*'
  assert(node:find(', ' .. configuration .. '}, "registered_name"', 1, true), node)
  assert(node:find('"kwargs": {' .. (kwargs or "") .. "}", 1, true), node)
  local expected = model:predict(x:cast(input.dtype), { verbose = 0 }):totable()
  local path = os.tmpname() .. ".keras"
  model:save(path)
  for _, opened_model in ipairs { cr.models.model_from_json(json), cr.models.load_model(path) } do
    check.same(opened_model:predict(x:cast(input.dtype), { verbose = 0 }):totable(), expected)
  end
  os.remove(path)
end

local ops = cr.ops
expect_node(float_input, ops.sort(float_input), '"axis": -1')
expect_node(float_input, ops.argsort(float_input, 1), '"axis": 1')
expect_node(float_input, ops.trapezoid(float_input, { dx = 0.5 }),
  '"x": null, "dx": 0.5, "axis": -1')
expect_node(float_input, ops.trapezoid(float_input, { x = { 0.5, 1.5, 3.5, 4.5 } }),
  '"x": [0.5, 1.5, 3.5, 4.5], "dx": 1.0, "axis": -1')
expect_node(integer_input, ops.one_hot(integer_input, 8),
  '"num_classes": 8, "axis": -1, "dtype": "float32", "sparse": false')
expect_node(integer_input, ops.one_hot(integer_input, 8, { dtype = "int8" }),
  '"num_classes": 8, "axis": -1, "dtype": "int8", "sparse": false')
expect_node(integer_input, ops.multi_hot(integer_input, 8),
  '"num_classes": 8, "axis": -1, "dtype": "float32", "sparse": false')
expect_node(float_input, ops["repeat"](float_input, cr.tensor({ 1, 2, 0, 1 }, "int32"), 1),
  '"repeats": [1, 2, 0, 1], "axis": 1')

expect_constant(integer_input, ops.bitwise_and(integer_input, 6), '"value": 6, "dtype": "int32"')
expect_constant(integer_input, ops.bitwise_or(2, integer_input), '"value": 2, "dtype": "int32"')
expect_constant(integer_input, ops.hypot(integer_input, 2.5), '"value": 2.5, "dtype": "float32"')
expect_constant(float_input, ops.hypot(2, float_input), '"value": 2, "dtype": "float32"')
expect_constant(float_input, ops.heaviside(float_input - 2, 0.5),
  '"value": 0.5, "dtype": "float32"')

-- lists are written as tensors, since Keras takes no lists of numbers as operands
expect_constant(float_input, float_input + cr.tensor { 1, 2, 3, 4.5 },
  '"value": [1.0, 2.0, 3.0, 4.5], "dtype": "float32"')
expect_constant(float_input, ops.add(float_input, { 1, 2, 3, 4 }),
  '"value": [1, 2, 3, 4], "dtype": "float32"')
expect_constant(integer_input, ops.multiply(integer_input, { 1, 2, 3, 4 }),
  '"value": [1, 2, 3, 4], "dtype": "int32"')

do -- in files for Keras, the data format of a pooling operation is never null
  local image = cr.Input { shape = { 8, 8, 2 } }
  for _, pool in ipairs { ops.max_pool, ops.average_pool } do
    local pooling_model = cr.Model { inputs = image, outputs = pool(image, 2) }
    local json = pooling_model:to_json { target = "keras3" }
    assert(json:find('"data_format": "channels_last"', 1, true), json)
    assert(not json:find('"data_format": null', 1, true), json)
  end
end

do -- options that Keras lacks are written if they change the result, and a warning names them
  local _, warnings = check.run [[
    local input = cr.Input { shape = { 4 } }
    local sorted_symbol = cr.ops.sort(input, { descending = true })
    local path = os.tmpname() .. ".keras"
    cr.Model { inputs = input, outputs = sorted_symbol }:save(path)
    print(cr.models.load_model(path)(cr.tensor { { 3, 1, 2, 7 } }))
    local x = cr.Input { shape = { 4, 8 } }
    local attention = cr.layers.MultiHeadAttention(2, 4, { name = "heads" })
    local model = cr.Model { inputs = x, outputs = attention(x, x) }
    model:save(path)
    model:quantize "int8"
    local quantized_path = os.tmpname() .. ".keras"
    model:save(quantized_path)
    os.remove(path)
    os.remove(quantized_path)
  ]]
  for _, text in ipairs { "[[7. 3. 2. 1.]]", "option 'descending': Keras has no such parameter",
    "layer 'heads', option 'sublayer_options': Keras opens no files" } do
    assert(warnings:find(text, 1, true), warnings)
  end
end
