-- The code that all applications (pretrained model architectures) share: the options and their
-- checks, the input, the end of the graph, and the loading of weights.
local cr, shell = ...
local imagenet = shell.library "applications/imagenet"
local shapes = shell.library "applications/shapes"
local new_net = shell.library "applications/layers"

local application = {}

-- ---- options

local function is_boolean(value) return type(value) == "boolean" end
local function is_text(value) return type(value) == "string" end
local function is_count(value) return math.type(value) == "integer" and value > 0 end
local function is_factor(value)
  return type(value) == "number" and value > 0 and value < math.huge
end
local function is_fraction(value) return type(value) == "number" and value >= 0 and value <= 1 end
local function is_pooling(value) return value == "avg" or value == "max" end

-- The options of applications: each has its type in words, a function `is` that checks a value, its
-- default and its documentation.
local options = {
  include_top = {
    type = "true or false", is = is_boolean, default = true,
    doc =
      "Include the classifier at the end; without it the output is that of the last block.",
  },
  weights = {
    type = "a text",
    doc = "Path of a file of weights (those of Keras too), with or without the classifier as in "
      .. "the model; \"imagenet\": the weights of Keras from its cache folder; nil: random "
      .. "weights.",
  },
  input_tensor = { type = "a symbol", doc = "A symbol to use as the input instead of a new one." },
  input_shape = { type = "a list of three integers",
    doc = "Height, width and channels of the images; -1 for an axis of any size." },
  pooling = {
    type = "avg, max or nil", is = is_pooling,
    doc =
      "Without the classifier: \"avg\" or \"max\" pools the output of the last block over its "
        .. "spatial axes; nil: no pooling.",
  },
  classes = {
    type = "an integer from 1", is = is_count, default = 1000,
    doc = "Number of classes of the classifier; ignored without it.",
  },
  classifier_activation = {
    type = "a text or a function", default = "softmax",
    doc =
      "Activation of the classifier; cr.null or false: none, so that the outputs are logits. "
        .. "Ignored without the classifier.",
  },
  name = { type = "a text", is = is_text, doc = "Name of the model." },
  include_preprocessing = {
    type = "true or false", is = is_boolean, default = true,
    doc = "Include a layer that scales pixels from 0..255.",
  },
  alpha = { type = "a number above 0", is = is_factor, default = 1.0,
    doc = "Factor of the width of all layers." },
  depth_multiplier = {
    type = "an integer from 1", is = is_count, default = 1,
    doc = "Output channels per input channel of the depthwise convolutions.",
  },
  dropout = { type = "a number from 0 to 1", is = is_fraction, default = 0.001,
    doc = "Dropout rate before the classifier." },
  dropout_rate = { type = "a number from 0 to 1", is = is_fraction, default = 0.2,
    doc = "Dropout rate before the classifier." },
  minimalistic = {
    type = "true or false", is = is_boolean, default = false,
    doc = "Leave out squeeze-and-excite, hard swish and 5x5 kernels.",
  },
}

--- The order in which most applications take their options.
application.usual_options = { "include_top", "weights", "input_tensor", "input_shape", "pooling",
  "classes", "classifier_activation", "name" }

local function option_rows(names, model_name)
  local rows = {}
  for i, name in ipairs(names) do
    local option = options[name]
    rows[i] = { name = name, type = option.type, default = option.default, doc = option.doc }
    if name == "name" then rows[i].default = model_name end
  end
  return rows
end

-- Returns the options by name. The values cr.null and, for an option that is not boolean, false
-- mean None of Keras: the option gets its default, but classifier_activation becomes nil (no
-- activation).
local function options_by_name(names, ...)
  local by_name = {}
  for i, name in ipairs(names) do
    local value = select(i, ...)
    if value == cr.null or value == false and options[name].is ~= is_boolean then
      value = name ~= "classifier_activation" and options[name].default or nil
    end
    by_name[name] = value
  end
  return by_name
end

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

local function check_weights(o)
  local weights = o.weights
  if weights ~= nil and weights ~= "imagenet"
    and not (type(weights) == "string" and exists(weights)) then
    shell.fail(
      "The `weights` argument should be either nil (random initialization), 'imagenet' ",
      "(pre-training on ImageNet), or the path to the weights file to be loaded.  ",
      "Received: weights=", cr.show(weights))
  end
  if weights == "imagenet" and o.include_top and o.classes ~= 1000 then
    shell.fail(
      "If using `weights='imagenet'` with `include_top=True`, `classes` should be 1000.  ",
      "Received classes=", o.classes)
  end
end

local function check(o, names)
  for _, name in ipairs(names) do
    local is_valid, value = options[name].is, o[name]
    if value ~= nil and is_valid and not is_valid(value) then
      shell.fail(name, ": expected ", options[name].type, ", got ", cr.show(value))
    end
  end
  if o.pooling and o.include_top then
    shell.fail(
      "pooling: a model with its classifier has its own; give include_top = false for that of ",
      "the last block")
  end
  check_weights(o)
end

-- Replaces a missing classifier_activation by "linear"; fails for an activation that pretrained
-- weights do not allow.
local function resolve_activation(o)
  if not o.classifier_activation then o.classifier_activation = "linear" end
  local activation = o.classifier_activation
  if o.weights and o.include_top and activation ~= "linear" and activation ~= "softmax" then
    shell.fail(
      "Only nil and `softmax` activations are allowed for the `classifier_activation` argument ",
      "when using pretrained weights, with `include_top=True`; Received: classifier_activation=",
      cr.show(activation))
  end
end

-- ---- the graph

-- Appends to `inputs` the inputs of the graph on which a symbol depends. `visited_calls` holds the
-- visited calls of each layer.
local function add_inputs(symbol, inputs, visited_calls)
  local layer, call = symbol.history.layer, symbol.history.node_index
  visited_calls[layer] = visited_calls[layer] or {}
  if visited_calls[layer][call] then return end
  visited_calls[layer][call] = true
  local sources = symbol.node.input_tensors
  if #sources == 0 then inputs[#inputs + 1] = symbol end
  for _, source in ipairs(sources) do add_inputs(source, inputs, visited_calls) end
end

local function inputs_of(symbol)
  local inputs = {}
  add_inputs(symbol, inputs, {})
  return inputs
end

local function check_input_tensor(symbol, shape)
  local description = cr.describe(symbol)
  if not description or description.what ~= "symbol" then
    shell.fail("input_tensor: expected a symbol, such as cr.Input gives, got ", cr.show(symbol))
  end
  if #symbol.shape ~= 4 then
    shell.fail("input_tensor: expected images (batch, height, width, channels), got ",
      cr.show(symbol))
  end
  for axis = 1, 3 do
    if shape and shape[axis] ~= symbol.shape[axis + 1] then
      shell.fail("input_shape and input_tensor differ: ", shapes.text(shape), " and ",
        shapes.text(symbol.shape))
    end
  end
end

local function usual_shape(o, architecture)
  local default_size = architecture.size_for and architecture.size_for(o)
    or architecture.default_size
  return shapes.of_input(o.input_shape, default_size, architecture.min_size, o.include_top,
    o.weights)
end

-- Makes the input for the images; returns the symbol of the images and the list of the model's
-- inputs.
local function make_input(net, o, architecture)
  if o.input_shape then o.input_shape = shapes.checked_sizes(o.input_shape) end
  if not o.input_tensor then
    o.input_shape = (architecture.input_shape or usual_shape)(o, architecture)
    local input = net.Input(o.input_shape)
    return input, { input }
  end
  check_input_tensor(o.input_tensor, o.input_shape)
  o.input_shape = { table.unpack(o.input_tensor.shape, 2) }
  shapes.check_sizes(o.input_shape, architecture.min_size)
  return o.input_tensor, inputs_of(o.input_tensor)
end

--- Applies the global pooling that the option `pooling` names, if any. If `is_named` is true, the
--- layer gets the name that it has in Keras.
function application.apply_pooling(net, x, o, is_named)
  if not o.pooling then return x end
  local class = o.pooling == "avg" and net.GlobalAveragePooling2D or net.GlobalMaxPooling2D
  return class { name = is_named and o.pooling .. "_pool" or nil }(x)
end

--- Adds the usual end of a graph: global pooling and a dense layer. The table `top_options` has
--- named_top and named_pooling (whether the pooling layers get the names of Keras), dropout (a
--- rate), and dense (further options of the dense layer).
function application.add_classifier(net, x, o, top_options)
  if not o.include_top then
    return application.apply_pooling(net, x, o, top_options.named_pooling)
  end
  x = net.GlobalAveragePooling2D { name = top_options.named_top and "avg_pool" or nil }(x)
  if top_options.dropout then x = net.Dropout { top_options.dropout, name = "top_dropout" }(x) end
  local dense = { units = o.classes, activation = o.classifier_activation, name = "predictions" }
  for name, value in pairs(top_options.dense or {}) do dense[name] = value end
  return net.Dense(dense)(x)
end

-- ---- the function

-- The path of the file of weights to load; nil if none is to be loaded.
local function weights_path(o, architecture)
  if o.weights ~= "imagenet" then return o.weights end
  local file, folder, remote_name = architecture.trained(o)
  return imagenet.cached(file,
    "https://storage.googleapis.com/" .. folder .. "/" .. (remote_name or file))
end

local function build_model(architecture, o, names)
  o.name = o.name or architecture.name
  check(o, names)
  resolve_activation(o)
  if architecture.check then architecture.check(o) end
  local net = new_net()
  local x, inputs = make_input(net, o, architecture)
  local path = weights_path(o, architecture)
  local output = architecture.build(net, x, o)
  local model = cr.Model { inputs = inputs, outputs = output,
    name = o.name or architecture.name_of and architecture.name_of(o) }
  if path then model:load_weights(path) end
  return model
end

--- Makes the function that constructs the models of one architecture. The table `architecture` has
--- function_name, doc, name (of the model) or name_of(options), options (their names in order),
--- default_size (or size_for(options)) and min_size of images, build(net, x, options), which
--- returns the output, and trained(options), which returns the file of Keras' weights, its folder
--- on the server, and its name there if that differs. Optional are check(options), and
--- input_shape(options, architecture), which replaces the usual rule.
function application.define(architecture)
  local names = architecture.options or application.usual_options
  return shell.define(architecture.function_name .. " -> a model",
    architecture.doc .. " For images.",
    option_rows(names, architecture.name), function(...)
    return build_model(architecture, options_by_name(names, ...), names)
  end)
end

--- The folder on the server that has the weights of most applications of Keras.
application.folder = "tensorflow/keras-applications/"

--- Returns a function trained(options), as define() needs it, for an application with two files of
--- weights in the folder: one with the classifier and one without.
function application.files(folder, with_top, without_top)
  return function(o)
    return o.include_top and with_top or without_top, application.folder .. folder
  end
end

return application
