-- MobileNetV3: Searching for MobileNetV3 (2019).
local _, shell = ...
local application = shell.library "applications/application"
local imagenet = shell.library "applications/imagenet"
local shapes = shell.library "applications/shapes"

local function relu(net, x) return net.ReLU()(x) end

local function hard_silu(net, x) return net.Activation { "hard_silu" }(x) end

local function hard_sigmoid(net, x)
  return net.multiply(net.ReLU { 6.0 }(net.add(x, 3.0)), 1 / 6)
end

local function normalize(net, x, name)
  return net.BatchNormalization { axis = -1, epsilon = 1e-3, momentum = 0.999, name = name }(x)
end

-- ---- blocks

-- Squeeze and excite: each channel times a factor computed from the means of all channels.
local function squeeze_and_excite(net, input, width, squeeze_ratio, name)
  name = name .. "squeeze_excite_"
  local x = net.GlobalAveragePooling2D { keepdims = true, name = name .. "avg_pool" }(input)
  x = net.Conv2D { shapes.divisible(width * squeeze_ratio), 1, padding = "same",
    name = name .. "conv" }(x)
  x = net.ReLU { name = name .. "relu" }(x)
  x = net.Conv2D { width, 1, padding = "same", name = name .. "conv_1" }(x)
  return net.Multiply { name = name .. "mul" } { input, hard_sigmoid(net, x) }
end

-- `row` has the expansion factor, width, kernel size, stride, ratio of squeeze and excite, and
-- activation.
local function block(net, input, row, number)
  local expansion, width, kernel, stride, squeeze_ratio, activation = table.unpack(row, 1, 6)
  local channels = input.shape[4]
  local inner_width = shapes.divisible(channels * expansion)
  local name, x = "expanded_conv_", input
  if number > 0 then
    name = ("expanded_conv_%d_"):format(number)
    x = net.Conv2D { inner_width, 1, padding = "same", use_bias = false,
      name = name .. "expand" }(x)
    x = activation(net, normalize(net, x, name .. "expand_bn"))
  end
  if stride == 2 then
    x = net.ZeroPadding2D { padding = shapes.correct_pad(x, kernel),
      name = name .. "depthwise_pad" }(x)
  end
  x = net.DepthwiseConv2D {
    kernel, strides = stride, padding = stride == 1 and "same" or "valid", use_bias = false,
    name = name .. "depthwise",
  }(x)
  x = activation(net, normalize(net, x, name .. "depthwise_bn"))
  if squeeze_ratio then x = squeeze_and_excite(net, x, inner_width, squeeze_ratio, name) end
  x = net.Conv2D { width, 1, padding = "same", use_bias = false, name = name .. "project" }(x)
  x = normalize(net, x, name .. "project_bn")
  if stride == 1 and channels == width then return net.Add { name = name .. "add" } { input, x } end
  return x
end

-- The rows of the blocks, with widths scaled by the function `width`; minimalistic models use
-- kernels of size 3, no squeeze and excite, and relu.
local function small_blocks(kernel, act, se, width)
  return {
    { 1, width(16), 3, 2, se, relu },
    { 72 / 16, width(24), 3, 2, nil, relu }, { 88 / 24, width(24), 3, 1, nil, relu },
    { 4, width(40), kernel, 2, se, act }, { 6, width(40), kernel, 1, se, act },
    { 6, width(40), kernel, 1, se, act },
    { 3, width(48), kernel, 1, se, act }, { 3, width(48), kernel, 1, se, act },
    { 6, width(96), kernel, 2, se, act }, { 6, width(96), kernel, 1, se, act },
    { 6, width(96), kernel, 1, se, act },
  }
end

local function large_blocks(kernel, act, se, width)
  return {
    { 1, width(16), 3, 1, nil, relu },
    { 4, width(24), 3, 2, nil, relu }, { 3, width(24), 3, 1, nil, relu },
    { 3, width(40), kernel, 2, se, relu }, { 3, width(40), kernel, 1, se, relu },
    { 3, width(40), kernel, 1, se, relu },
    { 6, width(80), 3, 2, nil, act }, { 2.5, width(80), 3, 1, nil, act },
    { 2.3, width(80), 3, 1, nil, act },
    { 2.3, width(80), 3, 1, nil, act },
    { 6, width(112), 3, 1, se, act }, { 6, width(112), 3, 1, se, act },
    { 6, width(160), kernel, 2, se, act }, { 6, width(160), kernel, 1, se, act },
    { 6, width(160), kernel, 1, se, act },
  }
end

-- ---- the graph

local function add_classifier(net, x, o, activation, last_width)
  x = net.GlobalAveragePooling2D { keepdims = true }(x)
  x = net.Conv2D { last_width, 1, padding = "same", use_bias = true, name = "conv_2" }(x)
  x = activation(net, x)
  if o.dropout_rate > 0 then x = net.Dropout { o.dropout_rate }(x) end
  x = net.Conv2D { o.classes, 1, padding = "same", name = "logits" }(x)
  return net.Activation { o.classifier_activation, name = "predictions" }(net.Flatten()(x))
end

local function build(net, x, o, make_rows, last_width)
  local activation = o.minimalistic and relu or hard_silu
  local function width(n) return shapes.divisible(n * o.alpha) end
  if o.include_preprocessing then x = net.Rescaling { 1 / 127.5, offset = -1.0 }(x) end
  x = net.Conv2D { 16, 3, strides = 2, padding = "same", use_bias = false, name = "conv" }(x)
  x = activation(net, normalize(net, x, "conv_bn"))
  local kernel, squeeze_ratio = o.minimalistic and 3 or 5, not o.minimalistic and 0.25 or nil
  for i, row in ipairs(make_rows(kernel, activation, squeeze_ratio, width)) do
    x = block(net, x, row, i - 1)
  end
  x = net.Conv2D { shapes.divisible(x.shape[4] * 6), 1, padding = "same", use_bias = false,
    name = "conv_1" }(x)
  x = activation(net, normalize(net, x, "conv_1_bn"))
  if not o.include_top then return application.apply_pooling(net, x, o, true) end
  return add_classifier(net, x, o, activation,
    o.alpha > 1 and shapes.divisible(last_width * o.alpha) or last_width)
end

-- ---- the functions

local function check(o)
  if o.weights ~= "imagenet" then return end
  if o.alpha ~= 1 and (o.minimalistic or o.alpha ~= 0.75) then
    shell.fail(
      "If imagenet weights are being loaded, alpha can be one of `0.75`, `1.0` for non ",
      "minimalistic or `1.0` for minimalistic only. Received alpha=", o.alpha)
  end
end

-- Images may have any size, even if the model includes the classifier.
local function input_shape(o, architecture)
  local shape = o.input_shape or { -1, -1, 3 }
  shapes.check_sizes(shape, architecture.min_size)
  return shape
end

local function trained(o, size)
  if o.input_shape[1] ~= 224 or o.input_shape[2] ~= 224 then
    shell.warn("`input_shape` is undefined or non-square, or `rows` is not 224. Weights for input "
      .. "shape (224, 224) will be loaded as the default.")
  end
  local ending = o.include_top and ".h5" or "_no_top_v2.h5"
  return ("weights_mobilenet_v3_%s%s_224_%s_float%s"):format(size,
    o.minimalistic and "_minimalistic" or "", o.alpha + 0.0, ending),
    application.folder .. "mobilenet_v3"
end

local function define_model(size, make_rows, last_width)
  local function_name = "MobileNetV3" .. size:gsub("^%l", string.upper)
  return application.define {
    function_name = function_name,
    name = function_name,
    doc = "Found by architecture search for small devices, with squeeze-and-excite and hard "
      .. "swish (Howard et al. 2019).",
    options = {
      "input_shape", "alpha", "minimalistic", "include_top", "weights", "input_tensor", "classes",
      "pooling", "dropout_rate",
      "classifier_activation", "include_preprocessing", "name",
    },
    min_size = 32,
    check = check,
    input_shape = input_shape,
    trained = function(o) return trained(o, size) end,
    build = function(net, x, o) return build(net, x, o, make_rows, last_width) end,
  }
end

local models = { MobileNetV3Small = define_model("small", small_blocks, 1024),
  MobileNetV3Large = define_model("large", large_blocks, 1280) }
return { mobilenet_v3 = imagenet.module { models = models, mode = "none" } }
