-- An autoencoder compresses handwritten digits to 16 numbers and draws them again from these
-- numbers; it learns to remove the noise that was added to the images.
--   crescent examples/autoencoder.lua [EPOCHS]
local cr = require "crescent"
local layers = cr.layers
local data_folder = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/data/"
local epochs = tonumber(arg[1]) or 8
print "An autoencoder learns to clean noisy digits."
cr.random.seed(1)

local clean_images = cr.data.read_idx(data_folder .. "mnist-t10k-images-idx3-ubyte.gz")
  :reshape { 10000, 784 }:cast "float32" / 255
local noisy_images = cr.ops.clip(clean_images + cr.random.normal(clean_images.shape, 0, 0.5), 0, 1)

-- The encoder and the decoder are separate models, so that each can also be used without the other.
local encoder = cr.Sequential({
  layers.Dense(256, { activation = "relu", input_shape = { 784 } }),
  layers.Dense(16, { name = "code" }),
}, { name = "encoder" })
local decoder = cr.Sequential({
  layers.Dense(256, { activation = "relu", input_shape = { 16 } }),
  layers.Dense(784, { activation = "sigmoid" }),
}, { name = "decoder" })
local autoencoder = cr.Sequential { encoder, decoder }

autoencoder:compile { optimizer = cr.optimizers.Adam(2e-3), loss = "binary_crossentropy" }
autoencoder:fit(noisy_images:slice(1, 9000), clean_images:slice(1, 9000),
  { batch_size = 100, epochs = epochs,
  validation_data = { noisy_images:slice(9001, 10000), clean_images:slice(9001, 10000) },
    verbose = 2 })

-- Ten test digits, each shown with noise, as the autoencoder reconstructs it, and without noise.
local shown_digits = noisy_images:slice(9001, 9010)
local reconstructions = autoencoder:predict(shown_digits, { verbose = 0 })
local mean_squared_error =
  ((reconstructions - clean_images:slice(9001, 9010)):square():mean()):item()
local shown_images = cr.ops.concatenate({ shown_digits, reconstructions,
  clean_images:slice(9001, 9010) }, 0)
local path = cr.utils.writable_path "autoencoder.png"
cr.imshow(shown_images:reshape { 30, 28, 28 }, { columns = 10, file = path,
  title = "with noise, cleaned, as they are" })
local encoding = encoder:predict(shown_digits:slice(1, 1), { verbose = 0 }):totable()[1]
for i, number in ipairs(encoding) do encoding[i] = ("%.1f"):format(number) end
print("The first of them as 16 numbers: " .. table.concat(encoding, " "))
print(("Mean squared error: %.4f; of the noise: %.4f"):format(mean_squared_error,
  ((shown_digits - clean_images:slice(9001, 9010)):square():mean()):item()))
print("Picture: " .. path)
