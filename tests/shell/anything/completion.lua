-- Completions and hints that the prompt offers while an entry is typed.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
_G.cr, _G.model = cr, cr.Sequential()

do -- each name comes with a line of help
  local names, typed_length, help_lines = cr.complete "x = cr.ops.argm"
  check.same(names, { "argmax", "argmin" })
  check.same(typed_length, 4)
  assert(help_lines[1]:find "^The index of the maximum" and #help_lines == 2)
  local _, _, option_help_lines = cr.complete "cr.layers.Dense { use_b"
  check.same(option_help_lines, { "Add a bias." })
  local methods, _, method_help_lines = cr.complete "model:f"
  check.same(methods, { "find_learning_rate", "fit", "fit_async", "flops" })
  assert(method_help_lines[2]:find "^Trains")
  assert(#cr.complete "model(x):res" > 0 and #cr.complete "model:predict(x):res" > 0)
  _G.a_number, _G.a_table = 41, {}
  check.same({ select(3, cr.complete "a_number") }, { { "41" } })
  check.same({ select(3, cr.complete "a_table") }, { { "table" } })
end

do -- completion of the values of options
  local function values(line, start) return (cr.complete_value(line, start)) end
  check.same(values("cr.layers.Dense(10, { activation = ", "rel"), { "relu", "relu6" })
  check.same(values("cr.layers.Conv2D(10, 3, { padding = ", ""), { "same", "valid" })
  check.same(values("model:compile { optimizer = ", "adamw"), { "adamw" })
  check.same(values("model:compile { metrics = { ", "acc"), { "accuracy" })
  check.same(values("x = ", ""), {})
  check.same(values("unknown { activation = ", ""), {})
  local _, help_lines = cr.complete_value("model:compile { loss = ", "mse")
  assert(help_lines[1]:find "%a")
end

-- completion of arguments (also by position), items of lists, and names of layers, logs and keys
do
  _G.net = cr.Sequential { cr.layers.Dense(2, { input_shape = { 3 }, name = "first" }),
    cr.layers.Dense(1, { name = "second" }) }
  net:compile { optimizer = "sgd", loss = "mse", metrics = { "mae" } }
  _G.record = { alpha = 1, beta = 2, [3] = 3 }
  for text, expected in pairs {
    ['cr.layers.Dense(10, "rel'] = { "relu", "relu6" },
    ['cr.layers.Dense { 10, "rel'] = { "relu", "relu6" },
    ['cr.layers.Activation "rel'] = { "relu", "relu6" },
    ['cr.layers.Conv2D(8, 3, { strides = { 1, 1 }, padding = "s'] = { "same" },
    ['cr.Sequential { cr.layers.Dense(3, { name = "a)(", activation = "selu'] = { "selu" },
    ['net:compile { metrics = { "mae", "accur'] = { "accuracy" },
    ['net:compile { loss = { a = "mse", b = "huber'] = { "huber", "huber_loss" },
    ['net:compile("adamw'] = { "adamw" },
    ['cr.zeros({ 2 }, "floa'] = { "float16", "float32", "float64" },
    ['net:get_layer "'] = { "first", "second" },
    ['net:get_layer("s'] = { "second" },
    ['net:insert_after("f'] = { "first" },
    ['net:trace(x, { layers = { "first", "sec'] = { "second" },
    ['cr.callbacks.EarlyStopping { monitor = "val_'] = { "val_loss", "val_mae" },
    ['cr.callbacks.EarlyStopping("ma'] = { "mae" },
    ['record["'] = { "alpha", "beta" },
    ['cr.layers.Dense(3, { dtype = "mixed_b'] = { "mixed_bfloat16" },
    ['x = "'] = {}, ['f("'] = {}, ['if "'] = {}, ['cr.zeros({ "'] = {}, ['"'] = {},
  } do
    local line, start = text:match '^(.*)"([^"]*)$'
    check.same((cr.complete_value(line, start)), expected, text)
  end
end

do -- hints show the signature of the function that is called
  assert(cr.hint("x = cr.layers.Dense(10, {"):find
    '^Dense%(units, {activation="linear", use_bias=true,')
  assert(cr.hint("model:fit(x, "):find("fit(x, y=nil, {batch_size=..., epochs=1,", 1, true))
  assert(cr.hint("model:summary("):find("summary({line_length=..., positions=", 1, true))
  check.same(cr.hint "cr.plot(x, {", cr.describe(cr.plot).signature)
  cr.config.print { width = 60 }
  check.same(cr.hint("cr.layers.Dense(10, { use_bias = f"):sub(1, 38),
    "Dense(units, {..., use_bias=true, ...}")
  assert(cr.hint("model:fit(x, y, { epochs = 3, validation_sp"):find(
    "fit(x, y=nil, {..., validation_split=0.0, ...})", 1, true))
  assert(cr.hint("cr.layers.Dense(10, { units_of = "):find("Dense(units, {activation=", 1, true))
  -- a hint omits options that were typed, and shows dots for options that do not fit on the line
  check.same(cr.hint "model:fit(x, y, { epochs = 3, batch_size = f{ shuffle = 1 }, ",
    'fit(x, y=nil, {verbose="auto", callbacks=..., ...})')
  check.same(cr.hint "cr.layers.Dense(10, { activation = 'relu', use_bias = ",
    "Dense(units, {use_bias=true, ...})")
  cr.config.print {}
  check.same(cr.hint "cr.ops.argmax(f(x), ", cr.describe(cr.ops.argmax).signature)
  for _, text in ipairs { "", "cr.layers.Dense", "cr.layers.Dense(1)", "unknown(", "print(",
    "{" } do
    check.same(cr.hint(text), nil, text)
  end
end

do -- completion after an element, a string, or a call that gives a tensor
  _G.typed = { { alpha = 1 } }
  check.same(cr.complete "y = typed[1].al", { "alpha" })
  check.same(cr.complete "('abc'):upp", { "upper" })
  check.same(cr.complete "cr.zeros { 2 }:sum():argmi", { "argmin" })
  for _, text in ipairs { "unknown.", "print(1):", "typed[2]:" } do
    check.same(cr.complete(text), {}, text)
  end
  check.same(cr.complete '"a"..typ', { "type", "typed" })
end

-- what follows an expression is known from descriptions, without running it
do
  local function has(text, ...)
    local names = {}
    for _, name in ipairs((cr.complete(text))) do names[name] = true end
    for _, name in ipairs { ... } do
      assert(names[name], text .. ": no " .. name)
    end
  end
  local function forbidden() error "completion has run the expression" end
  _G.x, _G.symbol = cr.random.uniform { 4, 3 }, cr.Input { shape = { 3 } }
  _G.data, _G.dense = cr.data.from_tensor_slices(x), cr.layers.Dense(3)
  _G.Net = cr.Model:subclass("CompletedNet", {})
  _G.Scale = cr.layers.Layer:subclass("CompletedScale", { { "scale", 1.0 } })
  function Net:call(inputs) return forbidden() end
  function Net:distance() return forbidden() end
  function Scale:call(inputs) return forbidden() end
  for _, text in ipairs { "data:batch(2)", "data:shuffle(10):batch(2)", "data:map(f)",
    "cr.data.from_tensor_slices(x)", "cr.data.from_list { 1, 2 }", "data:shard(1, 2)",
    "cr.utils.image_dataset_from_directory('photos')" } do
    has(text .. ":", "batch", "prefetch", "map")
  end
  for _, text in ipairs { "cr.layers.Dense(3)", "cr.layers.Dense { 3 }", "Scale()",
    "net:get_layer('first')", "net.layers[#net.layers]", "net.layers[i]", "(dense or nil)",
    "net:get_layer(')(')" } do
    has(text .. ":", "get_weights", "count_params", "get_config")
  end
  has("cr.layers.Dense(3).", "units", "name", "trainable", "get_weights")
  has("Scale().", "scale", "call")
  for _, text in ipairs { "cr.Sequential {}", "cr.Model { inputs = i, outputs = o }",
    "cr.models.load_model('a')", "cr.models.load_model 'a'", "net:cut('first')", "Net()" } do
    has(text .. ":", "fit", "compile", "get_weights")
  end
  has("Net():", "distance")
  has("net:fit(x, x):", "plot")
  has("net:fit(x, x).", "history", "epoch")
  has("net:fit_async(x, x):", "pause", "status")
  has("cr.optimizers.Adam { 0.1 }:", "apply_gradients")
  has("cr.GradientTape(f):", "gradient")
  has("cr.metrics.Mean():", "update_state", "result")
  for _, text in ipairs { "x[{ { 1, 2 } }]", "x[{ {}, 1 }]", "(x + 1)", "(-x)", "(x * x - 2)",
    "(1 / (x + 1))", "(x:sum() + 1)", "dense(x)", "cr.layers.Dense(3)(x)", "net(x)", "net(x)[1]",
    "cr.losses.MeanSquaredError()(x, x)", "x:reshape { 3, 4 }:transpose()", "x.T",
    "cr.ops.relu(x + 1)", "net:predict(x)" } do
    has(text .. ":", "sum", "argmax", "item")
  end
  for _, text in ipairs { "dense(symbol)", "cr.layers.Add() { symbol, symbol }", "(symbol * 2)",
    "cr.ops.relu(symbol)", "dense(dense(symbol))", "cr.Input { shape = { 3 } }" } do
    has(text .. ":", "sum", "reshape")
    assert(#cr.complete(text .. ":item") == 0, text)
  end
  has("cr.Input { shape = { 3 } }.", "history", "node")
  has("('a' .. 'b'):", "upper")
  for _, text in ipairs { "(x < 3)", "(not x)", "(1 + 2)", "unknown(x)", "{ x }", "5",
    "(#x)", "unknown[1]", "net:compile {}" } do
    check.same(cr.complete(text .. ":"), {}, text)
  end
  -- options of what such expressions give
  check.same(cr.complete "cr.Sequential {}:fit(x, x, { epo", { "epochs" })
  check.same(cr.complete_value("cr.Sequential {}:compile { optimizer = ", "adamw"), { "adamw" })
  assert(cr.hint("cr.models.load_model('a'):fit(x, "):find("fit(x, y=nil, {", 1, true))
  assert(cr.hint("data:batch(2):take("):find("take(count", 1, true))
end

do -- values of options that are typed without quotes
  local names, typed_length, help_lines = cr.complete "net:fit(x, x, { verbose = "
  check.same(names, { '"auto"', "0", "1", "2" })
  check.same({ typed_length, help_lines[2], help_lines[4] }, { 0, "silent", "one line per epoch" })
  check.same(cr.complete "cr.layers.Dense(3, { use_bias = ", { "false", "true" })
  check.same(cr.complete "cr.layers.Conv2D(3, 3, { padding = ", { '"same"', '"valid"' })
  assert(#cr.complete "cr.layers.Dense(3, { activation = " > 10)
  check.same(cr.complete "cr.Model { inp", { "inputs" })
  for line, expected in pairs {
    ["net:fit(x, x, { verbose = "] = { "auto" },
    ["cr.config.set_device("] = { "cpu" },
    ["help "] = {},
  } do
    local found = cr.complete_value(line, expected[1] or "nothing has this name")
    check.same(found, expected, line)
  end
  check.same(cr.complete_value("cr.help ", "DenseNet"),
    { "DenseNet121", "DenseNet169", "DenseNet201" })
  check.same(cr.complete_value("require ", "cresc"), { "crescent" })
  -- each value has the words of the documentation about it, or nothing
  local values, meanings = cr.complete_value("cr.callbacks.EarlyStopping { mode = ", "")
  check.same(values, { "auto", "max", "min" })
  check.same(meanings, { "decides by the name", "larger", "smaller" })
  check.same({ select(2, cr.complete_value("cr.layers.Bidirectional(l, { merge_mode = ", "su")) },
    { { "" } })
end

print "ok completion"
