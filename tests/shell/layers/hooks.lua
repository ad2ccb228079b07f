-- Functions of Lua classes that look like hooks but are never called cause a warning.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local x, y = cr.ones { 4, 2 }, cr.ones { 4, 1 }

-- The standard error output of a script, to which warnings are written.
local function stderr_of(code)
  local ok, text = check.run("local x, y = cr.ones { 4, 2 }, cr.ones { 4, 1 }\n" .. code)
  assert(ok, text)
  return text
end

local function expect_warnings(code, ...)
  local text = stderr_of(code)
  for _, part in ipairs { ... } do
    assert(text:find(part, 1, true), "expected '" .. part .. "' in:\n" .. text)
  end
  return text
end

-- the error for a class without call lists functions with similar names
local MisspelledLayer = cr.Layer:subclass "Wrong"
function MisspelledLayer:cal(inputs) return inputs end
check.fails(function() MisspelledLayer { name = "w" }(x) end, "w", "no call()", "it defines cal")
local EmptyModel = cr.Model:subclass "Empty"
check.fails(function() EmptyModel()(x) end, "no call()")

-- an option with the name of a method is refused when the class declares it
for _, name in ipairs { "build", "call", "init", "compute_mask", "get_config" } do
  check.fails(function() cr.Layer:subclass("Hiding", { { name, 1 } }) end,
    "an option cannot be called '" .. name .. "'", "a method of Layer")
end
check.fails(function() cr.metrics.Metric:subclass("Hiding", { result = 1 }) end, "'result'")
cr.losses.Loss:subclass("Free", { { "build", 1 } })

-- misspelt hooks cause one warning, when the first object is made
local warnings = expect_warnings([[
  local Wrong = cr.Layer:subclass "Wrong"
  function Wrong:biuld() end
  function Wrong:call(inputs) return inputs end
  Wrong() Wrong() Wrong()]], "Wrong", "biuld() is not a hook of Layer", "did you mean 'build'?")
assert(select(2, warnings:gsub("biuld", "")) == 1, warnings)
expect_warnings([[
  local C = cr.callbacks.Callback:subclass "C"
  function C:on_epoch_ends() end
  C()]], "on_epoch_ends()", "did you mean 'on_epoch_end'?")

-- the error for a class without a function that it needs lists the functions that it has
local MisspelledMetric = cr.metrics.Metric:subclass "Results"
function MisspelledMetric:update_state() end
function MisspelledMetric:results() end
check.fails(function() MisspelledMetric()(y, y) end, "no result()",
  "it defines results, update_state")

-- Returns the warnings for classes that are derived from the base `base` and each define a function
-- with one of the names: there is one for the misspelling of a hook, and none for other names.
local function warnings_of(base, names)
  local lines = {}
  for word in names:gmatch "%S+" do
    lines[#lines + 1] = ("local C = %s:subclass 'C_%s' function C:%s() end pcall(C)")
      :format(base, word, word)
  end
  return stderr_of(table.concat(lines, "\n"))
end
for _, base in ipairs { "cr.Layer", "cr.Model", "cr.metrics.Metric", "cr.losses.Loss",
  "cr.callbacks.Callback", "cr.optimizers.Optimizer", "cr.data.Dataset" } do
  check.same(warnings_of(base, [[predict_one predict_all results rebuild recall calls calc ball all
    builds inits configs get_configs update_states reset_weights train_batch train_steps test_one
    compute_losses steps lens gets slot initial_slots encode decode sample forward on]]), "", base)
end
for base, names in pairs {
  ["cr.Model"] = "trainstep train_setp predct_step bulid buld getConfig __init__ compute_lsos",
  ["cr.metrics.Metric"] = "updateState update_stat reslut reset_sate reset_states",
  ["cr.callbacks.Callback"] = "on_epoch_ends on_epoch_strat on_train_batch_start onEpochEnd",
  ["cr.data.Dataset"] = "__len__ __getitem__ on_epoch_ends num_batches",
} do
  local _, count = names:gsub("%S+", "")
  local text = warnings_of(base, names)
  check.same(select(2, text:gsub("class C_", "")), count, text)
end

-- a hook that is written with '.' has the object in its first parameter
expect_warnings([[
  local L = cr.losses.Loss:subclass "L"
  function L.call(y_true, y_pred) return y_true - y_pred end
  L()]], "L: call() gets the object as 'y_true'", "function L:call(y_true, y_pred)")
assert(stderr_of [[
  local L = cr.Layer:subclass "L"
  L.build = function(layer, shape) layer.width = shape[2] end
  function L.call(this, inputs) return inputs end
  function L.helper(inputs) return inputs end
  L.compute_mask = function() end
  L()(x)]] == "")
expect_warnings([[
  local L = cr.Layer:subclass "L"
  function L:call(inputs) return inputs end
  function L:compute_output_shape(shape) return shape end
  L()]], "compute_output_shape() is not called", "found by running call")
expect_warnings([[
  local L = cr.losses.Loss:subclass "L"
  function L:call(t, p) return t - p end
  function L:build(shape) end
  L()]], "build() is not called", "layers have it, and Loss does not")
expect_warnings([[
  local N = cr.Model:subclass "N"
  function N:call(inputs) return inputs end
  function N:compile_from_config(config) end
  N()]], "compile_from_config() is not called", "cr.Model.compile")
expect_warnings([[
  local N = cr.Model:subclass "N"
  function N:init() self.d = cr.layers.Dense(1) end
  function N:call(inputs) return self.d(inputs) end
  function N:make_train_function() end
  N()]], "make_train_function() is not called", "train_step")
expect_warnings([[
  local L = cr.Layer:subclass "L"
  function L:__init__() end
  function L:__call__(inputs) return inputs end
  function L:call(inputs) return inputs end
  L()]], "__init__() is not called: init() is", "__call__() is not called: call() is")
expect_warnings([[cr.Model:subclass("N", { predict = 1 })]],
  "class N: the option 'predict' hides the method predict() of its objects")
-- a name that a class of Lua and its base lack is nil, and methods of the base are found
local Plain = cr.Layer:subclass "Plain"
local DerivedFromPlain = Plain:subclass "DerivedFromPlain"
assert(Plain.count == nil and DerivedFromPlain.count == nil)
Plain.count = 3
assert(DerivedFromPlain.count == 3 and DerivedFromPlain.get_weights == cr.Layer.get_weights)
-- other functions of a class cause no warning
assert(stderr_of [[
  local L = cr.Layer:subclass "L"
  function L:init() end
  function L:init_2() end
  function L:build(shape) self:build_parts(shape) end
  function L:build_parts() end
  function L:call(inputs) return self:calls(inputs) end
  function L:calls(inputs) return inputs end
  function L:norm(inputs) return inputs end
  L()(x)]] == "")

-- on_batch_begin and on_batch_end, the alternative names of hooks, are called
local events = {}
local RecordingCallback = cr.callbacks.Callback:subclass "Watch"
function RecordingCallback:on_batch_begin(batch) events[#events + 1] = "begin" .. batch end
function RecordingCallback:on_batch_end(batch, logs)
  events[#events + 1] = "end" .. batch .. type(logs.loss)
end
local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
model:compile { optimizer = "sgd", loss = "mse" }
model:fit(x, y, { verbose = 0, batch_size = 2, shuffle = false,
  callbacks = { RecordingCallback() } })
check.same(events, { "begin0", "end0number", "begin1", "end1number" })

-- reset_states of a class is called, and may call that of the base class
local reset_count = 0
local ResetLayer = cr.Layer:subclass "Counting"
function ResetLayer:call(inputs) return inputs end
function ResetLayer:reset_states()
  reset_count = reset_count + 1
  cr.Layer.reset_states(self)
end
cr.Sequential { cr.Input { shape = { 2 } }, ResetLayer() }:reset_states()
assert(reset_count == 1)

do -- functions of a class call those of its base, as layers of Keras do
  local PortedLayer = cr.Layer:subclass "Ported"
  function PortedLayer:init(config)
    self.super.init(self, config)
    self.units = config.units
  end
  function PortedLayer:build(shape)
    self.w = self:add_weight { name = "w", shape = { shape[#shape], self.units } }
    cr.Layer.build(self, shape)
  end
  function PortedLayer:call(x) return x:matmul(self.w) end
  local ported_layer = PortedLayer { units = 3, weights = { cr.ones { 2, 3 } } }
  check.near(ported_layer(cr.ones { 1, 2 }), { { 2, 2, 2 } })
  assert(ported_layer.built and #ported_layer.weights == 1)
  local PortedModel = cr.Model:subclass "PortedModel"
  function PortedModel:init(config) cr.Model.init(self, config) end
  function PortedModel:call(x) return x * 2 end
  check.near(PortedModel { name = "w" }(cr.ones { 1 }), { 2 })
end

-- save_own_variables, load_own_variables and build_from_config of a class, for Keras 3 files
do
  local layers = cr.layers
  local WordsLayer = cr.Layer:subclass("Keeping", { { "units", 3 } })
  function WordsLayer:build(shape)
    self.w = self:add_weight { name = "w", shape = { shape[#shape], self.units } }
  end
  function WordsLayer:call(inputs) return inputs:matmul(self.w) end
  function WordsLayer:save_own_variables(store)
    cr.Layer.save_own_variables(self, store)
    store.words = cr.tensor { 1, 2, 3 }
  end
  function WordsLayer:load_own_variables(store)
    self.w:assign(store["0"])
    self.words = store.words
  end
  local DoubledWeightLayer = cr.Layer:subclass "Numbered"
  function DoubledWeightLayer:build(shape)
    self.w = self:add_weight { name = "w", shape = shape }
  end
  function DoubledWeightLayer:call(inputs) return inputs * self.w end
  function DoubledWeightLayer:load_own_variables(store)
    store["0"] = store["0"] * 2
    cr.Layer.load_own_variables(self, store)
  end
  local WrapperLayer = cr.Layer:subclass "Around"
  function WrapperLayer:init(config) self.inner = config.inner end
  function WrapperLayer:get_config() return { inner = layers.serialize(self.inner) } end
  function WrapperLayer:from_config(config)
    config.inner = layers.deserialize(config.inner)
    return self(config)
  end
  function WrapperLayer:call(inputs) return self.inner(inputs) end
  local input = cr.Input { batch_shape = { 4, 2 } }
  local original_model = cr.Model(input,
    WrapperLayer { inner = layers.Dense(1) }(DoubledWeightLayer()(WordsLayer()(input))))
  local expected = original_model(x)
  for _, ending in ipairs { ".keras", ".weights.h5" } do
    local path = check.temporary(ending)
    local loaded_model
    if ending == ".keras" then
      original_model:save(path)
      loaded_model = cr.models.load_model(path)
    else
      original_model:save_weights(path)
      loaded_model = cr.models.clone_model(original_model)
      loaded_model:load_weights(path)
    end
    os.remove(path)
    local w = original_model.layers[3].w
    check.near(loaded_model.layers[3].w, w * 2)
    loaded_model.layers[3].w:assign(w)
    check.near(loaded_model(x), expected)
    check.near(loaded_model.layers[2].words, { 1, 2, 3 })
    check.same(loaded_model.layers[4].inner.class_name, "Dense")
  end
  local FactorLayer = cr.Layer:subclass "BuiltAgain"
  function FactorLayer:call(inputs) return inputs * self.factor end
  function FactorLayer:get_build_config() return { factor = self.factor } end
  function FactorLayer:build_from_config(config) self.factor = config.factor end
  local layer = FactorLayer()
  layer.factor = 3
  local built_model = cr.Model(input, layer(input))
  for _, ending in ipairs { ".keras", ".h5" } do
    local path = check.temporary(ending)
    built_model:save(path)
    check.near(cr.models.load_model(path)(x), 3 * x)
    os.remove(path)
  end
  check.near(cr.models.clone_model(built_model)(x), 3 * x)
  local json = built_model:to_json()
  assert(json:find('"registered_name": "BuiltAgain", "build_config": {"factor": 3}', 1, true))
  check.near(cr.models.model_from_json(json)(x), 3 * x)
  local NumberLayer = cr.Layer:subclass "WrongFromConfig"
  function NumberLayer:from_config() return 3 end
  check.fails(function() layers.deserialize { class_name = "WrongFromConfig", config = {} } end,
    "from_config()", "expected an object of it, got 3")
  local SizedModel = cr.Model:subclass "NetFromConfig"
  function SizedModel:init(config) self.d = layers.Dense(config.size) end
  function SizedModel:get_config() return { size = self.d.units } end
  function SizedModel:from_config(config) return self { size = config.size } end
  function SizedModel:call(inputs) return self.d(inputs) end
  local net = SizedModel { size = 3 }
  check.same(cr.models.clone_model(net).d.units, 3)
end

do -- a layer returns a table with names; a class is refused where an object is expected
  local NamedResultLayer = cr.Layer:subclass "NamedResults"
  function NamedResultLayer:call(x) return { a = x, b = x } end
  check.same(NamedResultLayer()(cr.ones { 1 }).b:totable(), { 1 })
  check.fails(function() cr.Sequential { NamedResultLayer } end, "got the class NamedResults")
end

-- the method call gets the mask of its inputs whether the layer passes masks on or not
local seen_mask
local MaskReader = cr.Layer:subclass "MaskReader"
function MaskReader:call(x, options)
  seen_mask = options.mask
  return x
end
local masked_steps = cr.layers.Masking()(cr.tensor { { { 1.0 }, { 0.0 }, { 2.0 } } })
MaskReader()(masked_steps)
check.same(seen_mask:totable(), { { true, false, true } })
MaskReader()(cr.ones { 1, 3, 1 }, { mask = cr.tensor({ { false, true, true } }, "bool") })
check.same(seen_mask:totable(), { { false, true, true } })
MaskReader()(cr.ones { 1, 3, 1 })
check.same(seen_mask, nil)
print "ok hooks"
