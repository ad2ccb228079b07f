-- Weights of nested models, and weight files of other models.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
cr.utils.set_random_seed(3)
local x = cr.random.normal { 5, 3 }

-- In an .h5 file the weights of a nested model are stored by name, those of frozen layers last.
local function nested_model(frozen_name, depth)
  local i = cr.Input { shape = { 3 } }
  local a, b = layers.Dense(3, { name = "a" }), layers.Dense(3, { name = "b" })
  local inner_model = cr.Model { inputs = i, outputs = b(a(i)), name = "inner" }
  for level = 2, depth do
    local j = cr.Input { shape = { 3 } }
    local first = layers.Dense(3, { name = "a" })
    inner_model = cr.Model { inputs = j, outputs = inner_model(first(j)), name = "inner_" .. level }
  end
  if frozen_name == "a" then
    a.trainable = false
  elseif frozen_name == "b" then
    b.trainable = false
  end
  local o = cr.Input { shape = { 3 } }
  return cr.Model { inputs = o, outputs = layers.Dense(2, { name = "c" })(inner_model(o)) }
end
for depth = 1, 3 do
  for _, saved_frozen in ipairs { "a", "b", "none" } do
    for _, loaded_frozen in ipairs { "a", "b", "none" } do
      local saved_model, loaded_model = nested_model(saved_frozen, depth),
        nested_model(loaded_frozen, depth)
      for _, save_method in ipairs { saved_model.save_weights, saved_model.save } do
        for _, options in ipairs { {}, { by_name = true }, { skip_mismatch = true } } do
          local path = check.temporary ".h5"
          save_method(saved_model, path)
          loaded_model:load_weights(path, options)
          os.remove(path)
          check.near(loaded_model:predict(x), saved_model:predict(x), 1e-6,
            saved_frozen .. " to " .. loaded_frozen)
        end
      end
    end
  end
end

-- The weight file has layers that the model does not have.
local function new_stack(...)
  local net = cr.Sequential { layers.Dense(3, { input_shape = { 3 }, name = "first" }) }
  for _, name in ipairs { ... } do
    net:add(layers.Dropout(0.5))
    net:add(layers.Dense(4, { name = name }))
  end
  return net
end
local path = check.temporary ".weights.h5"
local larger_model, smaller_model = new_stack("second", "third"), new_stack()
larger_model:save_weights(path)
local old_weights = smaller_model:get_weights()
check.fails(function() smaller_model:load_weights(path) end, "layers/dense_1 ('second')",
  "layers/dense_2 ('third')", "nothing was loaded", "skip_mismatch")
check.near(smaller_model:get_weights()[1], old_weights[1], 0)
smaller_model:load_weights(path, { skip_mismatch = true })
check.near(smaller_model:get_weights()[1], larger_model:get_weights()[1], 0)
larger_model:load_weights(path)
-- layers without weights may be missing in the file
new_stack():save_weights(path)
smaller_model:load_weights(path)
local dropout_model = cr.Sequential { layers.Dense(3, { input_shape = { 3 } }),
  layers.Dropout(0.1) }
dropout_model:save_weights(path)
smaller_model:load_weights(path)
-- a model nested in a nested model
local function model_around(inner)
  local i = cr.Input { shape = { 3 } }
  return cr.Model { inputs = i, outputs = inner(i) }
end
model_around(larger_model):save_weights(path)
check.fails(function() model_around(smaller_model):load_weights(path) end,
  "layers/sequential/layers/dense_1 ('second')")
os.remove(path)

-- errors for names in the option `rename` that the file does not have
path = check.temporary ".h5"
larger_model:save_weights(path)
check.fails(function()
  smaller_model:load_weights(path, { by_name = true, rename = { frist = "first" } })
end, "rename: the file has no 'frist'", "did you mean 'first'?", "nothing was loaded")
check.fails(function()
  smaller_model:load_weights(path, { by_name = true, rename = { first = "first",
    ["enc_*"] = "*" } })
end, "enc_*")
smaller_model:load_weights(path, { by_name = true, rename = { first = "first" } })
os.remove(path)
