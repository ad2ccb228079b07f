-- Builds the models of recipes, and collects the results of training and predicting.
local cr = require "crescent"
local ops, layers = cr.ops, cr.layers

local runs = {}

--- Converts an option of a recipe: a table such as { "Dense", { units = 3 } } becomes a layer; its
--- options may contain layers as well.
local function option_of(value)
  if type(value) ~= "table" then return value end
  if type(value[1]) == "string" and layers[value[1]] then return runs.layer(value) end
  local converted = {}
  for key, item in pairs(value) do converted[key] = option_of(item) end
  return converted
end

function runs.layer(what) return layers[what[1]](option_of(what[2] or {})) end

--- A Sequential model of the layers.
local function sequential(all)
  local model = cr.Sequential {}
  for _, what in ipairs(all) do model:add(runs.layer(what)) end
  return model
end

local call, functional

local function node(what, like)
  if what[1] == "Sequential" then return sequential(what[2]) end
  if what[1] == "Functional" then return functional(what[2], like) end
  return runs.layer(what)
end

--- Calls the layer on y, and also on the previous tensor if the layer takes two.
function call(layer, what, y, before)
  if not what.takes then return layer(y) end
  local other = what.takes == "both" and before and #before.shape == #y.shape and before or y
  return layer({ y, other }, what.causal and { use_causal_mask = true } or nil)
end

--- A Functional model of the layers, for inputs with the shape and dtype of `like`.
function functional(all, like)
  local input = cr.Input { shape = { table.unpack(like.shape, 2) }, dtype = like.dtype }
  local y = input
  for _, what in ipairs(all) do y = call(node(what, y), what, y) end
  return cr.Model { inputs = input, outputs = y }
end

local function same_shape(a, b)
  return table.concat(a.shape, ",", 2) == table.concat(b.shape, ",", 2)
end

local function branch(recipe, floats)
  local input = cr.Input { shape = recipe.shape, dtype = recipe.words and "int32" or floats }
  local y, before = input, nil
  for _, what in ipairs(recipe.layers) do
    local layer = node(what, y)
    local z = call(layer, what, y, before)
    -- Applies the same layer twice, if its output has the shape of its input.
    if what.again and same_shape(y, z) then z = call(layer, what, z, y) end
    if what.skip and before and same_shape(before, z) then z = layers[what.skip]() { before, z } end
    -- Word indices are not merged with other tensors.
    before, y = y.dtype ~= "int32" and y or nil, z
  end
  return input, y
end

local names = { "first", "second" }

--- Builds the model; its inputs have the dtype `floats`, whatever the policy.
function runs.build(recipe, floats)
  local inputs, ends, outputs = {}, {}, {}
  for i, part in ipairs(recipe.branches) do inputs[i], ends[i] = branch(part, floats) end
  local y = #ends > 1 and layers.Concatenate() (ends) or ends[1]
  for i = 1, recipe.heads do
    outputs[i] = layers.Dense { units = recipe.units, activation = recipe.activation,
      name = names[i] } (y)
  end
  return cr.Model { inputs = inputs, outputs = outputs }
end

--- The unit roundoff of computations under a policy.
function runs.unit(policy)
  return policy:find "bfloat16" and 2.0 ^ -8 or policy:find "float16" and 2.0 ^ -11 or 2.0 ^ -24
end

--- Perturbs x by random amounts up to by * (|x| + 1); if `zeros` is true, zeros stay 0.
local function perturbed(x, by, seed, zeros)
  if not x.dtype:find "float" or by == 0 then return x end
  local change = cr.random.uniform(x.shape, -1, 1, x.dtype, seed)
  if zeros then change = change * ops.cast(ops.not_equal(x, 0), x.dtype) end
  return x + change * (ops.abs(x) + 1) * by
end

local function floating(list, dtype)
  local result = {}
  for i, x in ipairs(list) do result[i] = x.dtype:find "float" and x:cast(dtype) or x end
  return result
end

local function all_moved(list, move, seed, zeros)
  local result = {}
  for i, x in ipairs(list) do
    result[i] = perturbed(x, move.by, 100 * move.seed + seed + i, zeros)
  end
  return result
end

local function one_or_all(list) return #list == 1 and list[1] or list end

local function put(found, name, value)
  for i, v in ipairs(type(value) == "table" and value or { value }) do
    found[name .. " " .. i] = v
  end
end

--- The results of training and predicting, by name. `move` has the amount by which weights and
--- inputs are perturbed, and the seed of the perturbation. Loss scaling is used only if the
--- recipe's optimizer has it, because whether a scale is too large depends on the dtype.
function runs.results(recipe, policy, eagerly, data, move)
  cr.random.seed(recipe.seed)
  cr.config.set_dtype_policy(policy)
  local floats = policy == "float64" and policy or "float32"
  local model = runs.build(recipe, floats)
  model:set_weights(all_moved(floating(data.weights, floats), move, 0))
  local x = one_or_all(all_moved(floating(data.x, floats), move, 50, true))
  local y = one_or_all(floating(data.y, floats))
  local n, found = recipe.samples, {}
  if eagerly then
    put(found, "prediction", model(x))
  else
    put(found, "prediction", model:predict(x, { batch_size = n }))
    put(found, "prediction, one at a time,", model:predict(x, { batch_size = 1 }))
    put(found, "prediction, in uneven batches,",
      model:predict(x, { batch_size = math.max(1, n - 1) }))
  end
  model:compile { optimizer = cr.optimizers[recipe.optimizer[1]](recipe.optimizer[2]),
    loss = recipe.loss, metrics = { recipe.loss:find "sparse" and "accuracy" or "mae" },
    run_eagerly = eagerly, auto_scale_loss = false }
  local history = model:fit(x, y, { batch_size = recipe.batch_size, epochs = 2, shuffle = false,
    verbose = 0, sample_weight = recipe.weighted and ops.linspace(0.5, 1.5, n) or nil })
  for name, values in pairs(history.history) do found[name] = cr.tensor(values, "float64") end
  for i, w in ipairs(model:get_weights()) do found["weight " .. i] = w end
  return found
end

return runs
