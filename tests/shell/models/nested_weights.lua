-- Weights of nested models, and weight files of other models.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
cr.utils.set_random_seed(3)
local x = cr.random.normal { 5, 3 }

-- In an .h5 file the weights of a nested model are stored by name, those of frozen layers last.
local function nested_model(frozen, depth)
  local i = cr.Input { shape = { 3 } }
  local a, b = layers.Dense(3, { name = "a" }), layers.Dense(3, { name = "b" })
  local inner = cr.Model { inputs = i, outputs = b(a(i)), name = "inner" }
  for level = 2, depth do
    local j = cr.Input { shape = { 3 } }
    local first = layers.Dense(3, { name = "a" })
    inner = cr.Model { inputs = j, outputs = inner(first(j)), name = "inner_" .. level }
  end
  if frozen == "a" then a.trainable = false elseif frozen == "b" then b.trainable = false end
  local o = cr.Input { shape = { 3 } }
  return cr.Model { inputs = o, outputs = layers.Dense(2, { name = "c" })(inner(o)) }
end
for depth = 1, 3 do
  for _, saved_frozen in ipairs { "a", "b", "none" } do
    for _, loaded_frozen in ipairs { "a", "b", "none" } do
      local f, g = nested_model(saved_frozen, depth), nested_model(loaded_frozen, depth)
      for _, save_method in ipairs { f.save_weights, f.save } do
        for _, options in ipairs { {}, { by_name = true }, { skip_mismatch = true } } do
          local path = check.temporary ".h5"
          save_method(f, path)
          g:load_weights(path, options)
          os.remove(path)
          check.near(g:predict(x), f:predict(x), 1e-6, saved_frozen .. " to " .. loaded_frozen)
        end
      end
    end
  end
end

-- A file of weights with layers that the model does not have.
local function stack(...)
  local net = cr.Sequential { layers.Dense(3, { input_shape = { 3 }, name = "first" }) }
  for _, name in ipairs { ... } do
    net:add(layers.Dropout(0.5))
    net:add(layers.Dense(4, { name = name }))
  end
  return net
end
local path = check.temporary ".weights.h5"
local larger, smaller = stack("second", "third"), stack()
larger:save_weights(path)
local old_weights = smaller:get_weights()
check.fails(function() smaller:load_weights(path) end, "layers/dense_1 ('second')",
  "layers/dense_2 ('third')", "nothing was loaded", "skip_mismatch")
check.near(smaller:get_weights()[1], old_weights[1], 0)
smaller:load_weights(path, { skip_mismatch = true })
check.near(smaller:get_weights()[1], larger:get_weights()[1], 0)
larger:load_weights(path)
-- layers without weights may be missing in the file
stack():save_weights(path)
smaller:load_weights(path)
local dropping = cr.Sequential { layers.Dense(3, { input_shape = { 3 } }), layers.Dropout(0.1) }
dropping:save_weights(path)
smaller:load_weights(path)
-- a model nested in a nested model
local function model_around(inner)
  local i = cr.Input { shape = { 3 } }
  return cr.Model { inputs = i, outputs = inner(i) }
end
model_around(larger):save_weights(path)
check.fails(function() model_around(smaller):load_weights(path) end,
  "layers/sequential/layers/dense_1 ('second')")
os.remove(path)

-- the option `rename` names layers that the file does not have
path = check.temporary ".h5"
larger:save_weights(path)
check.fails(function()
  smaller:load_weights(path, { by_name = true, rename = { frist = "first" } })
end, "rename: the file has no 'frist'", "did you mean 'first'?", "nothing was loaded")
check.fails(function()
  smaller:load_weights(path, { by_name = true, rename = { first = "first", ["enc_*"] = "*" } })
end, "enc_*")
smaller:load_weights(path, { by_name = true, rename = { first = "first" } })
os.remove(path)
