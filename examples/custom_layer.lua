-- Defines a layer, a loss and a callback in Lua. The Lua functions of the layer and the loss run
-- once, while the training step is traced; the compiled step then trains without calling Lua.
--   crescent examples/custom_layer.lua
local cr = require "crescent"
local layers = cr.layers
cr.random.seed(4)

-- Each option {name, default, description} becomes an attribute of the layer; get_config, saving to
-- files and the help use the same list.
local Wave = cr.Layer:subclass("Wave", {
  { "units", 8, "How many waves." },
  { "frequency", 1.0, "Of the slowest one." },
})
function Wave:build(input_shape)
  self.phase = self:add_weight { name = "phase", shape = { self.units },
    initializer = "random_normal" }
  self.scale = self:add_weight { name = "scale", shape = { input_shape[#input_shape], self.units },
    initializer = "random_normal" }
end
function Wave:call(x) return (x:matmul(self.scale) * self.frequency + self.phase):sin() end

-- A loss that is quadratic for small errors and grows only linearly for errors far above `width`.
local PseudoHuber = cr.losses.Loss:subclass("PseudoHuber",
  { { "width", 1.0, "Errors above it count linearly." } })
function PseudoHuber:call(y_true, y_pred)
  local error = ((y_true - y_pred) / self.width):square()
  return ((error + 1):sqrt() - 1):mean(-1)
end

-- A callback that stops the training when the loss is at most `limit`.
local GoodEnough = cr.callbacks.Callback:subclass "GoodEnough"
function GoodEnough:init(config) self.limit = config.limit end
function GoodEnough:on_epoch_end(epoch, logs)
  if logs.loss > self.limit then return end
  print(string.format("A loss of %.4f after %d epochs is good enough.", logs.loss, epoch + 1))
  self.model.stop_training = true
end

-- The training data: 512 points of the function sin(3x) + 0.5 cos(7x).
local x = cr.random.uniform({ 512, 1 }, -1, 1)
local y = (x * 3):sin() + (x * 7):cos() * 0.5

local model = cr.Sequential {
  Wave { units = 32, frequency = 80.0, input_shape = { 1 } },
  layers.Dense(32, { activation = "tanh" }),
  layers.Dense(1),
}
model:compile { optimizer = cr.optimizers.Adam(0.01), loss = PseudoHuber { width = 0.5 } }
print "A layer of waves learns sin(3x) + 0.5 cos(7x)."
local history = model:fit(x, y,
  { epochs = 400, batch_size = 64, verbose = 0, callbacks = { GoodEnough { limit = 0.0005 } } })
print(history)

-- The saved file contains the names of the custom classes; load_model finds the classes by these
-- names, since this script has defined them.
local temporary_path = os.tmpname()
local path = temporary_path .. ".h5"
model:save(path)
local loaded_model = cr.models.load_model(path)
os.remove(path)
os.remove(temporary_path)
assert(cr.ops.max(cr.ops.abs(loaded_model:predict(x) - model:predict(x))):item() < 1e-6)
assert(history.history.loss[#history.history.loss] < 0.01)
print "Saved, loaded, and predicts the same."

local points = cr.ops.linspace(-1, 1, 60)
cr.plot(points, { learned = loaded_model:predict(points:reshape { 60, 1 }):reshape { 60 },
  ["to be learned"] = (points * 3):sin() + (points * 7):cos() * 0.5 }, { title = "after training" })
