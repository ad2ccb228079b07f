-- Data that fit accepts: generators, coroutines, datasets as validation data; and splits of rows.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/data"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"

local x = cr.random.normal { 24, 2 }
local y = x:sum(-1, true)
local function new_model()
  local model = cr.Sequential { cr.layers.Dense(1,
    { input_shape = { 2 }, kernel_initializer = "ones" }) }
  model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae" } }
  return model
end

do -- batches from a coroutine give the same results as arrays
  local reference_model = new_model()
  reference_model:fit(x, y, { batch_size = 8, shuffle = false, verbose = 0 })
  local model = new_model()
  model:fit(coroutine.create(function()
    for first = 1, 24, 8 do
      coroutine.yield(x:slice(first, first + 7), y:slice(first, first + 7))
    end
  end), { verbose = 0 })
  check.near(model:get_weights()[1], reference_model:get_weights()[1]:totable(), 0)
  local coroutine_model = new_model()
  coroutine_model:fit(coroutine.wrap(function()
    for first = 1, 24, 8 do
      coroutine.yield(x:slice(first, first + 7), y:slice(first, first + 7))
    end
  end), { verbose = 0 })
  check.near(coroutine_model:get_weights()[1], reference_model:get_weights()[1]:totable(), 0)
  check.fails(function()
    new_model():fit(coroutine.create(function() error "broken" end), { verbose = 0 })
  end, "broken")
end

do -- validation data of any kind give the same numbers
  local function validation_loss(data)
    local history = new_model():fit(x, y,
      { verbose = 0, shuffle = false, validation_data = data, validation_batch_size = 8 })
    return { history.history.val_loss[1], history.history.val_mae[1] }
  end
  local array_result = validation_loss { x, y }
  check.near(validation_loss(cr.data.dataset(x, y, { batch_size = 8 })), array_result)
  local last_row = 0
  check.near(validation_loss(function()
    last_row = last_row + 8
    if last_row <= 24 then return x:slice(last_row - 7, last_row), y:slice(last_row - 7,
      last_row) end
    last_row = 0
  end), array_result)
end

do -- class weights have the same effect for a dataset as for arrays
  local class_labels = cr.ops.greater(y, 0):cast "int32":reshape { 24 }
  local function weighted_loss(data, targets, options)
    local model = cr.Sequential { cr.layers.Dense(2,
      { input_shape = { 2 }, kernel_initializer = "ones", activation = "softmax" }) }
    model:compile { optimizer = "sgd", loss = "sparse_categorical_crossentropy" }
    for name, value in pairs { verbose = 0, shuffle = false, batch_size = 8,
      class_weight = { [0] = 1, [1] = 5 } } do
      if targets or name ~= "shuffle" and name ~= "batch_size" then options[name] = value end
    end
    model:fit(data, targets, options)
    return model:get_weights()[1]
  end
  local array_result = weighted_loss(x, class_labels, {})
  check.near(weighted_loss(cr.data.dataset(x, class_labels, { batch_size = 8 }), nil, {}),
    array_result:totable(),
    1e-6)
  check.fails(function()
    new_model():fit(cr.data.dataset(x, y), { sample_weight = y, verbose = 0 })
  end, "sample_weight is for arrays")
end

do -- splits of rows into parts
  local labels = {}
  for i = 1, 24 do labels[i] = i <= 18 and 0 or 1 end
  labels = cr.tensor(labels, "int32")
  local rows = cr.tensor({ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
    21, 22, 23 }, "int32")
  local first, second = cr.data.split({ rows, labels },
    { share = 1 / 3, seed = 3, stratify = labels })
  assert(#first[1] == 16 and #second[1] == 8)
  assert(second[2]:cast "float32":sum():item() == 2) -- 2 of the 8 labels are 1
  local same_split = cr.data.split({ rows, labels }, { share = 1 / 3, seed = 3, stratify = labels })
  check.same(same_split[1]:totable(), first[1]:totable())
  local seen_rows = {}
  for _, part in ipairs { first[1], second[1] } do
    for _, row in ipairs(part:totable()) do
      assert(not seen_rows[row])
      seen_rows[row] = true
    end
  end
  assert(#seen_rows == 23 and seen_rows[0])
  local head, tail = cr.data.split(rows, { share = 0.25, shuffle = false })
  assert(#head == 18 and tail:totable()[1] == 18)
  check.fails(function() cr.data.split(rows, { share = 1.5 }) end, "share must be between 0 and 1")
  check.fails(function()
    cr.data.split({ rows, rows:slice(1, 3) })
  end, "expected arrays of 24 rows")

  local tested_rows = {}
  for _, fold in ipairs(cr.data.folds(labels, { k = 3, stratify = true, seed = 1 })) do
    assert(#fold.train == 16 and #fold.test == 8)
    assert(cr.ops.take(labels, fold.test):cast "float32":sum():item() == 2)
    for _, row in ipairs(fold.test:totable()) do tested_rows[#tested_rows + 1] = row end
  end
  table.sort(tested_rows)
  check.same(tested_rows, rows:totable())
  assert(#cr.data.folds(7, { k = 7 }) == 7)
  check.fails(function()
    cr.data.folds(3, { k = 5 })
  end, "expected k from 2 to the number of rows, 3")
  check.fails(function() cr.data.folds(9, { stratify = true }) end, "needs labels")
end

do -- a dataset contains the targets, so they cannot be given separately
  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
  model:compile { loss = "mse" }
  local x, y = cr.ones { 8, 2 }, cr.ones { 8, 1 }
  local data = cr.data.dataset(x, y)
  for _, method in ipairs { "fit", "evaluate" } do
    check.fails(function()
      model[method](model, data, y, { verbose = 0 })
    end, "When providing `x` as a dataset, `y` should not be passed.")
  end
  check.fails(function()
    model:fit(function() return x, y end, y, { verbose = 0, steps_per_epoch = 1 })
  end, "`y` should not be passed")
  local single_batch = coroutine.wrap(function() coroutine.yield(x, y) end)
  model:fit(single_batch, { verbose = 0 })
  check.fails(function() model:fit(single_batch, { verbose = 0 }) end,
    "the coroutine that gives the data has ended")
  local ok, message = check.run([[
    local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
    model:compile { loss = "mse" }
    local x, y = cr.ones { 8, 2 }, cr.ones { 8, 1 }
    model:fit(cr.data.dataset(x, y), { verbose = 0, batch_size = 4 })
  ]])
  assert(ok and message:find "batch_size is not used", message)
end

do -- tables of Lua numbers are accepted wherever data is
  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
  model:compile { loss = "mse", optimizer = cr.optimizers.SGD(0) }
  local x, y, weights = { { 1, 2 }, { 3, 4 }, { 5, 6 } }, { 1, 0, 2 }, { 1, 0, 2 }
  local function losses(data, targets, sample_weight)
    local history = model:fit(data, targets, { verbose = 0, sample_weight = sample_weight,
      validation_data = { data, targets, sample_weight } }).history
    check.near(model:evaluate(data, targets, { verbose = 0, sample_weight = sample_weight }),
      history.loss[1])
    return { history.loss[1], history.val_loss[1] }
  end
  check.near(losses(x, y, weights),
    losses(cr.tensor(x), cr.tensor(y), cr.tensor(weights)), 1e-6)
  check.fails(function() losses(x, y, { 1, 2 }) end, "sample_weight: expected one weight a sample")
  check.fails(function() losses(x, y, { "a", 2, 3 }) end, "sample_weight: ")
end
