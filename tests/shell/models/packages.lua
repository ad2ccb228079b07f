-- Packages of custom classes and functions in files, and how they are shown.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local L, ops = cr.layers, cr.ops
local register_in_lab = cr.utils.register_keras_serializable "lab"
local function registered_function(name, f) return cr.utils.register_keras_serializable("lab",
  name)(f) end

local function check_contains(path, ...)
  local file = assert(io.open(path, "rb"))
  local content = file:read "a"
  file:close()
  for _, text in ipairs { ... } do
    assert(content:find(text, 1, true), path .. " lacks " .. text)
  end
end

local x, y = cr.random.uniform({ 4, 3 }, { seed = 1 }), cr.random.uniform({ 4, 2 }, { seed = 2 })
local archive_path, h5_path = check.temporary ".keras", check.temporary ".h5"

local DecayedOptimizer = register_in_lab(
  cr.optimizers.Optimizer:subclass("Slow", { { "decay", 0.9 } }))
function DecayedOptimizer:update_step(g, v, rate) v:assign(v - rate * self.decay * g) end
local PinballLoss = register_in_lab(cr.losses.Loss:subclass("Pinball", { { "q", 0.5 } }))
function PinballLoss:call(t, p)
  return ops.mean(ops.maximum(self.q * (t - p), (self.q - 1) * (t - p)), -1)
end
local AbsoluteSumMetric = register_in_lab(cr.metrics.Metric:subclass "AbsoluteSum")
function AbsoluteSumMetric:init()
  self.sum = self:add_weight { name = "sum", shape = {}, initializer = "zeros" }
end
function AbsoluteSumMetric:update_state(t, p)
  self.sum:assign(self.sum + ops.sum(ops.abs(t - p)))
end
function AbsoluteSumMetric:result() return self.sum end
local snake = registered_function("snake", function(t) return t + ops.square(ops.sin(t)) end)
local mean_distance = registered_function("near",
  function(t, p) return ops.mean(ops.abs(t - p), -1) end)
registered_function("small", function(w) return 0.01 * ops.sum(ops.abs(w)) end)
local model = cr.Sequential {
  L.Dense(3, { activation = snake, kernel_regularizer = "small", input_shape = { 3 } }),
  L.Activation "snake", L.Dense(2, { activation = "lab>snake" }) }
model:compile { optimizer = DecayedOptimizer { learning_rate = 0.5, decay = 0.25 },
  loss = PinballLoss { q = 0.3 }, metrics = { AbsoluteSumMetric(), mean_distance } }
check.same(cr.utils.get_registered_name(snake), "lab>snake")
local history = model:fit(x, y, { epochs = 1, verbose = 0 }).history
assert(history.near and history.absolute_sum and not history["lab>near"])
local snake_object = '{"module": "builtins", "class_name": "function", "config": "lab>snake", '
  .. '"registered_name": "function"}'
local function class_entries(name)
  return string.format('"class_name": "%s"', name),
    string.format('"registered_name": "lab>%s"', name)
end
model:save(archive_path)
model:save(h5_path)
check_contains(archive_path, '"activation": ' .. snake_object,
  '"kernel_regularizer": ' .. snake_object:gsub("snake", "small"),
  (snake_object:gsub("snake", "near")))
for _, name in ipairs { "Slow", "Pinball", "AbsoluteSum" } do
  check_contains(archive_path, class_entries(name))
end
check_contains(h5_path, '"class_name": "lab>Slow"', '"class_name": "lab>Pinball"',
  '"class_name": "lab>AbsoluteSum"', '"lab>near"', '"activation": ' .. snake_object)
local function fit_losses(trained_model)
  return trained_model:fit(x, y, { epochs = 2, verbose = 0, shuffle = false }).history.loss
end
local loaded_models = {}
for i, path in ipairs { archive_path, h5_path } do
  loaded_models[i] = cr.models.load_model(path)
  check.near(loaded_models[i].optimizer:get_config().decay, 0.25)
  check.near(loaded_models[i].optimizer:get_config().learning_rate, 0.5)
  check.near(loaded_models[i].loss.q, 0.3)
end
local later_losses = fit_losses(model)
for _, loaded_model in ipairs(loaded_models) do check.same(fit_losses(loaded_model),
  later_losses) end
for _, path in ipairs { archive_path, h5_path } do os.remove(path) end

-- functions of two packages may have the same short name, which means the one registered last
cr.utils.register_keras_serializable("lib", "snake")(function(t) return t * 2 end)
local x = cr.tensor { 2 }
check.near(L.Activation "lib>snake"(x), { 4 })
check.near(L.Activation "snake"(x), { 4 })
check.near(L.Activation "lab>snake"(x), { 2 + math.sin(2) ^ 2 })
print "ok packages"
