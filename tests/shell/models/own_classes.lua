-- Files of models with custom classes: weights of nested layers are saved under Keras' paths, and
-- subclassed models are rebuilt.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local L = cr.layers
local register_in_lab = cr.utils.register_keras_serializable "lab"

local function read_file(path)
  local file = assert(io.open(path, "rb"))
  local content = file:read "a"
  file:close()
  return content
end

local function check_contains(path, ...)
  local content = read_file(path)
  for _, text in ipairs { ... } do
    assert(content:find(text, 1, true), path .. " lacks " .. text)
  end
end

--- Checks that each path is a dataset with a bias of this width.
local function check_paths(file_path, widths)
  for weight_path, width in pairs(widths) do
    check.same(cr.data.read_hdf5(file_path, weight_path .. "/vars/1").shape, { width }, weight_path)
  end
end

-- layers in attributes: single ones, lists, lists of lists, and tables with names
local TowerLayer = register_in_lab(cr.Layer:subclass("Tower", { { "first", 2 } }))
function TowerLayer:init()
  self.stem = L.Dense(self.first)
  self.blocks = {}
  for i = 1, 2 do self.blocks[i] = L.Dense(self.first + i) end
  self.nested = { { 1, 2 }, { L.Dense(5), { L.Dense(6) } }, L.Dense(7) }
  self.heads = { zeta = L.Dense(8), alpha = L.Dense(9) }
  self._hidden = L.Dense(10)
  self.again = self.stem
  self.body = cr.Sequential { L.Dense(11), L.Dense(12) }
end
function TowerLayer:call(x)
  x = self.blocks[2](self.blocks[1](self.again(x)))
  x = self.nested[3](self.nested[2][2][1](self.nested[2][1](x)))
  return self.body(self._hidden(self.heads.alpha(self.heads.zeta(x))))
end

local function tower_model(options)
  local i = cr.Input { shape = { 3 } }
  return cr.Model { inputs = i, outputs = TowerLayer(options or {})(i) }
end

local x = cr.random.uniform({ 4, 3 }, { seed = 1 })
local model = tower_model()
local weights_path = check.temporary ".weights.h5"
model:save_weights(weights_path)
local prefix = "layers/tower/"
check_paths(weights_path, {
  [prefix .. "again"] = 2, [prefix .. "blocks/dense"] = 3, [prefix .. "blocks/dense_1"] = 4,
  [prefix .. "nested/container_1/dense"] = 5, [prefix .. "nested/container_1/container/dense"] = 6,
  [prefix .. "nested/dense"] = 7, [prefix .. "heads/dense"] = 8, [prefix .. "heads/dense_1"] = 9,
  [prefix .. "_hidden"] = 10, [prefix .. "body/layers/dense"] = 11,
  [prefix .. "body/layers/dense_1"] = 12,
})
check.fails(function() cr.data.read_hdf5(weights_path, prefix .. "stem/vars/1") end, "stem")
local other_model = tower_model()
other_model:load_weights(weights_path)
check.same(other_model:predict(x, { verbose = 0 }):totable(),
  model:predict(x, { verbose = 0 }):totable())

-- variables are in the order in which Keras registers their layers
local function bias_widths(model_of_widths)
  local result = {}
  for _, weight in ipairs(model_of_widths.weights) do
    if #weight.shape == 1 then result[#result + 1] = weight.shape[1] end
  end
  return result
end
check.same(bias_widths(model), { 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 })

-- files of earlier versions, in which nested layers are numbered
local numbered_weights = {}
local paths_in_order = { "again", "blocks/dense", "blocks/dense_1", "nested/container_1/dense",
  "nested/container_1/container/dense", "nested/dense", "heads/dense", "heads/dense_1", "_hidden",
  "body/layers/dense", "body/layers/dense_1" }
for i, weight_path in ipairs(paths_in_order) do
  local old_path = i < 10 and "layer_" .. i - 1 or weight_path:gsub("body", "layer_9")
  for k = 0, 1 do
    local values = cr.data.read_hdf5(weights_path, prefix .. weight_path .. "/vars/" .. k)
    numbered_weights[prefix .. old_path .. "/vars/" .. k] = values
  end
end
local old_file_path = check.temporary ".weights.h5"
cr.data.write_hdf5(old_file_path, numbered_weights)
other_model = tower_model()
other_model:load_weights(old_file_path)
check.same(other_model:predict(x, { verbose = 0 }):totable(),
  model:predict(x, { verbose = 0 }):totable())
os.remove(old_file_path)
os.remove(weights_path)

-- a subclassed model: layers in attributes whose names sort before "layers" (head) are stored under
-- these names, those after it (tail, trunk) under "layers" and the name of their class
local TowerModel = register_in_lab(cr.Model:subclass("Net", { { "units", 3 } }))
function TowerModel:init()
  self.head = L.Dense(self.units)
  self.tail = TowerLayer { first = 4 }
  self.trunk = cr.Sequential { L.Dense(6) }
end
function TowerModel:call(t) return self.tail(self.trunk(self.head(t))) end
local y = cr.random.uniform({ 4, 12 }, { seed = 2 })
model = TowerModel { units = 5 }
model:compile { optimizer = "adam", loss = "mse" }
model:fit(x, y, { epochs = 2, verbose = 0, shuffle = false })
local archive_path = check.temporary ".keras"
model:save(archive_path)
model:save_weights(weights_path)
check_paths(weights_path, { head = 5, ["layers/tower/blocks/dense"] = 5, ["layers/tower/again"] = 4,
  ["layers/sequential/layers/dense"] = 6 })
check_contains(archive_path, '"registered_name": "lab>Net"', '"class_name": "Net"',
  '"build_config": {"input_shape": [4, 3]}')
other_model = cr.models.load_model(archive_path)
local reloaded_model = TowerModel { units = 5 }
reloaded_model:predict(x, { verbose = 0 })
reloaded_model:load_weights(weights_path)
check.same(reloaded_model:predict(x, { verbose = 0 }):totable(),
  model:predict(x, { verbose = 0 }):totable())
local function fit_losses(trained_model)
  return trained_model:fit(x, y, { epochs = 2, verbose = 0, shuffle = false }).history.loss
end
check.same(fit_losses(other_model), fit_losses(model))

-- a subclassed model inside another one stores the shapes for which it was built where Keras does
local OuterModel = register_in_lab(cr.Model:subclass "Outer")
function OuterModel:init(config)
  local net = config.net
  self.net = type(net) == "table" and cr.saving.deserialize_keras_object(net) or net
end
function OuterModel:call(t) return self.net(t) end
function OuterModel:get_config() return { net = cr.saving.serialize_keras_object(self.net) } end
model = OuterModel { net = TowerModel { units = 2 } }
local expected_predictions = model:predict(x, { verbose = 0 })
model:save(archive_path)
assert(not read_file(archive_path):match('"build_input_shape": %[4, 3%], "net"'))
check.same(cr.models.load_model(archive_path):predict(x, { verbose = 0 }):totable(),
  expected_predictions:totable())
for _, path in ipairs { archive_path, weights_path } do os.remove(path) end

-- options that hold layers, models and other objects hold such objects again after loading
local SettingsModel = register_in_lab(cr.Model:subclass("Pair",
  { { "parts" }, { "loss_of" }, { "measures", {} },
  { "rule" }, { "free" } }))
function SettingsModel:call(inputs)
  for _, part in ipairs(self.parts.list) do inputs = part(inputs) end
  return self.loss_of(inputs, inputs) + inputs
end
local symbol = cr.Input { shape = { 4 } }
local nested_model = cr.Model { inputs = symbol, outputs = L.Dense(5)(symbol) }
local pair_model = SettingsModel { parts = { list = { L.Dense(4), nested_model } },
  loss_of = cr.losses.MeanSquaredError(),
  measures = { cr.metrics.MeanSquaredError(), cr.metrics.Precision { thresholds = 0.3 } },
  rule = cr.regularizers.L2(0.5), free = { any = 1 } }
pair_model:compile { optimizer = "adam", loss = "mse" }
pair_model:fit(cr.ones { 6, 3 }, cr.ones { 6, 5 }, { verbose = 0 })
expected_predictions = pair_model:predict(cr.ones { 2, 3 }, { verbose = 0 })
pair_model:save(archive_path)
for _, reloaded_model in ipairs { cr.models.load_model(archive_path),
  cr.models.clone_model(pair_model) } do
  check.same(reloaded_model.rule.class_name, "L2")
  check.same(reloaded_model.measures[1]:get_config(), pair_model.measures[1]:get_config())
  check.same(reloaded_model.measures[2]:get_config().thresholds,
    pair_model.measures[2]:get_config().thresholds)
  reloaded_model.measures[1]:update_state({ 1 }, { 3 })
  check.same(reloaded_model.measures[1]:result():item(), 4.0)
  check.same(reloaded_model.free, { any = 1 })
  reloaded_model:predict(cr.ones { 2, 3 }, { verbose = 0 })
  check.same(#reloaded_model.weights, 4)
  reloaded_model:set_weights(pair_model:get_weights())
  check.same(reloaded_model:predict(cr.ones { 2, 3 }, { verbose = 0 }):totable(),
    expected_predictions:totable())
end
local loaded_model = cr.models.load_model(archive_path)
check.same(loaded_model:predict(cr.ones { 2, 3 }, { verbose = 0 }):totable(),
  expected_predictions:totable())
assert(loaded_model.optimizer.iterations:item() == 1)
os.remove(archive_path)

-- two weights with the same name stay two weights in every file
local TwinWeightsLayer = cr.Layer:subclass "Twins"
function TwinWeightsLayer:build(shape)
  for _, initial_value in ipairs { "ones", "zeros" } do
    self[initial_value] = self:add_weight { name = "w", shape = { shape[#shape] },
      initializer = initial_value }
  end
end
function TwinWeightsLayer:call(t) return t * self.ones + self.zeros end
local twins_model = cr.Sequential { TwinWeightsLayer { input_shape = { 2 } } }
twins_model:set_weights { cr.tensor { 1, 2 }, cr.tensor { 3, 4 } }
for _, ending in ipairs { ".h5", ".keras", ".weights.h5", ".safetensors", ".npz" } do
  local path = os.tmpname() .. ending
  local clone = cr.models.clone_model(twins_model)
  if ending == ".h5" or ending == ".keras" then
    twins_model:save(path)
    clone = cr.models.load_model(path)
  else
    twins_model:save_weights(path)
    clone:load_weights(path)
  end
  check.same(clone(cr.ones { 1, 2 }):totable(), { { 4, 6 } })
  os.remove(path)
end

-- compiled steps call the methods that a class has now, however they were defined
local ScaledModel = cr.Model:subclass "Scaled"
function ScaledModel:init() self.dense = cr.layers.Dense(1, { kernel_initializer = "ones" }) end
function ScaledModel:scale() return 1 end
function ScaledModel:call(x) return self.dense(x) * self:scale() end
local ShiftedModel = ScaledModel:subclass "Shifted"
function ShiftedModel:call(x) return ShiftedModel.super.call(self, x) + 1 end
local scaled_model, shifted_model = ScaledModel {}, ShiftedModel {}
local function predictions()
  local x = cr.ones { 1, 2 }
  return { scaled_model:predict(x, { verbose = 0 }):item(),
    shifted_model:predict(x, { verbose = 0 }):item() }
end
check.same(predictions(), { 2, 3 })
load "local class = ... function class:scale() return 10 end"(ScaledModel)
check.same(predictions(), { 20, 21 })
ScaledModel.call = function(self, x) return self.dense(x) * 100 end
check.same(predictions(), { 200, 201 })
ShiftedModel.scale = function() return 7 end
function ScaledModel:call(x) return self.dense(x) * self:scale() end
check.same(predictions(), { 20, 15 })
function ShiftedModel:scale() return 0 end
ScaledModel.call = nil
function ScaledModel:call(x) return self.dense(x) * self:scale() end
check.same(predictions(), { 20, 1 })
local members = {}
for name in pairs(ShiftedModel) do members[name] = true end
check.same(members, { call = true, scale = true, super = true, __name = true })

-- layers in options have the order of the declared options, whatever the order in the table
local names = { "zeta", "alpha", "mid", "beta", "last", "first" }
local option_names = {}
for i, name in ipairs(names) do option_names[i] = { name } end
for _, base in ipairs { cr.Model, cr.Layer } do
  local SequentialHolder = base:subclass("Holder", option_names)
  function SequentialHolder:call(inputs)
    for _, name in ipairs(names) do inputs = self[name](inputs) end
    return inputs
  end
  for _ = 1, 3 do
    local options = {}
    for i, name in ipairs(names) do options[name] = cr.layers.Dense(i, { use_bias = false }) end
    local holder = SequentialHolder(options)
    holder(cr.ones { 1, 1 })
    for i, weight in ipairs(holder.weights) do check.same(weight.shape[2], i) end
  end
end
print "ok own_classes"
