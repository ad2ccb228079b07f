-- Models that are made from inputs and outputs by a class derived from cr.Model: they consist of
-- the graph between these symbols, and may have custom steps. They are trained, saved, loaded and
-- nested in other models.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/models"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"

local L = cr.layers
local x, y = cr.random.normal { 40, 4 }, cr.random.normal { 40, 1 }

local trace_count = 0
local TapeStepModel = cr.Model:subclass "CustomGraph"
function TapeStepModel:train_step(data)
  trace_count = trace_count + 1
  local loss
  local tape = cr.GradientTape(function()
    loss = self:compute_loss(data[1], data[2], self(data[1], { training = true }))
  end)
  local weights = self.trainable_weights
  self.optimizer:apply_gradients(tape:gradient(loss, weights), weights)
  return { loss = loss, twice = loss * 2 }
end

local input = cr.Input { shape = { 4 }, name = "x" }
local hidden = L.Dense(8, { activation = "relu", name = "hidden" })(input)
local output = L.Dense(1, { name = "out" })(hidden)

local function check_same_predictions(a, b)
  check.near(a:predict(x, { verbose = 0 }), b:predict(x, { verbose = 0 }), 0)
end

do -- the model consists of the graph, and the train_step of its class is compiled
  local model = TapeStepModel { inputs = input, outputs = output }
  check_same_predictions(model, cr.Model { inputs = input, outputs = output })
  assert(#model.layers == 3 and model:get_layer "hidden" and #model.weights == 4)
  check.same(model.output_shape, { -1, 1 })
  model:compile { optimizer = "sgd", loss = "mse" }
  local logs = model:fit(x, y, { verbose = 0, epochs = 3 }).history
  check.near(logs.twice[3], 2 * logs.loss[3])
  assert(trace_count == 2, "traced " .. trace_count .. " times")
  assert(logs.loss[3] < logs.loss[1])
  -- files hold the graph; the class is found by its name
  for _, ending in ipairs { ".h5", ".keras" } do
    local path = check.temporary(ending)
    model:save(path)
    local loaded_model = cr.models.load_model(path)
    check_same_predictions(loaded_model, model)
    assert(loaded_model:fit(x, y, { verbose = 0 }).history.twice)
    assert(loaded_model.optimizer.iterations:item() == model.optimizer.iterations:item() + 2)
    os.remove(path)
  end
  local weights_path = check.temporary ".weights.h5"
  model:save_weights(weights_path)
  local other_model = TapeStepModel:from_config(model:get_config())
  other_model:load_weights(weights_path)
  os.remove(weights_path)
  check_same_predictions(other_model, model)
  local copy = cr.models.model_from_json(model:to_json())
  copy:set_weights(model:get_weights())
  check_same_predictions(copy, model)
  assert(cr.describe(copy).class.name == "CustomGraph")
end

do -- inputs and outputs by position, by name, and the model as a layer of another model
  local model = TapeStepModel(input, output, { name = "inner" })
  assert(model.name == "inner")
  local outer_input = cr.Input { shape = { 4 } }
  local outer_model = cr.Model(outer_input, L.Dense(2)(model(outer_input)))
  outer_model:compile { loss = "mse" }
  outer_model:fit(x, cr.ones { 40, 2 }, { verbose = 0 })
  local path = check.temporary ".keras"
  outer_model:save(path)
  check_same_predictions(cr.models.load_model(path), outer_model)
  os.remove(path)
  local named_model = TapeStepModel { inputs = { a = input }, outputs = { p = output } }
  named_model:compile { loss = "mse" }
  named_model:fit({ a = x }, { p = y }, { verbose = 0 })
  check.same(named_model:predict({ a = x }, { verbose = 0 }).p.shape, { 40, 1 })
end

do -- init makes the graph from the options
  local WideModel = cr.Model:subclass("WideGraph", { { "units", 3 } })
  function WideModel:init()
    local i = cr.Input { shape = { 4 } }
    self.first = L.Dense(self.units)
    cr.Model.init(self, { inputs = i, outputs = L.Dense(1)(self.first(i)) })
  end
  local wide_model = WideModel(6)
  assert(wide_model.first.units == 6 and #wide_model.weights == 4)
  wide_model:compile { loss = "mse", optimizer = "adam" }
  wide_model:fit(x, y, { verbose = 0 })
  local path = check.temporary ".keras"
  wide_model:save(path)
  check_same_predictions(cr.models.load_model(path), wide_model)
  os.remove(path)
  check.fails(function() cr.Model.init(wide_model, input, output) end, "has its inputs and outputs")
end

do -- losses and metrics added for symbols, and replaced layers
  local GivenGraphModel = cr.Model:subclass "GivenGraph"
  local ConnectedModel = cr.Model:subclass "ConnectedGraph"
  function ConnectedModel:init()
    local i = cr.Input { shape = { 4 } }
    cr.Model.init(self, { inputs = i, outputs = L.Dense(1, { name = "last" })(i) })
  end
  local i = cr.Input { shape = { 4 } }
  local data, targets = cr.random.normal { 8, 4 }, cr.zeros { 8, 1 }
  for _, graph in ipairs { GivenGraphModel(i, L.Dense(1, { name = "last" })(i)),
    ConnectedModel() } do
    local weight_count, last_output = #graph.weights, graph:get_layer("last").output
    graph:add_loss(last_output * last_output * 3)
    graph:add_metric(last_output, "mean of last")
    check.same(#graph.weights, weight_count)
    graph:compile { optimizer = "sgd", loss = "mse" }
    graph:fit(data, targets, { verbose = 0 })
    local mean_square = cr.ops.mean(cr.ops.square(graph:predict(data, { verbose = 0 }))):item()
    local logs = graph:evaluate(data, targets, { verbose = 0, return_dict = true })
    check.near(logs.loss, 4 * mean_square, 1e-4)
    check.near(logs["mean of last"],
      cr.ops.mean(graph:predict(data, { verbose = 0 })):item(), 1e-4)
    local wider_model = cr.models.rewire(graph,
      { last = L.Dense(1, { kernel_initializer = "zeros" }) })
    wider_model:compile { optimizer = "sgd", loss = "mse" }
    check.same(wider_model:evaluate(data, targets, { verbose = 0, return_dict = true }),
      { loss = 0, ["mean of last"] = 0 })
    if graph.class_name == "GivenGraph" then
      local path = check.temporary ".keras"
      graph:save(path)
      local loaded_model = cr.models.load_model(path)
      os.remove(path)
      check.near(loaded_model:evaluate(data, targets, { verbose = 0 }), { logs.loss,
        logs["mean of last"] })
    end
  end
  local CalledModel = cr.Model:subclass "CalledOnly"
  function CalledModel:call(x) return x end
  check.fails(function() CalledModel():add_loss(i) end, "symbols are for models made of symbols")
end

do -- a call defined by the class takes precedence over the graph
  local DoublingModel = cr.Model:subclass "DoublingGraph"
  function DoublingModel:call(inputs) return inputs * 2 end
  check.near(DoublingModel(input, input)(cr.ones { 1, 4 }), { { 2, 2, 2, 2 } })
end

do -- patches of volumes are stored in files like patches of images with three sizes
  local volume = cr.Input { shape = { 4, 4, 4, 2 } }
  local patch_model = cr.Model(volume, cr.ops.image.extract_patches_3d(volume, 2, 1))
  local volume_json = patch_model:to_json()
  assert(volume_json:find('"size": [2, 2, 2]', 1, true) and not volume_json:find "ExtractPatches3D")
  local data = cr.random.normal { 1, 4, 4, 4, 2 }
  check.near(cr.models.model_from_json(volume_json)(data), patch_model(data))
end

check.fails(function() return TapeStepModel { inputs = input } end,
  "outputs: expected a symbol, got null")
check.fails(function()
  return TapeStepModel { inputs = 3, outputs = output }
end, "inputs: expected a symbol")
check.fails(function() return TapeStepModel(3) end, "no option at position 1")
do -- a class with an init may declare options named inputs and outputs
  local ones = cr.ones { 1, 1 }
  local StoredInputsModel = cr.Model:subclass "Net2"
  function StoredInputsModel:init(options)
    self.out, self.stored_inputs = L.Dense(options.outputs, { kernel_initializer = "ones" }),
      options.inputs
  end
  function StoredInputsModel:call(x) return self.out(x) end
  for _, net in ipairs { StoredInputsModel { outputs = 3 },
    StoredInputsModel { outputs = 3, inputs = { "a", "b" } } } do
    check.same(net:predict(ones).shape, { 1, 3 })
    for _, ending in ipairs { ".keras", ".h5" } do
      local path = check.temporary(ending)
      net:save(path)
      local loaded_model = cr.models.load_model(path)
      os.remove(path)
      check.near(loaded_model:predict(ones), net:predict(ones))
      check.same(loaded_model.stored_inputs, net.stored_inputs)
    end
  end
  local DeclaredOutputsModel = cr.Model:subclass("Declared", { { "outputs", 4 } })
  function DeclaredOutputsModel:init() self.out = L.Dense(self.outputs_ or 2) end
  function DeclaredOutputsModel:call(x) return self.out(x) end
  check.same(DeclaredOutputsModel {}:predict(ones).shape, { 1, 2 })
  -- symbols as inputs and outputs make the graph of a model, also if its class has an init
  local GraphModel = cr.Model:subclass "Graph"
  function GraphModel:init(options) assert(options.inputs == nil and options.depth == 2) end
  local i = cr.Input { shape = { 1 } }
  local graph = GraphModel { inputs = i, outputs = L.Dense(2)(i), depth = 2 }
  check.same(graph:predict(ones).shape, { 1, 2 })
  local PlainModel = cr.Model:subclass "Plain"
  check.fails(function() PlainModel { outputs = 1 } end, "expected a symbol")
end
print "ok graph_models"

do -- operations are not in the list of layers, as in Keras 3
  local input = cr.Input { shape = { 4 }, name = "in" }
  local h = L.Dense(3, { name = "h" })(input * 2)
  local graph = cr.Model { inputs = input, outputs = L.Dense(1, { name = "out" })(cr.ops.relu(h)) }
  local function joined_names(list)
    local result = {}
    for i, layer in ipairs(list) do result[i] = layer.name end
    return table.concat(result, " ")
  end
  assert(joined_names(graph.layers) == "in h out", joined_names(graph.layers))
  local operations = joined_names(graph.operations)
  assert(operations:find "^in multiply[_%d]* h relu[_%d]* out$", operations)
  assert(graph:get_layer(2).name == "h")
  assert(graph:get_layer(graph.operations[2].name).class_name == "OperationLayer")
  check.fails(function() graph:get_layer(4) end, "index 4", "only has 3 layers")
end
