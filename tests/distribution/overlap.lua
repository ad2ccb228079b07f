-- With and without op determinism, sums of gradients that processes exchange while the backward
-- pass runs have the same bits as sums that they exchange after it.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local ranks = require "ranks"

local function dense(units, activation)
  return cr.layers.Dense(units, { activation = activation })
end

local models = {}

function models.perceptron()
  return cr.Sequential { cr.Input { shape = { 150 } }, dense(200, "relu"), cr.layers.Dropout(0.2),
    dense(210, "tanh"), cr.layers.BatchNormalization { synchronized = true }, dense(90, "relu"),
    dense(1) }
end

function models.images()
  return cr.Sequential { cr.Input { shape = { 150 } }, cr.layers.Reshape { 10, 15, 1 },
    cr.layers.Conv2D(8, 3, { activation = "relu" }), cr.layers.BatchNormalization(),
    cr.layers.Conv2D(16, 3), cr.layers.Flatten(), dense(40, "relu"), dense(1) }
end

function models.recurrent()
  return cr.Sequential { cr.Input { shape = { 150 } }, cr.layers.Reshape { 10, 15 },
    cr.layers.LSTM(70, { return_sequences = true }), cr.layers.GRU(64), dense(1) }
end

--- The weights after two epochs, the last batch of which is short.
local function weights_of(name, settings, optimizer)
  settings.threads = 1
  cr.config.set_device("cpu", settings)
  cr.utils.set_random_seed(5)
  local model = models[name]()
  model:compile { optimizer = optimizer, loss = "mse" }
  local x = cr.random.normal { 500, 150 }
  model:fit(x, cr.ops.sum(x, -1, true), { batch_size = 192, epochs = 2, verbose = 0 })
  local flat = {}
  for _, weight in ipairs(model:get_weights()) do flat[#flat + 1] = weight:reshape { -1 } end
  return cr.ops.concatenate(flat, -1):totable()
end

if ranks.started then
  for _, name in ipairs { "images", "perceptron", "recurrent" } do
    for _, optimizer in ipairs { "sgd", "adam" } do
      for _, deterministic in ipairs { false, true } do
        local function weights(overlap)
          return weights_of(name, { deterministic = deterministic, overlap = overlap }, optimizer)
        end
        local weights_behind, weights_during = weights(false), weights(true)
        assert(#weights_behind == #weights_during)
        for i = 1, #weights_behind do
          assert(weights_behind[i] == weights_during[i], name .. ": number " .. i .. " differs")
        end
      end
    end
  end
  return
end

for count = 1, 4 do
  local ok, text = ranks.start(count, "all")
  assert(ok, text)
  print(count .. " processes: the same bits")
end
