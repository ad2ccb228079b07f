-- Files do not contain functions and classes of the user: saving warns of them, and loading names
-- them and explains how to provide them.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
local x, y = cr.ones { 4, 2 }, cr.ones { 4, 1 }
local path = check.temporary ".h5"

local function expect_warning(code, ...)
  local ok, text =
    check.run(string.format("local path = %q\nlocal x, y = cr.ones { 4, 2 }, cr.ones { 4, 1 }\n%s",
    path, code))
  assert(ok, text)
  for _, part in ipairs { ... } do
    assert(text:find(part, 1, true), "expected '" .. part .. "' in:\n" .. text)
  end
  return text
end

-- a function of the user as activation
local code_with_activation = [[
  function triple(t) return t * 3 end
  local m = cr.Sequential {
    cr.layers.Dense(1, { activation = triple, input_shape = { 2 }, kernel_initializer = "ones" }),
  }
  m:save(path)
  m:save(path)]]
local text = expect_warning(code_with_activation, "'triple' is code",
  "custom_objects = {triple = triple}")
assert(select(2, text:gsub("is code", "")) == 1, "told once: " .. text)
check.fails(function()
  cr.models.load_model(path)
end, path, "Dense", "'activation'", "unknown activation 'triple'",
  "custom_objects = {triple = triple}")
local model = cr.models.load_model(path, { custom_objects = { triple = function(t)
  return t * 3
end } })
check.near(model:predict(x), { { 6 }, { 6 }, { 6 }, { 6 } })

-- a user function with the name of a built-in one is not replaced by the built-in one
expect_warning([[
  function relu(t) return t * 5 end
  cr.Sequential { cr.layers.Dense(1, { activation = relu, input_shape = { 2 } }) }:save(path)]],
  "'function' is code")
check.fails(function() cr.models.load_model(path) end, "unknown activation 'function'")

-- functions of the user as loss and metric
expect_warning([[
  function gap(t, p) return (t - p):abs():mean(-1) end
  local m = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
  m:compile { optimizer = "sgd", loss = gap, metrics = { gap } }
  m:fit(x, y, { verbose = 0 })
  m:save(path)]], "'gap' is code")
local file = assert(io.open(path, "rb"))
local saved_text = file:read "a"
file:close()
assert(saved_text:find('"loss": "gap"', 1, true), "Keras writes its name")
assert(not saved_text:find('"class_name": "function"', 1, true))
text = expect_warning([[
  local m = cr.models.load_model(path)
  assert(not m.compiled)]], "the model was not compiled", "gap", "custom_objects = {gap = gap}")
model = cr.models.load_model(path, { custom_objects = { gap = function(t, p)
  return (t - p):abs():mean(-1)
end } })
assert(model.compiled)
model:fit(x, y, { verbose = 0 })

-- a class of the user: no warning while it is defined
local class_code = [[
  local Twice = cr.Layer:subclass "TwiceInFile"
  function Twice:call(t) return t * 2 end
]]
text = expect_warning(class_code
  .. [[cr.Sequential { cr.Input { shape = { 2 } }, Twice() }:save(path)]])
assert(not text:find "is code", text)
check.fails(function()
  cr.models.load_model(path)
end, "TwiceInFile", "a class from Lua", "define it before loading",
  "custom_objects = {TwiceInFile = TwiceInFile}")
expect_warning(class_code .. [[assert(cr.models.load_model(path):predict(x):sum():item() == 16)]])
local OtherLayer = cr.Layer:subclass "OtherInFile"
function OtherLayer:call(t) return t * 2 end
check.near(cr.models.load_model(path, { custom_objects = { TwiceInFile = OtherLayer } }):predict(x),
  { { 2, 2 }, { 2, 2 }, { 2, 2 }, { 2, 2 } })

-- a class with the name of a built-in one, and one in a package
local code_with_classes = [[
  local Mine = cr.Layer:subclass "StochasticDepth"
  function Mine:call(t) return t * 3 end
  local Packed = cr.utils.register_keras_serializable "acme" (cr.Layer:subclass "PackedInFile")
  function Packed:call(t) return t + 1 end
]]
for _, ending in ipairs { ".keras", ".h5" } do
  local model_path = check.temporary(ending)
  local function run_without_warnings(code)
    local text = expect_warning(("local path = %q\n"):format(model_path) .. code)
    assert(not text:find "crescent: ", text)
  end
  run_without_warnings(code_with_classes
    .. [[cr.Sequential { cr.Input { shape = { 2 } }, Mine(), Packed() }:save(path)]])
  run_without_warnings(code_with_classes
    .. [[assert(cr.models.load_model(path):predict(x):sum():item() == 32)]])
  check.fails(function() cr.models.load_model(model_path) end,
    "Unknown layer: Custom>StochasticDepth",
    "custom_objects = {StochasticDepth = StochasticDepth}")
  check.near(cr.models.load_model(model_path, { custom_objects = { StochasticDepth = OtherLayer,
    PackedInFile = OtherLayer } }):predict(x), 4 * x)
  os.remove(model_path)
end
local json = expect_warning(code_with_classes
  .. [[print(cr.Sequential { cr.Input { shape = { 2 } }, Mine(),
  Packed() }:to_json())]], '"registered_name": "Custom>StochasticDepth"',
  '"class_name": "PackedInFile"', '"registered_name": "acme>PackedInFile"'):match "{\"module.*}"
expect_warning(code_with_classes .. "local json = [==[" .. json .. [[]==]
  assert(cr.models.model_from_json(json):predict(x):sum():item() == 32)]])

-- functions of the user as activation, initializer and Lambda, in a model with several inputs
local archive_path = check.temporary ".keras"
local function quadruple(t) return t * 4 end
local function half_ones(shape) return cr.ones(shape) / 2 end
local first, second = cr.Input { shape = { 2 } }, cr.Input { shape = { 2 } }
local gap_output = layers.Lambda(function(pair, more) return (pair[1] - pair[2]) * more.times end,
  { name = "gap", arguments = { times = 3 } }) { first, second }
local graph = cr.Model { inputs = { first, second }, outputs = layers.Dense(1,
  { activation = quadruple, kernel_initializer = half_ones })(gap_output + 1) }
local expected = graph:predict({ x * 5, x }, { verbose = 0 })
check.near(expected, { { 52 }, { 52 }, { 52 }, { 52 } })
local custom_objects = { gap = function(pair, more) return (pair[1] - pair[2]) * more.times end }
custom_objects["function"] = quadruple
for _, model_path in ipairs { archive_path, path } do
  local plain_model = cr.Model { inputs = { first, second }, outputs = layers.Dense(1,
    { activation = quadruple })(gap_output + 1) }
  plain_model:set_weights(graph:get_weights())
  plain_model:save(model_path)
  model = cr.models.load_model(model_path, { custom_objects = custom_objects })
  check.near(model:predict({ x * 5, x }, { verbose = 0 }), expected)
end
graph:save(archive_path)
local copy = cr.models.clone_model(cr.Model { inputs = { first, second }, outputs = gap_output })
check.near(copy:predict({ x * 5, x }, { verbose = 0 }), 12 * x)
check.fails(function()
  cr.models.clone_model(graph, { clone_function = "new" })
end, "clone_function", "expected a function")
copy = cr.models.clone_model(cr.Sequential { cr.Input { shape = { 2 } }, layers.Dense(3),
  layers.Dropout(0.5) }, { clone_function = function(layer)
  return layer.class_name == "Dropout" and layers.Dropout(0.25) or layers.Dense(5)
end })
check.same({ copy.output_shape[2], copy.layers[2].rate }, { 5, 0.25 })
copy = cr.models.clone_model(cr.Model(first, layers.Dense(3)(layers.Dense(2)(first))),
  { clone_function = function(layer) return layers.Dense(layer.units + 1) end })
check.same({ copy.layers[2].units, copy.output_shape[2] }, { 3, 4 })

-- JSON names functions of the user as well
local plain_model = cr.Model { inputs = { first, second }, outputs = layers.Dense(1,
  { activation = quadruple })(gap_output + 1) }
json = plain_model:to_json()
assert(json:find('"class_name": "Lambda"', 1, true) and json:find('"function": "gap"', 1, true))
model = cr.models.model_from_json(json, custom_objects)
model:set_weights(graph:get_weights())
check.near(model:predict({ x * 5, x }, { verbose = 0 }), expected)
check.same(cr.models.model_from_json(json, { custom_objects = custom_objects }):to_json(), json)
expect_warning([[
  local m = cr.Sequential { cr.Input { shape = { 2 } },
    cr.layers.Lambda(function(t) return t * 3 end, { name = "thrice" }),
    cr.layers.Dense(1, { activation = function(t) return t end }) }
  m:to_json()
  local json = m:to_json { target = "keras2" }
  print(select(2, pcall(cr.models.model_from_json, json)))]], "to_json: 'thrice' is code",
  "model_from_json(json, {custom_objects = {thrice = thrice}})", "unknown activation 'function'")

-- a model class with a call in Lua: the file contains the shapes for which the model was built
local Net = cr.Model:subclass("NetInFile", { { "units", 3 } })
function Net:init() self.first, self.last = layers.Dense(self.units), layers.Dense(1) end
function Net:call(inputs) return self.last(self.first(inputs)) end
local net = Net(4)
net:compile { optimizer = "adam", loss = "mse" }
net:fit(x, y, { verbose = 0 })
check.same(net:get_config().build_input_shape, { 4, 2 })
for _, model_path in ipairs { archive_path, path } do
  net:save(model_path)
  model = cr.models.load_model(model_path)
  check.near(model:predict(x, { verbose = 0 }), net:predict(x, { verbose = 0 }), 1e-6)
  check.same(model:get_config(), net:get_config())
  model:fit(x, y, { verbose = 0 })
end
os.remove(archive_path)

-- layers that are called only in training need no weights in the file
local TrainNet = cr.Model:subclass "TrainsInFile"
function TrainNet:init() self.dense, self.dropout = layers.Dense(3), layers.Dropout(0.5) end
function TrainNet:call(inputs, training)
  inputs = self.dense(inputs)
  return training and self.dropout(inputs, { training = training }) or inputs
end
local trained_model = TrainNet()
trained_model:compile { optimizer = "sgd", loss = "mse" }
trained_model:fit(x, cr.ones { 4, 3 }, { verbose = 0 })
for _, ending in ipairs { ".keras", ".h5" } do
  local model_path, weights_path = check.temporary(ending), check.temporary ".weights.h5"
  trained_model:save(model_path)
  check.near(cr.models.load_model(model_path)(x), trained_model(x))
  trained_model:save_weights(weights_path)
  local unbuilt_model = TrainNet()
  check.fails(function() unbuilt_model:load_weights(weights_path) end, "not built yet")
  unbuilt_model:build { false, 2 }
  unbuilt_model:load_weights(weights_path)
  check.near(unbuilt_model(x), trained_model(x))
  os.remove(model_path)
  os.remove(weights_path)
end

-- built-in functions cause no warning
local code_with_built_ins = [[
  cr.Sequential { cr.layers.Dense(1, { activation = "relu", input_shape = { 2 } }) }:save(path)]]
assert(expect_warning(code_with_built_ins) == "")
os.remove(path)
print "ok code_in_files"
