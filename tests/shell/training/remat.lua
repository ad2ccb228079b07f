-- compile{ remat = true }: the backward pass computes values of the forward pass again. The numbers
-- stay those of a model without it, in every kind of layer.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers

local function image_model()
  local x = cr.Input { shape = { 12, 12, 3 } }
  local h = layers.Conv2D(8, 3, { padding = "same" })(x)
  for _ = 1, 6 do
    local branch = layers.Conv2D(8, 3, { padding = "same", use_bias = false })(h)
    branch = layers.BatchNormalization()(branch)
    branch = layers.Dropout(0.2, { seed = 3 })(layers.ReLU()(branch))
    h = layers.Add() { h, branch }
  end
  return cr.Model(x, layers.Dense(3)(layers.GlobalAveragePooling2D()(h))), { 16, 12, 12, 3 }
end

local function recurrent_model()
  local model = cr.Sequential { cr.Input { shape = { 9, 5 } } }
  for _ = 1, 4 do model:add(layers.LSTM(6, { return_sequences = true })) end
  model:add(layers.GRU(6))
  model:add(layers.Dense(3))
  return model, { 16, 9, 5 }
end

local function attention_model()
  local x = cr.Input { shape = { 10, 8 } }
  local h = x
  for _ = 1, 4 do
    local attention_output = layers.MultiHeadAttention(2, 4, { dropout = 0.1, seed = 5 })(h, h)
    h = layers.LayerNormalization()(layers.Add() { h, attention_output })
    local hidden = layers.Dense(16, { activation = "gelu" })(h)
    h = layers.LayerNormalization()(layers.Add() { h, layers.Dense(8)(hidden) })
  end
  return cr.Model(x, layers.Dense(3)(layers.Flatten()(h))), { 16, 10, 8 }
end

local function train_model(build, remat, policy)
  cr.utils.set_random_seed(4)
  cr.config.set_dtype_policy(policy)
  local model, shape = build()
  cr.config.set_dtype_policy "float32"
  model:compile { optimizer = cr.optimizers.Adam(1e-3), loss = "mse", remat = remat }
  local x, y = cr.random.normal(shape, { seed = 1 }), cr.random.normal({ 16, 3 }, { seed = 2 })
  local history = model:fit(x, y, { epochs = 5, batch_size = 6, verbose = 0 })
  return model, history.history.loss
end

for name, build in pairs { images = image_model, sequences = recurrent_model,
  attention = attention_model } do
  for _, policy in ipairs { "float32", "mixed_bfloat16" } do
    local plain_model, losses = train_model(build, false, policy)
    local remat_model, remat_losses = train_model(build, true, policy)
    local tolerance = policy == "float32" and 1e-5 or 2e-2
    for i, loss in ipairs(losses) do
      check.near(remat_losses[i], loss, tolerance, name .. " with " .. policy)
    end
    local weights = remat_model:get_weights()
    for i, weight in ipairs(plain_model:get_weights()) do
      local difference = (weights[i] - weight):abs():max():item()
      assert(difference <= tolerance * (1 + weight:abs():max():item()),
        ("%s with %s, weight %d: off by %g"):format(name, policy, i, difference))
    end
  end
end

-- The option is kept by a file, and refused where it would do nothing.
local path = os.tmpname() .. ".h5"
local model = train_model(recurrent_model, true, "float32")
model:save(path)
local copy_path = path:gsub("%.h5$", "_again.h5")
cr.models.load_model(path):save(copy_path)
for _, file_path in ipairs { path, copy_path } do
  local file <close> = assert(io.open(file_path, "rb"))
  assert(file:read("a"):find('"remat": ?true'), "the file does not keep remat")
  os.remove(file_path)
end
check.fails(function() model:compile { loss = "mse", remat = true, run_eagerly = true } end,
  "remat", "run_eagerly")
