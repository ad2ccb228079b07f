-- Names that match nothing (keys of tables, patterns, labels, monitored values) are reported with a
-- suggestion.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops
cr.utils.set_random_seed(1)
local x, y = cr.ones { 8, 2 }, cr.ones { 8, 1 }
local function new_model(options)
  local model = cr.Sequential { layers.Dense(1, { input_shape = { 2 }, name = "d" }) }
  options = options or {}
  options.loss = options.loss or "mse"
  model:compile(options)
  return model
end

do -- unknown options beside `config` in the configuration of an object
  local keras_config = { class_name = "RandomNormal", stddev = 300 }
  check.fails(function() layers.Dense(5, { kernel_initializer = keras_config }) end,
    "kernel_initializer",
    "'stddev' stands beside the class_name", 'config = {stddev = ...}')
  check.fails(function() new_model { loss = { class_name = "Huber", delta = 3 } } end, "'delta'")
  check.fails(function() new_model { loss = { class_name = "Huber", name = "mine" } } end, "'name'")
  check.fails(function() new_model { optimizer = { class_name = "Adam", learning_rate = 1 } } end,
    "'learning_rate'")
  check.fails(function() new_model { optimizer = { class_name = "Adam", confg = {} } } end,
    "did you mean 'config'?")
  check.fails(function() layers.TimeDistributed { class_name = "Dense", units = 3 } end,
    "no option")
  check.fails(function()
    layers.Dense(2, { kernel_regularizer = { class_name = "L2", l2 = 3 } })
  end, "kernel_regularizer", "'l2'")
  -- keys that Keras writes beside `config` are accepted
  local dense = layers.Dense(2, { kernel_initializer = { module = "keras.initializers",
    class_name = "Constant", config = { value = 3 }, registered_name = cr.null } })
  check.near(dense(x):totable()[1], { 6, 6 })
end

do -- names among the positional items of a list
  check.fails(function() cr.tensor { a = 1 } end, "expected a list, got a table with the name 'a'")
  check.fails(function() cr.tensor { 1, 2, dtyp = "int32" } end, "no option 'dtyp'",
    "did you mean 'dtype'?")
  check.fails(function() cr.tensor({ 1, 2, dtype = "int32" }, { dtype = "int32" }) end, "'dtype'")
  check.fails(function() cr.tensor { { a = 1 }, { b = 2 } } end, "the name 'a'")
  check.fails(function() cr.tensor { { 1, 2 }, { 3, 4, b = 2 } } end, "the name 'b'")
  check.fails(function() cr.tensor { 1, 2, [4] = 4, [3.5] = 1 } end, "expected a")
  check.fails(function() x:reshape { 4, 4, order = "C" } end, "'order'")
  check.fails(function() ops.concatenate({ x, x, axs = 1 }, -1) end, "axs")
  check.fails(function() new_model():predict { x, batch_siz = 3 } end, "'batch_siz'")
  -- lists with and without named options, filled in several orders, because Lua then stores them
  -- differently
  local mixed_table, items = cr.tensor { 1, 2, 3, dtype = "int32" }, {}
  check.same({ mixed_table.dtype, #mixed_table:totable() }, { "int32", 3 })
  for i = 100, 1, -1 do items[i] = i end
  check.near(cr.tensor(items):sum():item(), 5050)
  local unordered_list = { [3] = 3, [1] = 1, [2] = 2 }
  check.near(cr.tensor(unordered_list), { 1, 2, 3 })
  check.near(cr.tensor { unordered_list, { 4, 5, 6 } }, { { 1, 2, 3 }, { 4, 5, 6 } })
  unordered_list.name = "s"
  check.fails(function() cr.tensor(unordered_list) end, "'name'")
  check.fails(function() cr.tensor { unordered_list, { 4, 5, 6 } } end, "the name 'name'")
  check.near(ops.concatenate { x, x, axis = 0 }, ops.concatenate({ x, x }, 0))
end

do -- patterns in layout rules, and in optimizers chosen by path
  local function train_with(optimizer)
    local model = new_model { optimizer = optimizer }
    model:fit(x, y, { verbose = 0 })
    return model
  end
  local AdamW, SGD = cr.optimizers.AdamW, cr.optimizers.SGD
  check.fails(function()
    train_with(AdamW {
      rules = { { pattern = "*/bias", weight_decay = 0 }, { pattern = "d/kernal" } } })
  end, "'d/kernal' fits no weight", "did you mean 'd/kernel'?", "d/kernel, d/bias")
  train_with(AdamW { rules = { { pattern = "*/bias", weight_decay = 0 } } })
  train_with(AdamW { rules = { { pattern = "norm/*", optional = true } } })
  check.fails(function() AdamW { rules = { { pattern = "a", optional = 1 } } } end, "optional")
  local excluding_optimizer = AdamW {}
  excluding_optimizer:exclude_from_weight_decay { var_names = { "norm", "bias" } }
  train_with(excluding_optimizer)
  local function train_with_map(map)
    return train_with(cr.optimizers.MultiOptimizer(cr.optimizers.OptimizerMap {
      default_optimizer = "sgd", optimizer_map = map }))
  end
  check.fails(function() train_with_map { ["d/kernel"] = SGD(1), ["e/.*"] = SGD(0) } end,
    "optimizer_map", "'e/.*' fits no weight")
  train_with_map { ["d/.*"] = SGD(0.1) }
  check.fails(function()
    train_with(cr.optimizers.LossScaleOptimizer(AdamW { rules = { { pattern = "none" } } }))
  end, "'none' fits no weight")
  -- patterns also match frozen weights
  local model = cr.Sequential { layers.Dense(2, { input_shape = { 2 }, name = "early" }),
    layers.Dense(1, { name = "late" }) }
  model:get_layer "early".trainable = false
  model:compile { loss = "mse",
    optimizer = AdamW { rules = { { pattern = "early/*", learning_rate = 0.1 } } } }
  model:fit(x, y, { verbose = 0 })
end

do -- filters of quantize that match no layer
  local model = cr.Sequential { layers.Dense(2, { input_shape = { 2 }, name = "first" }),
    layers.Dropout(0.1, { name = "drop" }), layers.Dense(2, { name = "second" }) }
  local succeeded, output = check.run [[
    local layers = cr.layers
    local model = cr.Sequential { layers.Dense(2, { input_shape = { 2 }, name = "first" }),
      layers.Dense(2, { name = "second" }) }
    model:quantize("int8", { filters = "frist" })
    assert(model:get_layer "first".quantization_mode == nil, "nothing was changed")]]
  assert(succeeded, output)
  for _, text in ipairs { "'frist'", "did you mean 'first'?", "first, second" } do
    assert(output:find(text, 1, true), output)
  end
  model:quantize("int8", { filters = { "^sec", "d$" } })
  assert(model:get_layer "second".quantization_mode == "int8")
end

do -- class weights for labels that no target can have
  local model = cr.Sequential { layers.Dense(2, { input_shape = { 2 }, activation = "softmax" }) }
  model:compile { loss = "sparse_categorical_crossentropy" }
  local labels = cr.zeros({ 8 }, "int32")
  check.fails(function()
    model:fit(x, labels, { verbose = 0, class_weight = { [7] = 2 } })
  end, "there is no class 7", "0 to 1")
  check.fails(function() model:fit(x, labels, { verbose = 0, class_weight = { 1, 5 } }) end,
    "no class 2", "write [0] =")
  check.fails(function() model:train_on_batch(x, labels, { class_weight = { [-1] = 5 } }) end,
    "no class -1")
  check.fails(function()
    model:fit(cr.data.dataset(x, labels), { verbose = 0, class_weight = { [2] = 5 } })
  end, "no class 2")
  model:fit(x, labels, { verbose = 0, class_weight = { [1] = 5 } })
  local binary_model = new_model { loss = "binary_crossentropy" }
  check.fails(function() binary_model:fit(x, y, { verbose = 0, class_weight = { [2] = 5 } }) end,
    "no class 2")
  binary_model:fit(x, y, { verbose = 0, class_weight = { [1] = 5 } })
  new_model():fit(x, y * 7, { verbose = 0, class_weight = { [7] = 5 } })
  model:compile { loss = "categorical_crossentropy" }
  check.fails(function()
    model:fit(x, ops.one_hot(labels, 2), { verbose = 0, class_weight = { [2] = 5 } })
  end, "no class 2")
end

do -- returning nil from a mapped function does not end a dataset
  local rows = cr.data.from_list { 1, 2, 3 }
  for _, workers in ipairs { 0, 2 } do
    check.fails(function()
      for _ in rows:map(function(i) if i ~= 2 then return i end return nil end,
        { workers = workers }):elements() do end
    end, "map: element 2", "got nothing", "filter")
    check.fails(function()
      for _ in rows:map(function(i) return nil, i end, { workers = workers }):elements() do end
    end, "map: element 1")
  end
  local count = 0
  for _ in rows:filter(function(i) if i > 1 then return true end return nil end):elements() do
    count = count + 1
  end
  check.same(count, 2)
end

do -- empty options, and the learning rate of a model, which may be a schedule
  local model = new_model { optimizer = "sgd" }
  local loss = model:test_on_batch(x, y)
  check.near(model:test_on_batch(x, y, {}), loss, 1e-6)
  check.near(model:test_on_batch(x, y, { sample_weight = nil }), loss, 1e-6)
  check.near(model:train_on_batch(x, y, {}), loss, 1e-6)
  check.same(cr.data.dataset(x, y, {}).samples, 8)
  model.learning_rate = 0.5
  check.near(model.learning_rate:item(), 0.5)
  check.near(model.optimizer.learning_rate:item(), 0.5)
  model:compile { loss = "mse", optimizer = cr.optimizers.SGD {
    cr.optimizers.schedules.ExponentialDecay(0.25, 1, 0.5) } }
  model:train_on_batch(x, y)
  check.near(model.learning_rate:item(), model.optimizer.learning_rate:item())
  check.fails(function() return cr.Sequential { layers.Dense(1) }.learning_rate end, "compile")
  local dense = layers.Dense(1)
  assert(dense.activity_regularizer == nil)
  dense.activity_regularizer = "l2"
  assert(dense.activity_regularizer.class_name == "L2")
end
