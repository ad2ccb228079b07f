-- ConvNeXt: A ConvNet for the 2020s (2022).
local _, shell = ...
local application = shell.library "applications/application"
local imagenet = shell.library "applications/imagenet"

local function normalization(net, name)
  return net.LayerNormalization { epsilon = 1e-6, name = name }
end

local function block(net, input, width, name)
  local x = net.Conv2D { width, 7, padding = "same", groups = width,
    name = name .. "_depthwise_conv" }(input)
  x = normalization(net, name .. "_layernorm")(x)
  x = net.Dense { 4 * width, name = name .. "_pointwise_conv_1" }(x)
  x = net.Activation { "gelu", name = name .. "_gelu" }(x)
  x = net.Dense { width, name = name .. "_pointwise_conv_2" }(x)
  x = net.LayerScale { 1e-6, width, name = name .. "_layer_scale" }(x)
  x = net.Activation { "linear", name = name .. "_identity" }(x)
  return net.add(input, x)
end

-- Downsamples x before stage `number`, counted from 0: to a quarter of the image size before stage
-- 0, to half of it before the other stages.
local function downsample(net, x, width, number, name)
  if number == 0 then
    local conv = net.Conv2D { width, 4, strides = 4, name = name .. "_stem_conv" }
    return net.sequential(x, name .. "_stem",
      { conv, normalization(net, name .. "_stem_layernorm") })
  end
  local norm = normalization(net, ("%s_downsampling_layernorm_%d"):format(name, number - 1))
  local conv = net.Conv2D { width, 2, strides = 2,
    name = ("%s_downsampling_conv_%d"):format(name, number - 1) }
  return net.sequential(x, ("%s_downsampling_block_%d"):format(name, number - 1), { norm, conv })
end

local function add_classifier(net, x, o, name)
  x = net.GlobalAveragePooling2D { name = name .. "_head_gap" }(x)
  x = normalization(net, name .. "_head_layernorm")(x)
  return net.Dense { o.classes, activation = o.classifier_activation,
    name = name .. "_head_dense" }(x)
end

local mean, deviation = { 0.485, 0.456, 0.406 }, { 0.229, 0.224, 0.225 }

local function normalize_pixels(net, x, name)
  local means, variances = {}, {}
  for i = 1, 3 do
    means[i] = mean[i] * 255
    variances[i] = (deviation[i] * 255) ^ 2
  end
  return net.Normalization { mean = means, variance = variances,
    name = name .. "_prestem_normalization" }(x)
end

local function build(net, x, o, depths, widths)
  local name = o.name
  if o.include_preprocessing and o.input_shape[3] == 3 then x = normalize_pixels(net, x, name) end
  for i, depth in ipairs(depths) do
    x = downsample(net, x, widths[i], i - 1, name)
    for j = 0, depth - 1 do
      x = block(net, x, widths[i], ("%s_stage_%d_block_%d"):format(name, i - 1, j))
    end
  end
  if o.include_top then return add_classifier(net, x, o, name) end
  return normalization(net)(application.apply_pooling(net, x, o))
end

local depths_and_widths = {
  Tiny = { { 3, 3, 9, 3 }, { 96, 192, 384, 768 } },
  Small = { { 3, 3, 27, 3 }, { 96, 192, 384, 768 } },
  Base = { { 3, 3, 27, 3 }, { 128, 256, 512, 1024 } },
  Large = { { 3, 3, 27, 3 }, { 192, 384, 768, 1536 } },
  XLarge = { { 3, 3, 27, 3 }, { 256, 512, 1024, 2048 } },
}
local models = {}
for variant, model_depths_and_widths in pairs(depths_and_widths) do
  local name = "convnext_" .. variant:lower()
  models["ConvNeXt" .. variant] = application.define {
    function_name = "ConvNeXt" .. variant,
    name = name,
    doc =
      "A convolutional network with the design choices of transformers (Liu et al. 2022). "
        .. "Includes the scaling of pixels from 0..255.",
    options = {
      "include_top", "include_preprocessing", "weights", "input_tensor", "input_shape", "pooling",
      "classes", "classifier_activation", "name",
    },
    default_size = 224,
    min_size = 32,
    trained = application.files("convnext", name .. ".h5", name .. "_notop.h5"),
    build = function(net, x, o) return build(net, x, o, table.unpack(model_depths_and_widths)) end,
  }
end

return { convnext = imagenet.module { models = models, mode = "none" } }
