-- Trains a model of the kind that SEED selects. The process can be killed; another process, started
-- with the same FOLDER, resumes the training.
--   crescent models.lua SEED FOLDER OFFSET [KILLED_AFTER]
--
-- OFFSET is added to the seed of initial weights and random numbers: the result of a resumed
-- training must not depend on it.
package.path = arg[0]:match "^(.*)/" .. "/?.lua;" .. package.path
local outcome = require "outcome"
local seed, folder, offset = tonumber(arg[1]), arg[2], tonumber(arg[3])
math.randomseed(seed)
local layers, callbacks, optimizers, ops = cr.layers, cr.callbacks, cr.optimizers, cr.ops

local function one_of(...) return (select(math.random(select("#", ...)), ...)) end
local function chance(share) return math.random() < share end

local generator = cr.random.SeedGenerator(seed)
local x = cr.random.normal({ 40, 4 }, 0, 1, { seed = generator })
local y = ops.sum(x, 1, true)
cr.utils.set_random_seed(seed + offset)

local function make_metrics() return { "mae", cr.metrics.R2Score() } end

local function make_stack(first)
  return cr.Sequential { layers.Dense(6, first), layers.Dropout(0.3), layers.Dense(1) }
end

local function make_plain_stack()
  return make_stack { activation = "relu", input_shape = { 4 } }
end

local function compiled(model, optimizer)
  model:compile { optimizer = optimizer or "adam", loss = "mse", metrics = make_metrics() }
  return model
end

-- ---- model classes that are written in Lua

--- A model with its own train_step, which updates a metric of the model.
local Measured = cr.Model:subclass "Measured"
function Measured:init()
  self.body = make_stack { activation = "tanh" }
  self.seen = cr.metrics.R2Score { name = "seen" }
end
function Measured:call(inputs) return self.body(inputs) end
function Measured:train_step(data)
  local loss, predicted
  local tape = cr.GradientTape(function()
    predicted = self(data.x, { training = true })
    loss = self:compute_loss(data.x, data.y, predicted)
  end)
  local weights = self.trainable_weights
  self.optimizer:apply_gradients(tape:gradient(loss, weights), weights)
  self.seen:update_state(data.y, predicted)
  return { loss = loss, seen = self.seen:result() }
end

--- A model that is never called as a whole, with two optimizers.
local Rivals = cr.Model:subclass "Rivals"
function Rivals:init()
  self.maker, self.judge = make_stack { activation = "tanh" }, make_stack { activation = "tanh" }
  self.judge_optimizer = optimizers.Adam(0.02)
  self.judged = cr.metrics.Mean { name = "judged" }
end
function Rivals:judgement(inputs) return ops.mean(self.judge(inputs, { training = true })) end
function Rivals:improve(optimizer, part, loss_of)
  local loss
  local tape = cr.GradientTape(function() loss = loss_of() end)
  local weights = part.trainable_weights
  optimizer:apply_gradients(tape:gradient(loss, weights), weights)
  return loss
end
function Rivals:train_step(data)
  local noise = cr.random.normal { 8, 3 }
  local values = data.x:slice({ 1, 1 }, { -1, 1 })
  local loss = self:improve(self.judge_optimizer, self.judge, function()
    return self:judgement(values) - self:judgement(self.maker(noise, { training = true }))
  end)
  local maker_loss = self:improve(self.optimizer, self.maker, function()
    return self:judgement(self.maker(noise, { training = true }))
  end)
  self.judged:update_state(maker_loss)
  return { loss = loss, maker_loss = maker_loss, judged = self.judged:result() }
end

--- A model whose input shape is known only when it gets data.
local Late = cr.Model:subclass "Late"
function Late:init() self.first, self.last = layers.Dense(5), layers.Dense(1) end
function Late:call(inputs)
  local hidden = self.first(inputs)
  self:add_metric(ops.mean(hidden), "hidden")
  self:add_loss(ops.mean(hidden * hidden) * 0.1)
  return self.last(hidden)
end

-- ---- the kinds: each gives a compiled model, the data, and options of fit

local model_kinds = {}

function model_kinds.own_step()
  local model = Measured()
  model:compile { optimizer = "adam", loss = "mse", run_eagerly = chance(0.4) }
  return model
end

function model_kinds.rivals()
  local model = Rivals()
  model:compile { optimizer = "adam", run_eagerly = chance(0.3) }
  return model, { x }
end

function model_kinds.late()
  local model = Late()
  model:compile { optimizer = "adam", loss = "mse", metrics = make_metrics(),
    run_eagerly = chance(0.4) }
  return model
end

function model_kinds.several_outputs()
  local input = layers.Input { shape = { 4 } }
  local hidden = layers.Dropout(0.1)(layers.Dense(6, { activation = "relu" })(input))
  local model = cr.Model(input, { layers.Dense(1, { name = "one" })(hidden),
    layers.Dense(1, { name = "two" })(hidden) })
  model:compile { optimizer = "rmsprop", loss = { "mse", "mae" }, loss_weights = { 1, 0.5 },
    metrics = { one = make_metrics(), two = { "mae" } } }
  return model, { x, { y, y * 2 } }
end

function model_kinds.several_optimizers()
  local model = make_plain_stack()
  local momentum = optimizers.SGD { learning_rate = 0.01, momentum = 0.9 }
  return compiled(model, optimizers.MultiOptimizer(optimizers.OptimizerMap(optimizers.Adam(0.01),
    { optimizer_map = { [".*bias"] = momentum } })))
end

function model_kinds.interleaved()
  local parts = cr.data.from_tensor_slices { cr.tensor({ 0, 1, 2, 3 }, "int32") }
  local data = parts:interleave(function(part)
    local first = part:item() * 10 + 1
    return cr.data.from_tensor_slices({ x:slice(first, first + 9), y:slice(first, first + 9) })
      :shuffle(5)
  end, { cycle_length = 2 })
  return compiled(make_plain_stack()), { data:batch(8) }, {}
end

function model_kinds.drawn_data()
  local data = cr.data.from_generator(function()
    return coroutine.wrap(function()
      for _ = 1, 5 do
        local inputs = cr.random.normal { 8, 4 }
        coroutine.yield(inputs, ops.sum(inputs, 1, true))
      end
    end)
  end)
  return compiled(make_plain_stack()), { data }, {}
end

function model_kinds.trained_before()
  local model = compiled(make_plain_stack())
  model:fit(x, y, { epochs = 1, verbose = 0 })
  return model
end

function model_kinds.swapped_averages()
  local optimizer = optimizers.Adam { use_ema = true, ema_momentum = 0.9 }
  return compiled(make_plain_stack(), optimizer), nil, { batch_size = 8,
    validation_data = { x:slice(1, 8), y:slice(1, 8) },
    callbacks = { callbacks.SwapEMAWeights { swap_on_epoch = chance(0.7) } } }
end

function model_kinds.frozen()
  local model = compiled(make_plain_stack())
  model.layers[1].trainable = false
  compiled(model):fit(x, y, { epochs = 1, verbose = 0 })
  model.layers[1].trainable = true
  return compiled(model)
end

function model_kinds.with_files()
  return compiled(make_plain_stack()), nil, { batch_size = 8, validation_split = 0.2, callbacks = {
    callbacks.ModelCheckpoint(folder .. "/best.keras", { save_best_only = true }),
    callbacks.TensorBoard(folder .. "/logs") } }
end

function model_kinds.adapted()
  local model = make_plain_stack()
  model.layers[1]:enable_lora(2)
  model.layers[3]:quantize "int8"
  return compiled(model)
end

function model_kinds.attention()
  local input = layers.Input { shape = { 5, 4 } }
  local attention_output = layers.MultiHeadAttention(2, 3, { dropout = 0.2 })(input, input)
  local model = cr.Model(input, layers.Dense(1)(layers.GlobalAveragePooling1D()(attention_output)))
  return compiled(model), { ops.stack({ x, x, x * 2, x, x }, 1), y }
end

local names = {}
for name in pairs(model_kinds) do names[#names + 1] = name end
table.sort(names)
local model, arguments, options = model_kinds[names[seed // 2 % #names + 1]]()
arguments, options = arguments or { x, y }, options or { batch_size = 8 }
options.epochs, options.verbose = 4, 0
options.callbacks = options.callbacks or {}
table.insert(options.callbacks, callbacks.BackupAndRestore(folder .. "/backup",
  { save_freq = one_of(1, 2, 3, "epoch") }))
table.insert(options.callbacks, outcome.Killer { batches = tonumber(arg[4]) or 0 })
table.insert(arguments, options)
model:fit(table.unpack(arguments))
outcome.print(model)
