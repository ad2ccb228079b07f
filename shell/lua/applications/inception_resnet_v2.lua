-- InceptionResNetV2: Inception-v4, Inception-ResNet and the Impact of Residual Connections on
-- Learning (2016).
local _, shell = ...
local application = shell.library "applications/application"
local imagenet = shell.library "applications/imagenet"

-- A convolution that keeps the size of x, unless options say otherwise; `name` may be nil.
local function convolve(net, x, width, kernel, options, name)
  local conv = { width, kernel, padding = "same", use_bias = false, name = name }
  for key, value in pairs(options or {}) do conv[key] = value end
  x = net.Conv2D(conv)(x)
  x = net.BatchNormalization { axis = 3, scale = false, name = name and name .. "_bn" }(x)
  return net.Activation { "relu", name = name and name .. "_ac" }(x)
end

-- A chain of convolutions; each row of `convolutions` gives width, kernel size and options.
local function apply_chain(net, x, convolutions)
  for _, row in ipairs(convolutions) do x = convolve(net, x, table.unpack(row)) end
  return x
end

local function apply_branches(net, x, branches)
  local outputs = {}
  for i, convolutions in ipairs(branches) do outputs[i] = apply_chain(net, x, convolutions) end
  return outputs
end

local function concat(net, branches, name)
  return net.Concatenate { axis = 3, name = name }(branches)
end

local valid_padding, stride_2 = { padding = "valid" }, { strides = 2, padding = "valid" }

-- ---- blocks

local residual_branches = {
  block35 = { { { 32, 1 } }, { { 32, 1 }, { 32, 3 } }, { { 32, 1 }, { 48, 3 }, { 64, 3 } } },
  block17 = { { { 192, 1 } }, { { 128, 1 }, { 160, { 1, 7 } }, { 192, { 7, 1 } } } },
  block8 = { { { 192, 1 } }, { { 192, 1 }, { 224, { 1, 3 } }, { 256, { 3, 1 } } } },
}

-- Adds `scale` times the result of the branches of this kind to x.
local function add_residual(net, x, kind, number, scale, is_linear)
  local name = ("%s_%d"):format(kind, number)
  local mixed = concat(net, apply_branches(net, x, residual_branches[kind]), name .. "_mixed")
  local projection = net.Conv2D { x.shape[4], 1, padding = "same", use_bias = true,
    name = name .. "_conv" }(mixed)
  x = net.CustomScaleLayer { scale } { x, projection }
  if is_linear then return x end
  return net.Activation { "relu", name = name .. "_ac" }(x)
end

local function halve(net, x, branches, name)
  local outputs = apply_branches(net, x, branches)
  outputs[#outputs + 1] = net.MaxPooling2D { 3, strides = 2, padding = "valid" }(x)
  return concat(net, outputs, name)
end

local function mixed_5b(net, x)
  local outputs = apply_branches(net, x,
    { { { 96, 1 } }, { { 48, 1 }, { 64, 5 } }, { { 64, 1 }, { 96, 3 }, { 96, 3 } } })
  local pooled = net.AveragePooling2D { 3, strides = 1, padding = "same" }(x)
  outputs[#outputs + 1] = convolve(net, pooled, 64, 1)
  return concat(net, outputs, "mixed_5b")
end

-- ---- the graph

local function build(net, x, o)
  x = apply_chain(net, x, { { 32, 3, stride_2 }, { 32, 3, valid_padding }, { 64, 3 } })
  x = net.MaxPooling2D { 3, strides = 2 }(x)
  x = apply_chain(net, x, { { 80, 1, valid_padding }, { 192, 3, valid_padding } })
  x = net.MaxPooling2D { 3, strides = 2 }(x)
  x = mixed_5b(net, x)
  for i = 1, 10 do x = add_residual(net, x, "block35", i, 0.17) end
  x = halve(net, x, { { { 384, 3, stride_2 } }, { { 256, 1 }, { 256, 3 }, { 384, 3, stride_2 } } },
    "mixed_6a")
  for i = 1, 20 do x = add_residual(net, x, "block17", i, 0.1) end
  x = halve(net, x, {
    { { 256, 1 }, { 384, 3, stride_2 } }, { { 256, 1 }, { 288, 3, stride_2 } },
    { { 256, 1 }, { 288, 3 }, { 320, 3, stride_2 } },
  }, "mixed_7a")
  for i = 1, 9 do x = add_residual(net, x, "block8", i, 0.2) end
  x = add_residual(net, x, "block8", 10, 1.0, true)
  x = convolve(net, x, 1536, 1, nil, "conv_7b")
  return application.add_classifier(net, x, o, { named_top = true })
end

local file = "inception_resnet_v2_weights_tf_dim_ordering_tf_kernels"
local InceptionResNetV2 = application.define {
  function_name = "InceptionResNetV2",
  name = "inception_resnet_v2",
  doc = "Inception blocks with residual connections (Szegedy et al. 2016).",
  default_size = 299,
  min_size = 75,
  trained = application.files("inception_resnet_v2", file .. ".h5", file .. "_notop.h5"),
  build = build,
}

return { inception_resnet_v2 = imagenet.module { models = { InceptionResNetV2 = InceptionResNetV2 },
  mode = "tf" } }
