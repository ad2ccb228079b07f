-- Blocks that EfficientNet and EfficientNetV2 share.
local _, shell = ...
local application = shell.library "applications/application"

local blocks = {
  kernel_initializer = {
    class_name = "VarianceScaling",
    config = { scale = 2.0, mode = "fan_out", distribution = "truncated_normal" },
  },
}
local dense_initializer = {
  class_name = "VarianceScaling",
  config = { scale = 1 / 3, mode = "fan_out", distribution = "uniform" },
}

--- A convolution without bias that keeps the size, unless options say otherwise.
function blocks.convolve(net, x, width, kernel, name, options)
  local conv = { width, kernel, padding = "same", use_bias = false,
    kernel_initializer = blocks.kernel_initializer, name = name }
  for key, value in pairs(options or {}) do conv[key] = value end
  return net.Conv2D(conv)(x)
end

function blocks.normalize(net, x, momentum, name)
  return net.BatchNormalization { axis = 3, momentum = momentum, name = name }(x)
end

function blocks.activate(net, x, name) return net.Activation { "silu", name = name }(x) end

--- Squeeze and excite: each channel times a factor computed from the means of all channels.
function blocks.squeeze_and_excite(net, x, width, inner_width, name)
  local se = net.GlobalAveragePooling2D { name = name .. "se_squeeze" }(x)
  se = net.Reshape { target_shape = { 1, 1, width }, name = name .. "se_reshape" }(se)
  se = blocks.convolve(net, se, inner_width, 1, name .. "se_reduce",
    { activation = "silu", use_bias = true })
  se = blocks.convolve(net, se, width, 1, name .. "se_expand",
    { activation = "sigmoid", use_bias = true })
  return net.Multiply { name = name .. "se_excite" } { x, se }
end

--- Adds the input of the block to x; in training, x is first dropped (set to 0) for random samples,
--- with probability `rate`.
function blocks.residual_add(net, x, input, rate, name)
  if rate > 0 then
    x = net.Dropout { rate, noise_shape = { -1, 1, 1, 1 }, name = name .. "drop" }(x)
  end
  return net.Add { name = name .. "add" } { x, input }
end

--- The last convolution and the classifier; bias_initializer replaces the default one of the dense
--- layer.
function blocks.top_layers(net, x, o, width, momentum, dropout, bias_initializer)
  x = blocks.convolve(net, x, width, 1, "top_conv")
  x = blocks.activate(net, blocks.normalize(net, x, momentum, "top_bn"), "top_activation")
  return application.add_classifier(net, x, o, {
    named_top = true, named_pooling = true, dropout = dropout,
    dense = { kernel_initializer = dense_initializer, bias_initializer = bias_initializer },
  })
end

--- The prefix of layer names, such as "block2b_" for the second block of stage 2.
function blocks.name(stage, number)
  return ("block%d%s_"):format(stage, string.char(96 + number))
end

--- The number of blocks in a stage, `count`, scaled by the depth factor of the model.
function blocks.repeats(count, depth_factor) return math.ceil(count * depth_factor) end

return blocks
