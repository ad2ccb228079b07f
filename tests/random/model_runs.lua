-- Builds models from recipes (tables that describe models), and collects the results of training
-- and predicting.
local cr = require "crescent"
local ops, layers = cr.ops, cr.layers

local runs = {}

--- Converts an option of a recipe: a table such as { "Dense", { units = 3 } } becomes a layer; its
--- options may contain layers as well.
local function converted_option(value)
  if type(value) ~= "table" then return value end
  if type(value[1]) == "string" and layers[value[1]] then return runs.layer(value) end
  local converted = {}
  for key, item in pairs(value) do converted[key] = converted_option(item) end
  return converted
end

function runs.layer(layer_recipe) return layers[layer_recipe[1]](converted_option(layer_recipe[2]
  or {})) end

--- A Sequential model of the layers.
local function sequential(layer_recipes)
  local model = cr.Sequential {}
  for _, layer_recipe in ipairs(layer_recipes) do model:add(runs.layer(layer_recipe)) end
  return model
end

local call, functional

local function layer_of(layer_recipe, sample)
  if layer_recipe[1] == "Sequential" then return sequential(layer_recipe[2]) end
  if layer_recipe[1] == "Functional" then return functional(layer_recipe[2], sample) end
  return runs.layer(layer_recipe)
end

--- Calls the layer on y, and also on the previous tensor if the layer takes two.
function call(layer, layer_recipe, y, previous)
  if not layer_recipe.takes then return layer(y) end
  local second_input = layer_recipe.takes == "both" and previous and #previous.shape == #y.shape
    and previous or y
  return layer({ y, second_input }, layer_recipe.causal and { use_causal_mask = true } or nil)
end

--- A Functional model of the layers, for inputs with the shape and dtype of `sample`.
function functional(layer_recipes, sample)
  local input = cr.Input { shape = { table.unpack(sample.shape, 2) }, dtype = sample.dtype }
  local y = input
  for _, layer_recipe in ipairs(layer_recipes) do y = call(layer_of(layer_recipe, y), layer_recipe,
    y) end
  return cr.Model { inputs = input, outputs = y }
end

local function same_shape(a, b)
  return table.concat(a.shape, ",", 2) == table.concat(b.shape, ",", 2)
end

local function branch(recipe, float_dtype)
  local input = cr.Input { shape = recipe.shape, dtype = recipe.words and "int32" or float_dtype }
  local y, previous = input, nil
  for _, layer_recipe in ipairs(recipe.layers) do
    local layer = layer_of(layer_recipe, y)
    local z = call(layer, layer_recipe, y, previous)
    -- Applies the same layer twice, if its output has the shape of its input.
    if layer_recipe.again and same_shape(y, z) then z = call(layer, layer_recipe, z, y) end
    if layer_recipe.skip and previous
      and same_shape(previous, z) then z = layers[layer_recipe.skip]() { previous, z } end
    -- Word indices are not merged with other tensors.
    previous, y = y.dtype ~= "int32" and y or nil, z
  end
  return input, y
end

local output_names = { "first", "second" }

--- Builds the model; its inputs have the dtype `float_dtype`, whatever the policy.
function runs.build(recipe, float_dtype)
  local inputs, branch_outputs, outputs = {}, {}, {}
  for i, branch_recipe in ipairs(recipe.branches) do inputs[i],
    branch_outputs[i] = branch(branch_recipe, float_dtype) end
  local y = #branch_outputs > 1 and layers.Concatenate() (branch_outputs) or branch_outputs[1]
  for i = 1, recipe.heads do
    outputs[i] = layers.Dense { units = recipe.units, activation = recipe.activation,
      name = output_names[i] } (y)
  end
  return cr.Model { inputs = inputs, outputs = outputs }
end

--- The unit roundoff of computations under a policy.
function runs.unit(policy)
  return policy:find "bfloat16" and 2.0 ^ -8 or policy:find "float16" and 2.0 ^ -11 or 2.0 ^ -24
end

--- Perturbs x by random amounts up to amount * (|x| + 1); if `keeps_zeros` is true, zeros stay 0.
local function perturbed(x, amount, seed, keeps_zeros)
  if not x.dtype:find "float" or amount == 0 then return x end
  local change = cr.random.uniform(x.shape, -1, 1, x.dtype, seed)
  if keeps_zeros then change = change * ops.cast(ops.not_equal(x, 0), x.dtype) end
  return x + change * (ops.abs(x) + 1) * amount
end

local function floating(list, dtype)
  local result = {}
  for i, x in ipairs(list) do result[i] = x.dtype:find "float" and x:cast(dtype) or x end
  return result
end

local function perturbed_list(list, perturbation, seed, keeps_zeros)
  local result = {}
  for i, x in ipairs(list) do
    result[i] = perturbed(x, perturbation.by, 100 * perturbation.seed + seed + i, keeps_zeros)
  end
  return result
end

local function single_or_list(list) return #list == 1 and list[1] or list end

local function store_result(results, name, value)
  for i, v in ipairs(type(value) == "table" and value or { value }) do
    results[name .. " " .. i] = v
  end
end

--- The results of training and predicting, by name. `perturbation` has the amount by which weights
--- and inputs are perturbed, and the seed of the perturbation. Loss scaling is used only if the
--- recipe's optimizer has it, because whether a scale is too large depends on the dtype.
function runs.results(recipe, policy, eagerly, data, perturbation)
  cr.random.seed(recipe.seed)
  cr.config.set_dtype_policy(policy)
  local float_dtype = policy == "float64" and policy or "float32"
  local model = runs.build(recipe, float_dtype)
  model:set_weights(perturbed_list(floating(data.weights, float_dtype), perturbation, 0))
  local x = single_or_list(perturbed_list(floating(data.x, float_dtype), perturbation, 50, true))
  local y = single_or_list(floating(data.y, float_dtype))
  local n, results = recipe.samples, {}
  if eagerly then
    store_result(results, "prediction", model(x))
  else
    store_result(results, "prediction", model:predict(x, { batch_size = n }))
    store_result(results, "prediction, one at a time,", model:predict(x, { batch_size = 1 }))
    store_result(results, "prediction, in uneven batches,",
      model:predict(x, { batch_size = math.max(1, n - 1) }))
  end
  model:compile { optimizer = cr.optimizers[recipe.optimizer[1]](recipe.optimizer[2]),
    loss = recipe.loss, metrics = { recipe.loss:find "sparse" and "accuracy" or "mae" },
    run_eagerly = eagerly, auto_scale_loss = false }
  local history = model:fit(x, y, { batch_size = recipe.batch_size, epochs = 2, shuffle = false,
    verbose = 0, sample_weight = recipe.weighted and ops.linspace(0.5, 1.5, n) or nil })
  for name, values in pairs(history.history) do results[name] = cr.tensor(values, "float64") end
  for i, w in ipairs(model:get_weights()) do results["weight " .. i] = w end
  return results
end

return runs
