-- Calls of TensorFlow functions in models of tf.keras (TFOpLambda, SlicingOpLambda,
-- TensorFlowOpLayer, AddLoss, AddMetric): each is loaded and computes what TensorFlow's
-- documentation describes.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/models"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local ops = cr.ops

local a = cr.tensor { { 0.5, -1.5, 2, -0.25 }, { 1, 3, -2, 0.75 }, { -0.5, 0.1, 0.2, 4 } }
local b = cr.tensor { { 2, 0.5, 1, -1 }, { 0.25, -3, 1, 2 }, { 1.5, 1, -0.2, 0.5 } }

local function layer_json(class, name, config, nodes)
  return ('{"class_name": "%s", "name": "%s", "config": {"name": "%s"%s}, "inbound_nodes": %s}')
    :format(class, name, name, config, nodes)
end

local function model_of(entries, outputs)
  local inputs = {}
  for _, name in ipairs { "a", "b" } do
    inputs[#inputs + 1] = layer_json("InputLayer", name,
      ', "batch_input_shape": [null, 4], "dtype": "float32"', "[]")
  end
  return cr.models.model_from_json(([=[{"class_name": "Functional", "keras_version": "2.11.0",
    "backend": "tensorflow", "config": {"name": "model", "layers": [%s, %s],
    "input_layers": [["a", 0, 0], ["b", 0, 0]], "output_layers": [%s]}}]=])
    :format(table.concat(inputs, ", "), table.concat(entries, ", "), outputs))
end

local function predictions(entries, outputs)
  return model_of(entries, outputs):predict({ a, b }, { verbose = 0 })
end

local function function_layer(fn, node, name)
  local class = fn == "__operators__.getitem" and "SlicingOpLambda" or "TFOpLambda"
  return layer_json(class, name or "f",
    ', "trainable": true, "dtype": "float32", "function": "' .. fn .. '"', "[" .. node .. "]")
end

local a_and_b = '["a", 0, 0, {"y": ["b", 0, 0], "name": null}]'
local function call_on_a(arguments) return '["a", 0, 0, {' .. (arguments or "") .. "}]" end
local whole_slice = '{"start": null, "stop": null, "step": null}'
local middle_slice = '{"start": 1, "stop": 3, "step": null}'
local pair_node = '[["a", 0, 0, {"axis": %d}], ["b", 0, 0, {"axis": %d}]]'

local expected_results = {
  { "math.subtract", a_and_b, a - b },
  { "__operators__.add", '["a", 0, 0, {"y": 2.0, "name": null}]', a + 2 },
  { "math.subtract", '["_CONSTANT_VALUE", -1, 2.0, {"y": ["a", 0, 0], "name": null}]', 2 - a },
  { "math.multiply", call_on_a '"y": [1.0, 2.0, 3.0, 4.0]', a * cr.tensor { 1, 2, 3, 4 } },
  { "math.truediv", a_and_b, a / b },
  { "math.pow", call_on_a '"y": 2', a * a },
  { "math.squared_difference", a_and_b, (a - b) * (a - b) },
  { "math.maximum", call_on_a '"y": 0.1', ops.relu(a - 0.1) + 0.1 },
  { "compat.v1.sqrt", '["b", 0, 0, {}]', nil },
  { "math.reduce_mean", call_on_a '"axis": [1], "keepdims": true', ops.sum(a, 1, true) / 4 },
  { "math.reduce_sum", call_on_a '"axis": -1', ops.matmul(a, cr.ones { 4 }) },
  { "math.reduce_std", call_on_a '"axis": 1',
    ops.sqrt(ops.mean(ops.square(a - ops.mean(a, 1, true)), 1)) },
  { "math.l2_normalize", call_on_a '"axis": 1', a / ops.sqrt(ops.sum(a * a, 1, true)) },
  { "nn.leaky_relu", call_on_a(), ops.where(ops.greater(a, 0), a, a * 0.2) },
  { "nn.leaky_relu", call_on_a '"alpha": 0.5', ops.where(ops.greater(a, 0), a, a * 0.5) },
  { "nn.gelu", call_on_a(), a * 0.5 * (1 + ops.erf(a / math.sqrt(2))) },
  { "nn.softmax", call_on_a '"axis": -1', ops.exp(a) / ops.sum(ops.exp(a), -1, true) },
  { "clip_by_value", call_on_a '"clip_value_min": -1, "clip_value_max": 1.5',
    ops.minimum(ops.maximum(a, -1), 1.5) },
  { "linalg.matmul", '["a", 0, 0, {"b": ["b", 0, 0], "transpose_b": true, "transpose_a": false}]',
    ops.matmul(a, ops.transpose(b)) },
  { "concat", pair_node:format(-1, -1), ops.hstack { a, b } },
  { "stack", pair_node:format(1, 1), ops.stack({ a, b }, 1) },
  { "expand_dims", call_on_a '"axis": -1', ops.reshape(a, { 3, 4, 1 }) },
  { "reshape", call_on_a '"shape": [-1, 2, 2]', ops.reshape(a, { 3, 2, 2 }) },
  { "tile", call_on_a '"multiples": [1, 2]', ops.hstack { a, a } },
  { "gather", call_on_a '"indices": [3, 0], "axis": 1',
    ops.hstack { a:slice({ 1, 4 }, { -1, 4 }), a:slice({ 1, 1 }, { -1, 1 }) } },
  { "pad", call_on_a '"paddings": [[0, 0], [1, 0]], "constant_values": 7',
    ops.hstack { cr.ones { 3, 1 } * 7, a } },
  { "where", '["c", 0, 0, {"x": ["a", 0, 0], "y": ["b", 0, 0]}]', ops.maximum(a, b),
    function_layer("math.greater", a_and_b, "c") },
  { "one_hot", '["m", 0, 0, {"depth": 4}]',
    cr.tensor { { 0, 0, 1, 0 }, { 0, 1, 0, 0 }, { 0, 0, 0, 1 } },
    function_layer("math.argmax", call_on_a '"axis": 1', "m") },
  { "cast", call_on_a '"dtype": "int32"', ops.trunc(a) },
  { "__operators__.getitem", call_on_a('"slice_spec": [' .. whole_slice .. ", " .. middle_slice
  .. "]"),
    a:slice({ 1, 2 }, { -1, 3 }) },
  { "__operators__.getitem", call_on_a('"slice_spec": {"class_name": "__tuple__", "items": ['
      .. '{"class_name": "__ellipsis__"}, -1]}'), a:slice({ 1, 4 }, { -1, 4 }):reshape { 3 } },
  { "__operators__.getitem", call_on_a('"slice_spec": [' .. whole_slice .. ", null]"),
    ops.reshape(a, { 3, 1, 4 }) },
}
for _, row in ipairs(expected_results) do
  local values = predictions({ row[4] or function_layer("identity", call_on_a(), "unused"),
    function_layer(row[1], row[2]) },
    '["f", 0, 0]')
  local expected = row[3] or ops.sqrt(b)
  check.near(ops.nan_to_num(values), ops.nan_to_num(expected), 1e-6, row[1])
end

do -- sizes computed with tf.shape: the layers that compute them are not needed after loading
  local shape_layer = function_layer("compat.v1.shape", call_on_a(), "shape")
  local rows_layer = function_layer("__operators__.getitem", '["shape", 0, 0, {"slice_spec": 0}]',
    "rows")
  local reshape_layer = function_layer("reshape", '["a", 0, 0, {"shape": [["rows", 0, 0], 2, 2]}]')
  local model = model_of({ shape_layer, rows_layer, reshape_layer }, '["f", 0, 0]')
  assert(#model.operations == 3, #model.operations)
  check.near(model:predict({ a, b }, { verbose = 0 }), ops.reshape(a, { 3, 2, 2 }), 0)
  local unknown_reshape = function_layer("reshape",
    '["a", 0, 0, {"shape": [["rows", 0, 0], -1, 2]}]')
  check.fails(function()
    model_of({ shape_layer, rows_layer, unknown_reshape }, '["f", 0, 0]')
  end, "'f'", "two sizes")
  check.fails(function()
    model_of({ shape_layer }, '["shape", 0, 0]')
  end, "'shape'", "compat.v1.shape")
end

do -- several outputs, and parts of different sizes
  local node = call_on_a '"num_or_size_splits": [1, 3], "axis": 1'
  local model = model_of({ function_layer("split", node) }, '["f", 0, 0], ["f", 0, 1]')
  local parts = model:predict({ a, b }, { verbose = 0 })
  check.near(parts[1], a:slice({ 1, 1 }, { -1, 1 }), 0)
  check.near(parts[2], a:slice({ 1, 2 }, { -1, 4 }), 0)
end

do -- losses and metrics of symbols
  local model = model_of({ function_layer("math.reduce_mean", call_on_a(), "mean"),
    layer_json("AddLoss", "add_loss", ', "unconditional": true', '[[["mean", 0, 0, {}]]]'),
    layer_json("AddMetric", "add_metric", ', "metric_name": "level", "aggregation": "mean"',
      '[[["mean", 0, 0, {}]]]'),
    layer_json("Dense", "dense", ', "units": 1', '[[["b", 0, 0, {}]]]') }, '["dense", 0, 0]')
  model:compile { optimizer = "sgd" }
  local logs = model:evaluate({ a, b }, nil, { verbose = 0, return_dict = true })
  check.near(logs.loss, ops.mean(a):item(), 1e-6)
  check.near(logs.level, ops.mean(a):item(), 1e-6)
end

do -- nodes of TensorFlow graphs, which versions 2.0 to 2.3 store
  local function node(op, attributes, constants, inputs)
    return layer_json("TensorFlowOpLayer", "tf_op_layer_" .. op, ([[, "trainable": true, "dtype":
      "float32", "node_def": {"name": "%s", "op": "%s", "input": ["a", "b"], "attr": {%s}},
      "constants": {%s}]]):format(op, op, attributes, constants), "[[" .. inputs .. "]]")
  end
  local connection_a, connection_b = '["a", 0, 0, {}]', '["b", 0, 0, {}]'
  local nodes = {
    { "AddV2", '"T": {"type": "DT_FLOAT"}', "", connection_a .. ", " .. connection_b, a + b },
    { "Sub", "", '"0": 1.0', connection_a, 1 - a },
    { "Mean", '"keep_dims": {"b": true}', '"1": [1]', connection_a, ops.mean(a, 1, true) },
    { "ConcatV2", '"N": {"i": "2"}', '"2": 1', connection_a .. ", " .. connection_b,
    ops.hstack { a, b } },
    { "Pack", '"axis": {"i": "1"}', "", connection_a .. ", " .. connection_b,
    ops.stack({ a, b }, 1) },
    { "MatMul", '"transpose_a": {"b": false}, "transpose_b": {"b": true}', "", connection_a .. ", "
    .. connection_b,
      ops.matmul(a, ops.transpose(b)) },
    { "Cast", '"DstT": {"type": "DT_INT32"}', "", connection_a, ops.trunc(a) },
  }
  for _, row in ipairs(nodes) do
    local values = predictions({ node(row[1], row[2], row[3], row[4]) },
      ('["tf_op_layer_%s", 0, 0]'):format(row[1]))
    check.near(values, row[5], 1e-6, row[1])
  end
  check.fails(function()
    predictions({ node("Svd", "", "", connection_a) }, '["tf_op_layer_Svd", 0, 0]')
  end, "tf_op_layer_Svd", "'Svd'")
end

do -- errors for functions without a counterpart, and for arguments that the counterpart lacks
  local function check_call_fails(fn, node, ...)
    check.fails(function() predictions({ function_layer(fn, node) }, '["f", 0, 0]') end, ...)
  end
  check_call_fails("math.tanhh", call_on_a(), "layer 'f'", "'math.tanhh'", "math.tanh")
  check_call_fails("gather", call_on_a '"indices": [0], "batch_dims": 1', "layer 'f'",
    "batch_dims = 1")
  check_call_fails("reshape", '["a", 0, 0, {"shape": ["b", 0, 0]}]', "layer 'f'")
end

do -- saved again, the calls become operations of Keras 3
  local path = os.tmpname() .. ".keras"
  local model = model_of({ function_layer("math.multiply", call_on_a '"y": 3.0') }, '["f", 0, 0]')
  model:save(path)
  check.near(cr.models.load_model(path):predict({ a, b }, { verbose = 0 }), a * 3, 0)
  os.remove(path)
end
