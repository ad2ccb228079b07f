-- A layer shared by a model and a nested model stays one layer in files, JSON and clones.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
cr.utils.set_random_seed(3)
local x = cr.random.normal { 5, 3 }

--- The model after it was saved and loaded.
local function reloaded_model(model, ending)
  local path = check.temporary(ending)
  model:save(path)
  local loaded_model = cr.models.load_model(path)
  os.remove(path)
  return loaded_model
end

--- All ways to copy the model, by name.
local function copies(model)
  return {
    keras = reloaded_model(model, ".keras"), h5 = reloaded_model(model, ".h5"),
    json = cr.models.model_from_json(model:to_json()),
    configuration = cr.models.from_config(cr.models.clone_model(model):get_config()),
    clone = cr.models.clone_model(model),
  }
end

local function check_copies(model, weight_count)
  check.same(#model.weights, weight_count)
  for copy_kind, copy in pairs(copies(model)) do
    check.same(#copy.weights, weight_count, copy_kind)
    copy:set_weights(model:get_weights())
    check.near(copy:predict(x), model:predict(x), 1e-6, copy_kind)
    -- the gradient of the shared weight is the sum of the gradients from all its uses
    local function weights_after_step(trained_model)
      trained_model:compile { optimizer = cr.optimizers.SGD(0.01), loss = "mse" }
      trained_model:train_on_batch(x, x)
      return trained_model:get_weights()
    end
    local reference_model = cr.models.clone_model(model)
    reference_model:set_weights(model:get_weights())
    local copied_weights, expected_weights = weights_after_step(copy),
      weights_after_step(reference_model)
    for i = 1, #expected_weights do
      check.near(copied_weights[i], expected_weights[i], 1e-5, copy_kind .. " after a step")
    end
  end
end

do -- a layer of the inner model is called on its output again; both models have the same input
  local i = cr.Input { shape = { 3 } }
  local dense = layers.Dense(3, { name = "shared", bias_initializer = "ones" })
  local inner_model = cr.Model { inputs = i, outputs = dense(i), name = "inner" }
  local outer_model = cr.Model { inputs = i, outputs = dense(inner_model(i)) }
  local clone = cr.models.clone_model(outer_model)
  assert(rawequal(clone:get_layer "shared", clone:get_layer "inner":get_layer "shared"))
  for _, ending in ipairs { ".keras", ".h5" } do
    local loaded_model = reloaded_model(outer_model, ending)
    check.near(loaded_model:predict(x), outer_model:predict(x), 1e-6)
    assert(rawequal(loaded_model:get_layer "shared",
      loaded_model:get_layer "inner":get_layer "shared"), ending)
  end
  check_copies(outer_model, 2)
  -- JSON with Keras' key shared_object_id gives one shared layer, too
  local json, place_count = outer_model:to_json():gsub("crescent_shared", "shared_object_id")
  assert(place_count >= 4, "the layer and the input, at two places each")
  local reread_model = cr.models.model_from_json(json)
  check.same(#reread_model.weights, 2)
  reread_model:set_weights(outer_model:get_weights())
  check.near(reread_model:predict(x), outer_model:predict(x), 1e-6)
end

do -- a whole model used at two depths, and a layer used inside a wrapper and outside
  local i = cr.Input { shape = { 3 } }
  local stack = cr.Sequential { layers.Dense(3, { name = "a" }), layers.Dense(3), name = "s" }
  local middle_model = cr.Sequential { stack, layers.Dense(3), name = "m" }
  check_copies(cr.Model { inputs = i, outputs = stack(middle_model(stack(i))) }, 6)
  local dense = layers.Dense(3, { name = "inside" })
  local steps = layers.Reshape { 1, 3 }(i)
  local flattened = layers.Flatten()(layers.TimeDistributed(dense)(steps))
  check_copies(cr.Model { inputs = i, outputs = dense(flattened) }, 2)
end

do -- with an optimizer that has state, training continues with the same numbers
  local i = cr.Input { shape = { 3 } }
  local dense = layers.Dense(3)
  local inner_model = cr.Sequential { dense, layers.Dense(3), name = "inner" }
  local outer_model = cr.Model { inputs = i, outputs = dense(inner_model(i)) }
  outer_model:compile { optimizer = "adam", loss = "mse" }
  outer_model:fit(x, x, { epochs = 2, verbose = 0, shuffle = false })
  local loaded_models = { reloaded_model(outer_model, ".keras"),
    reloaded_model(outer_model, ".h5") }
  outer_model:fit(x, x, { epochs = 2, verbose = 0, shuffle = false })
  for _, trained_model in ipairs(loaded_models) do
    trained_model:fit(x, x, { epochs = 2, verbose = 0, shuffle = false })
    check.near(trained_model:predict(x), outer_model:predict(x), 1e-6)
  end
end
