-- EfficientNet: Rethinking Model Scaling for Convolutional Neural Networks (2019).
local _, shell = ...
local application = shell.library "applications/application"
local blocks = shell.library "applications/efficientnet_blocks"
local imagenet = shell.library "applications/imagenet"
local shapes = shell.library "applications/shapes"

local momentum = 0.99

-- One row per stage: kernel size, number of blocks, input and output width (channels), expansion
-- factor, stride.
local stages = {
  { 3, 1, 32, 16, 1, 1 },
  { 3, 2, 16, 24, 6, 2 },
  { 5, 2, 24, 40, 6, 2 },
  { 3, 3, 40, 80, 6, 2 },
  { 5, 3, 80, 112, 6, 1 },
  { 5, 4, 112, 192, 6, 2 },
  { 3, 1, 192, 320, 6, 1 },
}

local function block(net, input, kernel, input_width, output_width, expansion, stride, rate, name)
  local x, width = input, input_width * expansion
  if expansion ~= 1 then
    x = blocks.convolve(net, x, width, 1, name .. "expand_conv")
    x = blocks.activate(net, blocks.normalize(net, x, momentum, name .. "expand_bn"),
      name .. "expand_activation")
  end
  if stride == 2 then
    x = net.ZeroPadding2D { padding = shapes.correct_pad(x, kernel),
      name = name .. "dwconv_pad" }(x)
  end
  x = net.DepthwiseConv2D {
    kernel, strides = stride, padding = stride == 2 and "valid" or "same", use_bias = false,
    depthwise_initializer = blocks.kernel_initializer, name = name .. "dwconv",
  }(x)
  x = blocks.activate(net, blocks.normalize(net, x, momentum, name .. "bn"), name .. "activation")
  x = blocks.squeeze_and_excite(net, x, width, math.max(1, input_width // 4), name)
  x = blocks.convolve(net, x, output_width, 1, name .. "project_conv")
  x = blocks.normalize(net, x, momentum, name .. "project_bn")
  if stride ~= 1 or input_width ~= output_width then return x end
  return blocks.residual_add(net, x, input, rate, name)
end

local function apply_stages(net, x, width_factor, depth_factor)
  local total_count, block_index = 0, 0
  for _, stage in ipairs(stages) do
    total_count = total_count + blocks.repeats(stage[2], depth_factor)
  end
  for i, stage in ipairs(stages) do
    local kernel, count, input_width, output_width, expansion, stride = table.unpack(stage)
    input_width = shapes.divisible(input_width * width_factor)
    output_width = shapes.divisible(output_width * width_factor)
    for j = 1, blocks.repeats(count, depth_factor) do
      x = block(net, x, kernel, j == 1 and input_width or output_width, output_width, expansion,
        j == 1 and stride or 1, 0.2 * block_index / total_count, blocks.name(i, j))
      block_index = block_index + 1
    end
  end
  return x
end

-- `scaling` has the factors of width and depth, the image size, and the dropout rate.
local function build(net, x, o, scaling)
  local width_factor, depth_factor, _, dropout = table.unpack(scaling)
  x = net.Rescaling { 1 / 255 }(x)
  x = net.Normalization { axis = 3 }(x)
  if o.weights == "imagenet" then
    x = net.Rescaling { { 1 / 0.229 ^ 0.5, 1 / 0.224 ^ 0.5, 1 / 0.225 ^ 0.5 } }(x)
  end
  x = net.ZeroPadding2D { padding = shapes.correct_pad(x, 3), name = "stem_conv_pad" }(x)
  x = blocks.convolve(net, x, shapes.divisible(32 * width_factor), 3, "stem_conv",
    { strides = 2, padding = "valid" })
  x = blocks.activate(net, blocks.normalize(net, x, momentum, "stem_bn"), "stem_activation")
  x = apply_stages(net, x, width_factor, depth_factor)
  return blocks.top_layers(net, x, o, shapes.divisible(1280 * width_factor), momentum, dropout)
end

local scalings = {
  B0 = { 1.0, 1.0, 224, 0.2 }, B1 = { 1.0, 1.1, 240, 0.2 }, B2 = { 1.1, 1.2, 260, 0.3 },
  B3 = { 1.2, 1.4, 300, 0.3 },
  B4 = { 1.4, 1.8, 380, 0.4 }, B5 = { 1.6, 2.2, 456, 0.4 }, B6 = { 1.8, 2.6, 528, 0.5 },
  B7 = { 2.0, 3.1, 600, 0.5 },
}
local models = {}
for variant, scaling in pairs(scalings) do
  local name = "efficientnet" .. variant:lower()
  models["EfficientNet" .. variant] = application.define {
    function_name = "EfficientNet" .. variant,
    name = name,
    doc = "Width, depth and resolution scaled together (Tan and Le 2019). Includes the scaling "
      .. "of pixels from 0..255.",
    default_size = scaling[3],
    min_size = 32,
    trained = function(o)
      return name .. (o.include_top and ".h5" or "_notop.h5"), "keras-applications"
    end,
    build = function(net, x, o) return build(net, x, o, scaling) end,
  }
end

return { efficientnet = imagenet.module { models = models, mode = "none" } }
