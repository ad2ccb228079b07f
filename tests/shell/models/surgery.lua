-- Methods that insert, replace and remove layers, cut parts out of models, and change inputs.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local L = cr.layers

local function new_stack(name)
  return cr.Sequential({
    L.Dense(8, { input_shape = { 4 }, name = "body" }),
    L.Dropout(0.5, { name = "drop" }),
    L.Dense(2, { name = "head" }),
  }, name)
end
local x, y = cr.random.normal { 8, 4 }, cr.random.normal { 8, 2 }

do -- the results: a model, and a report, which is a list of rows and prints as a table
  local model = new_stack "old"
  model:compile { optimizer = "adam", loss = "mse" }
  model:fit(x, y, { epochs = 2, verbose = 0 })
  local shorter_model, report = model:remove "drop"
  check.same(shorter_model.name, "old")
  check.same(#shorter_model.layers, 2)
  check.same(#report, 1)
  check.same(report[1].layer, "drop")
  check.same(report[1].change, "removed")
  check.same(report[1].before, { { -1, 8 } })
  check.same(report[1].after, {})
  assert(tostring(report):find "drop +removed +%(None, 8%)", tostring(report))
  assert(shorter_model.compiled and shorter_model.optimizer == model.optimizer)
  shorter_model:fit(x, y, { verbose = 0 })
  check.same(shorter_model.optimizer.iterations:item(), 3)
  check.near(model:predict(x), shorter_model:predict(x):totable())
end

do -- layers are given by name, by path or as objects
  local model = new_stack()
  local wider_model = model:insert_after(model.layers[1], L.Dense(8, { name = "more" }))
  check.same(wider_model.layers[2].name, "more")
  local outer_model = cr.Sequential { cr.Input { shape = { 4 } }, model, L.Flatten() }
  local _, report = outer_model:replace(model.name .. "/head", L.Dense(3, { name = "three" }))
  check.same(report[1].layer, model.name .. "/three")
  check.same(report[1].after, { { -1, 3 } })
end

do -- weights are copied to the new model unless the user declines
  local model = new_stack()
  local replaced_model = model:replace("head", L.Dense(2, { name = "same" }))
  check.near(replaced_model:get_weights()[3], model:get_weights()[3]:totable())
  local _, report = model:replace("head", L.Dense(2, { name = "fresh" }), { weights = false })
  check.same(report[1].weights, "2 new")
end

do -- quantized weights cannot be copied without their scales
  local model = cr.Sequential { L.Dense(4, { input_shape = { 4 }, name = "head" }) }
  model:quantize "int8"
  local _, report = model:replace("head", L.Dense(4, { name = "head" }))
  check.same(report[1].weights, "1 carried, 1 new")
end

do -- cutting parts out of models, and replacing inputs
  local model = new_stack()
  check.same(model:cut("body").output_shape, { -1, 8 })
  local middle_model = model:cut { from = "drop", to = "head" }
  check.same(middle_model.input_shape, { -1, 8 })
  check.same(model:cut { to = { "body", "head" } }.output_shape, { { -1, 8 }, { -1, 2 } })
  local base = cr.Sequential({ L.Dense(4, { input_shape = { 6 } }) }, "base")
  check.same(model:rebase(base).input_shape, { -1, 6 })
  check.same(model:rebase(cr.Input { shape = { 4 } }).class_name, "Sequential")
end

do -- for a model of a Lua class the result is made from its graph
  local GraphModel = cr.Model:subclass "MineToCut"
  local i = cr.Input { shape = { 4 } }
  local own_model = GraphModel(i, L.Dense(2, { name = "last" })(L.Dense(3, { name = "first" })(i)))
  check.same(own_model:cut("first").class_name, "Functional")
end

local model = new_stack "m"
check.fails(function() model:remove "dorp" end, "did you mean 'drop'?")
check.fails(function() model:cut() end, "expected a layer to cut at")
check.fails(function() model:cut { form = "body" } end,
  "cut: no option 'form' (did you mean 'from'?)")
check.fails(function() model:replace("body", L.Dense(9)):replace("head", 3) end, "expected")
check.fails(function() model:rebase(cr.Input { shape = { 7 } }) end, "(None, 7)")
check.fails(function() model:insert_after(L.Dropout(0.1, { name = "drop" }), L.Dense(3)) end,
  "has another layer of the name 'drop'")
