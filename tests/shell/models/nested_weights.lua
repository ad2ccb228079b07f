-- Weights of nested models, and of other models than those that a file was written by.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
cr.utils.set_random_seed(3)
local x = cr.random.normal { 5, 3 }

-- Weights of a nested model stand in an .h5 with what was frozen last, and go by their names.
local function nested(frozen, depth)
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
  for _, from in ipairs { "a", "b", "none" } do
    for _, to in ipairs { "a", "b", "none" } do
      local f, g = nested(from, depth), nested(to, depth)
      for _, save in ipairs { f.save_weights, f.save } do
        for _, options in ipairs { {}, { by_name = true }, { skip_mismatch = true } } do
          local path = check.temporary ".h5"
          save(f, path)
          g:load_weights(path, options)
          os.remove(path)
          check.near(g:predict(x), f:predict(x), 1e-6, from .. " to " .. to)
        end
      end
    end
  end
end
