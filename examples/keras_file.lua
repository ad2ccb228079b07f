-- Loads a model file that Keras 3 wrote, compares its predictions with those of Keras, trains it
-- further, saves it for Keras, and exports it to ONNX.
--   crescent examples/keras_file.lua [EPOCHS]
local cr = require "crescent"
local data_folder = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/data/"
local epochs = tonumber(arg[1]) or 20
print "A model of Keras is opened, learns on and is written for Keras and for ONNX."

local model = cr.models.load_model(data_folder .. "keras3_cnn.keras")
model:summary()

-- A second file contains five pictures and the predictions that Keras makes for them.
local x = cr.data.read(data_folder .. "keras3_cnn.io.h5", "inputs/0")
local keras_outputs = cr.data.read(data_folder .. "keras3_cnn.io.h5", "outputs/0")
local function difference_to_keras(predictions)
  return ("%.1e"):format((predictions - keras_outputs):abs():max():item())
end
local result_rows = { { "opened", "keras3_cnn.keras",
  difference_to_keras(model:predict(x, { verbose = 0 })) } }

-- The file contains no loss, so compile sets one; then the model is trained on five pictures.
cr.random.seed(1)
local y = cr.tensor({ 3, 0, 2, 1, 0 }, "int32")
model:compile { optimizer = cr.optimizers.Adam(0.02),
  loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true } }
local losses = model:fit(x, y, { epochs = epochs, verbose = 0 }).history.loss
local trained_outputs = model:predict(x, { verbose = 0 })
result_rows[2] = { "learned on", "", difference_to_keras(trained_outputs) }

-- Saves the model with its optimizer for Keras; the loaded model gives the same predictions.
local keras_path = cr.utils.writable_path "learned.keras"
model:save(keras_path)
local loaded_outputs = cr.models.load_model(keras_path):predict(x, { verbose = 0 })
assert((loaded_outputs - trained_outputs):abs():max():item() == 0)
result_rows[3] = { "saved", keras_path, difference_to_keras(loaded_outputs) }

local onnx_path = cr.utils.writable_path "learned.onnx"
model:export(onnx_path)
result_rows[4] = { "exported", onnx_path, "" }

print(("\nLoss: %.4f after the first epoch, %.4f after the last\n")
  :format(losses[1], losses[#losses]))
print(("%-12s %-24s %s"):format("", "file", "from what Keras predicted"))
for _, row in ipairs(result_rows) do print(("%-12s %-24s %s"):format(table.unpack(row))) end
