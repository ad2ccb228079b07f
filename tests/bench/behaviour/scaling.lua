-- Training time per sample and memory for several batch sizes. Each size is measured in its own
-- process, since peak memory is a property of a process.
--   crescent tests/bench/behaviour/scaling.lua [--threads N] [--seconds S]
package.path = ((arg[0]:match "^(.*)/[^/]*$") or ".") .. "/../?.lua;" .. package.path
local cr = require "crescent"
local child_model, child_batch = os.getenv "SCALING_MODEL", tonumber(os.getenv "SCALING_BATCH")

if not child_model then
  local options = table.concat(arg, " ")
  for _, model in ipairs { "mlp", "cnn" } do
    for _, batch in ipairs { 32, 64, 128, 256, 512, 1024 } do
      assert(os.execute(string.format("SCALING_MODEL=%s SCALING_BATCH=%d exec '%s' '%s' %s", model,
        batch, arg[-1], arg[0], options)))
    end
  end
  return
end

local measure = require "measure"
local layers = cr.layers
local models = {
  mlp = function()
    return { 784 }, cr.Sequential {
      layers.Dense(512, { activation = "relu", input_shape = { 784 } }),
      layers.Dense(512, { activation = "relu" }),
      layers.Dense(10),
    }
  end,
  cnn = function()
    return { 28, 28, 1 }, cr.Sequential {
      layers.Conv2D(32, 3, { activation = "relu", input_shape = { 28, 28, 1 } }),
      layers.Conv2D(64, 3, { activation = "relu" }),
      layers.MaxPooling2D(2),
      layers.Flatten(),
      layers.Dense(128, { activation = "relu" }),
      layers.Dense(10),
    }
  end,
}
local shape, model = models[child_model]()
model:compile { optimizer = "adam",
  loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true } }
local x, y = measure.uniform(table.unpack(shape))(child_batch), measure.integers(10)(child_batch)
local function step() model:train_on_batch(x, y) end
step()
local name = string.format("%s_batch_%d", child_model, child_batch)
measure.emit(name, measure.seconds_per_call(step) / child_batch * 1e6, "us/sample")
measure.emit(name .. "_memory", measure.peak_memory(), "MiB")
