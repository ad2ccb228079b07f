-- DenseNet: Densely Connected Convolutional Networks (2016).
local _, shell = ...
local application = shell.library "applications/application"
local imagenet = shell.library "applications/imagenet"

local growth_rate = 32

local function normalize_and_activate(net, x, bn_name, relu_name)
  x = net.BatchNormalization { axis = 3, epsilon = 1.001e-5, name = bn_name }(x)
  return net.Activation { "relu", name = relu_name }(x)
end

local function add_padding(net, x, size)
  return net.ZeroPadding2D { padding = { { size, size }, { size, size } } }(x)
end

-- A convolutional block, whose result is concatenated with its input.
local function block(net, x, name)
  local branch = normalize_and_activate(net, x, name .. "_0_bn", name .. "_0_relu")
  branch = net.Conv2D { 4 * growth_rate, 1, use_bias = false, name = name .. "_1_conv" }(branch)
  branch = normalize_and_activate(net, branch, name .. "_1_bn", name .. "_1_relu")
  branch = net.Conv2D { growth_rate, 3, padding = "same", use_bias = false,
    name = name .. "_2_conv" }(branch)
  return net.Concatenate { axis = 3, name = name .. "_concat" } { x, branch }
end

-- A transition between dense blocks, which halves the number of channels and the image size.
local function transition(net, x, name)
  x = normalize_and_activate(net, x, name .. "_bn", name .. "_relu")
  x = net.Conv2D { x.shape[4] // 2, 1, use_bias = false, name = name .. "_conv" }(x)
  return net.AveragePooling2D { 2, strides = 2, name = name .. "_pool" }(x)
end

local function build(net, x, o, depths)
  x = add_padding(net, x, 3)
  x = net.Conv2D { 64, 7, strides = 2, use_bias = false, name = "conv1_conv" }(x)
  x = add_padding(net, normalize_and_activate(net, x, "conv1_bn", "conv1_relu"), 1)
  x = net.MaxPooling2D { 3, strides = 2, name = "pool1" }(x)
  for i, depth in ipairs(depths) do
    for j = 1, depth do x = block(net, x, ("conv%d_block%d"):format(i + 1, j)) end
    if i < #depths then x = transition(net, x, ("pool%d"):format(i + 1)) end
  end
  x = normalize_and_activate(net, x, "bn", "relu")
  return application.add_classifier(net, x, o, { named_top = true, named_pooling = true })
end

local function define_model(function_name, depths)
  local name = function_name:lower()
  local file = name .. "_weights_tf_dim_ordering_tf_kernels"
  return application.define {
    function_name = function_name,
    name = name,
    doc = "Dense connections: each layer of a block receives the outputs of all earlier ones "
      .. "(Huang et al. 2016).",
    default_size = 224,
    min_size = 32,
    trained = application.files("densenet", file .. ".h5", file .. "_notop.h5"),
    build = function(net, x, o) return build(net, x, o, depths) end,
  }
end

return {
  densenet = imagenet.module {
    models = {
      DenseNet121 = define_model("DenseNet121", { 6, 12, 24, 16 }),
      DenseNet169 = define_model("DenseNet169", { 6, 12, 32, 32 }),
      DenseNet201 = define_model("DenseNet201", { 6, 12, 48, 32 }),
    },
    mode = "torch",
  },
}
