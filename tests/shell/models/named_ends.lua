-- Models whose inputs and outputs are tables with names: called, trained, saved and nested.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers

local image, flag = cr.Input { shape = { 8 } }, cr.Input { shape = { 2 } }
local hidden = layers.Dense(4, { activation = "relu" })(image)
local price_output = layers.Dense(1, { name = "first" })(hidden)
local class_output = layers.Dense(3,
  { activation = "softmax", name = "second" })(layers.concatenate { hidden, flag })
local model = cr.Model { inputs = { image = image, flag = flag },
  outputs = { price = price_output, class = class_output } }

check.same(model.input_names, { "flag", "image" })
check.same(model.output_names, { "class", "price" })

local x = { image = cr.random.normal { 32, 8 }, flag = cr.random.normal { 32, 2 } }
local y = { price = cr.random.normal { 32, 1 },
  class = cr.random.randint({ 32 }, { minval = 0, maxval = 3 }) }
model:compile {
  optimizer = "adam",
  loss = { price = "mse", class = "sparse_categorical_crossentropy" },
  loss_weights = { price = 0.5, class = 1 },
  metrics = { class = { "accuracy" } },
}
local history = model:fit(x, y).history -- a table of targets is not taken for options
assert(history.class_accuracy and history.price_loss)
check.near(history.loss[1], 0.5 * history.price_loss[1] + history.class_loss[1], 1e-5)

local predictions = model:predict(x)
check.same(predictions.price.shape, { 32, 1 })
check.near(model(x).class, predictions.class:totable())
check.near(model:predict_on_batch(x).price, predictions.price:totable())
check.fails(function() model({ image = x.image }) end, 'No data provided for "flag"')
check.fails(function()
  model({ image = x.image, flags = x.flag })
end, "no data is expected for 'flags'", "did you mean 'flag'")
check.fails(function() model:fit(x, { price = y.price }) end, 'No data provided for "class"')
check.fails(function()
  model:fit(x, { price = y.price, class = y.class, other = y.price })
end, "no data is expected for 'other'")

do -- a list cannot be used for several inputs with names
  local list = { x.flag, x.image }
  for _, call_model in ipairs { function() model(list) end, function() model:predict(list) end,
    function() model:fit(list, y) end, function() model:evaluate(list, y) end } do
    check.fails(call_model, "The structure of `inputs` doesn't match", "flag, image")
  end
  local symbols = { cr.Input { shape = { 2 } }, cr.Input { shape = { 8 } } }
  check.fails(function() model(symbols) end, "The structure of `inputs` doesn't match")
  local single_input = cr.Input { shape = { 2 } }
  local one_input_model = cr.Model { inputs = { a = single_input }, outputs = single_input * 2 }
  check.near(one_input_model { cr.ones { 1, 2 } }, { { 2, 2 } }) -- a list may be used for one input
end

do -- inputs under other names are not read
  local extra_data = { image = x.image, flag = x.flag, Aside = x.flag }
  check.near(model(extra_data).class, predictions.class:totable())
  check.near(model:predict(extra_data).class, predictions.class:totable())
  local loss = model:evaluate(x, y, { verbose = 0 })
  check.near(model:evaluate(extra_data, y, { verbose = 0 }), loss)
  local batches = cr.data.from_tensor_slices({ extra_data, y }):batch(32)
  check.near(model:evaluate(batches, { verbose = 0 }), loss)
  local copy = cr.models.clone_model(model)
  copy:compile { optimizer = "sgd", loss = { price = "mse" } }
  local logs = copy:fit(x, y, { verbose = 0, validation_data = { extra_data, y } }).history
  check.near(logs.val_loss[1], copy:evaluate(x, y, { verbose = 0 }), 1e-5)
end

-- files store the names in the form of Keras 3; Keras 2.3.1 has no such form
assert(
  model:to_json():find('"output_layers": {"class": ["second", 0, 0], "price": ["first", 0, 0]}', 1,
  true))

for _, ending in ipairs { ".h5", ".keras" } do
  local path = check.temporary(ending)
  model:save(path)
  local loaded_model = cr.models.load_model(path)
  check.near(loaded_model:predict(x).class, predictions.class:totable())
  check.same(loaded_model:to_json(), model:to_json())
  check.near(loaded_model:evaluate(x, y)[1], model:evaluate(x, y)[1])
  os.remove(path)
end
check.fails(function()
  model:save(check.temporary ".h5", { target = "keras2" })
end, "option 'output_structure'")

-- a model with named inputs and outputs inside another model
local a, b = cr.Input { shape = { 8 } }, cr.Input { shape = { 2 } }
local inner_outputs = model { image = a, flag = b }
local outer_model = cr.Model { inputs = { a, b }, outputs = { inner_outputs.price,
  inner_outputs.class } }
check.near(outer_model:predict { x.image, x.flag }[2], predictions.class:totable())
local copy = cr.models.model_from_json(outer_model:to_json())
check.same(copy:to_json(), outer_model:to_json())
copy:set_weights(outer_model:get_weights())
check.near(copy:predict { x.image, x.flag }[1], predictions.price:totable())

do -- all ways to give targets, by name or by position
  local i = cr.Input { shape = { 2 } }
  local net = cr.Model(i,
    { layers.Dense(1, { name = "a" })(i), layers.Dense(1, { name = "b" })(i) })
  local rows = { { 1, 2 }, { 3, 4 }, { 5, 6 } }
  local a, b = { 1, 2, 3 }, { 4, 5, 6 }
  local function evaluated_loss(loss, ...)
    net:compile { optimizer = "sgd", loss = loss }
    return net:evaluate(...)
  end
  local losses = { a = "mse", b = "mae" }
  local expected_loss = evaluated_loss(losses, rows, { cr.tensor(a), cr.tensor(b) },
    { verbose = 0 })
  for _, targets in ipairs { { a = a, b = b }, { a, b }, { cr.tensor(a), b } } do
    check.near(evaluated_loss({ "mse", "mae" }, rows, targets, { verbose = 0 }), expected_loss)
    check.near(evaluated_loss(losses, { x = rows, y = targets, verbose = 0 }), expected_loss)
    check.near(evaluated_loss(losses, rows, { y = targets, verbose = 0 }), expected_loss)
  end
  net:fit(rows, { y = { b = b, a = a }, verbose = 0, validation_data = { rows, { a = a, b = b } } })
  -- an output without a loss or metric needs no target
  local loss_of_a = evaluated_loss({ a = "mse" }, rows, { a = a, b = b }, { verbose = 0 })
  check.near(evaluated_loss({ a = "mse" }, rows, { a = a }, { verbose = 0 }), loss_of_a)
  check.near(evaluated_loss({ a = "mse" }, rows, a, { verbose = 0 }), loss_of_a)
  check.fails(function() evaluated_loss(losses, rows, { a = a }, { verbose = 0 }) end,
    'No data provided for "b"')
  net:compile { optimizer = "sgd", loss = { a = "mse" }, metrics = { b = { "mae" } } }
  check.fails(function() net:fit(rows, { a = a }) end, 'No data provided for "b"')
  check.fails(function() cr.data.dataset(rows, { a = a }) end, "data by position", "name 'a'")
end

do -- a model class whose call returns a table with names
  local NamedOutputModel = cr.Model:subclass "NamedOutputs"
  function NamedOutputModel:init() self.first, self.second = layers.Dense(1), layers.Dense(2) end
  function NamedOutputModel:call(inputs)
    return { b = self.second(inputs), a = self.first(inputs) }
  end
  local rows, targets = cr.random.normal { 8, 3 }, { a = cr.ones { 8, 1 }, b = cr.ones { 8, 2 } }
  local net = NamedOutputModel()
  net:compile { optimizer = "sgd", loss = { a = "mse", b = "mae" }, metrics = { b = { "mse" } } }
  local history = net:fit(rows, targets,
    { verbose = 0, validation_data = { rows, targets } }).history
  assert(history.a_loss and history.b_loss and history.b_mse and history.val_b_mse)
  check.same(net.output_names, { "a", "b" })
  local predictions = net:predict(rows, { verbose = 0 })
  check.near(predictions.b, net(rows).b)
  check.near(cr.ops.mean(cr.ops.abs(predictions.b - 1)),
    net:evaluate(rows, targets, { verbose = 0, return_dict = true }).b_loss)
  net:train_on_batch(rows, targets)
  net:fit(cr.data.from_tensor_slices({ rows, targets }):batch(4), { verbose = 0 })
  check.fails(function() net:fit(rows, { a = targets.a, c = targets.b }, { verbose = 0 }) end,
    "no data is expected for 'c'", "expected a, b")
  local path = check.temporary ".keras"
  net:save(path)
  local loaded_model = cr.models.load_model(path)
  os.remove(path)
  check.near(loaded_model:predict(rows, { verbose = 0 }).a, net:predict(rows, { verbose = 0 }).a)
  loaded_model:fit(rows, targets, { verbose = 0 })
  local MixedOutputModel = cr.Model:subclass "MixedOutputs"
  function MixedOutputModel:call(inputs) return { inputs, b = inputs } end
  check.fails(function() MixedOutputModel()(rows) end, "by position or by name")
end
