-- Checks random models: each is trained for some batches, compiled and op by op, and predicts in
-- batches of several sizes, from the same weights. Compiled results are compared with float64; the
-- tolerance is the larger of the error of op-by-op results and the change of results when weights
-- and inputs are perturbed by a few rounding errors. Op-by-op results are compared with float64
-- only in float32. Dropout layers have seeds, so they drop the same elements in every run.
--   crescent tests/random/models.lua [--seconds S] [--seed N] [--count N] [--recipe FILE]
-- Seeds are consecutive numbers; without --seed the first is drawn from the clock. Without --count
-- and --seconds, the time is that of CRESCENT_RANDOM_PROGRAMS in seconds; without that, the run
-- ends after 600 models, for which most machines need less time, or after 60 seconds. The recipe of
-- a model with wrong results is simplified and printed; --recipe FILE checks a recipe from a file
-- again.
local cr = require "crescent"
local ops = cr.ops
local folder = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = folder .. "/?.lua;" .. package.path
local model_recipes = require "model_recipes"
local runs = require "model_runs"

local options = {}
for i = 1, #arg, 2 do
  local name = arg[i]:match "^%-%-(%l+)$"
  assert(name == "seconds" or name == "seed" or name == "count" or name == "recipe",
    "unknown option " .. arg[i] .. "; known: --seconds S, --seed N, --count N, --recipe FILE")
  local value = name == "recipe" and arg[i + 1] or tonumber(arg[i + 1])
  options[name] = assert(value, "expected a value after " .. arg[i])
end
if not options.count and not options.seconds then
  options.seconds = tonumber(os.getenv "CRESCENT_RANDOM_PROGRAMS")
  if not options.seconds then options.seconds, options.count = 60, 600 end
end
local first_seed = options.seed or math.floor(cr.utils.clock() * 1000) % 2 ^ 31 | 0

local function in_float64(x) return x:cast "float64" end
local function max_abs(x) return x.size == 0 and 0 or ops.max(ops.abs(in_float64(x))):item() end

--- For a result that only compiled runs have: the name of the float64 result to compare with.
local function base_name(name)
  local output = name:match "^prediction.* (%d+)$"
  return output and "prediction " .. output or name
end

local no_perturbation = { by = 0, seed = 0 }

--- The largest change of each result when weights and inputs are perturbed `repetitions` times, in
--- float64 and under the recipe's policy. The policy is needed too: under it, a gradient that
--- should be 0 is a rounding error, which some optimizers turn into steps of full length.
local function spread_of(recipe, data, exact, op_by_op, repetitions)
  local unit, spread = runs.unit(recipe.policy), {}
  local perturbation = recipe.policy == "float32" and 16 or 2
  for policy, unperturbed_results in pairs { float64 = exact, [recipe.policy] = op_by_op } do
    for repetition = 1, repetitions do
      local amount_and_seed = { by = perturbation * unit * (perturbation > 2 and repetition or 1),
        seed = repetition }
      for name, value in pairs(runs.results(recipe, policy, true, data, amount_and_seed)) do
        spread[name] = math.max(spread[name] or 0,
          max_abs(in_float64(value) - in_float64(unperturbed_results[name])))
      end
    end
  end
  return spread
end

--- Describes a compiled result whose error exceeds `tolerances`, or an op-by-op result whose error
--- is too large; returns nil if there is none.
local function difference(compiled, op_by_op, exact, tolerances, spread, unit)
  for name, value in pairs(compiled) do
    local deviation = max_abs(in_float64(value) - in_float64(exact[base_name(name)]))
    if not (deviation <= 8 * tolerances[base_name(name)]) then
      return ("%s is off by %.3g, where %.3g would do"):format(name, deviation,
        tolerances[base_name(name)])
    end
  end
  -- In float16 and bfloat16, probabilities near 1 and steps that loss scaling skips may change
  -- results arbitrarily, so op-by-op results are not compared.
  if unit > 1e-6 then return end
  for name, value in pairs(op_by_op) do
    local deviation, size = max_abs(in_float64(value) - in_float64(exact[name])),
      max_abs(exact[name])
    if not (deviation <= 0.02 * (size + 0.01) + 8 * spread[name]) then
      return ("op by op, %s is off by %.3g of %.3g"):format(name, deviation, size)
    end
  end
end

--- Compares the results of the model that the recipe describes with those in float64, where weights
--- and inputs are perturbed `repetitions` times to find the tolerances. Returns a description of a
--- wrong result, or nil and the reason why the model is not checked.
local function check_with(recipe, repetitions)
  cr.random.seed(recipe.seed)
  cr.config.set_dtype_policy(recipe.policy)
  local ok, model = pcall(runs.build, recipe, "float32")
  if not ok then return nil, "none" end
  local shape = recipe.heads == 1 and model.output_shape or model.output_shape[1]
  local data = { weights = model:get_weights() }
  data.x, data.y = model_recipes.data(recipe, shape)
  local exact = runs.results(recipe, "float64", true, data, no_perturbation)
  local op_by_op = runs.results(recipe, recipe.policy, true, data, no_perturbation)
  for name, value in pairs(exact) do
    -- Skips models with large results; random programs test large numbers in single ops. In 16 bits
    -- a loss may be at most 7, which is the loss of a probability of 1e-3, because the logarithm of
    -- smaller probabilities has too steep a gradient.
    local limit = not recipe.policy:find "float16" and 1e6 or name == "loss" and 7 or 1e3
    if not (max_abs(value) < limit and max_abs(op_by_op[name]) < limit) then return nil, "large" end
    -- The direction of a vector that consists of rounding errors is arbitrary, and its gradient is
    -- huge, so such recipes are skipped.
    if recipe.loss == "cosine_similarity" and name:find "^prediction" and max_abs(value) < 1e-6 then
      return nil, "large"
    end
    -- In float32, 1 - p has few digits where the probability p is nearly 1, and the gradient of its
    -- logarithm has fewer.
    if recipe.loss:find "^binary_" and recipe.activation == "sigmoid" and name:find "^prediction"
      and max_abs(value) > 1 - 1e-4 then
      return nil, "large"
    end
  end
  local unit = runs.unit(recipe.policy)
  local roundings = recipe.policy == "float32" and 32 or 4
  local spread, tolerances = spread_of(recipe, data, exact, op_by_op, repetitions), {}
  for name, value in pairs(exact) do
    local deviation = max_abs(in_float64(op_by_op[name]) - in_float64(value))
    tolerances[name] = math.max(deviation + roundings * unit * (max_abs(value) + 1e-3),
      spread[name])
  end
  local compiled = runs.results(recipe, recipe.policy, false, data, no_perturbation)
  return difference(compiled, op_by_op, exact, tolerances, spread, unit)
end

--- Checks the model that a recipe describes. Before a result counts as wrong, it is checked with
--- more perturbations: where two numbers nearly share a maximum, or a sign depends on rounding, few
--- perturbations may not show the spread.
local function check(recipe)
  local difference, reason = check_with(recipe, 2)
  if difference then difference = check_with(recipe, 40) end
  return difference, reason
end

-- ---- printing the recipes of models that fail, and simplifying them ---------------------------

local function text_of(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for i, item in ipairs(value) do parts[i] = text_of(item) end
  for key, item in pairs(value) do
    if type(key) == "string" then parts[#parts + 1] = key .. " = " .. text_of(item) end
  end
  return "{ " .. table.concat(parts, ", ") .. " }"
end

local function copy(value)
  if type(value) ~= "table" then return value end
  local result = {}
  for key, item in pairs(value) do result[key] = copy(item) end
  return result
end

--- Whether the check of the described model fails; an error counts as a failure.
local function differs(recipe)
  local ok, difference = pcall(check, recipe)
  return not ok and "an error: " .. tostring(difference) or difference
end

--- The functions that simplify the model that a recipe describes; each returns false if there is
--- nothing to simplify.
local function simplifications_of(recipe)
  local changes = {
    function(r)
      if not r.branches[2] then return false end
      r.branches[2] = nil
    end,
    function(r)
      if r.heads == 1 then return false end
      r.heads = 1
    end,
    function(r)
      if r.samples < 2 then return false end
      r.samples = r.samples // 2
    end,
    function(r)
      if r.policy == "float32" then return false end
      r.policy = "float32"
    end,
    function(r)
      if r.optimizer[1] == "SGD" then return false end
      r.optimizer = { "SGD", { learning_rate = 0.01 } }
    end,
    function(r)
      if not r.weighted then return false end
      r.weighted = false
    end,
  }
  for b, branch in ipairs(recipe.branches) do
    for i = #branch.layers, 1, -1 do
      changes[#changes + 1] = function(r)
        return #r.branches[b].layers > 1 and table.remove(r.branches[b].layers, i) and true or false
      end
      changes[#changes + 1] = function(r)
        local layer = r.branches[b].layers[i]
        if not (layer.again or layer.skip) then return false end
        layer.again, layer.skip = nil, nil
      end
    end
    for i, size in ipairs(branch.shape) do
      changes[#changes + 1] = function(r)
        if size < 2 then return false end
        r.branches[b].shape[i] = size // 2
      end
    end
  end
  return changes
end

--- Simplifies the described model (fewer layers, shorter axes, simpler training) as long as its
--- check still fails.
local function shrink(recipe, deadline)
  local has_changed = true
  while has_changed do
    has_changed = false
    for _, simplify in ipairs(simplifications_of(recipe)) do
      if cr.utils.clock() > deadline then return recipe end
      local simpler_recipe = copy(recipe)
      if simplify(simpler_recipe) ~= false and differs(simpler_recipe) then
        recipe, has_changed = simpler_recipe, true
        break
      end
    end
  end
  return recipe
end

-- ---- checking random models until the time or number is reached --------------------------------

if options.recipe then
  local difference = differs(dofile(options.recipe))
  print(difference or "no difference")
  os.exit(not difference)
end
local start, count, differing_count, skip_counts = cr.utils.clock(), 0, 0, { none = 0, large = 0 }
print(("models from seed %d on"):format(first_seed))
while count < (options.count or math.huge)
  and cr.utils.clock() - start < (options.seconds or math.huge) do
  local recipe = model_recipes.recipe(first_seed + count)
  local ok, difference, reason = pcall(check, recipe)
  if not ok then difference = "an error: " .. tostring(difference) end
  if difference then
    differing_count = differing_count + 1
    print(("seed %d: %s\nagain: crescent tests/random/models.lua --seed %d --count 1"):format(
      recipe.seed, difference, recipe.seed))
    local simplest_recipe = shrink(recipe, cr.utils.clock() + 60)
    print("-- made smaller: " .. tostring(differs(simplest_recipe)) .. "\nreturn "
      .. text_of(simplest_recipe))
  end
  if reason then skip_counts[reason] = skip_counts[reason] + 1 end
  count = count + 1
end
print(("%d models in %.0f s, %d cannot be, %d have large numbers, %d differ"):format(count,
  cr.utils.clock() - start, skip_counts.none, skip_counts.large, differing_count))
os.exit(differing_count == 0)
