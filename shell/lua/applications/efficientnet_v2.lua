-- EfficientNetV2: Smaller Models and Faster Training (2021).
local cr, shell = ...
local application = shell.library "applications/application"
local blocks = shell.library "applications/efficientnet_blocks"
local imagenet = shell.library "applications/imagenet"
local shapes = shell.library "applications/shapes"

local momentum = 0.9

-- One row per stage: number of blocks, input and output width (channels), expansion factor, stride,
-- ratio of squeeze and excite, and whether one convolution replaces the expansion and the depthwise
-- convolution. All kernels have size 3.
local small_stages = {
  { 2, 24, 24, 1, 1, 0, true },
  { 4, 24, 48, 4, 2, 0, true },
  { 4, 48, 64, 4, 2, 0, true },
  { 6, 64, 128, 4, 2, 0.25 },
  { 9, 128, 160, 6, 1, 0.25 },
  { 15, 160, 256, 6, 2, 0.25 },
}
local medium_stages = {
  { 3, 24, 24, 1, 1, 0, true },
  { 5, 24, 48, 4, 2, 0, true },
  { 5, 48, 80, 4, 2, 0, true },
  { 7, 80, 160, 4, 2, 0.25 },
  { 14, 160, 176, 6, 1, 0.25 },
  { 18, 176, 304, 6, 2, 0.25 },
  { 5, 304, 512, 6, 1, 0.25 },
}
local large_stages = {
  { 4, 32, 32, 1, 1, 0, true },
  { 7, 32, 64, 4, 2, 0, true },
  { 7, 64, 96, 4, 2, 0, true },
  { 10, 96, 192, 4, 2, 0.25 },
  { 19, 192, 224, 6, 1, 0.25 },
  { 25, 224, 384, 6, 2, 0.25 },
  { 7, 384, 640, 6, 1, 0.25 },
}
local basic_stages = {
  { 1, 32, 16, 1, 1, 0, true },
  { 2, 16, 32, 4, 2, 0, true },
  { 2, 32, 48, 4, 2, 0, true },
  { 3, 48, 96, 4, 2, 0.25 },
  { 5, 96, 112, 6, 1, 0.25 },
  { 8, 112, 192, 6, 2, 0.25 },
}

-- ---- blocks

-- An inverted residual block: expands the width `input_width` by the factor `expansion`, applies
-- the convolution, and projects to the width `output_width`.
local function block(net, input, input_width, output_width, expansion, stride, squeeze_ratio,
    is_fused, rate, name)
  local x, width = input, input_width * expansion
  if expansion ~= 1 then
    local kernel, strides = is_fused and 3 or 1, is_fused and stride or 1
    x = blocks.convolve(net, x, width, kernel, name .. "expand_conv", { strides = strides })
    x = blocks.activate(net, blocks.normalize(net, x, momentum, name .. "expand_bn"),
      name .. "expand_activation")
  end
  if not is_fused then
    x = net.DepthwiseConv2D {
      3, strides = stride, padding = "same", use_bias = false,
      depthwise_initializer = blocks.kernel_initializer, name = name .. "dwconv2",
    }(x)
    x = blocks.activate(net, blocks.normalize(net, x, momentum, name .. "bn"),
      name .. "activation")
  end
  if squeeze_ratio > 0 then
    local squeezed_width = math.max(1, math.floor(input_width * squeeze_ratio))
    x = blocks.squeeze_and_excite(net, x, width, squeezed_width, name)
  end
  local is_single_conv = is_fused and expansion == 1
  x = blocks.convolve(net, x, output_width, is_single_conv and 3 or 1, name .. "project_conv",
    { strides = is_single_conv and stride or 1 })
  x = blocks.normalize(net, x, momentum, name .. "project_bn")
  if is_single_conv then x = blocks.activate(net, x, name .. "project_activation") end
  if stride ~= 1 or input_width ~= output_width then return x end
  return blocks.residual_add(net, x, input, rate, name)
end

-- Stochastic depth: in training, the convolutions of a block are skipped for random samples, so
-- that only the shortcut remains. The probability grows linearly from 0 at the first block to
-- nearly 0.2 at the last block of a model with depth factor 1.
local function apply_stages(net, x, stages, width, depth_factor)
  local total_count, block_index = 0, 0
  for _, stage in ipairs(stages) do total_count = total_count + stage[1] end
  for i, stage in ipairs(stages) do
    local count, input_width, output_width, expansion, stride, squeeze_ratio, is_fused =
      table.unpack(stage, 1, 7)
    input_width, output_width = width(input_width), width(output_width)
    for j = 1, blocks.repeats(count, depth_factor) do
      local is_first = j == 1
      x = block(net, x, is_first and input_width or output_width, output_width, expansion,
        is_first and stride or 1, squeeze_ratio, is_fused, 0.2 * block_index / total_count,
        blocks.name(i, j))
      block_index = block_index + 1
    end
  end
  return x
end

-- ---- the graph

local function preprocess(net, x, o, is_basic)
  if not (is_basic and o.input_shape[3] == 3) then
    return net.Rescaling { 1 / 128, offset = -1 }(x)
  end
  x = net.Rescaling { 1 / 255 }(x)
  return net.Normalization { mean = { 0.485, 0.456, 0.406 },
    variance = { 0.229 ^ 2, 0.224 ^ 2, 0.225 ^ 2 }, axis = 3 }(x)
end

-- `scaling` has the stages, the factors of width and depth, and the image size.
local function build(net, x, o, scaling)
  local stages, width_factor, depth_factor = table.unpack(scaling)
  local function width(n) return shapes.divisible(n * width_factor, true) end
  if o.include_preprocessing then x = preprocess(net, x, o, stages == basic_stages) end
  x = blocks.convolve(net, x, width(stages[1][2]), 3, "stem_conv", { strides = 2 })
  x = blocks.activate(net, blocks.normalize(net, x, momentum, "stem_bn"), "stem_activation")
  x = apply_stages(net, x, stages, width, depth_factor)
  return blocks.top_layers(net, x, o, width(1280), momentum, 0.2,
    cr.initializers.Constant { value = 0.0 })
end

local scalings = {
  B0 = { basic_stages, 1.0, 1.0, 224 }, B1 = { basic_stages, 1.0, 1.1, 240 },
  B2 = { basic_stages, 1.1, 1.2, 260 }, B3 = { basic_stages, 1.2, 1.4, 300 },
  S = { small_stages, 1.0, 1.0, 384 }, M = { medium_stages, 1.0, 1.0, 480 },
  L = { large_stages, 1.0, 1.0, 480 },
}
local models = {}
for variant, scaling in pairs(scalings) do
  local name = "efficientnetv2-" .. variant:lower()
  models["EfficientNetV2" .. variant] = application.define {
    function_name = "EfficientNetV2" .. variant,
    name = name,
    doc = "EfficientNet with fused convolutions in the first stages (Tan and Le 2021).",
    options = {
      "include_top", "weights", "input_tensor", "input_shape", "pooling", "classes",
      "classifier_activation", "include_preprocessing", "name",
    },
    default_size = scaling[4],
    min_size = 32,
    trained = application.files("efficientnet_v2", name .. ".h5", name .. "_notop.h5"),
    build = function(net, x, o) return build(net, x, o, scaling) end,
  }
end

return { efficientnet_v2 = imagenet.module { models = models, mode = "none" } }
