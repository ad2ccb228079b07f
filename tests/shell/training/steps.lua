-- Custom steps, compiled: train_step, test_step, predict_step, compute_loss and compute_metrics of
-- a class.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/training"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"

local x = cr.random.normal { 32, 3 }
local y = x:sum(-1, true)

local DenseModel = cr.Model:subclass "Usual"
function DenseModel:init() self.dense = cr.layers.Dense(1, { kernel_initializer = "ones" }) end
function DenseModel:call(inputs) return self.dense(inputs) end

local trace_count = 0
local TapeStepModel = DenseModel:subclass "Own"
function TapeStepModel:train_step(data)
  trace_count = trace_count + 1
  local inputs, targets = data[1], data.y
  local loss
  local tape = cr.GradientTape(function()
    loss = self:compute_loss(inputs, targets, self(inputs, { training = true }))
  end)
  local weights = self.trainable_weights
  self.optimizer:apply_gradients(tape:gradient(loss, weights), weights)
  for _, metric in ipairs(self.metrics) do
    if metric.name == "loss" then
      metric:update_state(loss)
    else
      metric:update_state(targets, self(inputs))
    end
  end
  return { loss = loss, twice = loss * 2 }
end

local function train_class(class, options)
  local model = class()
  model:compile { optimizer = cr.optimizers.SGD(0.1), loss = "mse",
    run_eagerly = options and options.eagerly }
  local history = model:fit(x, y, { epochs = 3, batch_size = 8, shuffle = false, verbose = 0 })
  return model, history.history
end

do -- a class's own train_step is compiled once, and gives the same as the default step
  local own_step_model, logs = train_class(TapeStepModel)
  local usual_model = train_class(DenseModel)
  check.near(own_step_model:get_weights()[1], usual_model:get_weights()[1]:totable(), 1e-6)
  assert(trace_count <= 3, "traced " .. trace_count .. " times")
  check.near(logs.twice[3], 2 * logs.loss[3])
  assert(logs.mae == nil)
  local eager_model = train_class(TapeStepModel, { eagerly = true })
  check.near(eager_model:get_weights()[1], own_step_model:get_weights()[1]:totable(), 1e-6)
  local values = own_step_model:evaluate(x, y, { return_dict = true, verbose = 0 })
  assert(values.loss and not values.twice)
  local batch_logs = own_step_model:train_on_batch(x, y)
  assert(#batch_logs == 2)
end

do -- a class can call the default step of its base
  local ExtraLogsModel = DenseModel:subclass "More"
  function ExtraLogsModel:train_step(data)
    local logs = cr.Model.train_step(self, data)
    logs.size = self.trainable_weights[1].value:square():sum()
    return logs
  end
  local model, logs = train_class(ExtraLogsModel)
  local _, usual_logs = train_class(DenseModel)
  check.near(logs.loss, usual_logs.loss, 1e-6)
  check.near(logs.size[3], model:get_weights()[1]:square():sum():item(), 1e-5)
end

do -- layers that the step builds: batches of unknown size go through a stack and through layers
  local function net_layers()
    return cr.layers.Dense(4), cr.layers.BatchNormalization(), cr.layers.Dense(1)
  end
  local function train_step(self, data)
    local loss
    local tape = cr.GradientTape(function()
      local predictions = self.net and self.net(data.x, { training = true })
        or self(data.x, { training = true })
      loss = cr.ops.mean(cr.ops.square(data.y - predictions))
    end)
    local weights = self.trainable_weights
    self.optimizer:apply_gradients(tape:gradient(loss, weights), weights)
    return { loss = loss }
  end
  local StackModel = cr.Sequential:subclass "Stack"
  StackModel.train_step = train_step
  local StackHolder = cr.Model:subclass "Holds"
  StackHolder.train_step = train_step
  function StackHolder:init() self.net = cr.Sequential { net_layers() } end
  for _, model in ipairs { StackModel { net_layers() }, StackHolder() } do
    model:compile { optimizer = cr.optimizers.SGD(0.01), loss = "mse" }
    local losses = model:fit(x, y, { epochs = 3, verbose = 0 }).history.loss
    assert(losses[3] < losses[1], cr.show(losses))
    assert(#model.weights == 8)
  end
  -- the train_step of a Sequential may compute the loss that compile was given
  local CompiledStack = cr.Sequential:subclass "Compiled"
  CompiledStack.train_step = TapeStepModel.train_step
  local model = CompiledStack { net_layers() }
  model:compile { optimizer = "sgd", loss = "mse" }
  assert(model:fit(x, y, { verbose = 0 }).history.loss[1] > 0)
end

do -- compute_loss and compute_metrics
  local WeightedLossModel = DenseModel:subclass "Weighted"
  function WeightedLossModel:compute_loss(inputs, targets, predictions, weights, training)
    return ((targets - predictions):abs() * 3):mean()
  end
  function WeightedLossModel:compute_metrics(inputs, targets, predictions)
    local logs = cr.Model.compute_metrics(self, inputs, targets, predictions)
    logs.largest = (targets - predictions):abs():max()
    return logs
  end
  local model = WeightedLossModel()
  model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae" } }
  local values = model:evaluate(x, y, { return_dict = true, verbose = 0, batch_size = 32 })
  local distance = (y - model:predict(x, { verbose = 0 })):abs()
  check.near(values.loss, 3 * distance:mean():item(), 1e-5)
  check.near(values.mae, distance:mean():item(), 1e-5)
  check.near(values.largest, distance:max():item(), 1e-5)
end

do -- a compute_loss that needs no targets trains without them; the loss of compile does need them
  local SquareModel = DenseModel:subclass "Square"
  function SquareModel:compute_loss(_, targets, predictions)
    assert(targets == nil)
    return predictions:square():mean()
  end
  local model = SquareModel()
  model:compile { optimizer = cr.optimizers.SGD(0.1), loss = "mse" }
  local losses = model:fit(x, { epochs = 3, verbose = 0, shuffle = false }).history.loss
  check.near(losses[1], x:sum(-1):square():mean():item(), 1e-5)
  assert(losses[3] < losses[2] and losses[2] < losses[1])
  local usual_model = DenseModel()
  usual_model:compile { optimizer = "sgd", loss = "mse" }
  check.fails(function() usual_model:fit(x, { verbose = 0 }) end,
    "Error when checking model target", "Expected to see 1 array(s), but instead got 0 array(s)")
end

do -- compute_loss with named arguments, of which some may be missing
  local ShortLossModel = DenseModel:subclass "Brief"
  function ShortLossModel:train_step(data)
    local loss
    local tape = cr.GradientTape(function()
      loss = self:compute_loss { y = data.y, y_pred = self(data.x, { training = true }) }
    end)
    local weights = self.trainable_weights
    self.optimizer:apply_gradients(tape:gradient(loss, weights), weights)
    return { loss = loss }
  end
  local model = train_class(DenseModel)
  check.near(train_class(ShortLossModel):get_weights()[1], model:get_weights()[1]:totable(), 1e-6)
  check.fails(function() model:compute_loss(x, nil, y) end,
    "Expected to see 1 array(s), but instead got 0 array(s)")
  check.fails(function() model:compute_loss(x, y) end, "expected y_pred for 1 outputs, got 0")
  check.fails(function() model:compute_loss() end, "expected x, y or y_pred, got none")
end

do -- outputs without a loss need no targets, but may get them
  local input = cr.Input { shape = { 3 } }
  local unused_output, used_output = cr.layers.Dense(2)(input), cr.layers.Dense(1)(input)
  local weight = cr.random.uniform { 32, 1 }
  local reference_model = cr.Model(input, used_output)
  reference_model:compile { loss = "mse" }
  local expected_losses = reference_model:evaluate(x, y, { sample_weight = weight, verbose = 0 })
  local model = cr.Model { inputs = input, outputs = { unused_output, used_output } }
  model:compile { loss = { false, "mse" } }
  local function evaluated_loss(targets, weights)
    local values = model:evaluate(x, targets, { sample_weight = weights, verbose = 0 })
    return type(values) == "table" and values[1] or values
  end
  check.near(evaluated_loss(y, weight), expected_losses)
  check.near(evaluated_loss({ cr.zeros { 32, 2 }, y }), reference_model:evaluate(x, y,
    { verbose = 0 }))
  model:fit(x, y, { verbose = 0, validation_data = { x, y } })
  check.fails(function() evaluated_loss { y, y, y } end, "Expected to see 2 array(s)", "got 3")
end

do -- predict_step and test_step
  local ClippedModel = DenseModel:subclass "Clipped"
  function ClippedModel:predict_step(inputs) return self(inputs):maximum(0) end
  function ClippedModel:test_step(data) return { worst = (data.y - self(data.x)):abs():max() } end
  local model = ClippedModel()
  model:compile { loss = "mse" }
  assert(model:predict(x, { verbose = 0 }):min():item() == 0)
  assert(model:evaluate(x, y, { verbose = 0, return_dict = true }).worst)
  local history = model:fit(x, y, { verbose = 0, validation_data = { x, y } })
  assert(history.history.val_worst and history.history.loss)
end

do -- a model class without call: two parts, each with its own optimizer
  local GanModel = cr.Model:subclass "Gan"
  function GanModel:init()
    self.generator = cr.Sequential { cr.layers.Dense(4, { activation = "relu" }),
      cr.layers.Dense(3) }
    self.critic = cr.Sequential { cr.layers.Dense(4, { activation = "relu" }), cr.layers.Dense(1) }
    self.g, self.c = cr.optimizers.Adam(0.01), cr.optimizers.Adam(0.01)
  end
  function GanModel:train_step(data)
    local real_data = data.x
    local noise = cr.ops.zeros_like(real_data) + 0.5
    local critic_loss, generator_loss
    local tape = cr.GradientTape(function()
      critic_loss = (self.critic(self.generator(noise)) - self.critic(real_data)):mean()
    end)
    self.c:apply_gradients(tape:gradient(critic_loss, self.critic.trainable_weights),
      self.critic.trainable_weights)
    tape = cr.GradientTape(function()
      generator_loss = -self.critic(self.generator(noise)):mean()
    end)
    self.g:apply_gradients(tape:gradient(generator_loss, self.generator.trainable_weights),
      self.generator.trainable_weights)
    return { critic = critic_loss, generator = generator_loss }
  end
  local gan = GanModel()
  gan:compile {}
  local history = gan:fit(x, nil, { epochs = 2, verbose = 0, batch_size = 8 })
  assert(#history.history.critic == 2 and #history.history.generator == 2)
  assert(gan.g.iterations:item() == 8 and gan.c.iterations:item() == 8)
end

-- Results have the names that their own step gave them, even if other steps were traced in between.
do
  local SampleWeightModel = DenseModel:subclass "Weighs"
  function SampleWeightModel:train_step(data)
    self(data[1])
    return data.sample_weight and { weighted = data.sample_weight:sum() } or { plain = 7.0 }
  end
  local model = SampleWeightModel()
  model:compile { optimizer = "sgd", loss = "mse" }
  local function logs_text(weights)
    local logs = model:train_on_batch(x, y, { sample_weight = weights, return_dict = true })
    return tostring(logs.plain) .. " " .. tostring(logs.weighted)
  end
  assert(logs_text() == "7.0 nil")
  assert(logs_text(cr.ones { 32 }) == "nil 32.0")
  assert(logs_text() == "7.0 nil")
end

do -- error messages for mistakes
  local NumberStepModel = DenseModel:subclass "Bad"
  function NumberStepModel:train_step(data) return 3 end
  check.fails(function() train_class(NumberStepModel) end, "train_step()",
    "expected a table of names and numbers")
  local VectorLossModel = DenseModel:subclass "Vector"
  function VectorLossModel:train_step(data) return { loss = data.y } end
  check.fails(function() train_class(VectorLossModel) end, "expected a number as 'loss'")
  local NoLossModel = DenseModel:subclass "None"
  function NoLossModel:compute_loss() end
  check.fails(function() train_class(NoLossModel) end, "compute_loss() returned nothing")
end

do -- a model whose call reads values is trained eagerly
  local DataDependentModel = cr.Model:subclass "Looks"
  function DataDependentModel:init() self.dense = cr.layers.Dense(1) end
  function DataDependentModel:call(inputs)
    return inputs:sum():item() > 0 and self.dense(inputs) or self.dense(-inputs)
  end
  local model = DataDependentModel()
  model:compile { optimizer = "sgd", loss = "mse", run_eagerly = true }
  local history = model:fit(x, y, { epochs = 2, verbose = 0 }).history
  assert(history.loss[2] < history.loss[1])
  assert(model:evaluate(x, y, { verbose = 0 }) and model:predict(x, { verbose = 0 }))
  local value_reader = DataDependentModel()
  value_reader:compile { optimizer = "sgd", loss = "mse" }
  check.fails(function() value_reader:fit(x, y, { verbose = 0 }) end, "use run_eagerly=true")
end
