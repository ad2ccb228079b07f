-- NASNet-A: Learning Transferable Architectures for Scalable Image Recognition (2017).
local _, shell = ...
local application = shell.library "applications/application"
local imagenet = shell.library "applications/imagenet"
local shapes = shell.library "applications/shapes"

local function normalize(net, x, name)
  return net.BatchNormalization { axis = -1, momentum = 0.9997, epsilon = 1e-3, name = name }(x)
end

local function activate(net, x, name) return net.Activation { "relu", name = name }(x) end

local function pointwise_conv(net, x, width, name)
  return net.Conv2D { width, 1, padding = "same", use_bias = false,
    kernel_initializer = "he_normal", name = name }(x)
end

local function average_pool(net, x, strides, padding, name)
  return net.AveragePooling2D { 3, strides = strides, padding = padding, name = name }(x)
end

-- ---- blocks

-- Two separable convolutions, the first of which may halve the size.
local function apply_separable_convs(net, x, width, kernel, strides, id)
  x = activate(net, x)
  if strides == 2 then
    x = net.ZeroPadding2D { padding = shapes.correct_pad(x, kernel),
      name = "separable_conv_1_pad_" .. id }(x)
  end
  for i = 1, 2 do
    if i == 2 then x = activate(net, x) end
    local stride = i == 1 and strides or 1
    local padding = stride == 2 and "valid" or "same"
    x = net.SeparableConv2D {
      width, kernel, strides = stride, padding = padding, use_bias = false,
      name = ("separable_conv_%d_%s"):format(i, id),
    }(x)
    x = normalize(net, x, ("separable_conv_%d_bn_%s"):format(i, id))
  end
  return x
end

-- Halves the image size: concatenates two poolings with stride 2 along the channels, one of them of
-- the image shifted by one pixel.
local function halve(net, p, width, id)
  local function pooled_half(x, number)
    x = net.AveragePooling2D { 1, strides = 2, padding = "valid",
      name = ("adjust_avg_pool_%d_%s"):format(number, id) }(x)
    return pointwise_conv(net, x, width // 2, ("adjust_conv_%d_%s"):format(number, id))
  end
  p = activate(net, p, "adjust_relu_1_" .. id)
  local first_half = pooled_half(p, 1)
  local shifted_p = net.ZeroPadding2D { padding = { { 0, 1 }, { 0, 1 } } }(p)
  shifted_p = net.Cropping2D { cropping = { { 1, 0 }, { 1, 0 } } }(shifted_p)
  local concatenated = net.Concatenate { axis = -1 } { first_half, pooled_half(shifted_p, 2) }
  return normalize(net, concatenated, "adjust_bn_" .. id)
end

-- Converts p, the result of the cell before the previous one, to the size and width of `input`.
local function match_shape(net, p, input, width, id)
  if not p then return input end
  if p.shape[3] ~= input.shape[3] then return halve(net, p, width, id) end
  if p.shape[4] == width then return p end
  p = pointwise_conv(net, activate(net, p), width, "adjust_conv_projection_" .. id)
  return normalize(net, p, "adjust_bn_" .. id)
end

local function normalize_input(net, input, width, kind, id)
  local h = pointwise_conv(net, activate(net, input), width, kind .. "_conv_1_" .. id)
  return normalize(net, h, kind .. "_bn_1_" .. id)
end

-- ---- cells, whose inputs are the results of the two previous cells

local function normal_cell(net, input, p, width, id)
  p = match_shape(net, p, input, width, id)
  local h = normalize_input(net, input, width, "normal", id)
  local function add(number, a, b)
    return net.Add { name = ("normal_add_%d_%s"):format(number, id) } { a, b }
  end
  local function separate(x, kernel, position)
    return apply_separable_convs(net, x, width, kernel, 1, ("normal_%s_%s"):format(position, id))
  end
  local function pool(x, position)
    return average_pool(net, x, 1, "same", ("normal_%s_%s"):format(position, id))
  end
  local x1 = add(1, separate(h, 5, "left1"), separate(p, 3, "right1"))
  local x2 = add(2, separate(p, 5, "left2"), separate(p, 3, "right2"))
  local x3 = add(3, pool(h, "left3"), p)
  local x4 = add(4, pool(p, "left4"), pool(p, "right4"))
  local x5 = add(5, separate(h, 3, "left5"), h)
  return net.Concatenate { axis = -1, name = "normal_concat_" .. id } { p, x1, x2, x3, x4, x5 }
end

local function reduction_cell(net, input, p, width, id)
  p = match_shape(net, p, input, width, id)
  local h = normalize_input(net, input, width, "reduction", id)
  local padded = net.ZeroPadding2D { padding = shapes.correct_pad(h, 3),
    name = "reduction_pad_1_" .. id }(h)
  local function layer_name(position) return ("reduction_%s_%s"):format(position, id) end
  local function separate(x, kernel, strides, position)
    return apply_separable_convs(net, x, width, kernel, strides, layer_name(position))
  end
  local function max_pool(position)
    return net.MaxPooling2D { 3, strides = 2, padding = "valid",
      name = layer_name(position) }(padded)
  end
  local left = separate(h, 5, 2, "left1")
  local x1 = net.Add { name = layer_name "add_1" } { left, separate(p, 7, 2, "right1") }
  left = max_pool "left2"
  local x2 = net.Add { name = layer_name "add_2" } { left, separate(p, 7, 2, "right2") }
  left = average_pool(net, padded, 2, "valid", layer_name "left3")
  local x3 = net.Add { name = layer_name "add3" } { left, separate(p, 5, 2, "right3") }
  local x4 = net.Add() { x2, average_pool(net, x1, 1, "same", layer_name "left4") }
  left = separate(x1, 3, 1, "left4")
  local x5 = net.Add { name = layer_name "add4" } { left, max_pool "right5" }
  return net.Concatenate { axis = -1, name = "reduction_concat_" .. id } { x2, x3, x4, x5 }
end

-- ---- the graph

-- `row` has the final width, the number of cells in each of three stages, the initial width, and
-- `skips`: whether the cell after a reduction takes as second input the result that precedes the
-- input of the reduction, instead of this input.
local function build(net, x, o, row)
  local last_width, cell_count, first_width, skips = table.unpack(row)
  local width = last_width // 24
  x = net.Conv2D {
    first_width, 3, strides = 2, padding = "valid", use_bias = false,
    kernel_initializer = "he_normal", name = "stem_conv1",
  }(x)
  x = normalize(net, x, "stem_bn1")
  local previous_output
  for i, divisor in ipairs { 4, 2 } do
    x, previous_output = reduction_cell(net, x, previous_output, width // divisor, "stem_" .. i), x
  end
  for stage = 0, 2 do
    if stage > 0 then
      local reduced = reduction_cell(net, x, previous_output, width << stage,
        "reduce_" .. stage * cell_count)
      previous_output, x = skips and previous_output or x, reduced
    end
    for i = 0, cell_count - 1 do
      local id = stage * cell_count + i + (stage > 0 and 1 or 0)
      x, previous_output = normal_cell(net, x, previous_output, width << stage, tostring(id)), x
    end
  end
  return application.add_classifier(net, activate(net, x), o, {})
end

local function check(o)
  if o.weights ~= "imagenet" or type(o.input_shape) ~= "table" then return end
  for _, size in ipairs(shapes.checked_sizes(o.input_shape)) do
    if size < 0 then
      shell.fail(
        "When specifying the input shape of a NASNet and loading `ImageNet` weights, the ",
        "input_shape argument must be static (no None entries). Got: `input_shape=",
        shapes.text(shapes.checked_sizes(o.input_shape)), "`.")
    end
  end
end

local function define_model(size, image_size, row)
  local function input_shape(o)
    -- NASNetMobile needs images of its default size even without the classifier.
    local shape = o.input_shape or (size == "Mobile" and { image_size, image_size, 3 }) or nil
    return shapes.of_input(shape, image_size, 32, o.include_top, o.weights)
  end
  local name = "nasnet_" .. size:lower()
  local function trained(o)
    local file, remote_name = name .. ".h5", "NASNet-" .. size:lower() .. ".h5"
    if not o.include_top then
      file, remote_name = name .. "_no_top.h5", "NASNet-" .. size:lower() .. "-no-top.h5"
    end
    return file, application.folder .. "nasnet", remote_name
  end
  return application.define {
    function_name = "NASNet" .. size,
    name = name,
    doc = "Cells found by architecture search (Zoph et al. 2017).",
    options = { "input_shape", "include_top", "weights", "input_tensor", "pooling", "classes",
      "classifier_activation", "name" },
    min_size = 32,
    check = check,
    input_shape = input_shape,
    trained = trained,
    build = function(net, x, o) return build(net, x, o, row) end,
  }
end

local models = {
  NASNetMobile = define_model("Mobile", 224, { 1056, 4, 32, false }),
  NASNetLarge = define_model("Large", 331, { 4032, 6, 96, true }),
}
return { nasnet = imagenet.module { models = models, mode = "tf" } }
