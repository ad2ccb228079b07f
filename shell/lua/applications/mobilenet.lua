-- MobileNet: Efficient Convolutional Neural Networks for Mobile Vision Applications (2017).
local _, shell = ...
local application = shell.library "applications/application"
local imagenet = shell.library "applications/imagenet"
local shapes = shell.library "applications/shapes"

local function normalize_and_activate(net, x, name)
  x = net.BatchNormalization { axis = -1, name = name .. "_bn" }(x)
  return net.ReLU { 6.0, name = name .. "_relu" }(x)
end

-- A depthwise convolution, then a pointwise one.
local function block(net, x, o, width, stride, number)
  if stride > 1 then
    x = net.ZeroPadding2D { padding = { { 0, 1 }, { 0, 1 } }, name = "conv_pad_" .. number }(x)
  end
  x = net.DepthwiseConv2D {
    3, padding = stride == 1 and "same" or "valid", depth_multiplier = o.depth_multiplier,
    strides = stride, use_bias = false,
    name = "conv_dw_" .. number,
  }(x)
  x = normalize_and_activate(net, x, "conv_dw_" .. number)
  x = net.Conv2D { math.floor(width * o.alpha), 1, padding = "same", use_bias = false,
    name = "conv_pw_" .. number }(x)
  return normalize_and_activate(net, x, "conv_pw_" .. number)
end

-- The width and the stride of each block.
local blocks = {
  { 64, 1 }, { 128, 2 }, { 128, 1 }, { 256, 2 }, { 256, 1 }, { 512, 2 }, { 512, 1 }, { 512, 1 },
  { 512, 1 }, { 512, 1 }, { 512, 1 },
  { 1024, 2 }, { 1024, 1 },
}

local function build(net, x, o)
  x = net.Conv2D { math.floor(32 * o.alpha), 3, padding = "same", use_bias = false, strides = 2,
    name = "conv1" }(x)
  x = normalize_and_activate(net, x, "conv1")
  for number, row in ipairs(blocks) do x = block(net, x, o, row[1], row[2], number) end
  if not o.include_top then return application.apply_pooling(net, x, o) end
  x = net.GlobalAveragePooling2D { keepdims = true }(x)
  x = net.Dropout { o.dropout, name = "dropout" }(x)
  x = net.Conv2D { o.classes, 1, padding = "same", name = "conv_preds" }(x)
  x = net.Reshape { target_shape = { o.classes }, name = "reshape_2" }(x)
  return net.Activation { o.classifier_activation, name = "predictions" }(x)
end

-- Keras provides weights for these width factors, each with the text that stands for it in names of
-- files, and for these sizes of images.
local trained_widths = { [0.25] = "2_5", [0.5] = "5_0", [0.75] = "7_5", [1.0] = "1_0" }
local trained_image_sizes = shapes.trained_image_sizes { 128, 160, 192, 224 }

local function trained_size(o) return trained_image_sizes.side(o.input_shape) end

local function trained(o)
  trained_image_sizes.check(o.input_shape)
  local ending = o.include_top and "_tf.h5" or "_tf_no_top.h5"
  return ("mobilenet_%s_%d%s"):format(trained_widths[o.alpha], trained_size(o), ending),
    application.folder .. "mobilenet"
end

local function check(o)
  if o.weights ~= "imagenet" then return end
  if o.depth_multiplier ~= 1 then
    shell.fail(
      "If imagenet weights are being loaded, depth multiplier must be 1.  ",
      "Received depth_multiplier=", o.depth_multiplier)
  end
  if not trained_widths[o.alpha] then
    shell.fail(
      "If imagenet weights are being loaded, alpha can be one of `0.25`, `0.50`, `0.75` or `1.0` ",
      "only.  Received alpha=", o.alpha)
  end
end

local MobileNet = application.define {
  function_name = "MobileNet",
  name_of = function(o)
    local image_height = o.input_shape[1]
    return ("mobilenet_%0.2f_%s"):format(o.alpha, image_height < 0 and "None" or image_height)
  end,
  doc = "Depthwise separable convolutions, for small devices (Howard et al. 2017).",
  options = {
    "input_shape", "alpha", "depth_multiplier", "dropout", "include_top", "weights", "input_tensor",
    "pooling", "classes",
    "classifier_activation", "name",
  },
  size_for = trained_size,
  min_size = 32,
  check = check,
  trained = trained,
  build = build,
}

return { mobilenet = imagenet.module { models = { MobileNet = MobileNet }, mode = "tf" } }
