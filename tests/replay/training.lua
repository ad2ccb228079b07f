-- A small training that is drawn by a seed and recorded.
--   crescent training.lua SEED FOLDER [STEP]
--
-- With STEP, a bit of a weight flips after that step, before it is recorded; the name of the weight
-- is printed.
local seed, folder, flipped_step = tonumber(arg[1]), arg[2], tonumber(arg[3])
math.randomseed(seed)

local function one_of(...) return select(math.random(select("#", ...)), ...) end
local function chance(share) return math.random() < share end

--- A layer in Lua with a state that is not trained and a random draw.
local Scaled = cr.layers.Layer:subclass "Scaled"
function Scaled:build()
  self.calls = self:add_weight { name = "calls", shape = {}, initializer = "zeros",
    trainable = false }
end
function Scaled:call(inputs)
  self.calls:assign(self.calls + 1)
  return inputs * (1 + self.calls * 0.001) + cr.random.normal({ 1 }, 0, 0.01)
end

local function layers_of(width)
  local layers = { cr.layers.Dense(math.random(2, 9),
    { activation = one_of("relu", "tanh"), input_shape = { width } }) }
  if chance(0.5) then table.insert(layers, cr.layers.BatchNormalization()) end
  if chance(0.5) then table.insert(layers, cr.layers.Dropout(0.3)) end
  if chance(0.3) then table.insert(layers, cr.layers.GaussianNoise(0.1)) end
  if chance(0.3) then
    table.insert(layers, cr.layers.Reshape { -1, 1 })
    table.insert(layers, cr.layers.GRU(3))
  end
  if chance(0.2) then table.insert(layers, Scaled()) end
  table.insert(layers, cr.layers.Dense(1))
  return layers
end

local function optimizer_of()
  local options = { learning_rate = 0.01 }
  if chance(0.3) then options.gradient_accumulation_steps = math.random(2, 3) end
  if chance(0.2) then options.use_ema = true end
  if chance(0.2) then options.clipnorm = 1.0 end
  return one_of(cr.optimizers.Adam, cr.optimizers.SGD, cr.optimizers.RMSprop,
    cr.optimizers.Nadam)(options)
end

--- The data in one of the ways in which fit takes them, and the options that belong to it.
local function data_of(x, y, batch_size)
  local options = { batch_size = batch_size, shuffle = one_of(true, true, "batch", false) }
  local training_method = math.random(8)
  if training_method == 1 then
    return { cr.data.dataset(x, y, { batch_size = batch_size, shuffle = true }) }, {}
  end
  if training_method == 2 then
    return { cr.data.from_tensor_slices({ x, y }):shuffle(16):batch(batch_size) }, {}
  end
  if training_method == 3 then
    options.sample_weight = cr.ops.abs(cr.random.normal { x.shape[1] })
  elseif training_method == 4 then
    options.validation_split = 0.25
  elseif training_method == 5 then
    return { cr.data.from_tensor_slices({ x, y }):shuffle(16):batch(batch_size):repeated() },
      { steps_per_epoch = math.random(2, 5) }
  elseif training_method == 6 then
    local function batches()
      return coroutine.wrap(function()
        for first = 1, x.shape[1], batch_size do
          local last = math.min(first + batch_size - 1, x.shape[1])
          coroutine.yield(x:slice(first, last), y:slice(first, last))
        end
      end)
    end
    return { cr.data.from_generator(batches) }, {}
  end
  return { x, y }, options
end

cr.utils.set_random_seed(seed)
if chance(0.4) then cr.config.enable_op_determinism() end
if chance(0.3) then cr.config.set_dtype_policy "mixed_float16" end
local rows, width, batch_size = math.random(20, 90), math.random(2, 12), math.random(4, 24)
local x = cr.random.normal { rows, width }
local model = cr.Sequential(layers_of(width))
model:compile { optimizer = optimizer_of(), loss = "mse",
  metrics = one_of({}, { "mae" }, { "mae", "mse" }), run_eagerly = chance(0.2) }
local arguments, options = data_of(x, cr.ops.sum(x, 1, true), batch_size)
options.epochs, options.verbose = math.random(1, 4), 0

--- Flips a bit of a random element: the lowest bit, or the lowest bit of the exponent if the
--- element is 0, because numbers below 1e-38 count as zero.
local Flip = cr.callbacks.Callback:subclass "Flip"
local step = 0
function Flip:on_train_batch_end()
  step = step + 1
  if step ~= flipped_step then return end
  local weights = self.model.weights
  local weight = weights[math.random(#weights)]
  local values = weight.value:reshape({ -1 }):totable()
  local element = math.random(#values)
  local bits = string.unpack("<I4", string.pack("<f", values[element]))
  bits = bits ~ (values[element] == 0 and 1 << 23 or 1)
  values[element] = string.unpack("<f", string.pack("<I4", bits))
  weight:assign(cr.tensor(values):reshape(weight.shape))
  print(weight.path)
end

options.callbacks = { Flip(),
  cr.callbacks.ReplayRecorder(folder, { save_freq = math.random(1, 9) }) }
if options.validation_split and chance(0.5) then
  table.insert(options.callbacks, cr.callbacks.ReduceLROnPlateau { patience = 0, min_delta = 10.0 })
end
table.insert(arguments, options)
local training_method = math.random(3)
if training_method == 1 then
  model:fit_async(table.unpack(arguments)):wait()
elseif training_method == 2 then
  local run = model:start_training(table.unpack(arguments))
  run:advance(3)
  run:finish()
else
  model:fit(table.unpack(arguments))
end
