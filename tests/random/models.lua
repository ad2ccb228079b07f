-- Random models: trained for some batches compiled and op by op, and predicted in batches of several
-- sizes, from the same weights, beside the same in float64. How far numbers may be off is what
-- op by op is off, and what results move when weights and inputs move by some roundings.
--   crescent tests/random/models.lua [--seconds S] [--seed N] [--count N] [--recipe FILE]
-- Seeds follow each other; without one it is drawn from the clock. Without a count or seconds there
-- are as many seconds as CRESCENT_RANDOM_PROGRAMS says, or 60. The recipe of a model that differs is
-- made smaller and printed; in a file it is checked again.
local cr = require "crescent"
local ops, layers = cr.ops, cr.layers
local folder = arg[0]:match "^(.*)/[^/]*$" or "."
package.path = folder .. "/?.lua;" .. package.path
local draw = require "model_recipes"

local options = { seconds = tonumber(os.getenv "CRESCENT_RANDOM_PROGRAMS") or 60 }
for i = 1, #arg, 2 do
  local name = arg[i]:match "^%-%-(%l+)$"
  assert(name == "seconds" or name == "seed" or name == "count" or name == "recipe",
    "unknown option " .. arg[i] .. "; known: --seconds S, --seed N, --count N, --recipe FILE")
  local value = name == "recipe" and arg[i + 1] or tonumber(arg[i + 1])
  options[name] = assert(value, "expected a value after " .. arg[i])
end
if options.count then options.seconds = math.huge end
local first = options.seed or math.floor(cr.utils.clock() * 1000) % 2 ^ 31 | 0

-- ---- building and running -----------------------------------------------------------------------

local unit = 2.0 ^ -24
local function wide(x) return x:cast "float64" end
local function largest(x) return x.size == 0 and 0 or ops.max(ops.abs(wide(x))):item() end

--- A layer of a recipe: { "Dense", { units = 3 } }; layers may be among its options.
local function layer_of(what)
  local given = {}
  for key, value in pairs(what[2] or {}) do
    local is_layer = type(value) == "table" and type(value[1]) == "string" and layers[value[1]]
    given[key] = is_layer and layer_of(value) or value
  end
  return layers[what[1]](given)
end

local function build(recipe)
  local input = cr.Input { shape = recipe.shape, dtype = recipe.words and "int32" or nil }
  local y, before = input, nil
  for _, what in ipairs(recipe.layers) do
    local layer = layer_of(what)
    local z = layer(y)
    if what.again then z = layer(z) end  -- one layer in two places
    if what.skip and before and table.concat(before.shape, ",", 2) == table.concat(z.shape, ",", 2) then
      z = layers[what.skip]() { before, z }
    end
    before, y = y, z
  end
  return cr.Model { inputs = input, outputs = y }
end

--- By roundings of x and of 1: what is 0 meets numbers of that size.
local function moved(x, roundings, seed)
  if not x.dtype:find "float" or roundings == 0 then return x end
  local by = cr.random.uniform(x.shape, -1, 1, x.dtype, seed)
  return x + by * (ops.abs(x) + 1) * (roundings * unit)
end

--- What training and predicting give: numbers by name.
local function results(recipe, policy, eagerly, weights, x, y, roundings)
  cr.config.set_dtype_policy(policy)
  local model = build(recipe)
  local start = {}
  for i, w in ipairs(weights) do start[i] = moved(w, roundings, 100 * roundings + i) end
  model:set_weights(start)
  x = recipe.words and x or moved(x:cast(policy), roundings, 100 * roundings)
  y = recipe.loss:find "sparse" and y or y:cast(policy)
  local n, found = x.shape[1], {}
  if eagerly then
    found["prediction"] = model(x)
  else
    found["prediction"] = model:predict(x, { batch_size = n })
    found["prediction, one at a time"] = model:predict(x, { batch_size = 1 })
    found["prediction, in uneven batches"] = model:predict(x, { batch_size = math.max(1, n - 1) })
  end
  model:compile { optimizer = cr.optimizers[recipe.optimizer[1]](recipe.optimizer[2]),
    loss = recipe.loss, metrics = { recipe.loss:find "sparse" and "accuracy" or "mae" },
    run_eagerly = eagerly }
  local history = model:fit(x, y, { batch_size = recipe.batch_size, epochs = 2, shuffle = false,
    verbose = 0, sample_weight = recipe.weighted and ops.linspace(0.5, 1.5, n) or nil })
  for name, values in pairs(history.history) do found[name] = cr.tensor(values, "float64") end
  for i, w in ipairs(model:get_weights()) do found["weight " .. i] = w end
  return found
end

--- The exact counterpart of a number that only compiled runs have.
local function base(name) return name:match "^prediction" or name end

--- What differs when everything was moved by roundings `turns` times.
local function check_with(recipe, turns)
  cr.random.seed(recipe.seed)
  cr.config.set_dtype_policy "float32"
  local ok, model = pcall(build, recipe)
  if not ok then return nil, "none" end
  local x, y = draw.data(recipe, model.output_shape)
  local weights = model:get_weights()
  local exact = results(recipe, "float64", true, weights, x, y, 0)
  local once = results(recipe, "float32", true, weights, x, y, 0)
  local room, spread = {}, {}  -- spread: how far results move when everything else does
  for name, value in pairs(exact) do
    -- What float32 cannot hold op by op: random programs tell whether an op itself is right there.
    if not (largest(value) < 1e6 and largest(once[name]) < 1e6) then return nil, "large" end
    room[name] = largest(wide(once[name]) - wide(value)) + 32 * unit * (largest(value) + 1e-3)
    spread[name] = 0
  end
  -- In float32 as well: a gradient that would be 0 is nothing but rounding there, and some optimizers
  -- make steps of their full length of it.
  for policy, still in pairs { float64 = exact, float32 = once } do
    for turn = 1, turns do
      for name, value in pairs(results(recipe, policy, true, weights, x, y, 16 * turn)) do
        spread[name] = math.max(spread[name], largest(wide(value) - wide(still[name])))
      end
    end
  end
  for name, value in pairs(spread) do room[name] = math.max(room[name], value) end
  local compiled = results(recipe, "float32", false, weights, x, y, 0)
  for name, value in pairs(compiled) do
    local off = largest(wide(value) - wide(exact[base(name)]))
    if not (off <= 8 * room[base(name)]) then
      return ("%s is off by %.3g, where %.3g would do"):format(name, off, room[base(name)])
    end
  end
  for name, value in pairs(once) do
    local off, size = largest(wide(value) - wide(exact[name])), largest(exact[name])
    if not (off <= 0.02 * (size + 0.01) + 8 * spread[name]) then
      return ("op by op, %s is off by %.3g of %.3g"):format(name, off, size)
    end
  end
end

--- The same, tried more often before a number counts as wrong: where a maximum is nearly reached twice,
--- or a sign hangs on a rounding, few movements show it.
local function check(recipe)
  local what, why = check_with(recipe, 2)
  if what then what = check_with(recipe, 40) end
  return what, why
end

-- ---- what differs -------------------------------------------------------------------------------

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
  local all = {}
  for key, item in pairs(value) do all[key] = copy(item) end
  return all
end

--- A check that ends with an error differs as well.
local function differs(recipe)
  local ok, what = pcall(check, recipe)
  return not ok and "an error: " .. tostring(what) or what
end

--- Fewer layers, shorter axes, simpler training, as long as it differs.
local function shrink(recipe, deadline)
  local smaller = true
  local function try(change)
    if cr.utils.clock() > deadline then return end
    local other = copy(recipe)
    if change(other) ~= false and differs(other) then recipe, smaller = other, true end
  end
  while smaller and cr.utils.clock() < deadline do
    smaller = false
    for i = #recipe.layers, 1, -1 do
      try(function(r) return #r.layers > 1 and table.remove(r.layers, i) and true or false end)
    end
    for i = 1, #recipe.layers do
      try(function(r)
        if not (r.layers[i].again or r.layers[i].skip) then return false end
        r.layers[i].again, r.layers[i].skip = nil, nil
      end)
    end
    for i = 1, #recipe.shape do
      try(function(r)
        if r.shape[i] < 2 then return false end
        r.shape[i] = r.shape[i] // 2
      end)
    end
    try(function(r)
      if r.samples < 2 then return false end
      r.samples = r.samples // 2
    end)
    try(function(r)
      if r.optimizer[1] == "SGD" then return false end
      r.optimizer = { "SGD", { learning_rate = 0.01 } }
    end)
    try(function(r)
      if not r.weighted then return false end
      r.weighted = false
    end)
  end
  return recipe
end

-- ---- all of them --------------------------------------------------------------------------------

if options.recipe then
  local what = differs(dofile(options.recipe))
  print(what or "no difference")
  os.exit(not what)
end
local start, count, wrong, left_out = cr.utils.clock(), 0, 0, 0
print(("models from seed %d on"):format(first))
while count < (options.count or math.huge) and cr.utils.clock() - start < options.seconds do
  local recipe = draw.recipe(first + count)
  local ok, what, why = pcall(check, recipe)
  if not ok then what = "an error: " .. tostring(what) end
  if what then
    wrong = wrong + 1
    print(("seed %d: %s\nagain: crescent tests/random/models.lua --seed %d --count 1"):format(
      recipe.seed, what, recipe.seed))
    local small = shrink(recipe, cr.utils.clock() + 60)
    print("-- made smaller: " .. tostring(differs(small)) .. "\nreturn " .. text_of(small))
  end
  if why then left_out = left_out + 1 end
  count = count + 1
end
print(("%d models in %.0f s, %d left out, %d differ"):format(count, cr.utils.clock() - start, left_out,
  wrong))
os.exit(wrong == 0)
