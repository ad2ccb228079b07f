-- LoRA: a network that was trained to read digits learns to read them upside down; only low-rank
-- matrices added to its weights are trained, and the weights themselves stay unchanged.
--   crescent examples/lora.lua [EPOCHS]
local cr = require "crescent"
local layers = cr.layers
local data_folder = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/data/"
local epochs = tonumber(arg[1]) or 4

local x = cr.data.read_idx(data_folder .. "mnist-t10k-images-idx3-ubyte.gz"):cast "float32" / 255
local y = cr.data.read_idx(data_folder .. "mnist-t10k-labels-idx1-ubyte.gz")
local rotated_images = cr.ops.flip(x, { 1, 2 })
local train_count, total_count = 8000, 10000
-- The images and labels for training, and those for testing.
local function train_subset(images) return images:slice(1, train_count), y:slice(1, train_count) end
local function test_subset(images)
  return images:slice(train_count + 1, total_count), y:slice(train_count + 1, total_count)
end

print "A network learns digits, then to read them upside down by small matrices beside its weights."
cr.random.seed(1)
local model = cr.Sequential {
  layers.Flatten { input_shape = { 28, 28 } },
  layers.Dense(256, { activation = "relu" }),
  layers.Dense(256, { activation = "relu" }),
  layers.Dense(10),
}
local function compile()
  model:compile { optimizer = cr.optimizers.Adam { learning_rate = 2e-3 },
    loss = cr.losses.SparseCategoricalCrossentropy { from_logits = true },
    metrics = { "accuracy" } }
end
local function accuracy(images)
  local x_test, y_test = test_subset(images)
  return model:evaluate(x_test, y_test, { verbose = 0, return_dict = true }).accuracy
end
local function count_trainable_weights()
  local count = 0
  for _, weight in ipairs(model.trainable_weights) do
    local size = 1
    for _, n in ipairs(weight.shape) do size = size * n end
    count = count + size
  end
  return count
end

local result_rows = {}
local function add_result(label)
  result_rows[#result_rows + 1] = { label, count_trainable_weights(), accuracy(x),
    accuracy(rotated_images) }
end

compile()
local x_train, y_train = train_subset(x)
model:fit(x_train, y_train, { batch_size = 64, epochs = epochs, verbose = 2 })
add_result "trained on digits"

for i = 2, 4 do model.layers[i]:enable_lora(8) end
compile()
local x_rotated, y_rotated = train_subset(rotated_images)
model:fit(x_rotated, y_rotated, { batch_size = 64, epochs = epochs, verbose = 2 })
add_result "adapted to turned digits"

for i = 2, 4 do model.layers[i]:merge_lora() end
compile()
add_result "merged"

print(string.format("\n%-26s %14s %10s %10s", "", "weights trained", "upright", "turned"))
for _, row in ipairs(result_rows) do
  print(string.format("%-26s %14d %9.1f %% %8.1f %%", row[1], row[2], 100 * row[3], 100 * row[4]))
end
