-- Processes that share evaluations and predictions get the results of a single process, in the same
-- order.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks = require "ranks"

local Measured = cr.Layer:subclass "Measured"
function Measured:call(x)
  self:add_metric(cr.ops.mean(x), "mean")
  self:add_metric(cr.ops.square(x), "squares")
  return x
end

-- The predictions of the model, then losses and metrics of evaluate, then those of fit.
local function numbers()
  cr.utils.set_random_seed(3)
  local x = cr.random.normal { 23, 4 }
  local y = cr.ops.sum(x, 1, true)
  local model = cr.Sequential { cr.layers.Dense(5, { activation = "tanh", input_shape = { 4 } }),
    Measured(), cr.layers.Dense(1) }
  model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae" } }
  local results = model:predict(x, { batch_size = 5 }):reshape({ -1 }):totable()
  for _, value in ipairs(model:predict(x:slice({ 1, 1 }, { 2, 4 })):reshape({ -1 }):totable()) do
    results[#results + 1] = value
  end
  local logs = model:evaluate(x, y, { batch_size = 6, verbose = 0, return_dict = true })
  for _, name in ipairs { "loss", "mae", "mean", "squares" } do
    results[#results + 1] = logs[name]
  end
  local history = model:fit(x, y, { batch_size = 10, epochs = 2, verbose = 0 }).history
  for _, name in ipairs { "loss", "mae", "mean", "squares" } do
    results[#results + 1] = history[name][2]
  end
  return results
end

if ranks.started then
  local rank = cr.config.communicator().rank
  cr.distribution.set_distribution(cr.distribution.DataParallel { shares_inference = true })
  assert(cr.distribution.distribution().shares_inference)
  ranks.write(ranks.task, rank, "numbers", numbers())
  return
end

local expected = numbers()
for count = 2, 4 do
  local folder = ranks.folder()
  local ok, text = ranks.start(count, folder)
  assert(ok, text)
  for rank = 0, count - 1 do
    local numbers_of_rank = ranks.read(folder, rank).numbers
    assert(#numbers_of_rank == #expected, #numbers_of_rank .. " numbers, expected " .. #expected)
    for i, number in ipairs(expected) do
      assert(math.abs(numbers_of_rank[i] - number) < 1e-5 * math.max(1, math.abs(number)),
        string.format("rank %d of %d, number %d: %g for %g", rank, count, i, numbers_of_rank[i],
          number))
    end
  end
  os.execute("rm -r " .. folder)
end
print "2 to 4 processes share evaluate and predict"
