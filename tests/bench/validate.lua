-- Checks a workload before it is measured: its first compiled training steps must agree with the
-- same steps executed op by op from the same weights and random numbers.
local cr = require "crescent"
local ops = cr.ops
local validate = {}

local function in_float64(x) return x:cast "float64" end
local function magnitude_of(x)
  return x.size == 0 and 0 or ops.max(ops.abs(in_float64(x))):item()
end

--- Fails unless a and b differ by at most `tolerance` of the largest magnitude.
local function compare(name, what, a, b, tolerance)
  local magnitude = magnitude_of(b)
  local difference = magnitude_of(ops.where(ops.equal(a, b), 0.0, in_float64(a) - in_float64(b)))
  if difference <= tolerance * magnitude + 1e-30 or magnitude ~= magnitude then return end
  error(("%s: %s differs from the same op by op: by %.3g, where the largest is %.3g"):format(name,
    what, difference, magnitude), 0)
end

--- The tolerance, which is larger where float16 or bfloat16 numbers are summed.
local function tolerance_for(has_16_bit_floats) return has_16_bit_floats and 0.1 or 2e-3 end

--- Compares the losses and weights after the first training steps. A weight may be off by a share
--- of the distance that training has moved it, plus a share of the largest such distance: where a
--- gradient is 0 except for rounding, the weight moves only because of rounding.
function validate.training(name, w, batch, has_16_bit_floats)
  local steps, initial_weights = 2, nil
  local x, y = w.x(batch * steps), w.y(batch * steps)
  local function train(eagerly)
    cr.random.seed(1)
    local model = w.model()
    initial_weights = initial_weights or model:get_weights()
    model:set_weights(initial_weights)
    model:compile { optimizer = w.optimizer, loss = w.loss, run_eagerly = eagerly }
    local losses = {}
    for step = 1, steps do
      local from, to = (step - 1) * batch + 1, step * batch
      losses[step] = model:train_on_batch(x:slice(from, to), y:slice(from, to))
    end
    return cr.tensor(losses, "float64"), model:get_weights()
  end
  local loss, weights = train(false)
  local eager_loss, eager_weights = train(true)
  local tolerance = tolerance_for(has_16_bit_floats)
  compare(name, "the loss of the first steps", loss, eager_loss, tolerance)
  local distances, largest_distance = {}, 0
  for i, weight in ipairs(eager_weights) do
    distances[i] = ops.norm(in_float64(weight) - in_float64(initial_weights[i])):item()
    largest_distance = math.max(largest_distance, distances[i] / math.sqrt(weight.size))
  end
  for i, weight in ipairs(weights) do
    local difference = ops.norm(in_float64(weight) - in_float64(eager_weights[i])):item()
    local tolerated_difference = 25 * tolerance * distances[i]
      + 0.05 * largest_distance * math.sqrt(weight.size)
    if not (difference <= tolerated_difference) then
      error(("%s: weight %d of shape %s goes another way than op by op: %.3g off of %.3g"):format(
        name, i, table.concat(weight.shape, "x"), difference, distances[i]), 0)
    end
  end
end

--- Compares a prediction with op-by-op execution: its first and last rows, which different code
--- paths may compute.
function validate.prediction(name, model, x, has_16_bit_floats)
  local n, rows = x.shape[1], math.min(x.shape[1], 4)
  local predicted = model:predict_on_batch(x)
  for _, from in ipairs { 1, n - rows + 1 } do
    compare(name, "the prediction", predicted:slice(from, from + rows - 1),
      model(x:slice(from, from + rows - 1)), tolerance_for(has_16_bit_floats))
  end
end

--- Compares a function of tensors with the same function in float64. The sign is ignored for
--- results that are defined up to their sign.
function validate.op(name, f, inputs)
  local float64_inputs, has_floats = {}, false
  for i, x in ipairs(inputs) do
    local is_floating = x.dtype:find "float" ~= nil
    float64_inputs[i], has_floats = is_floating and in_float64(x) or x, has_floats or is_floating
  end
  if not has_floats then return end
  local results, float64_results = table.pack(f(table.unpack(inputs))),
    table.pack(f(table.unpack(float64_inputs)))
  local has_free_sign = name:find "svd" or name:find "qr" or name:find "eigh"
  for i = 1, results.n do
    local a, b = results[i], float64_results[i]
    if has_free_sign then a, b = ops.abs(a), ops.abs(b) end
    compare(name, "result " .. i, a, b, 0.02)
  end
end

return validate
