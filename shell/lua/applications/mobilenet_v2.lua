-- MobileNetV2: Inverted Residuals and Linear Bottlenecks (2018).
local _, shell = ...
local application = shell.library "applications/application"
local imagenet = shell.library "applications/imagenet"
local shapes = shell.library "applications/shapes"

local function normalize(net, x, name)
  return net.BatchNormalization { axis = -1, epsilon = 1e-3, momentum = 0.999, name = name }(x)
end

local function normalize_and_activate(net, x, bn_name, relu_name)
  return net.ReLU { 6.0, name = relu_name }(normalize(net, x, bn_name))
end

-- An inverted residual block: expansion, depthwise convolution, projection.
local function block(net, input, o, row, number)
  local width, stride, expansion = table.unpack(row)
  local channels = input.shape[4]
  local output_width = shapes.divisible(math.floor(width * o.alpha))
  local name, x = "expanded_conv_", input
  if number > 0 then
    name = ("block_%d_"):format(number)
    x = net.Conv2D { expansion * channels, 1, padding = "same", use_bias = false,
      name = name .. "expand" }(x)
    x = normalize_and_activate(net, x, name .. "expand_BN", name .. "expand_relu")
  end
  if stride == 2 then
    x = net.ZeroPadding2D { padding = shapes.correct_pad(x, 3), name = name .. "pad" }(x)
  end
  x = net.DepthwiseConv2D {
    3, strides = stride, use_bias = false, padding = stride == 1 and "same" or "valid",
    name = name .. "depthwise",
  }(x)
  x = normalize_and_activate(net, x, name .. "depthwise_BN", name .. "depthwise_relu")
  x = net.Conv2D { output_width, 1, padding = "same", use_bias = false,
    name = name .. "project" }(x)
  x = normalize(net, x, name .. "project_BN")
  if channels == output_width and stride == 1 then
    return net.Add { name = name .. "add" } { input, x }
  end
  return x
end

-- The width, the stride and the expansion factor of each block.
local blocks = {
  { 16, 1, 1 },
  { 24, 2, 6 }, { 24, 1, 6 },
  { 32, 2, 6 }, { 32, 1, 6 }, { 32, 1, 6 },
  { 64, 2, 6 }, { 64, 1, 6 }, { 64, 1, 6 }, { 64, 1, 6 },
  { 96, 1, 6 }, { 96, 1, 6 }, { 96, 1, 6 },
  { 160, 2, 6 }, { 160, 1, 6 }, { 160, 1, 6 },
  { 320, 1, 6 },
}

local function build(net, x, o)
  x = net.Conv2D { shapes.divisible(32 * o.alpha), 3, strides = 2, padding = "same",
    use_bias = false, name = "Conv1" }(x)
  x = normalize_and_activate(net, x, "bn_Conv1", "Conv1_relu")
  for i, row in ipairs(blocks) do x = block(net, x, o, row, i - 1) end
  local last_width = o.alpha > 1 and shapes.divisible(1280 * o.alpha) or 1280
  x = net.Conv2D { last_width, 1, use_bias = false, name = "Conv_1" }(x)
  x = normalize_and_activate(net, x, "Conv_1_bn", "out_relu")
  return application.add_classifier(net, x, o, {})
end

local trained_image_sizes = shapes.trained_image_sizes { 96, 128, 160, 192, 224 }
local trained_widths = { [0.35] = true, [0.5] = true, [0.75] = true, [1.0] = true, [1.3] = true,
  [1.4] = true }

local function trained_size(o) return trained_image_sizes.side(o.input_shape) end

local function trained(o)
  trained_image_sizes.check(o.input_shape)
  local ending = o.include_top and ".h5" or "_no_top.h5"
  return ("mobilenet_v2_weights_tf_dim_ordering_tf_kernels_%s_%d%s"):format(o.alpha + 0.0,
    trained_size(o), ending),
    application.folder .. "mobilenet_v2"
end

local function check(o)
  if o.weights == "imagenet" and not trained_widths[o.alpha] then
    shell.fail(
      "If imagenet weights are being loaded, alpha must be one of `0.35`, `0.50`, `0.75`, `1.0`, ",
      "`1.3` or `1.4` only; Received `alpha=", o.alpha, "`")
  end
end

local MobileNetV2 = application.define {
  function_name = "MobileNetV2",
  name_of = function(o)
    local image_height = o.input_shape[1]
    return ("mobilenetv2_%0.2f_%s"):format(o.alpha, image_height < 0 and "None" or image_height)
  end,
  doc = "Inverted residual blocks with linear bottlenecks, for small devices (Sandler et al. "
    .. "2018).",
  options = {
    "input_shape", "alpha", "include_top", "weights", "input_tensor", "pooling", "classes",
    "classifier_activation", "name",
  },
  size_for = trained_size,
  min_size = 32,
  check = check,
  trained = trained,
  build = build,
}

return { mobilenet_v2 = imagenet.module { models = { MobileNetV2 = MobileNetV2 }, mode = "tf" } }
