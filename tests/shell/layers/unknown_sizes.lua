-- Axes of unknown length (-1): symbolic shapes keep them open, and data of any length is accepted.
local cr = require "crescent"
package.path = arg[0]:match "^(.*)/[^/]*$" .. "/../support/?.lua;" .. package.path
local check = require "check"
local layers = cr.layers

local function check_shapes(name, layer, unknown_shape, symbolic_shape, data_shape, real_shape)
  local input = cr.Input { shape = unknown_shape }
  local output = layer(input)
  check.same(output.shape, symbolic_shape, name .. " on symbols")
  check.same(cr.Model { inputs = input,
    outputs = output }:predict(cr.random.uniform(data_shape)).shape,
    real_shape, name)
end

local image_shape, step_shape = { -1, -1, 4 }, { -1, 4 }
local function check_on_images(name, layer, symbolic_shape, real_shape)
  check_shapes(name, layer, image_shape, symbolic_shape, { 2, 7, 6, 4 }, real_shape)
end
local function check_on_steps(name, layer, symbolic_shape, real_shape)
  check_shapes(name, layer, step_shape, symbolic_shape, { 2, 7, 4 }, real_shape)
end

check_on_steps("adaptive mean", layers.AdaptiveAveragePooling1D(3), { -1, 3, 4 }, { 2, 3, 4 })
check_on_steps("adaptive max", layers.AdaptiveMaxPooling1D(3), { -1, 3, 4 }, { 2, 3, 4 })
check_on_images("adaptive mean", layers.AdaptiveAveragePooling2D { { 3, 2 } }, { -1, 3, 2, 4 },
  { 2, 3, 2, 4 })
check_on_images("interpolation", layers.UpSampling2D { 2, interpolation = "bicubic" },
  { -1, -1, -1, 4 },
  { 2, 14, 12, 4 })
check_on_images("repetition", layers.UpSampling2D(3), { -1, -1, -1, 4 }, { 2, 21, 18, 4 })
check_on_steps("repetition", layers.UpSampling1D(2), { -1, -1, 4 }, { 2, 14, 4 })
check_on_steps("cropping", layers.Cropping1D { { 1, 2 } }, { -1, -1, 4 }, { 2, 4, 4 })
check_on_steps("padding", layers.ZeroPadding1D(1), { -1, -1, 4 }, { 2, 9, 4 })
check_on_images("groups", layers.GroupNormalization(2), { -1, -1, -1, 4 }, { 2, 7, 6, 4 })
check_on_images("depthwise", layers.DepthwiseConv2D(3), { -1, -1, -1, 4 }, { 2, 5, 4, 4 })
check_on_steps("separable", layers.SeparableConv1D(3, 2), { -1, -1, 3 }, { 2, 6, 3 })
check_on_steps("dropout", layers.SpatialDropout1D(0.5), { -1, -1, 4 }, { 2, 7, 4 })
check_shapes("channels first", layers.Conv1D { 3, 2, data_format = "channels_first" }, { 4, -1 },
  { -1, 3, -1 }, { 2, 4, 7 }, { 2, 3, 6 })

-- slices of tensors in the method `call` of a class that is written in Lua
local SliceLayer = cr.Layer:subclass("Part", { "first", "last" })
function SliceLayer:call(inputs) return inputs:slice(self.first, self.last) end
local function slice_layer(first, last) return SliceLayer { first = first, last = last } end
check_on_steps("features", slice_layer({ 1, 1, 2 }, { -1, -1, 3 }), { -1, -1, 2 }, { 2, 7, 2 })
check_on_steps("first steps", slice_layer({ 1, 2 }, { -1, 3 }), { -1, 2, 4 }, { 2, 2, 4 })
check_on_steps("last steps", slice_layer({ 1, -3 }, { -1, -2 }), { -1, 2, 4 }, { 2, 2, 4 })
check_on_steps("steps between", slice_layer({ 1, 2 }, { -1, -2 }), { -1, -1, 4 }, { 2, 5, 4 })
check.fails(function()
  slice_layer({ 1, 3 }, { -1, 1 })(cr.Input { shape = step_shape })
end, "positions 3 to 1 are outside of axis 1 of shape (None, None, 4)")

-- masks pass through layers whose number of windows is unknown
local ids = cr.Input { shape = { -1 } }
local x = layers.Embedding { 10, 4, mask_zero = true }(ids)
x = layers.MaxPooling1D(2)(layers.Conv1D(5, 2)(x))
local model = cr.Model { inputs = ids, outputs = layers.LSTM(3)(x) }
local short_ids, long_ids = cr.tensor { { 3, 4, 5, 6, 7, 0, 0 } },
  cr.tensor { { 3, 4, 5, 6, 7, 0, 0, 0, 0 } }
check.near(model:predict(short_ids), model:predict(long_ids):totable(), 1e-6,
  "padding of another length")

-- masks end at a layer after which there are no time steps
local function check_training(add_layers)
  local tokens = cr.Input { shape = { 4 } }
  local net = cr.Model { inputs = tokens,
    outputs = add_layers(layers.Embedding { 10, 4, mask_zero = true }(tokens)) }
  net:compile { optimizer = "sgd", loss = "mse" }
  local y = cr.zeros { 2, table.unpack(net.output_shape, 2) }
  net:fit(cr.tensor { { 1, 2, 0, 0 }, { 3, 0, 0, 0 } }, y, { verbose = 0 })
end
check_training(function(e) return layers.Dense(2)(layers.Flatten()(e)) end)
check_training(function(e) return layers.Dense(2)(layers.Reshape { { 16 } }(e)) end)
check_training(function(e) return layers.Dense(2)(layers.Flatten()(layers.Conv1D(3, 2)(e))) end)
check_training(function(e) return layers.ZeroPadding1D(1)(layers.Reshape { { 2, 8 } }(e)) end)
check_training(function(e)
  return layers.Dense(2)(layers.GlobalMaxPooling1D()(layers.MaxPooling1D(2)(e)))
end)

-- cr.null and -1 both mean an unknown size
for _, unknown_size in ipairs { cr.null, -1 } do
  local shape = { unknown_size, 3 }
  check.same(cr.Input { shape = shape }.shape, { -1, -1, 3 })
  check.same(cr.Input { batch_shape = shape }.shape, { -1, 3 })
  check.same(cr.Sequential { layers.Dense(2, { input_shape = shape }) }.output_shape, { -1, -1, 2 })
  check.same(layers.Dense(2):compute_output_shape(shape), { -1, 2 })
  check.same(cr.zeros { 6 }:reshape(shape).shape, { 2, 3 })
  check.same(cr.ops.reshape(cr.zeros { 6 }, shape).shape, { 2, 3 })
  check.same(layers.Reshape { unknown_size, 3 }(cr.zeros { 2, 12 }).shape, { 2, 4, 3 })
  check.same(layers.Reshape(shape)(cr.zeros { 2, 12 }).shape, { 2, 4, 3 })
  check.same(layers.Reshape { target_shape = shape }:get_config().target_shape, { -1, 3 })
  check.same(cr.InputSpec { shape = shape }.shape, { -1, 3 })
  check.same(cr.layers.InputLayer { batch_input_shape = shape }.output.shape, { -1, 3 })
  check.same(cr.Sequential { layers.Dense(2, { batch_input_shape = shape }) }.output_shape,
    { -1, 2 })
  check.same(layers.EinsumDense("abc,cd->abd", shape)(cr.zeros { 1, 2, 4 }).shape, { 1, 2, 3 })
  check.same(layers.Dropout(0.5, { noise_shape = shape })(cr.zeros { 2, 3 }).shape, { 2, 3 })
  local model = cr.Sequential { layers.Dense(2) }
  model:build(shape)
  check.same(model.output_shape, { -1, 2 })
end
