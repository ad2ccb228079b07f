-- Activation functions see the outputs of layers in the layer's data format, as in Keras: if
-- channels come first, softmax over the last axis is computed over columns of images.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

local layer_rows = {
  { "Conv1D", 1, { filters = 4, kernel_size = 2 } },
  { "Conv2D", 2, { filters = 4, kernel_size = 2 } },
  { "Conv3D", 3, { filters = 4, kernel_size = 2 } },
  { "Conv1DTranspose", 1, { filters = 4, kernel_size = 2 } },
  { "Conv2DTranspose", 2, { filters = 4, kernel_size = 2 } },
  { "DepthwiseConv1D", 1, { kernel_size = 2 } },
  { "DepthwiseConv2D", 2, { kernel_size = 2 } },
  { "SeparableConv1D", 1, { filters = 4, kernel_size = 2 } },
  { "SeparableConv2D", 2, { filters = 4, kernel_size = 2 } },
}
local activations = {
  softmax = function(x) return ops.softmax(x, -1) end,
  log_softmax = function(x) return ops.log_softmax(x, -1) end,
  sparsemax = function(x) return ops.sparsemax(x, -1) end,
  relu = ops.relu, leaky_relu = ops.leaky_relu,
  gelu = function(x) return ops.gelu(x, false) end,
}
for _, layer_row in ipairs(layer_rows) do
  local name, spatial_rank, options = table.unpack(layer_row)
  for activation, activation_function in pairs(activations) do
    for _, format in ipairs { "channels_first", "channels_last" } do
      local shape = spatial_rank == 1 and { 2, 4, 6 } or spatial_rank == 2 and { 2, 4, 5, 6 }
        or { 2, 4, 5, 6, 5 }
      local x = cr.random.normal(shape, { seed = 3 })
      local function make(activation_name)
        local all_options = { data_format = format, activation = activation_name }
        for key, value in pairs(options) do all_options[key] = value end
        return layers[name](all_options)
      end
      local linear, with_activation = make "linear", make(activation)
      local linear_outputs = linear(x)
      with_activation(x)
      with_activation:set_weights(linear:get_weights())
      check.near(with_activation(x), activation_function(linear_outputs):totable(), 1e-5,
        name .. " " .. activation .. " "
        .. format)
    end
  end
end

-- an activation function that the user writes gets the outputs in this data format as well
local seen_shape
local conv = layers.Conv2D(3, 2, { data_format = "channels_first", activation = function(x)
  seen_shape = x.shape
  return x
end })
conv(cr.ones { 2, 4, 5, 6 })
check.same(seen_shape, { 2, 3, 4, 5 })
local glu_layer = layers.Conv2D(3, 2, { data_format = "channels_first", activation = "glu" })
check.same(glu_layer(cr.ones { 2, 4, 5, 7 }).shape, { 2, 3, 4, 3 })

-- one step of a ConvLSTM2D by its formulas
local x = cr.random.normal({ 1, 1, 2, 4, 4 }, { seed = 5 })
local conv_lstm = layers.ConvLSTM2D(2, 2, { data_format = "channels_first",
  activation = "softmax" })
local y = conv_lstm(x)
local sums = layers.Conv2D(8, 2, { data_format = "channels_first" })
sums(x[1])
sums:set_weights { conv_lstm.weights[1].value, conv_lstm.weights[3].value }
local gates = ops.split(sums(x[1]), 4, 1)
local c = ops.sigmoid(gates[1]) * ops.softmax(gates[3], -1)
check.near(y, (ops.sigmoid(gates[4]) * ops.softmax(c, -1)):totable(), 1e-5)

-- paddings and data formats are read without regard to case, and saved in lower case, as in Keras
do
  local convolution = layers.Conv1D(2, 3, { padding = "SAME", data_format = "Channels_First" })
  check.same(convolution:get_config().padding, "same")
  check.same(convolution:get_config().data_format, "channels_first")
  check.same(convolution(cr.ones { 1, 4, 5 }).shape, { 1, 2, 5 })
  check.same(layers.MaxPooling1D { padding = "Valid" }:get_config().padding, "valid")
  check.same(cr.initializers.VarianceScaling { distribution = "Uniform" }:get_config().distribution,
    "uniform")
  check.fails(function() layers.Conv1D(2, 3, { padding = "SOME" }) end, "'padding' must be one of",
    "got 'SOME' (did you mean 'same'?)")
end
print "ok data_formats"
