-- The state of a model as tables, its configurations of compile and build, and limits of its runs.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
cr.utils.set_random_seed(3)

local function make_model()
  local model = cr.Sequential { cr.Input { shape = { 3 } }, layers.Dense(2, { name = "first" }),
    layers.BatchNormalization { name = "norm" }, layers.Dropout(0.5, { name = "drop" }),
    layers.Dropout(0.5, { name = "drop_too" }), layers.Dense(1, { name = "last" }) }
  model:compile { optimizer = "adam", loss = "mse", metrics = { "mae" } }
  return model
end
local x, y = cr.random.normal { 8, 3 }, cr.random.normal { 8, 1 }
local model = make_model()
model:fit(x, y, { verbose = 0, batch_size = 4 })

do -- the state tree has the values of all variables, and can set them
  local tree = model:get_state_tree()
  check.near(tree.trainable_variables.first.kernel, model.layers[1].kernel, 0)
  check.near(tree.non_trainable_variables.norm.moving_mean, model.layers[2].moving_mean, 0)
  assert(tree.non_trainable_variables.drop.seed_generator.seed_generator_state)
  assert(tree.non_trainable_variables.drop_too.seed_generator.seed_generator_state)
  check.near(tree.metrics_variables.loss.total, model.metrics[1].variables[1], 0)
  local tensor_count = 0
  local function count_tensors(t)
    for _, value in pairs(t) do
      if type(value) == "table" then count_tensors(value) else tensor_count = tensor_count + 1 end
    end
  end
  count_tensors(tree)
  check.same(tensor_count, #model.variables + #model.optimizer.variables + #model.metrics_variables)

  local other_model = make_model()
  other_model:fit(x, y, { verbose = 0, batch_size = 4, epochs = 2 })
  other_model:set_state_tree(tree)
  check.near(other_model:predict(x), model:predict(x), 0)
  -- both models continue training with the same random numbers
  local function next_loss(m) return m:train_on_batch(x, y)[1] end
  check.near(next_loss(other_model), next_loss(model), 1e-6)
  check.near(other_model:predict(x), model:predict(x), 1e-6)
  -- the tree has copies of the values, which training did not change
  check.near(tree.optimizer_variables.iterations or 2, 2, 0)

  local kernel = other_model.layers[1].kernel.value:clone()
  other_model:set_state_tree { trainable_variables = { last = { bias = cr.tensor { 7 } } } }
  check.near(other_model.layers[5].bias, { 7 }, 0)
  check.near(other_model.layers[1].kernel, kernel, 0)
  check.fails(function()
    other_model:set_state_tree { trainable_variables = { last = { bias = cr.tensor { 8 },
      kernal = cr.tensor { 1 } } } }
  end, "no variable 'last/kernal'", "did you mean 'last/kernel'?")
  check.near(other_model.layers[5].bias, { 7 }, 0)
  check.fails(function() other_model:set_state_tree { weights = {} } end,
    "Unknown variable name: weights")
  check.fails(function() model:get_state_tree "list" end, "Invalid `value_format` argument",
    "value_format=list")
end

do -- compile_from_config compiles a model as another model was compiled
  local config = model:get_compile_config()
  check.same(config.loss, "mse")
  local other_model = make_model()
  other_model:compile { optimizer = "sgd", loss = "mae" }
  other_model:compile_from_config(config)
  check.same(other_model.optimizer.class_name, "Adam")
  assert(other_model.optimizer.built)
  check.same(other_model.metrics_names, model.metrics_names)
  check.same(cr.Sequential():get_compile_config(), {})
end

do -- build_from_config builds a layer as another layer was built
  local dense = layers.Dense(2)
  check.same(dense:get_build_config(), nil)
  dense(cr.zeros { 4, 3 })
  local copy = layers.Dense(2)
  copy:build_from_config(dense:get_build_config())
  check.same(copy.kernel.shape, { 3, 2 })
  check.fails(function() layers.Dense(2):build_from_config { shape = { 3 } } end, "input_shape")
end

do -- callbacks end evaluate and predict
  local batch_count = 0
  local StoppingCallback = cr.callbacks.Callback:subclass "Stopping"
  function StoppingCallback:on_test_batch_end(batch)
    batch_count = batch + 1
    self.model.stop_evaluating = batch == 1
  end
  function StoppingCallback:on_predict_batch_end(batch) self.model.stop_predicting = batch == 1 end
  model:evaluate(x, y, { batch_size = 2, verbose = 0, callbacks = { StoppingCallback() } })
  check.same(batch_count, 2)
  check.same(model.stop_evaluating, true)
  model:evaluate(x, y, { batch_size = 2, verbose = 0 })
  check.same(model.stop_evaluating, false)
  local all_predictions = model:predict(x)
  local first_predictions = model:predict(x, { batch_size = 2, callbacks = { StoppingCallback() } })
  check.near(first_predictions, all_predictions:slice(1, 4), 1e-6)
  check.same(model:predict(x, { batch_size = 2 }).shape, { 8, 1 })
end

do -- limits of epochs and steps that apply to every run
  cr.config.set_max_epochs(2)
  cr.config.set_max_steps_per_epoch(3)
  check.same(cr.config.max_epochs(), 2)
  check.same(cr.config.max_steps_per_epoch(), 3)
  local batch_count = 0
  local CountingCallback = cr.callbacks.Callback:subclass "Counting"
  function CountingCallback:on_train_batch_end() batch_count = batch_count + 1 end
  local history = model:fit(x, y, { epochs = 5, batch_size = 2, verbose = 0,
    callbacks = { CountingCallback() } })
  check.same(#history.epoch, 2)
  check.same(batch_count, 4)  -- 3 in the first epoch and the last 1 in the second, as in Keras
  check.same(model:predict(x, { batch_size = 2 }).shape, { 6, 1 })
  cr.config.set_max_epochs()
  cr.config.set_max_steps_per_epoch(nil)
  check.same(cr.config.max_epochs(), nil)
  check.same(#model:fit(x, y, { epochs = 3, batch_size = 2, verbose = 0 }).epoch, 3)
  check.fails(function() cr.config.set_max_epochs(0) end, "at least 1")
  local ok, text = check.run("print(cr.config.max_epochs(), cr.config.max_steps_per_epoch())",
    "KERAS_MAX_EPOCHS=4 KERAS_MAX_STEPS_PER_EPOCH=x")
  assert(ok and text:find "^4%s+nil" or text:find "KERAS_MAX_STEPS_PER_EPOCH", text)
end

do -- files of weights without some layers
  local path = check.temporary ".weights.h5"
  model:save_weights(path, { objects_to_skip = { model.layers[1], model.optimizer } })
  local other_model = make_model()
  local kernel = other_model.layers[1].kernel.value:clone()
  check.fails(function() other_model:load_weights(path) end, "first")
  other_model:load_weights(path, { objects_to_skip = { other_model.layers[1] } })
  check.near(other_model.layers[1].kernel, kernel, 0)
  check.near(other_model.layers[5].kernel, model.layers[5].kernel, 0)
  model:save_weights(path)
  other_model = make_model()
  kernel = other_model.layers[1].kernel.value:clone()
  other_model:load_weights(path, { objects_to_skip = { other_model.layers[1],
    other_model.optimizer } })
  check.near(other_model.layers[1].kernel, kernel, 0)
  check.near(other_model.layers[5].kernel, model.layers[5].kernel, 0)
  check.same(other_model.optimizer.iterations:item(), 0)
  check.fails(function() model:save_weights(path, { objects_to_skip = { "first" } }) end,
    "objects_to_skip: expected layers")
  os.remove(path)
  for _, ending in ipairs { ".h5", ".npz" } do
    path = check.temporary(ending)
    check.fails(function() model:save_weights(path, { objects_to_skip = { model.layers[1] } }) end,
      "`objects_to_skip` only supports saving '.weights.h5' files.")
    model:save_weights(path)
    check.fails(function() model:load_weights(path, { objects_to_skip = { model.layers[1] } }) end,
      "`objects_to_skip` only supports loading '.weights.h5' files.")
    os.remove(path)
  end
end

print "ok model_state"
