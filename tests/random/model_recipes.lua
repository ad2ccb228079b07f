-- Recipes of random models: tables that tell layers with their options, data, loss and optimizer.
local cr = require "crescent"
local ops = cr.ops

local function pick(list) return list[math.random(#list)] end
local function chance(n) return math.random(n) == 1 end

local activations = { "relu", "tanh", "sigmoid", "gelu", "silu", "elu", "softplus", "selu", "linear",
  "leaky_relu", "hard_sigmoid", "mish", "softsign" }
local function activation() return pick(activations) end

local function recurrent(name)
  return { name, { units = pick { 1, 3, 8 }, return_sequences = true, go_backwards = chance(4),
    reset_after = name == "GRU" and chance(2) or nil, activation = chance(3) and "relu" or nil } }
end

--- Of any shape (samples, ..., channels).
local anywhere = {
  function() return { "Dense", { units = pick { 1, 2, 7, 16, 33, 65 }, activation = activation() } } end,
  function() return { "Dense", { units = pick { 3, 8 }, use_bias = false } } end,
  function() return { "Activation", { activation = activation() } } end,
  function() return { "BatchNormalization", { center = not chance(4) } } end,
  function() return { "LayerNormalization" } end,
  function() return { "RMSNormalization" } end,
  function() return { "UnitNormalization" } end,
  function() return { "PReLU" } end,
  function() return { "ELU" } end,
  function() return { "ReLU", { max_value = 6, negative_slope = 0.1 } } end,
  function() return { "LeakyReLU" } end,
  function() return { "Softmax" } end,
  function() return { "Identity" } end,
  function() return { "GroupNormalization", { groups = 1 } } end,
  function() return { "ActivityRegularization", { l2 = 0.01 } } end,
  function() return { "Dense", { units = 4, kernel_regularizer = "l2", bias_constraint = "non_neg" } } end,
  function() return { "SpectralNormalization", { layer = { "Dense", { units = 5 } } } } end,
}

--- Of sequences (samples, time, channels).
local sequences = {
  function()
    return { "Conv1D", { filters = pick { 1, 2, 3, 8, 16 }, kernel_size = pick { 1, 2, 3, 5 },
      padding = pick { "same", "causal" }, dilation_rate = pick { 1, 1, 2 }, activation = activation(),
      use_bias = chance(2) } }
  end,
  function() return recurrent "LSTM" end,
  function() return recurrent "GRU" end,
  function() return recurrent "SimpleRNN" end,
  function()
    return { "Bidirectional", { layer = { pick { "LSTM", "GRU" }, { units = pick { 2, 5 },
      return_sequences = true } }, merge_mode = pick { "concat", "sum", "mul", "ave" } } }
  end,
  function()
    return { pick { "MaxPooling1D", "AveragePooling1D" }, { pool_size = pick { 2, 3 },
      strides = pick { 1, 2 }, padding = "same" } }
  end,
  function()
    return { "SeparableConv1D", { filters = pick { 2, 8 }, kernel_size = 3, padding = "same",
      activation = activation(), depth_multiplier = pick { 1, 2 } } }
  end,
  function()
    return { "DepthwiseConv1D", { kernel_size = 3, padding = "same", depth_multiplier = pick { 1, 2 },
      activation = activation() } }
  end,
  function()
    return { "Conv1DTranspose", { filters = pick { 2, 5 }, kernel_size = pick { 2, 3 },
      strides = pick { 1, 2 }, padding = "same", activation = activation() } }
  end,
  function() return { "UpSampling1D", { size = 2 } } end,
  function() return { "ZeroPadding1D", { padding = 1 } } end,
  function() return { "Cropping1D", { cropping = 1 } } end,
  function() return { "Permute", { dims = { 2, 1 } } } end,
  function()
    return { "TimeDistributed", { layer = { "Dense", { units = pick { 2, 5 }, activation = activation() } } } }
  end,
  function() return { "Masking" } end,
}

--- Of images (samples, height, width, channels).
local images = {
  function()
    return { "Conv2D", { filters = pick { 1, 3, 8, 16, 33 }, kernel_size = pick { 1, 2, 3, 5 },
      padding = "same", strides = pick { 1, 1, 2 }, activation = activation(), use_bias = chance(2) } }
  end,
  function()
    return { "Conv2D", { filters = pick { 4, 8 }, kernel_size = 3, padding = "same", dilation_rate = 2,
      activation = activation() } }
  end,
  function()
    return { "DepthwiseConv2D", { kernel_size = pick { 3, 5 }, padding = "same", strides = pick { 1, 2 },
      activation = activation() } }
  end,
  function()
    return { "SeparableConv2D", { filters = pick { 2, 8 }, kernel_size = 3, padding = "same",
      activation = activation() } }
  end,
  function()
    return { pick { "MaxPooling2D", "AveragePooling2D" }, { pool_size = pick { 2, 3 }, padding = "same",
      strides = pick { 1, 2 } } }
  end,
  function()
    return { "Conv2DTranspose", { filters = pick { 2, 5 }, kernel_size = pick { 2, 3 },
      strides = pick { 1, 2 }, padding = "same", activation = activation() } }
  end,
  function() return { "UpSampling2D", { size = 2, interpolation = pick { "nearest", "bilinear" } } } end,
  function() return { "ZeroPadding2D", { padding = 1 } } end,
  function() return { "Cropping2D", { cropping = 1 } } end,
  function() return { "PReLU", { shared_axes = { 1, 2 } } } end,
  function() return { "GroupNormalization", { groups = -1 } } end,
  function() return { "BatchNormalization" } end,
}

--- From sequences or images to rows.
local ends = {
  sequences = { { "Flatten" }, { "GlobalAveragePooling1D" }, { "GlobalMaxPooling1D" },
    { "LSTM", { units = 3 } }, { "GRU", { units = 2 } } },
  images = { { "Flatten" }, { "GlobalAveragePooling2D" }, { "GlobalMaxPooling2D" } },
  rows = { { "Identity" } },
}

local merges = { "Add", "Multiply", "Average", "Maximum", "Subtract", "Concatenate", "Minimum" }

--- The optimizers divide by no small numbers: what is only rounding stays small.
local optimizers = {
  { "SGD", { learning_rate = 0.01 } },
  { "SGD", { learning_rate = 0.01, momentum = 0.9, nesterov = true, weight_decay = 0.01 } },
  { "SGD", { learning_rate = 0.01, clipvalue = 0.1 } },
  { "SGD", { learning_rate = 0.01, gradient_accumulation_steps = 2 } },
  { "Adam", { learning_rate = 0.01, epsilon = 0.01, clipnorm = 0.5 } },
  { "Adam", { learning_rate = 0.005, epsilon = 0.01, amsgrad = true, use_ema = true,
    ema_overwrite_frequency = 2 } },
  { "AdamW", { learning_rate = 0.01, epsilon = 0.01, global_clipnorm = 0.7 } },
  { "RMSprop", { learning_rate = 0.003, momentum = 0.5, epsilon = 0.01 } },
  { "RMSprop", { learning_rate = 0.003, centered = true, epsilon = 0.01 } },
  { "Nadam", { learning_rate = 0.005, epsilon = 0.01 } },
  { "Adagrad", { learning_rate = 0.01, epsilon = 0.01 } },
  { "Adadelta", { learning_rate = 0.1, epsilon = 0.01 } },
  { "Adamax", { learning_rate = 0.01, epsilon = 0.01 } },
  { "Ftrl", { learning_rate = 0.01 } },
  { "Lamb", { learning_rate = 0.005, epsilon = 0.01 } },
}

local last_layers = {
  mean_squared_error = "linear", mean_absolute_error = "linear", huber = "linear", log_cosh = "linear",
  binary_crossentropy = "sigmoid", categorical_crossentropy = "softmax",
  sparse_categorical_crossentropy = "softmax", kl_divergence = "softmax", poisson = "softplus",
  cosine_similarity = "linear", hinge = "tanh", squared_hinge = "tanh",
}
local losses = {}
for name in pairs(last_layers) do losses[#losses + 1] = name end
table.sort(losses)

local recipes = {}

function recipes.recipe(seed)
  math.randomseed(seed)
  local recipe = { seed = seed, samples = pick { 1, 3, 5, 8, 17, 33, 70 }, layers = {} }
  local kind = pick { "rows", "sequences", "images", "sequences", "images", "words" }
  if kind == "rows" then
    recipe.shape = { pick { 1, 2, 5, 16, 33, 64, 300 } }
  elseif kind == "images" then
    recipe.shape = { pick { 4, 7, 8, 12 }, pick { 4, 6, 9 }, pick { 1, 2, 3, 5, 8, 17 } }
    recipe.samples = math.min(recipe.samples, 17)
  elseif kind == "sequences" then
    recipe.shape = { pick { 1, 3, 8, 17, 40 }, pick { 1, 2, 3, 5, 16 } }
  else
    recipe.words, recipe.shape, kind = 20, { pick { 1, 4, 9, 17 } }, "sequences"
    recipe.layers[1] = { "Embedding", { input_dim = 20, output_dim = pick { 1, 3, 8 },
      mask_zero = chance(2) } }
  end
  local own = kind == "images" and images or kind == "sequences" and sequences or anywhere
  for _ = 1, math.random(5) do
    local layer = (chance(3) and pick(anywhere) or pick(own))()
    -- A mask of steps is none of channels, as Softmax takes it.
    if layer[1] == "Softmax" and kind == "sequences" then
      layer = { "Activation", { activation = "softmax" } }
    end
    layer.again = chance(8)
    layer.skip = chance(4) and pick(merges) or nil
    table.insert(recipe.layers, layer)
  end
  table.insert(recipe.layers, pick(ends[kind]))
  recipe.loss = pick(losses)
  table.insert(recipe.layers, { "Dense", { units = pick { 2, 3 }, activation = last_layers[recipe.loss] } })
  recipe.optimizer = pick(optimizers)
  recipe.batch_size = pick { 1, 4, 8, 32 }
  recipe.weighted = chance(3)
  return recipe
end

--- Inputs, and targets for the loss.
function recipes.data(recipe, output_shape)
  local n, seed = recipe.samples, recipe.seed
  local classes = output_shape[#output_shape]
  local x = cr.random.normal({ n, table.unpack(recipe.shape) }, 0, 1, "float32", seed)
  if recipe.words then
    x = ops.cast(cr.random.uniform({ n, table.unpack(recipe.shape) }, 0, recipe.words, "float32", seed),
      "int32")
  end
  local shape = { n, table.unpack(output_shape, 2) }
  local y = cr.random.uniform(shape, 0, 1, "float32", seed + 1)
  if recipe.loss:find "sparse" then
    shape[#shape] = nil
    y = ops.cast(cr.random.uniform(shape, 0, classes, "float32", seed + 1), "int32")
  elseif recipe.loss:find "hinge" then
    y = ops.sign(y - 0.5)
  elseif recipe.loss:find "categorical" or recipe.loss == "kl_divergence" then
    y = ops.softmax(y * 3)
  end
  return x, y
end

return recipes
