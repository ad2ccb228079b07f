-- cr.distillation: students that learn from teachers. The expected numbers are those of Keras
-- 3.15.1 for the same weights and batches.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, losses, ops, distillation = cr.layers, cr.losses, cr.ops, cr.distillation
local LogitsDistillation, FeatureDistillation =
  distillation.LogitsDistillation, distillation.FeatureDistillation

-- ---- the losses

local a, b = cr.tensor { { 1, 2, 0.5 }, { -1, 0, 3 } }, cr.tensor { { 0, 1, 1 }, { 0.5, -0.5, 2 } }
local function value_of(loss) return loss:compute_loss(a, b) end
check.near(value_of(LogitsDistillation()), 2.8792660236358643)
check.near(value_of(LogitsDistillation(2.0, losses.KLDivergence())), 0.2969837784767151)
check.near(value_of(LogitsDistillation(4, "categorical_crossentropy")), 2.0580837726593018)
check.near(value_of(FeatureDistillation "cosine_similarity"), -0.7957041263580322)
check.near(value_of(FeatureDistillation(losses.MeanAbsoluteError())), 0.9166666269302368)
check.near(value_of(FeatureDistillation(function(y_true, y_pred)
  return ops.mean(ops.abs(y_true - y_pred), -1)
end)), 0.9166666269302368)
check.near(LogitsDistillation(2.0, { "mse", false }):compute_loss({ a, b }, { b, a }),
  0.2395833283662796)
check.near(FeatureDistillation { loss = { p = "mse", q = "mae" } }:compute_loss(
  { p = a, q = b }, { p = b, q = a * 2 }), 2.9583332538604736)

check.fails(function() LogitsDistillation(0) end, "temperature must be positive.")
check.fails(function() LogitsDistillation "warm" end, "temperature", "a number", '"warm"')
check.fails(function() LogitsDistillation(2, { false, false }) end,
  "At least one loss must be non-`None`.")
check.fails(function() LogitsDistillation(2, "kl_divergenze") end, "kl_divergence")
check.fails(function() FeatureDistillation { false } end,
  "The `loss` argument in `FeatureDistillation` must contain at least one non-`None` value.")
check.fails(function() LogitsDistillation():compute_loss({ a, b }, { b, a }) end,
  "Loss structure mismatch")
check.fails(function() FeatureDistillation():validate_outputs({ a, b }, { b, a }) end,
  "Loss structure mismatch")
check.fails(function() FeatureDistillation():validate_outputs({ a, b }, a) end, "nested")

-- ---- training

local x = cr.tensor { { 1, 2, 3 }, { 0, 1, -1 }, { 0.5, 0.5, 2 }, { -1, 0, 1 }, { 2, -1, 0.5 } }
local y = cr.tensor { { 1, 0 }, { 0, 1 }, { 1, 0 }, { 0, 1 }, { 1, 0 } }

local function net(k, name, extra)
  local stack = { cr.Input { shape = { 3 } },
    layers.Dense(4, { name = "h", activation = "tanh",
      kernel_initializer = cr.initializers.Constant(0.1 * k),
      bias_initializer = cr.initializers.Constant(0.05) }) }
  if extra then stack[#stack + 1] = extra end
  stack[#stack + 1] = layers.Dense(2, { name = "o" })
  local model = cr.Sequential(stack, { name = name })
  model.layers[#model.layers]:set_weights {
    ops.reshape(ops.arange(8), { 4, 2 }) * (0.1 * k), cr.tensor { 0.1 * k, -0.2 } }
  return model
end

local function compiled(student, distillation_losses, options)
  options = options or {}
  options.teacher, options.student = net(2, "t"), student
  options.distillation_losses = distillation_losses
  local distiller = distillation.Distiller(options)
  distiller:compile { optimizer = cr.optimizers.SGD(0.1),
    loss = losses.CategoricalCrossentropy { from_logits = true }, metrics = { "mae" } }
  return distiller
end
local function fit(distiller, options)
  options = options or {}
  options.batch_size, options.epochs, options.verbose, options.shuffle = 2, 2, 0, false
  return distiller:fit(x, y, options).history
end
local function check_logs(got, want)
  for name, values in pairs(want) do check.near(got[name], values, 1e-5, name) end
  for name in pairs(got) do assert(want[name], name .. " is no log of Keras") end
end
local function evaluated(distiller)
  return distiller:evaluate(x, y, { batch_size = 2, verbose = 0, return_dict = true })
end
local all_at_once = { distillation_loss = { 0.6467640995979309, 0.25024721026420593 },
  loss = { 0.7210317850112915, 0.5027498006820679 },
  mae = { 0.5149880647659302, 0.6215954422950745 },
  student_loss = { 0.6945326328277588, 0.6904215812683105 },
  total_loss = { 0.6706483364105225, 0.47033438086509705 } }
local evaluated_at_once = { distillation_loss = 0.17630635201931, loss = 0.45220106840133667,
  mae = 0.6787862181663513, student_loss = 0.6738026738166809, total_loss = 0.4250544607639313 }

-- the name of the student's layer alone decides nothing; that of the teacher's compares the
-- student's output with it
local d = compiled(net(1, "s"), FeatureDistillation("mse", "o"))
check_logs(fit(d), all_at_once)
check_logs(evaluated(d), evaluated_at_once)
check.near(d.student.layers[2]:get_weights()[2], { 0.2515559792518616, -0.0915980264544487 })
check.near(d:predict(x), d.student:predict(x))
-- sample weights and the losses of regularizers have no part in the loss
d = compiled(net(1, "s"), FeatureDistillation())
check_logs(fit(d, { sample_weight = cr.tensor { 1, 2, 3, 4, 5 } }), all_at_once)
d.student.layers[1].kernel.regularizer = cr.regularizers.L2(0.1)
check_logs(evaluated(d), evaluated_at_once)

-- weights of a loss that is in no list are left out, as in Keras
local warm = LogitsDistillation(2.0, losses.KLDivergence())
d = compiled(net(1, "s"), warm, { distillation_loss_weights = { 3.0 } })
check.same(d.distillation_loss_weights, { 1.0 })
check_logs(fit(d), { distillation_loss = { 0.004260931629687548, 0.006451854016631842 },
  loss = { 0.35654258728027344, 0.3527621626853943 },
  mae = { 0.5091052055358887, 0.4967615008354187 },
  student_loss = { 0.6883723139762878, 0.6769888997077942 },
  total_loss = { 0.3463166058063507, 0.3417203724384308 } })
d = compiled(net(1, "s"), { warm },
  { distillation_loss_weights = { 3.0 }, student_loss_weight = 0 })
check_logs(fit(d), { distillation_loss = { 0.01100984588265419, 0.00734756700694561 },
  loss = { 0.013044078834354877, 0.008803208358585835 },
  mae = { 0.5163735151290894, 0.5269520878791809 }, student_loss = { 0, 0 },
  total_loss = { 0.01100984588265419, 0.00734756700694561 } })
d = compiled(net(1, "s"), LogitsDistillation(), { student_loss_weight = 1 })
check_logs(fit(d), { distillation_loss = { 0, 0 },
  loss = { 0.7054543495178223, 0.6855860948562622 },
  mae = { 0.5060209035873413, 0.4793301522731781 },
  student_loss = { 0.6851811408996582, 0.6619488596916199 },
  total_loss = { 0.6851811408996582, 0.6619488596916199 } })

-- layers of the student are computed in training mode, once more beside the call
d = compiled(net(1, "s", layers.BatchNormalization { name = "n" }),
  FeatureDistillation("mse", "h", "n"))
check_logs(fit(d), { distillation_loss = { 0.41049182415008545, 0.36382853984832764 },
  loss = { 0.6336654424667358, 0.521844744682312 },
  mae = { 1.1975526809692383, 1.1521366834640503 },
  student_loss = { 0.7557380199432373, 0.6104008555412292 },
  total_loss = { 0.5831149220466614, 0.48711466789245605 } })
check_logs(evaluated(d), { distillation_loss = 0.3346545994281769, loss = 0.5155794024467468,
  mae = 0.43437129259109497, student_loss = 0.6210043430328369, total_loss = 0.4778294563293457 })

-- without targets the student learns from the teacher alone
local function fit_without_targets(options)
  options.teacher, options.student = net(2, "t"), net(1, "s")
  local metrics = options.metrics
  options.metrics, options.distillation_losses = nil, LogitsDistillation(2.0)
  local distiller = distillation.Distiller(options)
  distiller:compile { optimizer = cr.optimizers.SGD(0.1), loss = "mse", metrics = metrics }
  local history = distiller:fit(x, { epochs = 3, batch_size = 5, verbose = 0, shuffle = false })
  return distiller, history.history
end
local total_losses, distillation_losses =
  { 0.8698355555534363, 0.2762734591960907, 0.16736584901809692 },
  { 1.159780740737915, 0.3683646023273468, 0.2231544703245163 }
local student_losses, logs = { 0, 0, 0 }, nil
d, logs = fit_without_targets { student_loss_weight = 0.25 }
check_logs(logs, { distillation_loss = distillation_losses, loss = total_losses,
  total_loss = total_losses, student_loss = student_losses })
check.near(d.student:get_weights()[1][1],
  { 0.12294857949018478, 0.17618140578269958, 0.22333604097366333, 0.26550692319869995 })
check.near(d:evaluate(x, { verbose = 0, return_dict = true }).loss, 0.08767995238304138)
check.fails(function() fit_without_targets { student_loss_weight = 1 } end,
  "No gradients provided for any variable")
check.fails(function() fit_without_targets { metrics = { "mae" } } end,
  "MeanAbsoluteError: Error when checking model target")
check.fails(function()
  distillation.Distiller:subclass "Own" { teacher = net(2, "t"), student = net(1, "s"),
    distillation_losses = LogitsDistillation() }
end, "Own: the objects of Distiller are models", "derive from cr.Model")

-- ---- losses of one's own

local Distance = distillation.DistillationLoss:subclass("Distance", { { "power", 1 } })
function Distance:compute_loss(teacher, student)
  return ops.mean(ops.abs(teacher - student) ^ self.power)
end
local checked_count = 0
function Distance:validate_outputs(teacher, student)
  Distance.super.validate_outputs(self, teacher, student)
  checked_count = checked_count + 1
end
function Distance:validate_model_compatibility(teacher, student)
  if teacher.name == student.name then error "a teacher is somebody else" end
end
d = compiled(net(1, "s"), { Distance(), FeatureDistillation("mse", "h", "h") },
  { distillation_loss_weights = { 0.5, 2 } })
local own_logs = { distillation_loss = { 0.3942130506038666, 0.2839154303073883 },
  loss = { 0.5565252900123596, 0.4983486235141754 },
  mae = { 0.5101076364517212, 0.5167562961578369 },
  student_loss = { 0.6892054080963135, 0.679718017578125 },
  total_loss = { 0.5417092442512512, 0.48181667923927307 } }
check_logs(fit(d), own_logs)
assert(checked_count > 0)
check.fails(function() compiled(net(1, "t"), Distance()) end, "a teacher is somebody else")
check.fails(function() Distance():validate_outputs({ a }, a) end, "nested")

-- attributes name the layers whose outputs are compared; classes can be derived from built-in ones
local OfLayers = Distance:subclass "OfLayers"
OfLayers.teacher_layer_name, OfLayers.student_layer_name = "h", "h"
local Doubled = FeatureDistillation:subclass "Doubled"
function Doubled:compute_loss(teacher, student)
  return 2 * Doubled.super.compute_loss(self, teacher, student)
end
d = compiled(net(1, "s"), { Distance(), Doubled("mse", "h", "h") },
  { distillation_loss_weights = { 0.5, 1 } })
check_logs(fit(d), own_logs)
d = compiled(net(1, "s"), { Distance(), OfLayers { power = 2 } },
  { distillation_loss_weights = { 0.5, 2 } })
check_logs(fit(d), own_logs)

local Empty, Rows = distillation.DistillationLoss:subclass "Empty",
  distillation.DistillationLoss:subclass "Rows"
check.fails(function() fit(compiled(net(1, "s"), Empty())) end, "must implement compute_loss")
function Rows:compute_loss(teacher, student) return ops.mean(teacher - student, -1) end
check.fails(function() fit(compiled(net(1, "s"), Rows())) end,
  "Distillation loss Rows returned a non-scalar loss with shape (2,)",
  "The compute_loss method must return a scalar tensor.")

-- ---- the object

d = distillation.Distiller(net(2, "t"), net(1, "s"), LogitsDistillation())
check.same({ d.name, d.student_loss_weight, d.teacher.trainable, #d.trainable_weights,
  #d.weights }, { "distiller", 0.5, false, 4, 8 })
check.fails(function() d:compile { optimizer = "sgd" } end, "'loss' cannot be `None`.")
check.fails(function() d:compile { loss = "mse", metrics = "mae" } end,
  "metrics must be a list or tuple", '"mae"')
d:compile { loss = "mse" }
assert(tostring(d.optimizer):find "Adam")
check.near(d:compute_loss(x, y), 0.6356199979782104)
check.near(d:compute_loss { x = x, y = y, training = false }, 0.6356199979782104)
check.near(d:compute_loss(x), 0.43908318877220154)
assert(d:count_params() == 52)
check.same(d.metrics_names, { "loss", "student_loss", "distillation_loss", "total_loss" })
d:reset_metrics()
check.near(d.total_loss_tracker:result(), 0)

local function refused(message, teacher, student, ...)
  local arguments = table.pack(teacher, student, ...)
  check.fails(function()
    distillation.Distiller(table.unpack(arguments, 1, arguments.n))
  end, message)
end
local loss = LogitsDistillation()
local function chain(inputs, units)
  return cr.Sequential { cr.Input { shape = { inputs } }, layers.Dense(units) }
end
refused("Teacher must be a keras.Model, got <Dense", layers.Dense(2), net(1, "s"), loss)
refused("Student must be a keras.Model, got <Dense", net(2, "t"), layers.Dense(2), loss)
refused("Teacher and student input shapes are incompatible. Teacher: (None, 3), Student: (None, 4)"
  .. ". All dimensions must match.", chain(3, 2), chain(4, 2), loss)
refused("Teacher and student output shapes are incompatible.", chain(3, 2), chain(3, 4), loss)
refused("Teacher and student output shapes have different dimensions.", chain(3, 2),
  cr.Sequential { cr.Input { shape = { 3 } }, layers.Dense(2), layers.Reshape { 2, 1 } }, loss)
refused("Teacher and student output dtypes must match.", chain(3, 2),
  cr.Sequential { cr.Input { shape = { 3 } }, layers.Dense(2, { dtype = "bfloat16" }) }, loss)
refused("student_loss_weight must be between 0.0 and 1.0, got 1.5", net(2, "t"), net(1, "s"), loss,
  nil, 1.5)
refused("Number of distillation_loss_weights (2) must match number of distillation_losses (1)",
  net(2, "t"), net(1, "s"), { loss }, { 1, 2 })
refused("In teacher model: No such layer: no", net(2, "t"), net(1, "s"),
  FeatureDistillation("mse", "no", "h"))
refused("In student model: No such layer: no", net(2, "t"), net(1, "s"),
  FeatureDistillation("mse", "h", "no"))
refused("The student model(s) appear to be subclassed", net(2, "t"),
  cr.Sequential { layers.Dense(2) }, FeatureDistillation("mse", "h", "h"))
refused("expected an object of kind distillation_loss", net(2, "t"), net(1, "s"),
  { losses.MeanSquaredError() })

-- ---- several outputs, nested ones and models of a class in Lua

local function branches(k)
  local input = cr.Input { shape = { 3 } }
  local function branch(units, name)
    return layers.Dense(units, { name = name,
      kernel_initializer = cr.initializers.Constant(0.1 * k) })(input)
  end
  return cr.Model(input, { p = branch(2, "p"), q = branch(1, "q") })
end
local function mean_square(t, s) return ops.mean(ops.square(t - s)):item() end
local teacher, student = branches(2), branches(1)
local from_teacher, from_student = teacher:predict(x), student:predict(x)
d = distillation.Distiller { teacher, student, distillation_losses = {
  FeatureDistillation { loss = { p = "mse", q = "mse" } },
  FeatureDistillation("mse", "p", "p") } }
d:compile { optimizer = "sgd", loss = { p = "mse", q = "mae" } }
local expected = 2 * mean_square(from_teacher.p, from_student.p)
  + mean_square(from_teacher.q, from_student.q)
local logs = d:evaluate(x, { p = y, q = y:slice({ 1, 1 }, { 5, 1 }) },
  { batch_size = 5, verbose = 0, return_dict = true })
check.near(logs.distillation_loss, expected)
check.near(logs.student_loss, logs.p_loss + logs.q_loss)

local Twice = cr.Model:subclass "Twice"
function Twice:init() self.dense = layers.Dense(2, { kernel_initializer = "ones" }) end
function Twice:call(inputs) return self.dense(self.dense(inputs)) end
d = distillation.Distiller(Twice(), Twice(), LogitsDistillation(1, "mse"))
d:compile { optimizer = "sgd", loss = "mse" }
check.near(d:fit(y, y, { verbose = 0 }).history.distillation_loss, { 0 })

-- ---- files

-- what Keras writes of the distiller and its losses
local pattern = [[{"module": "keras.distillation", "class_name": "Distiller", "config": {
  "name": "distiller", "trainable": true, "dtype": {"module": "keras", "class_name": "DTypePolicy",
  "config": {"name": "float32"}, "registered_name": null}, "teacher": %s, "student": %s,
  "distillation_losses": [{"module": "keras.distillation", "class_name": "LogitsDistillation",
  "config": {"temperature": 2.0, "loss": {"module": "builtins", "class_name": "function",
  "config": "kl_divergence", "registered_name": "function"}}, "registered_name": null},
  {"module": "keras.distillation", "class_name": "FeatureDistillation", "config": {"loss":
  {"module": "builtins", "class_name": "function", "config": "mean_squared_error",
  "registered_name": "function"}, "teacher_layer_name": "h", "student_layer_name": "h"},
  "registered_name": null}], "distillation_loss_weights": [1.0, 0.5], "student_loss_weight": 0.3},
  "registered_name": null}]]
d = cr.models.model_from_json(pattern:format(net(2, "t"):to_json(), net(1, "s"):to_json()))
check.same({ d.class_name, d.student.name, d.distillation_loss_weights, d.student_loss_weight },
  { "Distiller", "s", { 1, 0.5 }, 0.3 })
check.same(cr.distillation.serialize(d).config.distillation_losses, {
  { class_name = "LogitsDistillation", config = { temperature = 2, loss = "kl_divergence" } },
  { class_name = "FeatureDistillation", config = { loss = "mean_squared_error",
    teacher_layer_name = "h", student_layer_name = "h" } } })

local path = check.temporary ".keras"
local function written(distiller)
  distiller:save(path)
  local pipe = io.popen("unzip -p " .. path .. " config.json")
  local text = pipe:read "a"
  pipe:close()
  return text
end
local function holds(text, ...)
  for _, expected in ipairs { ... } do
    assert(text:find(expected, 1, true), "no " .. expected .. " in " .. text)
  end
end
d = compiled(net(1, "s"), { LogitsDistillation(), FeatureDistillation("mse", "h", "h"),
  FeatureDistillation { loss = losses.Huber { delta = 2 } }, Distance { power = 2 } })
fit(d)
local text = written(d)
local function function_text(name)
  return '{"module": "builtins", "class_name": "function", "config": "' .. name
    .. '", "registered_name": "function"}'
end
holds(text, '"module": "keras.distillation", "class_name": "Distiller"',
  '"class_name": "LogitsDistillation", "config": {"temperature": 3.0, "loss": '
    .. function_text "kl_divergence",
  '"config": {"loss": ' .. function_text "mean_squared_error"
    .. ', "teacher_layer_name": "h", "student_layer_name": "h"}',
  '{"module": "keras.losses", "class_name": "Huber"',
  '"module": null, "class_name": "Distance", "config": {"power": 2}')
for _, ending in ipairs { ".keras", ".h5" } do
  local file = check.temporary(ending)
  d:save(file)
  local again = cr.models.load_model(file)
  check.near(again:predict(x), d:predict(x), 0)
  check.same(evaluated(again), evaluated(d))
  assert(again.distillation_losses[4].power == 2 and not again.teacher.trainable)
  check.near(fit(again).loss, fit(d).loss, 0)
  os.remove(file)
end
local weights = check.temporary ".weights.h5"
d:save_weights(weights)
local other = compiled(net(3, "s"), Distance())
other:predict(x)
other:load_weights(weights)
check.near(other:predict(x), d:predict(x), 0)
check.near(cr.models.clone_model(d).distillation_loss_weights, { 1, 1, 1, 1 })
os.remove(weights)
os.remove(path)
