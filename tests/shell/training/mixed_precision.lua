-- Training in mixed_bfloat16 and mixed_float16 gives results close to those of float32: for digits
-- with a convolutional network, and for a model with attention.
local cr = require "crescent"
local layers = cr.layers
local folder = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../../../examples/data/"
local images = cr.data.read_idx(folder .. "mnist-t10k-images-idx3-ubyte.gz"):reshape { 10000, 28,
  28, 1 }:cast "float32" / 255
local labels = cr.data.read_idx(folder .. "mnist-t10k-labels-idx1-ubyte.gz")

local function digit_model_and_score()
  local model = cr.Sequential {
    layers.Conv2D(16, 3, { activation = "relu", input_shape = { 28, 28, 1 } }),
    layers.BatchNormalization { momentum = 0.9 },
    layers.MaxPooling2D(2),
    layers.Conv2D(16, 3, { activation = "relu", strides = 2 }),
    layers.Flatten(),
    layers.Dense(64, { activation = "relu" }),
    layers.Dense(10, { activation = "softmax", dtype = "float32" }),
  }
  model:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy",
    metrics = { "accuracy" } }
  model:fit(images:slice(1, 4000), labels:slice(1, 4000),
    { batch_size = 100, epochs = 3, verbose = 0 })
  return model, model:evaluate(images:slice(8001, 10000), labels:slice(8001, 10000),
    { verbose = 0, return_dict = true })
end

-- the task: does the word 3 occur among the last six words?
local words = cr.ops.cast(cr.random.uniform { 1024, 12 } * 40, "int32")
local is_found = cr.ops.cast(cr.ops.max(cr.ops.cast(words:slice({ 1, 7 }, { -1, -1 }):equal(3),
  "float32"), -1), "int32")

local function attention_model_and_score()
  local input = cr.Input { shape = { 12 }, dtype = "int32" }
  local x = layers.Embedding(40, 16)(input)
  local y = layers.MultiHeadAttention { num_heads = 2, key_dim = 8 } { x, x }
  x = layers.LayerNormalization()(layers.Add() { x, y })
  x = layers.GlobalAveragePooling1D()(layers.Dense(32, { activation = "relu" })(x))
  local model = cr.Model { inputs = input,
    outputs = layers.Dense(2, { activation = "softmax", dtype = "float32" })(x) }
  model:compile { optimizer = cr.optimizers.Adam { learning_rate = 0.005 },
    loss = "sparse_categorical_crossentropy" }
  return model:fit(words, is_found, { batch_size = 64, epochs = 6, verbose = 0 }).history.loss
end

local function train_with_policy(policy)
  cr.config.set_dtype_policy(policy)
  cr.random.seed(1)
  local model, score = digit_model_and_score()
  for _, weight in ipairs(model.weights) do
    assert(weight.dtype == "float32", "variables stay as wide as they are")
  end
  return score, attention_model_and_score(), model
end

local float32_results, float32_losses = train_with_policy "float32"
for _, policy in ipairs { "mixed_bfloat16", "mixed_float16" } do
  local mixed_results, mixed_losses, model = train_with_policy(policy)
  print(string.format("accuracy %.4f and %.4f", float32_results.accuracy, mixed_results.accuracy))
  assert(float32_results.accuracy > 0.91
    and mixed_results.accuracy > float32_results.accuracy - 0.01)
  for i, loss in ipairs(float32_losses) do
    print(string.format("loss %.4f and %.4f", loss, mixed_losses[i]))
    -- with mixed_float16, training steps are skipped until the loss scale is small enough
    local may_lag = policy == "mixed_float16" and i < #float32_losses
    assert(may_lag or math.abs(mixed_losses[i] - loss) < 0.05 * float32_losses[1])
  end
  if policy == "mixed_float16" then
    local path = os.tmpname() .. ".h5"
    model:save(path)
    local loaded_model = cr.models.load_model(path)
    os.remove(path)
    local old_variables, loaded_variables = model.optimizer.variables,
      loaded_model.optimizer.variables
    assert(#old_variables == #loaded_variables and loaded_variables[#loaded_variables].value:item(
      ) == old_variables[#old_variables].value:item()
      and loaded_variables[1].value:item() == 120)
  end
end
cr.config.set_dtype_policy "float32"
