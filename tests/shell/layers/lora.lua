-- Low-rank adapters (LoRA): which weights are trained, what is added, merging and saving.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

local x = cr.random.uniform({ 8, 6 }, -1, 1, { seed = 1 })
local words = cr.tensor({ { 1, 2, 3 }, { 4, 5, 0 } }, "int32")
local layer_rows = {
  { layer = function(o)
    return layers.Dense(4, o)
  end, input = x, weight = "kernel", a = { 6, 2 }, b = { 2, 4 }, fixed = 1 },
  { layer = function(o)
    o.bias_axes = "c" return layers.EinsumDense("ab,bc->ac", 4, o)
  end, input = x, weight = "kernel", a = { 6, 2 }, b = { 2, 4 } },
  { layer = function(o)
    return layers.EinsumDense("ab,bcd->acd", { 4, 3 }, o)
  end, input = x, weight = "kernel", a = { 6, 4, 2 }, b = { 2, 3 } },
  { layer = function(o)
    return layers.Embedding(6, 4, o)
  end, input = words, weight = "embeddings", a = { 6, 2 }, b = { 2, 4 } },
  { layer = function(o)
    return layers.ReversibleEmbedding(6, 4, o)
  end, input = words, weight = "embeddings", a = { 6, 2 }, b = { 2, 4 } },
  { layer = function(o)
    o.padding = "causal" return layers.Conv1D(4, 3, o)
  end, input = x:reshape { 4, 4, 3 }, weight = "kernel", a = { 3, 3, 2 }, b = { 2, 4 } },
  { layer = function(o)
    o.groups = 2 return layers.Conv2D(4, 2, o)
  end, input = x:reshape { 1, 4, 3, 4 }, weight = "kernel", a = { 2, 2, 2, 2 }, b = { 2, 4 } },
  { layer = function(o)
    o.data_format = "channels_first" return layers.Conv3D(3, { 1, 2, 2 }, o)
  end, input = x:reshape { 1, 2, 2, 3, 4 }, weight = "kernel",
    a = { 1, 2, 2, 2, 2 }, b = { 2, 3 } },
}
for _, row in ipairs(layer_rows) do
  local layer = row.layer {}
  local old_output = layer(row.input)
  local trainable_count = #layer.trainable_weights
  layer:enable_lora(2, { lora_alpha = 3 })
  assert(layer.lora_enabled and layer.lora_rank == 2)
  -- a new adapter changes nothing; the kernel is frozen, and two small matrices are trained
  check.near(layer(row.input), old_output)
  assert(#layer.trainable_weights == trainable_count + 1 and #layer.non_trainable_weights == 1)
  local a, b = layer.trainable_weights[trainable_count],
    layer.trainable_weights[trainable_count + 1]
  check.same({ a.name, b.name }, { "lora_" .. row.weight .. "_a", "lora_" .. row.weight .. "_b" })
  check.same({ a.shape, b.shape }, { row.a, row.b })
  -- an adapter whose b is not zero adds (alpha / rank) a . b to the kernel
  b:assign(cr.random.uniform(row.b, -1, 1, { seed = 2 }))
  local change = ops.matmul(a:reshape { -1, 2 }, b):reshape(layer.non_trainable_weights[1].shape)
    * 1.5
  local plain_layer = row.layer {}
  plain_layer(row.input)
  local values = plain_layer:get_weights()
  values[1] = layer.non_trainable_weights[1] + change
  for i = 2, trainable_count do values[i] = layer.weights[i] end
  plain_layer:set_weights(values)
  check.near(layer(row.input), plain_layer(row.input))
  check.fails(function() layer:enable_lora(2) end, "lora is already enabled")
  layer:merge_lora()
  assert(not layer.lora_enabled and #layer.trainable_weights == trainable_count
    and #layer.weights == trainable_count)
  check.near(layer(row.input), plain_layer(row.input))
  check.fails(function() layer:merge_lora() end, "lora is not enabled")
end
check.fails(function() layers.Dense(3):enable_lora(2) end, "isn't yet built")
check.fails(function()
  layers.Dense(3, { kernel_constraint = "non_neg", input_shape = { 2 },
    lora_rank = 1 })(cr.ones { 1, 2 })
end, "incompatible with kernel constraints")
check.fails(function() layers.Dense(3, { lora_alpha = 1 }) end, "lora_rank")

-- ---- training changes only the adapters
local function new_model(options)
  return cr.Sequential { layers.Dense(8,
    { activation = "tanh", input_shape = { 6 }, lora_rank = options.rank,
    use_bias = false }), layers.Dense(1, { lora_rank = options.rank, use_bias = false }) }
end
local model = new_model { rank = 2 }
local y = ops.sum(x, { 1 }, true)
model:compile { optimizer = "adam", loss = "mse" }
local kernels = { model.layers[1].weights[1] + 0, model.layers[2].weights[1] + 0 }
local losses = model:fit(x, y, { epochs = 30, verbose = 0 }).history.loss
assert(losses[30] < losses[1])
check.near(model.layers[1].weights[1], kernels[1], 0)
check.near(model.layers[2].weights[1], kernels[2], 0)
assert(ops.max(ops.abs(model.layers[1].weights[3])):item() > 0)

-- an adapter in mixed precision
local mixed_layer = layers.Dense(4, { lora_rank = 2, dtype = "mixed_bfloat16" })
assert(mixed_layer(x).dtype == "bfloat16")

-- ---- .h5 files store adapters separately; weight files of Keras 3 store kernel plus adapter
local old_predictions = model:predict(x)
local path = check.temporary ".h5"
model:save(path)
local loaded_model = cr.models.load_model(path)
check.near(loaded_model:predict(x), old_predictions)
assert(loaded_model.layers[1].lora_rank == 2 and #loaded_model.trainable_weights == 4)
check.near(loaded_model:fit(x, y, { epochs = 1, verbose = 0 }).history.loss,
  model:fit(x, y, { epochs = 1, verbose = 0 }).history.loss)
old_predictions = model:predict(x)
os.remove(path)
local weights_path = check.temporary ".weights.h5"
model:save_weights(weights_path)
local model_without_adapter, adapted_model = new_model {}, new_model { rank = 2 }
model_without_adapter:load_weights(weights_path)
adapted_model:load_weights(weights_path)
check.near(model_without_adapter:predict(x), old_predictions)
check.near(adapted_model:predict(x), old_predictions)
-- the file holds the sum of kernel and adapter, so after loading the adapter begins at zero again
local second_factor = model.layers[1].trainable_weights[2]
assert(ops.max(ops.abs(second_factor)):item() > 0)
model:load_weights(weights_path)
check.near(model:predict(x), old_predictions)
assert(ops.max(ops.abs(second_factor)):item() == 0)
os.remove(weights_path)
local archive_path = check.temporary ".keras"
model:save(archive_path)
check.near(cr.models.load_model(archive_path):predict(x), old_predictions)
os.remove(archive_path)

-- Files store the optimizer's state of the currently trained weights, also after merging, adapting
-- and freezing.
do
  local ok, text = check.run [[
    local layers, path = cr.layers, os.tmpname()
    os.remove(path)
    cr.utils.set_random_seed(5)
    local x, y = cr.random.normal { 10, 3 }, cr.random.normal { 10, 4 }
    local function values(optimizer, shape)
      local optimizer_values = {}
      for _, variable in ipairs(optimizer.variables) do
        if table.concat(variable.shape, ",") == shape and variable.path:find "bias" then
          optimizer_values[#optimizer_values + 1] = table.concat(variable:totable(), " ")
        end
      end
      return optimizer_values
    end
    local changes = {
      merge = function(first) first:merge_lora() end,
      adapt = function(_, second) second:enable_lora(2) end,
      freeze = function(first) first.trainable = false end,
    }
    local optimizers = {
      function() return "adam" end,
      function() return cr.optimizers.SGD(0.01, { momentum = 0.9, use_ema = true }) end,
      function() return "adafactor" end,
      function() return cr.optimizers.LossScaleOptimizer "nadam" end,
      function() return cr.optimizers.Adam { gradient_accumulation_steps = 2 } end,
    }
    for name, change in pairs(changes) do
      for number, optimizer in ipairs(optimizers) do
        for _, ending in ipairs { ".keras", ".h5" } do
          local first, second = layers.Dense(5, { input_shape = { 3 } }), layers.Dense(4)
          local model = cr.Sequential { first, second }
          first:enable_lora(2)
          model:compile { loss = "mse", optimizer = optimizer() }
          model:fit(x, y, { epochs = 3, batch_size = 5, verbose = 0 })
          change(first, second)
          local old_values = values(model.optimizer, "4")
          model:save(path .. ending)
          local loaded_model = cr.models.load_model(path .. ending)
          local loaded_values, what = values(loaded_model.optimizer, "4"), name .. ending .. number
          assert(#loaded_values == #old_values and #loaded_values > 0, what)
          for i = 1, #loaded_values do
            assert(loaded_values[i] == old_values[i], what .. " of the last bias")
          end
          assert(loaded_model.optimizer.iterations:item() == model.optimizer.iterations:item(),
            what)
          assert(table.concat(values(model.optimizer, "4")) == table.concat(old_values), what)
          loaded_model:fit(x, y, { verbose = 0 })
          model:fit(x, y, { verbose = 0 })
          os.remove(path .. ending)
        end
      end
    end
    print "all"
  ]]
  assert(ok and text:find "all", text)
  assert(not text:find "freshly initialized", text)
end
print "ok lora"
