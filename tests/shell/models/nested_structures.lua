-- Nested lists and tables as inputs and outputs of models and custom layers: calling, training,
-- saving; several inputs by position, missing inputs, unknown sizes.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers, ops = cr.layers, cr.ops

--- Trains the model, saves it in both file formats, and compares predictions and further training
--- of the loaded models.
local function check_files(model, x, y)
  model:fit(x, y, { epochs = 1, verbose = 0, shuffle = false, batch_size = 8 })
  local old_predictions = model:predict(x, { verbose = 0 })
  local paths = {}
  for _, ending in ipairs { ".keras", ".h5" } do
    paths[#paths + 1] = check.temporary(ending)
    model:save(paths[#paths])
  end
  local trained_loss = model:fit(x, y,
    { verbose = 0, shuffle = false, batch_size = 8 }).history.loss[1]
  for _, path in ipairs(paths) do
    local loaded_model = cr.models.load_model(path)
    os.remove(path)
    check.same(cr.tree.map_structure(function() return 1 end,
      loaded_model:predict(x, { verbose = 0 })),
      cr.tree.map_structure(function() return 1 end, old_predictions))
    local predictions = cr.tree.flatten(loaded_model:predict(x, { verbose = 0 }))
    for i, old_prediction in ipairs(cr.tree.flatten(old_predictions)) do
      check.near(predictions[i], old_prediction, 1e-5)
    end
    local history = loaded_model:fit(x, y, { verbose = 0, shuffle = false, batch_size = 8 }).history
    check.near(history.loss[1], trained_loss, 1e-5, path)
  end
end

do -- a nested model in detail: names in the logs, options of compile, ways to give data
  local a, b, c = cr.Input { shape = { 3 }, name = "a" }, cr.Input { shape = { 2 }, name = "b" },
    cr.Input { shape = { 2 }, name = "c" }
  local hidden = layers.concatenate { a, b, c }
  local model = cr.Model { inputs = { first = a, rest = { b, c } }, outputs = {
    main = layers.Dense(1, { name = "o1" })(hidden),
    more = { layers.Dense(2, { name = "o2" })(hidden),
      layers.Dense(2, { name = "o3" })(hidden) } } }
  check.same(model.input_names, { "a", "b", "c" })
  check.same(model.output_names, { "o1", "o2", "o3" })
  local random = function(...) return cr.random.normal { ... } end
  local x = { first = random(16, 3), rest = { random(16, 2), random(16, 2) } }
  local y = { main = random(16, 1), more = { random(16, 2), random(16, 2) } }
  model:compile { optimizer = "sgd", loss = { main = "mse", more = { "mse", "mae" } },
    loss_weights = { main = 1, more = { 0.5, 2 } },
    metrics = { main = "mae", more = { "mse", { "mae", "mse" } } } }
  local losses = model:evaluate(x, y, { verbose = 0, return_dict = true })
  local names = {}
  for name in pairs(losses) do names[#names + 1] = name end
  table.sort(names)
  check.same(names, { "loss", "main_loss", "more/o2_loss", "more/o3_loss", "o1_mae", "o2_mse",
    "o3_mae", "o3_mse" })
  check.near(losses.loss,
    losses.main_loss + 0.5 * losses["more/o2_loss"] + 2 * losses["more/o3_loss"])
  check.near(losses["more/o3_loss"], losses.o3_mae)
  check.same(model:predict(x).more[2].shape, { 16, 2 })
  check.same(model(x).more[2].shape, { 16, 2 })
  check.near(model:evaluate(x, { y.main, y.more[1], y.more[2] }, { verbose = 0 })[1], losses.loss)
  check.fails(function() model:predict { x.first, x.rest[1], x.rest[2] } end,
    "The structure of `inputs` doesn't match", "first, rest")
  local rows = cr.data.from_tensor_slices { x.first, x.rest[1], x.rest[2], y.main, y.more[1],
    y.more[2] }
  rows = rows:map(function(a, b, c, d, e, f)
    return { first = a, rest = { b, c } }, { main = d, more = { e, f } }
  end)
  check.near(model:evaluate(rows:batch(16), { verbose = 0 })[1], losses.loss)
  model:fit(x, y, { verbose = 0, validation_data = { x, y } })
  check.fails(function() model:predict { first = x.first, rest = { x.rest[1] } } end, "rest/1")
  check.fails(function() model:predict { first = x.first, other = x.rest } end, "other/0")
  check.fails(function()
    model:compile { optimizer = "sgd", loss = { main = "mse", most = "mse" } }
  end, "'most'", "'more'")
  check.fails(function()
    model:compile { optimizer = "sgd", loss = { main = "mse", more = { "mse", "mse", "mse" } } }
  end, "{a, b}")
  check.fails(function() model:save(check.temporary ".h5", { target = "keras2" }) end,
    "option 'input_structure'")
  local json = model:to_json() -- the JSON is as Keras 3 writes it
  for _, text in ipairs {
    '"input_layers": {"first": ["a", 0, 0], "rest": [["b", 0, 0], ["c", 0, 0]]}',
    '"output_layers": {"main": ["o1", 0, 0], "more": [["o2", 0, 0], ["o3", 0, 0]]}',
  } do
    assert(json:find(text, 1, true), text)
  end
  model:compile { optimizer = "sgd", loss = "mse" }
  check_files(model, x, y)
end

do -- two outputs of one layer have the names that Keras gives them
  local TwoOutputLayer = cr.Layer:subclass "StructuresTwo"
  function TwoOutputLayer:build(s) self.a = self:add_weight { shape = { s[#s], 2 }, name = "a" } end
  function TwoOutputLayer:call(x) return ops.matmul(x, self.a), ops.matmul(x, self.a) + 1 end
  local i = cr.Input { shape = { 4 } }
  local model = cr.Model(i, TwoOutputLayer { name = "two" } (i))
  local x, y = cr.random.normal { 8, 4 }, { cr.zeros { 8, 2 }, cr.zeros { 8, 2 } }
  model:compile { optimizer = "sgd", loss = { "mse", "mae" }, metrics = { { "mae" }, { "mae" } } }
  local losses = model:evaluate(x, y, { verbose = 0, return_dict = true })
  check.near(losses.two_loss, losses.two_mae_1)
  check.near(losses.two_mae, ops.mean(ops.abs(model:predict(x)[1])))
  assert(losses.two_1_loss == nil)
end

do -- several inputs by position and by name, and errors for missing ones
  local PairLayer = cr.Layer:subclass "StructuresPair"
  function PairLayer:build(a, b) self.shapes = { #a, b and #b or 0 } end
  function PairLayer:call(a, b) return a + b, a - b end
  local GateLayer = cr.Layer:subclass("StructuresGate", {}, { "context", "gate" })
  function GateLayer:call(x, args)
    if args.context then x = x + 2 * args.context end
    return args.gate and x * args.gate or x
  end
  local i, j = cr.Input { shape = { 3 } }, cr.Input { shape = { 3 } }
  local pair = PairLayer()
  local sum, difference = table.unpack(pair(i, j))
  check.same(pair.shapes, { 2, 2 })
  local gate_output = GateLayer()(GateLayer()(sum, { gate = i }), difference, j)
  local model = cr.Model({ i, j }, layers.Dense(2)(gate_output))
  local x = { cr.random.normal { 16, 3 }, cr.random.normal { 16, 3 } }
  local dense = model.layers[#model.layers]
  local expected = (x[1] + x[2]) * x[1] + 2 * (x[1] - x[2])
  check.near(model:predict(x), dense(expected * x[2]))
  check.near(PairLayer()(x[1], x[2])[2], x[1] - x[2])
  check.fails(function() PairLayer()(x[1], x[2], x[1]) end, "call takes the inputs and b")
  check.fails(function() GateLayer()(x[1], { gait = x[2] }) end, "gait", "gate")
  check.fails(function() GateLayer()(x[1], x[2], { context = x[2] }) end, "given twice")
  model:compile { optimizer = "adam", loss = "mse" }
  check_files(model, x, cr.random.normal { 16, 2 })
end

do -- optional inputs may be cr.null in calls and in data
  local OptionalInputLayer = cr.Layer:subclass("StructuresOptional", {}, { "b" })
  function OptionalInputLayer:call(a, b) return b and a + b or a end
  local a, b = cr.Input { shape = { 3 }, name = "a" },
    cr.Input { shape = { 3 }, name = "b", optional = true }
  local model = cr.Model { inputs = { a = a, b = b },
    outputs = layers.Dense(1)(OptionalInputLayer()(a, b)) }
  model:compile { optimizer = "sgd", loss = "mse" }
  local x, z = cr.random.normal { 16, 3 }, cr.random.normal { 16, 3 }
  local dense = model.layers[#model.layers]
  for _ = 1, 2 do
    check.near(model:predict { a = x, b = cr.null }, dense(x))
    check.near(model:predict { a = x, b = z }, dense(x + z))
    check.near(model { a = x, b = cr.null }, dense(x))
  end
  check.fails(function() model:predict { a = cr.null, b = x } end, "'a' is not optional")
  check.fails(function() model:predict { a = x } end, 'No data provided for "b"')
  assert(model:to_json():find('"optional": true', 1, true))
  check_files(model, { a = x, b = cr.null }, cr.random.normal { 16, 1 })
end

do -- the batch size is used as a number in a graph
  local TokenLayer = cr.Layer:subclass "StructuresToken"
  function TokenLayer:build(s) self.t = self:add_weight { shape = { 1, 1, s[#s] }, name = "t" } end
  function TokenLayer:call(x)
    local batch, time, width = table.unpack(ops.shape(x))
    local rows = ops.reshape(ops.reshape(x, { batch * time, width }) * 2, { batch, time, width })
    local zeros = ops.cast(ops.reshape(ops.arange(batch) * 0, { batch, 1, 1 }), "float32")
    return ops.concatenate({ ops.tile(self.t, { batch, 1, 1 }) + zeros, rows }, 1)
  end
  local i = cr.Input { shape = { 5, 3 } }
  local tokens = TokenLayer()(i)
  check.same(tokens.shape, { -1, 6, 3 })
  local model = cr.Model(i, layers.Dense(1)(tokens))
  model:compile { optimizer = "adam", loss = "mse" }
  for _, count in ipairs { 1, 7, 16 } do
    check.same(model:predict(cr.random.normal { count, 5, 3 }).shape, { count, 6, 1 })
  end
  check.same(TokenLayer():compute_output_shape { -1, 5, 3 }, { -1, 6, 3 })
  check_files(model, cr.random.normal { 16, 5, 3 }, cr.random.normal { 16, 6, 1 })
  local LongerBatchLayer = cr.Layer:subclass "StructuresLonger"
  function LongerBatchLayer:call(x) return ops.zeros { ops.shape(x)[1] + 1, 2 } end
  check.same(LongerBatchLayer():compute_output_shape { -1, 3 }, { -1, 2 })
  local InnerLayer = cr.Layer:subclass "StructuresInner"
  function InnerLayer:init() self.dense = layers.Dense(2) end
  function InnerLayer:build(s) self.seen = s[1] end
  function InnerLayer:call(x) return self.dense(x) end
  local inner_layer = InnerLayer()
  check.same(inner_layer(cr.Input { shape = { 3 } }).shape, { -1, 2 })
  check.same(inner_layer.seen, -1)
end

do -- a model class without a graph, called on tables
  local StructureModel = cr.Model:subclass "StructuresNet"
  function StructureModel:init() self.d, self.e = layers.Dense(2), layers.Dense(3) end
  function StructureModel:call(x)
    return { p = self.d(x.u), q = { self.e(x.v[1]), self.d(x.v[1]) } }
  end
  local random = function(...) return cr.random.normal { ... } end
  local x = { u = random(16, 4), v = { random(16, 4) } }
  local y = { p = random(16, 2), q = { random(16, 3), random(16, 2) } }
  local net = StructureModel()
  net:compile { optimizer = "sgd", loss = "mse" }
  local history = net:fit(x, y, { verbose = 0 }).history
  assert(history.p_loss and history["q/mse_loss"])
  check.near(net:predict(x).q[2], net(x).q[2])
  check.near(net:evaluate(x, y, { verbose = 0 })[1], ops.mean((net(x).p - y.p) ^ 2)
    + ops.mean((net(x).q[1] - y.q[1]) ^ 2) + ops.mean((net(x).q[2] - y.q[2]) ^ 2))
  check.fails(function() net:predict { u = x.u } end)
  local RecordingModel = StructureModel:subclass "StructuresSteps"
  function RecordingModel:train_step(data)
    self.seen = { data.x.v[1].shape[2], data.y.q[1].shape[2] }
    return cr.Model.train_step(self, data)
  end
  local steps = RecordingModel()
  steps:compile { optimizer = "sgd", loss = "mse" }
  steps:fit(x, y, { verbose = 0 })
  check.same(steps.seen, { 4, 3 })
end

do -- a class derived from Wrapper
  local ScaledWrapper = layers.Wrapper:subclass("StructuresScaled", { { "scale", 1.0 } })
  function ScaledWrapper:build(s)
    ScaledWrapper.super.build(self, s)
    self.g = self:add_weight { shape = {}, initializer = "ones", name = "g" }
  end
  function ScaledWrapper:call(x) return self.layer(x) * self.scale * self.g end
  local i = cr.Input { shape = { 4 } }
  local inner_layer = layers.Dense(3)
  local model = cr.Model(i, layers.Dense(1)(ScaledWrapper(inner_layer, { scale = 0.5 })(i)))
  check.same(#model.weights, 5)
  model:compile { optimizer = "adam", loss = "mse" }
  check_files(model, cr.random.normal { 16, 4 }, cr.random.normal { 16, 1 })
  check.fails(function() ScaledWrapper { scale = 2.0 } end, "expected a layer")
end

do -- random models and layers, nested three levels deep
  local seed = tonumber(os.getenv "CRESCENT_SEED") or 7
  math.randomseed(seed)
  local MixingLayer = cr.Layer:subclass "StructuresMix"
  function MixingLayer:call(x)
    local sum
    for _, tensor in ipairs(cr.tree.flatten(x)) do sum = sum and sum + tensor or tensor end
    return cr.tree.map_structure(function(tensor) return tensor + sum * 0.5 end, x)
  end
  local function random_structure(leaf, depth)
    local kind = depth == 0 and 0 or math.random(0, 3)
    if kind <= 1 then return leaf() end
    local result = {}
    for index = 1, math.random(2, 3) do
      result[kind == 2 and index or ({ "zeta", "alpha", "mid" })[index]] = random_structure(leaf,
        depth - 1)
    end
    return result
  end
  local function random_nested(leaf)
    local result = { random_structure(leaf, 2), random_structure(leaf, 2) }
    return math.random(2) == 1 and result or { right = result[1], left = result[2] }
  end
  for trial = 1, 12 do
    cr.clear_session()
    local inputs = random_nested(function() return cr.Input { shape = { 2 } } end)
    local outputs = cr.tree.map_structure(function(s) return layers.Dense(math.random(1, 3))(s) end,
      MixingLayer()(inputs))
    local model = cr.Model { inputs = inputs, outputs = outputs }
    local x = cr.tree.map_structure(function() return cr.random.normal { 16, 2 } end, inputs)
    local y = cr.tree.map_structure(function(s) return cr.random.normal { 16, s.shape[2] } end,
      outputs)
    model:compile { optimizer = "sgd", loss = "mse" }
    local ok, err = pcall(check_files, model, x, y)
    assert(ok, string.format("seed %d, trial %d: %s", seed, trial, err))
  end
end
