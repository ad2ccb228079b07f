-- Xception: Deep Learning with Depthwise Separable Convolutions (2016).
local _, shell = ...
local application = shell.library "applications/application"
local imagenet = shell.library "applications/imagenet"

local function activate(net, x, name)
  return net.Activation { "relu", name = name .. "_act" }(x)
end

local function normalize(net, x, name)
  return net.BatchNormalization { axis = -1, name = name }(x)
end

local function convolve(net, x, width, strides, name)
  x = net.Conv2D { width, 3, strides = strides, use_bias = false, name = name }(x)
  return activate(net, normalize(net, x, name .. "_bn"), name)
end

local function separable_conv(net, x, width, name)
  x = net.SeparableConv2D { width, 3, padding = "same", use_bias = false, name = name }(x)
  return normalize(net, x, name .. "_bn")
end

-- A residual block that halves the image size. If `is_activated` is true, x is the output of an
-- activation, so the block begins without one.
local function halving_block(net, x, widths, name, is_activated)
  local residual = net.Conv2D { widths[2], 1, strides = 2, padding = "same", use_bias = false }(x)
  residual = normalize(net, residual)
  for i, width in ipairs(widths) do
    local conv_name = ("%s_sepconv%d"):format(name, i)
    if i > 1 or not is_activated then x = activate(net, x, conv_name) end
    x = separable_conv(net, x, width, conv_name)
  end
  x = net.MaxPooling2D { 3, strides = 2, padding = "same", name = name .. "_pool" }(x)
  return net.Add() { x, residual }
end

local function middle_block(net, input, name)
  local x = input
  for i = 1, 3 do
    local conv_name = ("%s_sepconv%d"):format(name, i)
    x = separable_conv(net, activate(net, x, conv_name), 728, conv_name)
  end
  return net.Add() { x, input }
end

local function build(net, x, o)
  x = convolve(net, x, 32, 2, "block1_conv1")
  x = convolve(net, x, 64, 1, "block1_conv2")
  for i, width in ipairs { 128, 256, 728 } do
    x = halving_block(net, x, { width, width }, "block" .. i + 1, i == 1)
  end
  for i = 5, 12 do x = middle_block(net, x, "block" .. i) end
  x = halving_block(net, x, { 728, 1024 }, "block13")
  for i, width in ipairs { 1536, 2048 } do
    local conv_name = "block14_sepconv" .. i
    x = activate(net, separable_conv(net, x, width, conv_name), conv_name)
  end
  return application.add_classifier(net, x, o, { named_top = true })
end

local file = "xception_weights_tf_dim_ordering_tf_kernels"
local Xception = application.define {
  function_name = "Xception",
  name = "xception",
  doc = "Depthwise separable convolutions with residual connections (Chollet 2016).",
  default_size = 299,
  min_size = 71,
  trained = application.files("xception", file .. ".h5", file .. "_notop.h5"),
  build = build,
}

return { xception = imagenet.module { models = { Xception = Xception }, mode = "tf" } }
