-- Distributions of cr.random that are computed from uniform and normal numbers.
local cr, shell = ...
local ops = cr.ops

local random = {}

local shape_option = { name = "shape", type = "a list of integers", doc = "Shape of the result.",
  required = true }
local dtype_option = { name = "dtype", type = "a dtype", default = "float32",
  doc = "Dtype of the result." }
local seed_option = { name = "seed", type = "an integer or a SeedGenerator",
  doc = "Seed of the random numbers; nil: the global generator." }

local function number_option(name, doc)
  return { name = name, type = "a number or a tensor", doc = doc, required = true }
end

-- The generator for all random draws of one call: a new SeedGenerator if the seed is a number.
local function generator(seed)
  return math.type(seed) == "integer" and cr.random.SeedGenerator(seed) or seed
end

local function uniform(shape, seed) return cr.random.uniform(shape, { seed = seed }) end

local function define(name, doc, options, body)
  random[name] = shell.define(name .. " -> a tensor", doc, options, body)
end

-- Fails if x is a number that is not positive; the elements of tensors are not checked.
local function check_positive(name, option, x)
  if type(x) == "number" and not (x > 0) then
    shell.fail(name, ": ", option, " must be above 0, got ", cr.show(x))
  end
end

-- Draws logarithms of gamma-distributed numbers; the numbers themselves underflow for small alpha.
-- The method of Marsaglia and Tsang accepts at least 19 of 20 candidates, so twelve rounds suffice.
local function draw_log_gamma(shape, alpha, seed)
  alpha = ops.broadcast_to(ops.cast(alpha, "float32"), shape)
  local is_small = ops.less(alpha, 1)
  local d = ops.where(is_small, alpha + 1, alpha) - 1 / 3
  local c = ops.rsqrt(d * 9)
  local result, is_done = d, ops.zeros(shape, "bool")
  for _ = 1, 12 do
    local x = cr.random.normal(shape, { seed = seed })
    local v = (c * x + 1) ^ 3
    local positive_v = ops.maximum(v, 1e-30)
    local is_accepted = ops.less(ops.log(uniform(shape, seed)),
      x * x * 0.5 + d - d * v + d * ops.log(positive_v))
    is_accepted = ops.logical_and(is_accepted, ops.greater(v, 0))
    result = ops.where(ops.logical_and(is_accepted, ops.logical_not(is_done)), d * v, result)
    is_done = ops.logical_or(is_done, is_accepted)
  end
  local power = ops.where(is_small, 1 / ops.where(is_small, alpha, 1.0), 0.0)
  local min_draw = 1e-9 -- replaces the draw 0, since log(0) is infinite
  return ops.log(result) + power * ops.log(ops.maximum(uniform(shape, seed), min_draw))
end

define("gamma", "Samples of the gamma distribution with shape alpha and scale 1.", {
  shape_option, number_option("alpha",
    "Shape parameter, above 0; broadcast to the shape of the result."),
  dtype_option, seed_option,
}, function(shape, alpha, dtype, seed)
  check_positive("gamma", "alpha", alpha)
  return ops.cast(ops.exp(draw_log_gamma(shape, alpha, generator(seed))), dtype)
end)

define("beta", "Samples of the beta distribution.", {
  shape_option, number_option("alpha", "Parameter of the distribution, above 0."),
    number_option("beta", "Parameter of the distribution, above 0."), dtype_option, seed_option,
}, function(shape, alpha, beta, dtype, seed)
  check_positive("beta", "alpha", alpha)
  check_positive("beta", "beta", beta)
  seed = generator(seed)
  local a, b = draw_log_gamma(shape, alpha, seed), draw_log_gamma(shape, beta, seed)
  -- sigmoid(a - b) equals exp(a) / (exp(a) + exp(b)), in which exp(a) and exp(b) have gamma
  -- distributions.
  return ops.cast(ops.sigmoid(a - b), dtype)
end)

define("binomial", "Samples of the binomial distribution: numbers of successes.", {
  shape_option, number_option("counts", "Number of trials."), number_option("probabilities",
    "Probability of success."), dtype_option,
  seed_option,
}, function(shape, counts, probabilities, dtype, seed)
  if type(probabilities) == "number" and not (probabilities >= 0 and probabilities <= 1) then
    shell.fail("binomial: probabilities must be from 0 to 1, got ", cr.show(probabilities))
  end
  seed = generator(seed)
  counts = ops.broadcast_to(ops.cast(counts, "float32"), shape)
  probabilities = ops.broadcast_to(ops.cast(probabilities, "float32"), shape)
  local size = 1
  for _, n in ipairs(shape) do size = size * n end
  if size == 0 then return ops.zeros(shape, dtype) end
  local max_count, trials_per_round = ops.max(counts):item(), math.max(1, (1 << 20) // size)
  local sum = ops.zeros(shape)
  for first_trial = 0, max_count - 1, trials_per_round do
    local trial_count = math.tointeger(math.min(trials_per_round, max_count - first_trial))
    local draws = uniform({ trial_count, table.unpack(shape) }, seed)
    local trial_indices = ops.reshape(cr.arange(trial_count, { dtype = "float32" }) + first_trial,
      { trial_count, table.unpack(ops.ones({ #shape }, "int32"):totable()) })
    local is_success = ops.logical_and(ops.less(draws, probabilities),
      ops.less(trial_indices, counts))
    sum = sum + ops.sum(ops.cast(is_success, "float32"), 0)
  end
  return ops.cast(sum, dtype)
end)

-- The probabilities of the items as a tensor; fails unless they are at least 0 and their sum is 1.
local function checked_probabilities(p, count)
  p = ops.cast(p, "float64")
  if #p.shape ~= 1 or #p ~= count then
    shell.fail("choice: expected a probability for each of ", count, " items, got shape ",
      cr.show(p.shape))
  end
  local minimum, sum = ops.min(p):item(), ops.sum(p):item()
  if not (minimum >= 0 and math.abs(sum - 1) < 1e-6) then
    shell.fail("choice: expected probabilities of at least 0 whose sum is 1, got a least of ",
      minimum, " and a sum of ", sum)
  end
  return p
end

-- Draws `draw_count` of the indices from 0 to count - 1, with the probabilities p or with equal
-- ones.
local function sample_indices(count, draw_count, replace, p, seed)
  if not replace and not p then return cr.random.permutation(count, seed):slice(1, draw_count) end
  if replace and not p then return cr.random.randint({ draw_count }, 0, count, { seed = seed }) end
  if replace then
    local draws = cr.random.uniform({ draw_count }, { dtype = "float64", seed = seed })
    local cumulative_p = ops.cumsum(p)
    return ops.searchsorted(cumulative_p / cumulative_p[-1], draws, "right")
  end
  -- The Gumbel trick: indices of the largest sums of log-probability and Gumbel noise are
  -- distributed like draws without replacement.
  local noise = -ops.log(-ops.log(ops.clip(uniform({ count }, seed), 1e-20, 1 - 1e-7)))
  return select(2, ops.top_k(ops.log(ops.cast(p, "float32")) + noise, draw_count))
end

define("choice",
  "Randomly chosen items: rows of a tensor or list, or integers from 0 to a - 1.", {
  { name = "a", type = "an integer, a tensor or a list",
    doc = "The items to choose from, or an integer.",
    required = true },
  { name = "shape", type = "a list of integers", doc = "Shape of the result; nil: one item." },
  { name = "replace", type = "a boolean", default = true,
    doc = "Allow an item to be chosen several times." },
  { name = "p", type = "a tensor", doc = "Probability of each item; nil: uniform." },
  seed_option,
}, function(a, shape, replace, p, seed)
  local items = type(a) ~= "number" and cr.tensor(a) or nil
  local count = items and #items or a
  if math.type(count) ~= "integer" or count < 1 then
    shell.fail("choice: expected items to draw from, got ", cr.show(a))
  end
  if count > 0x7fffffff then
    shell.fail("choice: expected at most 2147483647 items, whose places are int32, got ", count)
  end
  shape = type(shape) == "number" and { shape } or shape or {}
  local item_count = 1
  for _, n in ipairs(shape) do item_count = item_count * n end
  if not replace and item_count > count then
    shell.fail("choice: ", item_count, " items without replacement of ", count)
  end
  p = p ~= nil and checked_probabilities(p, count) or nil
  if p and not replace and ops.sum(ops.greater(p, 0)):item() < item_count then
    shell.fail("choice: ", item_count,
      " items without replacement, fewer have a probability above 0")
  end
  local indices = ops.cast(sample_indices(count, item_count, replace, p, generator(seed)), "int32")
  indices = ops.reshape(indices, shape)
  return items and ops.take(items, indices, 0) or indices
end)

define("categorical",
  "Class numbers drawn by unnormalized log probabilities: (batch, classes) -> (batch, "
    .. "num_samples).", {
  { name = "logits", type = "a tensor", doc = "Log probabilities, one row for each draw.",
    required = true },
  { name = "num_samples", type = "an integer", doc = "Number of samples of each row.",
    required = true },
  { name = "dtype", type = "a dtype", default = "int32",
    doc = "Dtype of the result." }, seed_option,
}, function(logits, num_samples, dtype, seed)
  logits = ops.cast(logits, "float32")
  if #logits.shape ~= 2 then
    shell.fail("categorical: expected logits of shape (batch, classes), got ",
      cr.show(logits.shape))
  end
  local draws = uniform({ logits.shape[1], num_samples, logits.shape[2] }, generator(seed))
  local noise = -ops.log(-ops.log(ops.clip(draws, 1e-20, 1 - 1e-7)))
  return ops.cast(ops.argmax(ops.expand_dims(logits, 1) + noise, -1), dtype)
end)

define("dropout",
  "Sets a random fraction of the elements to 0 and scales the others so that the expected sum "
    .. "stays the same.", {
  { name = "inputs", type = "a tensor", doc = "The tensor.", required = true },
  { name = "rate", type = "a number", doc = "Fraction of elements to drop, from 0 to 1.",
    required = true },
  { name = "noise_shape", type = "a list of integers",
    doc = "Shape of the random mask, broadcast to the inputs: along axes of size 1 all elements "
      .. "are dropped together." },
  seed_option,
}, function(inputs, rate, noise_shape, seed)
  if not (type(rate) == "number" and rate >= 0 and rate <= 1) then
    shell.fail("dropout: expected a rate from 0 to 1, got ", cr.show(rate))
  end
  inputs = ops.convert_to_tensor(inputs)
  if rate == 0 then return inputs end
  if rate == 1 then return ops.zeros_like(inputs) end
  local is_kept = ops.greater_equal(uniform(noise_shape or inputs.shape, generator(seed)), rate)
  return ops.where(is_kept, inputs / (1 - rate), 0.0)
end)

return random
