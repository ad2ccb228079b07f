-- A dense layer of 2,048 units, and the same with weights and inputs of 8 bits.
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"

local function make_dense()
  return cr.Sequential { cr.layers.Dense(2048, { activation = "relu", input_shape = { 2048 } }) }
end
local function make_quantized()
  local model = make_dense()
  model:quantize "int8"
  return model
end

for _, batch in ipairs { 1, 32, 256 } do
  for _, each in ipairs { { "dense2048", make_dense }, { "dense2048_int8", make_quantized } } do
    measure.predict(each[1] .. "_predict_b" .. batch,
      { model = each[2], x = measure.uniform(2048), batch = batch })
  end
end
