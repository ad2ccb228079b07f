-- ResNet: Deep Residual Learning for Image Recognition (2015), and V2, with activations before
-- convolutions: Identity Mappings in Deep Residual Networks (2016).
local _, shell = ...
local application = shell.library "applications/application"
local imagenet = shell.library "applications/imagenet"

local function normalize(net, x, name)
  return net.BatchNormalization { axis = 3, epsilon = 1.001e-5, name = name }(x)
end

local function activate(net, x, name) return net.Activation { "relu", name = name }(x) end

local function add_padding(net, x, size, name)
  return net.ZeroPadding2D { padding = { { size, size }, { size, size } }, name = name }(x)
end

-- ---- blocks

local function block_v1(net, x, width, stride, is_first, name)
  local shortcut = x
  if is_first then
    shortcut = net.Conv2D { 4 * width, 1, strides = stride, name = name .. "_0_conv" }(x)
    shortcut = normalize(net, shortcut, name .. "_0_bn")
  end
  x = net.Conv2D { width, 1, strides = stride, name = name .. "_1_conv" }(x)
  x = activate(net, normalize(net, x, name .. "_1_bn"), name .. "_1_relu")
  x = net.Conv2D { width, 3, padding = "same", name = name .. "_2_conv" }(x)
  x = activate(net, normalize(net, x, name .. "_2_bn"), name .. "_2_relu")
  x = net.Conv2D { 4 * width, 1, name = name .. "_3_conv" }(x)
  x = normalize(net, x, name .. "_3_bn")
  x = net.Add { name = name .. "_add" } { shortcut, x }
  return activate(net, x, name .. "_out")
end

local function block_v2(net, x, width, stride, is_first, name)
  local preactivated = activate(net, normalize(net, x, name .. "_preact_bn"),
    name .. "_preact_relu")
  local shortcut = x
  if is_first then
    shortcut = net.Conv2D { 4 * width, 1, strides = stride, name = name .. "_0_conv" }(preactivated)
  elseif stride > 1 then
    shortcut = net.MaxPooling2D { 1, strides = stride }(x)
  end
  x = net.Conv2D { width, 1, strides = 1, use_bias = false, name = name .. "_1_conv" }(preactivated)
  x = activate(net, normalize(net, x, name .. "_1_bn"), name .. "_1_relu")
  x = add_padding(net, x, 1, name .. "_2_pad")
  x = net.Conv2D { width, 3, strides = stride, use_bias = false, name = name .. "_2_conv" }(x)
  x = activate(net, normalize(net, x, name .. "_2_bn"), name .. "_2_relu")
  x = net.Conv2D { 4 * width, 1, name = name .. "_3_conv" }(x)
  return net.Add { name = name .. "_out" } { shortcut, x }
end

-- In ResNet the first block of a stack has stride 2, in ResNetV2 the last block.
local versions = {
  { block = block_v1, strides = { 1, 2, 2, 2 }, strided_block = function() return 1 end },
  { block = block_v2, strides = { 2, 2, 2, 1 },
    strided_block = function(block_count) return block_count end },
}

-- ---- the graph

local function build(net, x, o, version, depths)
  x = add_padding(net, x, 3, "conv1_pad")
  x = net.Conv2D { 64, 7, strides = 2, use_bias = true, name = "conv1_conv" }(x)
  if version == 1 then x = activate(net, normalize(net, x, "conv1_bn"), "conv1_relu") end
  x = add_padding(net, x, 1, "pool1_pad")
  x = net.MaxPooling2D { 3, strides = 2, name = "pool1_pool" }(x)
  local spec = versions[version]
  for i, block_count in ipairs(depths) do
    for j = 1, block_count do
      local stride = j == spec.strided_block(block_count) and spec.strides[i] or 1
      x = spec.block(net, x, 64 << (i - 1), stride, j == 1, ("conv%d_block%d"):format(i + 1, j))
    end
  end
  if version == 2 then x = activate(net, normalize(net, x, "post_bn"), "post_relu") end
  return application.add_classifier(net, x, o, { named_top = true, named_pooling = true })
end

local function define_model(function_name, version, depths)
  local name = function_name:lower()
  local file = name .. "_weights_tf_dim_ordering_tf_kernels"
  return application.define {
    function_name = function_name,
    name = name,
    doc = version == 1 and "Residual network (He et al. 2015)."
      or "Residual network with activations before the convolutions (He et al. 2016).",
    default_size = 224,
    min_size = 32,
    trained = application.files("resnet", file .. ".h5", file .. "_notop.h5"),
    build = function(net, x, o) return build(net, x, o, version, depths) end,
  }
end

local v1 = {
  ResNet50 = define_model("ResNet50", 1, { 3, 4, 6, 3 }),
  ResNet101 = define_model("ResNet101", 1, { 3, 4, 23, 3 }),
  ResNet152 = define_model("ResNet152", 1, { 3, 8, 36, 3 }),
}
local v2 = {
  ResNet50V2 = define_model("ResNet50V2", 2, { 3, 4, 6, 3 }),
  ResNet101V2 = define_model("ResNet101V2", 2, { 3, 4, 23, 3 }),
  ResNet152V2 = define_model("ResNet152V2", 2, { 3, 8, 36, 3 }),
}

return {
  resnet = imagenet.module { models = v1, mode = "caffe" },
  resnet50 = imagenet.module { models = { ResNet50 = v1.ResNet50 }, mode = "caffe" },
  resnet_v2 = imagenet.module { models = v2, mode = "tf" },
}
