-- A custom training step: each batch is trained together with a copy in which every pixel is
-- changed a little in the direction that increases the loss (the fast gradient sign method).
--   crescent examples/train_step.lua [EPOCHS]
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local data_folder = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/data/"
local epochs = tonumber(arg[1]) or 5
local pixel_change = 0.15
print "Two networks learn digits; one of them also learns to withstand an attack."

local x = cr.data.read_idx(data_folder .. "mnist-t10k-images-idx3-ubyte.gz")
  :reshape { 10000, 784 }:cast "float32" / 255
local y = cr.data.read_idx(data_folder .. "mnist-t10k-labels-idx1-ubyte.gz")
local x_test, y_test = x:slice(8001, 10000), y:slice(8001, 10000)

local Usual = cr.Model:subclass "Usual"
function Usual:init()
  self.hidden = layers.Dense(256, { activation = "relu" })
  self.scores = layers.Dense(10)
end
function Usual:call(pixels) return self.scores(self.hidden(pixels)) end

--- The pictures with each pixel changed by `pixel_change` in the direction that increases the loss.
function Usual:attacked(pixels, labels)
  local loss
  local tape = cr.GradientTape(function()
    loss = self:compute_loss(pixels, labels, self(pixels))
  end, { pixels })
  return ops.clip(pixels + tape:gradient(loss, pixels):sign() * pixel_change, 0, 1)
end

-- The training step, including the gradient with respect to the pixels, is traced once and
-- compiled.
local Robust = Usual:subclass "Robust"
function Robust:train_step(data)
  local pixels, labels = data.x, data.y
  local attacked_pixels = self:attacked(pixels, labels)
  local loss
  local tape = cr.GradientTape(function()
    loss = self:compute_loss(pixels, labels, self(pixels, { training = true }))
      + self:compute_loss(attacked_pixels, labels, self(attacked_pixels, { training = true }))
  end)
  local weights = self.trainable_weights
  self.optimizer:apply_gradients(tape:gradient(loss, weights), weights)
  return { loss = loss }
end

local result_lines = {}
for _, class in ipairs { Usual, Robust } do
  cr.random.seed(1)
  local model = class()
  model:compile { optimizer = cr.optimizers.Adam(1e-3),
    loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true } }
  model:fit(x:slice(1, 8000), y:slice(1, 8000), { batch_size = 64, epochs = epochs, verbose = 2 })
  local function accuracy(pixels)
    local guesses = ops.argmax(model:predict(pixels, { verbose = 0 }), -1)
    return 100 * ops.equal(guesses:cast "int32", y_test:cast "int32"):cast "float32":mean():item()
  end
  result_lines[#result_lines + 1] = ("%-8s %14.1f %% %14.1f %%"):format(model.class_name,
    accuracy(x_test), accuracy(model:attacked(x_test, y_test)))
end
print(("\n%-8s %16s %16s"):format("", "as they are", "attacked"))
print(table.concat(result_lines, "\n"))
