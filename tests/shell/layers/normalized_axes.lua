-- Axes of normalization layers: as in Keras, their signed numbers are sorted, the weights have the
-- sizes of the axes in this order, and their elements are reshaped, not transposed, to the inputs.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/layers"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"

local x = cr.random.normal({ 4, 2, 3, 5 }, { seed = 3 })
-- the option axis, the same axes in the order of the inputs, and the shape of the weights
local axis_cases = {
  { { -1, 1 }, { 1, 3 }, { 5, 2 } }, { { 1, -1 }, { 1, 3 }, { 5, 2 } },
  { { 3, 1 }, { 1, 3 }, { 2, 5 } }, { { -1, -3 }, { 1, 3 }, { 2, 5 } },
  { { -2, 1, 3 }, { 1, 2, 3 }, { 3, 2, 5 } }, { { -1 }, { 3 }, { 5 } }, { { 1 }, { 1 }, { 2 } },
}
for _, class in ipairs { "LayerNormalization", "RMSNormalization" } do
  for _, case in ipairs(axis_cases) do
    local given_axes, sorted_axes, shape = table.unpack(case)
    local layer = cr.layers[class] { axis = given_axes }
    local sorted_layer = cr.layers[class] { axis = sorted_axes }
    layer:build(x.shape)
    sorted_layer:build(x.shape)
    local weights, reshaped_weights = {}, {}
    for i, weight in ipairs(layer.weights) do
      check.same(weight.shape, shape)
      weights[i] = cr.random.normal(shape, { seed = i })
      reshaped_weights[i] = cr.ops.reshape(weights[i], sorted_layer.weights[i].shape)
    end
    layer:set_weights(weights)
    sorted_layer:set_weights(reshaped_weights)
    check.near(layer(x), sorted_layer(x), 1e-6, class)
  end
end
print "ok normalized axes"
