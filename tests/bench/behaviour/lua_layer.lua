-- Compares a Dense layer that is defined in Lua with the built-in one: training, predicting many
-- samples, and predicting one.
--   crescent tests/bench/behaviour/lua_layer.lua [--threads N] [--seconds S]
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local measure = require "measure"

local LuaDense = cr.Layer:subclass "LuaDense"
function LuaDense:init(config)
  self.units, self.activation = config.units, cr.activations[config.activation or "linear"]
end
function LuaDense:build(input_shape)
  self.kernel = self:add_weight { name = "kernel",
    shape = { input_shape[#input_shape], self.units } }
  self.bias = self:add_weight { name = "bias", shape = { self.units }, initializer = "zeros" }
end
function LuaDense:call(x) return self.activation(x:matmul(self.kernel) + self.bias) end

local samples = 4096
local x, y = measure.uniform(784)(samples), measure.integers(10)(samples)
local first_row = x:slice(1, 1)

local function seconds_of(Dense)
  local model = cr.Sequential {
    Dense { units = 512, activation = "relu", input_shape = { 784 } },
    Dense { units = 512, activation = "relu" },
    Dense { units = 10 },
  }
  model:compile { optimizer = "adam",
    loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true } }
  local function fit() model:fit(x, y, { batch_size = 128, verbose = 0 }) end
  local function predict() model:predict(x, { batch_size = 256 }) end
  local function predict_one() model:predict_on_batch(first_row) end
  local seconds = {}
  for name, f in pairs { fit = fit, predict = predict, predict_one = predict_one } do
    f()
    seconds[name] = measure.seconds_per_call(f)
  end
  return seconds
end

local built_in_seconds, lua_seconds = seconds_of(cr.layers.Dense), seconds_of(LuaDense)
for _, name in ipairs { "fit", "predict", "predict_one" } do
  measure.emit("lua_dense_" .. name, lua_seconds[name] / built_in_seconds[name], "x")
end
