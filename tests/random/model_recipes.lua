-- Recipes: tables that describe random models by their layers, options, data, loss and optimizer.
local cr = require "crescent"
local layer_kinds = require "model_layers"
local ops = cr.ops

local function pick(list) return list[math.random(#list)] end
local function chance(n) return math.random(n) == 1 end

--- Optimizers. Their options keep them from dividing by small numbers, so that rounding errors stay
--- small.
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
  { "LossScaleOptimizer", {
    inner_optimizer = { class_name = "SGD", config = { learning_rate = 0.01 } },
    initial_scale = 1 } },  -- without this scale, gradients of logarithms reach 1e4
}

local last_layers = {
  mean_squared_error = "linear", mean_absolute_error = "linear", huber = "linear",
  log_cosh = "linear", binary_crossentropy = "sigmoid", categorical_crossentropy = "softmax",
  sparse_categorical_crossentropy = "softmax", kl_divergence = "softmax", poisson = "softplus",
  cosine_similarity = "linear", hinge = "tanh", squared_hinge = "tanh",
}
local losses = {}
for name in pairs(last_layers) do losses[#losses + 1] = name end
table.sort(losses)

--- Dtype policies; most are float32, for which tolerances are smallest.
local policies = { "float32", "float32", "float32", "float32", "mixed_float16", "mixed_bfloat16",
  "float16", "bfloat16" }

--- The kinds of inputs, with functions that draw a shape (without the samples axis).
local inputs = {
  rows = function() return { shape = { pick { 1, 2, 5, 16, 33, 64, 300 } } } end,
  sequences = function()
    return { shape = { pick { 1, 3, 8, 17, 40 }, pick { 1, 2, 3, 5, 16 } }, gaps = chance(3) }
  end,
  images = function()
    return { shape = { pick { 4, 7, 8, 12 }, pick { 4, 6, 9 }, pick { 1, 2, 3, 5, 8, 17 } } }
  end,
  volumes = function()
    return { shape = { pick { 2, 3, 5 }, pick { 3, 4, 6 }, pick { 3, 5 }, pick { 1, 2, 5 } } }
  end,
  words = function() return { shape = { pick { 1, 4, 9, 17 } }, words = 20 } end,
}

--- Replaces Softmax layers by softmax activations, because the layer Softmax would apply a mask of
--- time steps to the channels.
local function without_softmax(layer)
  if layer[1] == "Softmax" then return { "Activation", { activation = "softmax" } } end
  if layer[1] == "Functional" then
    for i, sublayer in ipairs(layer[2]) do layer[2][i] = without_softmax(sublayer) end
  end
  return layer
end

local function layer_on(kind)
  local layer = (chance(3) and pick(layer_kinds.anywhere) or pick(layer_kinds[kind]))()
  if kind == "sequences" then layer = without_softmax(layer) end
  layer.again = chance(8)
  layer.skip = chance(4) and pick(layer_kinds.merges) or nil
  return layer
end

--- A branch of a model: an input, and the layers that reduce it to rows.
local function branch(kind, max_layer_count)
  local result = inputs[kind]()
  result.layers = {}
  if kind == "words" then
    kind = "sequences"
    result.layers[1] = { pick { "Embedding", "Embedding", "ReversibleEmbedding" }, { input_dim = 20,
      output_dim = pick { 1, 3, 8 }, mask_zero = chance(2) } }
  elseif result.gaps then
    result.layers[1] = { "Masking" }
  end
  for _ = 1, math.random(max_layer_count) do table.insert(result.layers, layer_on(kind)) end
  for _, layer in ipairs(pick(layer_kinds.ends[kind])) do table.insert(result.layers, layer) end
  return result
end

--- An optimizer that suits the policy. Ftrl divides differences of roots by the learning rate,
--- which leaves no significant digits in float16 and bfloat16.
local function optimizer_for(policy)
  local optimizer = pick(optimizers)
  local has_half_weights = policy == "float16" or policy == "bfloat16"
  return optimizer[1] == "Ftrl" and has_half_weights and optimizers[1] or optimizer
end

local recipes = {}

function recipes.recipe(seed)
  math.randomseed(seed)
  local recipe = { seed = seed, samples = pick { 1, 3, 5, 8, 17, 33, 70 }, policy = pick(policies) }
  local kind = pick { "rows", "sequences", "images", "sequences", "images", "words", "volumes" }
  if kind == "images" or kind == "volumes" then recipe.samples = math.min(recipe.samples, 17) end
  recipe.branches = { branch(kind, 5) }
  if chance(4) then recipe.branches[2] = branch(pick { "rows", "sequences", "words" }, 2) end
  recipe.heads = chance(4) and 2 or 1
  recipe.units = pick { 2, 3 }
  recipe.loss = pick(losses)
  recipe.activation = last_layers[recipe.loss]
  recipe.optimizer = optimizer_for(recipe.policy)
  recipe.batch_size = pick { 1, 4, 8, 32 }
  recipe.weighted = chance(3)
  return recipe
end

--- Random values for an input: numbers, or word indices of which some sequences have zeros in the
--- last steps.
local function input(input_recipe, n, seed)
  local shape = { n, table.unpack(input_recipe.shape) }
  if input_recipe.words then
    return ops.cast(cr.random.uniform(shape, 0, input_recipe.words, "float32", seed), "int32")
  end
  local x = cr.random.normal(shape, 0, 1, "float32", seed)
  if not input_recipe.gaps then return x end
  local lengths = cr.random.uniform({ n, 1, 1 }, 1, input_recipe.shape[1] + 1, "float32", seed + 2)
  local steps = ops.reshape(ops.arange(input_recipe.shape[1], nil, nil, "float32"),
    { 1, input_recipe.shape[1], 1 })
  return x * ops.cast(ops.less(steps, lengths), "float32")
end

local function target(recipe, shape, seed)
  local classes = shape[#shape]
  shape = { recipe.samples, table.unpack(shape, 2) }
  local y = cr.random.uniform(shape, 0, 1, "float32", seed)
  if recipe.loss:find "sparse" then
    shape[#shape] = nil
    return ops.cast(cr.random.uniform(shape, 0, classes, "float32", seed), "int32")
  elseif recipe.loss:find "hinge" then
    return ops.sign(y - 0.5)
  elseif recipe.loss:find "categorical" or recipe.loss == "kl_divergence" then
    return ops.softmax(y * 3)
  end
  return y
end

--- The inputs and the targets of the loss as lists, for a model whose outputs have this shape.
function recipes.data(recipe, shape)
  local x, y = {}, {}
  for i, input_recipe in ipairs(recipe.branches) do x[i] = input(input_recipe, recipe.samples,
    recipe.seed + 10 * i) end
  for i = 1, recipe.heads do y[i] = target(recipe, shape, recipe.seed + i) end
  return x, y
end

return recipes
