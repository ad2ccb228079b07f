-- A variational autoencoder: the encoder maps digits to points of a plane, and the decoder maps
-- each point of the plane to a picture of a digit.
--   crescent examples/vae.lua [EPOCHS]
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
local data_folder = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/data/"
local epochs = tonumber(arg[1]) or 15
print "A variational autoencoder lays digits out on a plane."
cr.random.seed(3)

local x = cr.data.read_idx(data_folder .. "mnist-t10k-images-idx3-ubyte.gz")
  :reshape { 10000, 784 }:cast "float32" / 255

-- Samples a point from the normal distribution that the encoder predicts, and adds as a loss the
-- Kullback-Leibler divergence of this distribution from the standard normal distribution.
local Sampling = cr.Layer:subclass "Sampling"
function Sampling:call(x)
  local mean, log_variance = x[1], x[2]
  local divergence = (log_variance:exp() + mean:square() - 1 - log_variance):sum(-1) * 0.5
  self:add_loss(divergence:mean())
  return mean + (log_variance * 0.5):exp() * cr.random.normal(ops.shape(mean))
end

local input = cr.Input { shape = { 784 } }
local hidden = layers.Dense(256, { activation = "relu" })(input)
local mean, log_variance = layers.Dense(2)(hidden), layers.Dense(2)(hidden)
local encoder = cr.Model(input, mean)
local decoder = cr.Sequential {
  layers.Dense(256, { activation = "relu", input_shape = { 2 } }),
  layers.Dense(784, { activation = "sigmoid" }),
}
local vae = cr.Model(input, decoder(Sampling() { mean, log_variance }))

-- The cross-entropy summed over the pixels of a picture.
local function crossentropy(y_true, y_pred)
  return cr.losses.binary_crossentropy(y_true, y_pred) * 784
end
vae:compile { optimizer = cr.optimizers.Adam(2e-3), loss = crossentropy }
local history = vae:fit(x, x, { batch_size = 100, epochs = epochs, verbose = 2 }).history

-- A grid of 15 by 15 points of the plane; the decoder draws a digit for each point.
local points = {}
for row = -7, 7 do
  for column = -7, 7 do points[#points + 1] = { column * 0.3, row * 0.3 } end
end
local digits = decoder:predict(cr.tensor(points), { verbose = 0 }):reshape { 225, 28, 28 }
local path = cr.utils.writable_path "vae.png"
cr.imshow(digits, { columns = 15, file = path, title = "places of the plane" })

local point = encoder:predict(x:slice(1, 1), { verbose = 0 }):totable()[1]
print(("The first digit lies at %.2f, %.2f"):format(point[1], point[2]))
print(("Loss: %.2f"):format(history.loss[#history.loss]))
print("Picture: " .. path)
