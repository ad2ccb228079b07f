-- InceptionV3: Rethinking the Inception Architecture for Computer Vision (2015).
local _, shell = ...
local application = shell.library "applications/application"
local imagenet = shell.library "applications/imagenet"

-- A convolution of rows x columns that keeps the size of x, unless options say otherwise.
local function convolve(net, x, width, rows, columns, options)
  local conv = { width, { rows, columns }, padding = "same", use_bias = false }
  for key, value in pairs(options or {}) do conv[key] = value end
  x = net.Conv2D(conv)(x)
  x = net.BatchNormalization { axis = 3, scale = false }(x)
  return net.Activation { "relu" }(x)
end

-- A chain of convolutions; each row of `convolutions` gives width and the numbers of kernel rows
-- and columns.
local function apply_chain(net, x, convolutions)
  for _, row in ipairs(convolutions) do x = convolve(net, x, table.unpack(row)) end
  return x
end

local function pooled_branch(net, x, width)
  x = net.AveragePooling2D { 3, strides = 1, padding = "same" }(x)
  return convolve(net, x, width, 1, 1)
end

local function concat(net, branches, name)
  return net.Concatenate { axis = 3, name = name }(branches)
end

local halving_options = { strides = 2, padding = "valid" }

-- ---- blocks, named after the size of the feature maps (35 x 35, ...)

local function block_35(net, x, pool_width, name)
  local pointwise = convolve(net, x, 64, 1, 1)
  local branch_5x5 = apply_chain(net, x, { { 48, 1, 1 }, { 64, 5, 5 } })
  local branch_3x3 = apply_chain(net, x, { { 64, 1, 1 }, { 96, 3, 3 }, { 96, 3, 3 } })
  return concat(net, { pointwise, branch_5x5, branch_3x3, pooled_branch(net, x, pool_width) }, name)
end

local function block_17(net, x, inner_width, name)
  local pointwise = convolve(net, x, 192, 1, 1)
  local branch_7x7 = apply_chain(net, x,
    { { inner_width, 1, 1 }, { inner_width, 1, 7 }, { 192, 7, 1 } })
  local branch_double = apply_chain(net, x,
    { { inner_width, 1, 1 }, { inner_width, 7, 1 }, { inner_width, 1, 7 },
    { inner_width, 7, 1 }, { 192, 1, 7 } })
  return concat(net, { pointwise, branch_7x7, branch_double, pooled_branch(net, x, 192) }, name)
end

local function block_8(net, x, number)
  local function convolve_1x3_and_3x1(input, name)
    return concat(net, { convolve(net, input, 384, 1, 3), convolve(net, input, 384, 3, 1) }, name)
  end
  local pointwise = convolve(net, x, 320, 1, 1)
  local branch_3x3 = convolve_1x3_and_3x1(convolve(net, x, 384, 1, 1), "mixed9_" .. number)
  local branch_double = convolve_1x3_and_3x1(apply_chain(net, x, { { 448, 1, 1 }, { 384, 3, 3 } }))
  return concat(net, { pointwise, branch_3x3, branch_double, pooled_branch(net, x, 192) },
    "mixed" .. 9 + number)
end

local function halve(net, x, branches, name)
  local outputs = {}
  for i, convolutions in ipairs(branches) do outputs[i] = apply_chain(net, x, convolutions) end
  outputs[#outputs + 1] = net.MaxPooling2D { 3, strides = 2 }(x)
  return concat(net, outputs, name)
end

-- ---- the graph

local function build(net, x, o)
  x = apply_chain(net, x,
    { { 32, 3, 3, halving_options }, { 32, 3, 3, { padding = "valid" } }, { 64, 3, 3 } })
  x = net.MaxPooling2D { 3, strides = 2 }(x)
  x = apply_chain(net, x,
    { { 80, 1, 1, { padding = "valid" } }, { 192, 3, 3, { padding = "valid" } } })
  x = net.MaxPooling2D { 3, strides = 2 }(x)
  for i, pool_width in ipairs { 32, 64, 64 } do
    x = block_35(net, x, pool_width, "mixed" .. i - 1)
  end
  x = halve(net, x, { { { 384, 3, 3, halving_options } },
    { { 64, 1, 1 }, { 96, 3, 3 }, { 96, 3, 3, halving_options } } }, "mixed3")
  for i, inner_width in ipairs { 128, 160, 160, 192 } do
    x = block_17(net, x, inner_width, "mixed" .. 3 + i)
  end
  x = halve(net, x, {
    { { 192, 1, 1 }, { 320, 3, 3, halving_options } },
    { { 192, 1, 1 }, { 192, 1, 7 }, { 192, 7, 1 }, { 192, 3, 3, halving_options } },
  }, "mixed8")
  for number = 0, 1 do x = block_8(net, x, number) end
  return application.add_classifier(net, x, o, { named_top = true })
end

local file = "inception_v3_weights_tf_dim_ordering_tf_kernels"
local InceptionV3 = application.define {
  function_name = "InceptionV3",
  name = "inception_v3",
  doc = "Parallel convolutions of several sizes (Szegedy et al. 2015).",
  default_size = 299,
  min_size = 75,
  trained = application.files("inception_v3", file .. ".h5", file .. "_notop.h5"),
  build = build,
}

return { inception_v3 = imagenet.module { models = { InceptionV3 = InceptionV3 }, mode = "tf" } }
