-- VGG: Very Deep Convolutional Networks for Large-Scale Image Recognition (2014).
local _, shell = ...
local application = shell.library "applications/application"
local imagenet = shell.library "applications/imagenet"

local widths = { 64, 128, 256, 512, 512 }

local function build(net, x, o, depths)
  for block_number, depth in ipairs(depths) do
    for i = 1, depth do
      x = net.Conv2D { widths[block_number], 3, activation = "relu", padding = "same",
        name = ("block%d_conv%d"):format(block_number, i) }(x)
    end
    x = net.MaxPooling2D { 2, strides = 2, name = ("block%d_pool"):format(block_number) }(x)
  end
  if not o.include_top then return application.apply_pooling(net, x, o) end
  x = net.Flatten { name = "flatten" }(x)
  x = net.Dense { 4096, activation = "relu", name = "fc1" }(x)
  x = net.Dense { 4096, activation = "relu", name = "fc2" }(x)
  return net.Dense { o.classes, activation = o.classifier_activation, name = "predictions" }(x)
end

local function define_module(function_name, depths)
  local name = function_name:lower()
  local file = name .. "_weights_tf_dim_ordering_tf_kernels"
  local model = application.define {
    function_name = function_name,
    name = name,
    doc = "A stack of 3x3 convolutions and three dense layers (Simonyan and Zisserman 2014).",
    default_size = 224,
    min_size = 32,
    trained = application.files(name, file .. ".h5", file .. "_notop.h5"),
    build = function(net, x, o) return build(net, x, o, depths) end,
  }
  return imagenet.module { models = { [function_name] = model }, mode = "caffe" }
end

return {
  vgg16 = define_module("VGG16", { 2, 2, 3, 3, 3 }),
  vgg19 = define_module("VGG19", { 2, 2, 4, 4, 4 }),
}
