-- Models in Lua: ways to pass arguments, results, layers and configurations, files.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
cr.random.seed(11)
local x, y = cr.random.normal { 20, 3 }, cr.random.normal { 20, 2 }

-- every way to write the same constructor
for _, dense in ipairs {
  layers.Dense { units = 4, activation = "relu" }, layers.Dense(4, { activation = "relu" }),
  layers.Dense { 4, activation = "relu" },
  layers.Dense(4, "relu"), layers.Dense { 4, "relu" },
} do
  assert(dense.units == 4 and dense:get_config().activation == "relu")
end
check.fails(function()
  layers.Dense(4, "relu", true, "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k")
end, "Dense", "at most")
check.fails(function() layers.Dense(4, { units = 4 }) end, "units", "twice")
check.fails(function() layers.Dense() end, "Dense", "units")
check.fails(function() return layers[1] end, "cr.layers")
check.fails(function() layers.Dense(4).unit = 1 end, "cannot be set")
check.fails(function() return layers.Dense(4).unit end, "Dense", "did you mean 'units'?")

-- a layer that is read from a model is the same Lua value as the layer that was put in
local dense = layers.Dense(2, { input_shape = { 3 }, name = "d" })
local model = cr.Sequential { dense }
assert(model.layers[1] == dense and model:get_layer "d" == dense and model:get_layer(1) == dense)
assert(rawequal(model.layers[1], dense))
local layer_set = { [dense] = true }
assert(layer_set[model.layers[1]])
check.fails(function() model:get_layer "e" end, "No such layer: e")
check.fails(function() model:get_layer(0) end, "count from 1")
check.fails(function() model:get_layer(2) end, "at index 2", "only has 1 layers")
check.fails(function() model.get_layer() end, "got no value", "object:get_layer(...)")
check.fails(function() model.fit(dense, x, y) end, "expected a", "Dense")

-- layers can be called on data
check.same(dense(x).shape, { 20, 2 })
check.same(dense(x, { training = true }).shape, { 20, 2 })
check.same(dense { { 1, 2, 3 } }.shape, { 1, 2 })
check.fails(function() dense() end, "without inputs")
check.fails(function() dense(x, x, x) end, "table")
check.fails(function() dense "x" end, '"x"')

-- compile and fit: by position, by name, all in one table
model:compile("sgd", "mse", { "mae" })
assert(model.compiled and model.optimizer.class_name == "SGD")
local history = model:fit(x, y, 10, 2, 0)
assert(#history.history.loss == 2 and #history.history.mae + #(history.history.mean_absolute_error
  or {}) >= 2)
check.same(history.epoch, { 0, 1 })
assert(model.history == history)
history = model:fit { x = x, y = y, epochs = 1, verbose = 0 }
assert(#history.history.loss == 1)
model:fit({ x }, { y }, { verbose = 0 })
model:fit(x:totable(), y:totable(), { verbose = 0 })
history = model:fit(x, y, { verbose = 0, validation_data = { x, y } })
assert(history.history.val_loss)
history = model:fit(x, y, { verbose = 0, validation_split = 0.25,
  callbacks = { cr.callbacks.EarlyStopping { patience = 1 } }, epochs = 3 })
assert(#history.history.val_loss >= 1)
check.fails(function()
  model:fit(x, y, { epoch = 1 })
end, "fit", "'epoch'", "did you mean 'epochs'?")
check.fails(function() model:fit(x, y, { epochs = "three" }) end, "epochs", '"three"')
check.fails(function() model:fit(x, y, { callbacks = { 1 } }) end, "callback")
check.fails(function() model:fit(x, "y") end, '"y"')
check.fails(function() model:fit { z = x } end, "z")

-- results of evaluate and predict
assert(type(model:evaluate(x, y, { verbose = 0 })) == "table")
local scores = model:evaluate(x, y, { verbose = 0, return_dict = true })
assert(type(scores.loss) == "number")
check.same(model:predict(x).shape, { 20, 2 })
check.near(model:predict(x), model:predict_on_batch(x):totable(), 1e-5)
local step_logs = model:train_on_batch(x, y, { return_dict = true })
assert(type(step_logs.loss) == "number")
assert(#model:test_on_batch(x, y) == 2)
local net = cr.Sequential { layers.Dense(2, { input_shape = { 3 } }) }
net:compile { optimizer = cr.optimizers.Adam { learning_rate = 0.1 },
  loss = cr.losses.MeanSquaredError() }
assert(type(net:evaluate(x, y, { verbose = 0 })) == "number")
check.near(net.optimizer.learning_rate, 0.1)
net.optimizer.learning_rate = 0.2
check.near(net.optimizer.learning_rate, 0.2)

-- batches that a function returns
local batch_count = 0
local function next_batch()
  batch_count = batch_count + 1
  if batch_count % 4 == 0 then return nil end
  return x:slice(1, 10), y:slice(1, 10)
end
history = net:fit(next_batch, { epochs = 2, verbose = 0 })
assert(#history.history.loss == 2 and batch_count >= 8)
check.fails(function() net:fit(function() error "no data" end, { verbose = 0 }) end, "no data")

-- several inputs and outputs, by position and by name
local a, b = cr.Input { shape = { 3 }, name = "a" }, cr.Input { shape = { 3 }, name = "b" }
local sum = layers.Add() { a, b }
local two_output_model = cr.Model { inputs = { a, b },
  outputs = { layers.Dense(2, { name = "p" })(sum), layers.Dense(1, { name = "q" })(sum) } }
two_output_model:compile { optimizer = "sgd", loss = { p = "mse", q = "mae" },
  loss_weights = { p = 1.0, q = 0.5 } }
two_output_model:fit({ x, x }, { y, y:slice({ 1, 1 }, { -1, 1 }) }, { verbose = 0 })
two_output_model:fit({ a = x, b = x }, { p = y, q = y:slice({ 1, 1 }, { -1, 1 }) }, { verbose = 0 })
assert(#two_output_model:predict { x, x } == 2 and #two_output_model.inputs == 2
  and #two_output_model.outputs == 2)
check.same(two_output_model.output_names, { "p", "q" })
check.fails(function() two_output_model:fit({ a = x, c = x }, { y, y }, { verbose = 0 }) end, "'c'")
check.fails(function() two_output_model:fit({ a = x }, { y, y }, { verbose = 0 }) end, "b")
check.fails(function() cr.Model { inputs = a } end, "outputs")

-- adding and removing layers of a Sequential
local sequential = cr.Sequential()
sequential:add(layers.Dense(4, { input_shape = { 3 } }))
sequential:add(layers.Dense(5))
sequential:pop()
check.same(sequential.output_shape, { -1, 4 })
check.fails(function() sequential:add(5) end, "layer", "5")
check.fails(function() cr.Sequential { 1 } end, "1")
assert(cr.Sequential({ layers.Dense(1) }, { name = "named" }).name == "named")
assert(cr.Sequential { layers.Dense(1), name = "also" }.name == "also")

-- configurations: copies with weights, JSON, nested objects
local copy = cr.models.clone_model(two_output_model)
copy:set_weights(two_output_model:get_weights())
check.near(copy:predict({ x, x })[1], two_output_model:predict({ x, x })[1]:totable())
check.same(cr.models.model_from_json(two_output_model:to_json()):get_config(),
  two_output_model:get_config())
-- JSON written by Keras 3 and Keras 2, and JSON for Keras 2
local keras3_json = [[
{"module": "keras", "class_name": "Sequential", "registered_name": null,
 "config": {"name": "s", "trainable": true,
  "dtype": {"module": "keras", "class_name": "DTypePolicy", "config": {"name": "float32"},
   "registered_name": null},
  "layers": [
   {"module": "keras.layers", "class_name": "InputLayer",
    "config": {"batch_shape": [null, 3], "dtype": "float32", "sparse": false, "ragged": false,
     "name": "i", "optional": false},
    "registered_name": null},
   {"module": "keras.layers", "class_name": "Denser",
    "config": {"name": "d", "units": 2, "quantization_config": null}, "registered_name": null}],
  "build_input_shape": [null, 3]}}]]
local keras3_model = cr.models.model_from_json(keras3_json,
  { custom_objects = { Denser = "Dense" } })
assert(keras3_model:count_params() == 8 and keras3_model.layers[1].class_name == "Dense")
local keras2_json = keras3_model:to_json { target = "keras2" }
assert(keras2_json:find('"keras_version": "2.3.1"', 1, true)
  and keras2_json:find("VarianceScaling", 1, true))
assert(cr.models.model_from_json(keras2_json):to_json { target = "keras2" } == keras2_json)
check.same(cr.models.model_from_config(keras3_model:get_config()):get_config(),
  keras3_model:get_config())
check.fails(function() keras3_model:to_json { targt = "keras2" } end, "did you mean 'target'?")
-- constants in calls of layers are in files and in JSON
local steps = cr.Input { shape = { 4, 3 } }
local causal_mask = cr.ops.tril(cr.ops.ones { 4, 4 }):cast "bool"
local masked_model = cr.Model { inputs = steps,
  outputs = layers.MultiHeadAttention(2, 3)({ steps, steps }, { attention_mask = causal_mask }) }
local batch = cr.random.normal { 2, 4, 3 }
for _, ending in ipairs { ".h5", ".keras" } do
  local path = check.temporary(ending)
  masked_model:save(path)
  check.near(cr.models.load_model(path):predict(batch), masked_model:predict(batch):totable(), 1e-6)
  os.remove(path)
end
assert(masked_model:to_json():find("__tensor__", 1, true))
local changed_batch = cr.ops.concatenate({ batch:slice({ 1, 1 }, { -1, 3 }),
  cr.ops.ones { 2, 1, 3 } }, 1)
check.near(masked_model:predict(changed_batch):slice({ 1, 1 }, { -1, 3 }),
  masked_model:predict(batch):slice({ 1, 1 }, { -1, 3 }):totable(), 1e-6)
local misspelt_code = [[
{"module": "m", "class_name": "Sequential", "config": {"layers": [{"class_name": "Dens"}]}}]]
check.fails(function() cr.models.model_from_json(misspelt_code) end, "Unknown layer: Dens",
  "did you mean 'Dense'?")
local dense_with_objects = layers.Dense(2,
  { kernel_regularizer = cr.regularizers.L2(0.5),
  kernel_initializer = cr.initializers.Constant(2.0) })
local layer_copy = layers.Dense.from_config
  and layers.Dense:from_config(dense_with_objects:get_config())
check.same(layer_copy:get_config(), dense_with_objects:get_config())
assert(cr.optimizers.get("adam").class_name == "Adam"
  and cr.losses.get("mse").class_name == "MeanSquaredError")
check.same(cr.losses.serialize(cr.losses.MeanSquaredError()).class_name, "MeanSquaredError")
check.near(cr.activations.relu(cr.tensor { -1, 2 }), { 0, 2 })
check.near(cr.losses.mean_squared_error(cr.zeros { 2, 2 }, cr.ones { 2, 2 }), { 1, 1 })
check.near(cr.initializers.Ones()({ 2 }), { 1, 1 })

-- freezing a layer, the summary, and files
model.layers[1].trainable = false
assert(#model.trainable_weights == 0)
model.layers[1].trainable = true
local lines = {}
model:summary { print_fn = function(line) lines[#lines + 1] = line end }
assert(table.concat(lines, "\n"):find "Total params: 8")
check.fails(function() model:summary { print_fun = print } end, "print_fun")

-- a profile prints as a table and returns rows of numbers
lines = {}
local function collect_line(line) lines[#lines + 1] = line end
local profile = model:profile(x, y, { batch_size = 10, steps = 2, print_fn = collect_line })
assert(table.concat(lines, "\n"):find "Layer %(type%)" and profile.batch_size == 10
  and profile.seconds > 0)
local scope = model.name .. "/" .. model.layers[1].name
local flops = 0
for _, row in ipairs(profile.rows) do
  assert(row.calls >= 1 and row.seconds > 0 and row.kernel ~= "" and row.bytes > 0)
  assert(#row.seconds_on == #profile.cores and row.parts >= 1 and row.largest_part <= 1)
  if row.layer == scope then flops = flops + row.flops end
end
assert(flops >= 2 * 2 * 10 * 3 * 2)
assert(#model:profile(x, { steps = 1, by = "op", print_fn = collect_line }).rows < #profile.rows)
assert(model:profile { x = x, steps = 1, print_fn = collect_line }.batch_size == 20)
check.fails(function() model:profile(x, y, { step = 1 }) end, "did you mean 'steps'?")

local path = check.temporary ".h5"
model:save(path)
local loaded_model = cr.models.load_model(path)
check.near(loaded_model:predict(x), model:predict(x):totable(), 1e-6)
check.fails(function() model:save(path, { overwrite = false }) end, path)
local uncompiled_model = cr.models.load_model(path, { compile = false })
check.fails(function() uncompiled_model:fit(x, y) end, "compile")
check.near(cr.models.load_model(path, { safe_mode = true }):predict(x), model:predict(x):totable(),
  1e-6)
check.fails(function() cr.models.load_model(path, { safe_mode = false }) end,
  "no code from a file is ever run", "custom_objects")
check.fails(function() model:save(path, { targt = "keras2" }) end, "hdf5", "did you mean 'target'?")
check.fails(function() model:save(path, false) end, "exists already")
model:save { path = path, include_optimizer = false }
assert(not pcall(function() cr.models.load_model { path = path }:fit(x, y, { verbose = 0 }) end))
check.fails(function() model:save() end, "save: argument 'path'")
check.fails(function()
  model:save_weights(path, { target = "keras2" })
end, "saving weights: no option 'target'")
cr.models.save_model(model, path, { target = "keras2" })
model:save_weights(path)
uncompiled_model:load_weights(path)
check.near(uncompiled_model:predict(x), model:predict(x):totable(), 1e-6)
check.fails(function() model:load_weights(path, { by_nam = true }) end, "did you mean 'by_name'?")
os.remove(path)
check.fails(function() model:save "/nonexistent/folder/m.h5" end, "/nonexistent/folder/m.h5")
check.fails(function() model:save "m.unknown" end, "m.unknown")
-- the first item of a Sequential may be the result of cr.Input, as in Keras
do
  local small_model = cr.Sequential { cr.Input { shape = { 3 } }, cr.layers.Dense(4) }
  assert(small_model:count_params() == 16 and #small_model.layers == 1)
  local grown_model = cr.Sequential()
  grown_model:add(cr.layers.InputLayer { shape = { 3 } })
  grown_model:add(cr.layers.Dense(4))
  assert(grown_model.output_shape[2] == 4)
  local unbuilt_model = cr.Sequential { cr.layers.Dense(4), cr.layers.Dense(1) }
  unbuilt_model:compile { optimizer = "sgd", loss = "mse" }
  assert(#unbuilt_model:fit(cr.ones { 8, 3 }, cr.zeros { 8 },
    { epochs = 2, verbose = 0 }).history.loss
    == 2)
end


do -- accessing layers by position, and removing the last layer
  local last_layer = cr.layers.Dense(1)
  local model = cr.Sequential { cr.layers.Dense(2, { input_shape = { 2 } }), last_layer }
  check.fails(function() model:get_layer { index = 3 } end,
    "Was asked to retrieve layer at index 3 but model only has 2 layers.")
  assert(model:pop() == last_layer and #model.layers == 1)
end

do -- loading by name says so if no name in the file matches
  local path = check.temporary ".h5"
  cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 }, name = "a" }) }:save(path)
  local ok, message = check.run(string.format([[
    local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 }, name = "b" }) }
    model:load_weights(%q, { by_name = true })
  ]], path))
  assert(ok and message:find "so nothing was loaded", message)
  os.remove(path)
end

-- a model that is not built is saved without weights, and is built by the first call after loading
for _, ending in ipairs { ".keras", ".h5" } do
  local path = check.temporary(ending)
  cr.Sequential({ cr.layers.Dense(3, { name = "only" }) }):save(path)
  local loaded_model = cr.models.load_model(path)
  os.remove(path)
  assert(not loaded_model.built, ending)
  check.same(loaded_model(cr.ones { 2, 5 }).shape, { 2, 3 })
end
check.fails(function()
  cr.Sequential({ cr.layers.Dense(3) }):save_weights(check.temporary ".weights.h5")
end, "You are saving a model that has not yet been built.")

-- the input of a model may be the output of a layer
local data = cr.Input { 6 }
local hidden = cr.layers.Dense(4, { activation = "relu", name = "hidden" })(data)
local result = cr.layers.Dense(2, { name = "result" })(hidden)
local whole_model = cr.Model { inputs = data, outputs = result }
local head_model = cr.Model { inputs = hidden, outputs = result }
check.same(#head_model.layers, 2)
check.same(head_model.input_shape, { -1, 4 })
local rows = cr.random.normal { 5, 6 }
check.near(head_model(whole_model:get_layer "hidden"(rows)), whole_model(rows), 1e-6)
local joined_model = cr.Model { inputs = { hidden, data },
  outputs = cr.layers.Concatenate()({ result, data }) }
check.same(joined_model { cr.ones { 2, 4 }, cr.ones { 2, 6 } }.shape, { 2, 8 })

-- from_config makes a Sequential model from its configuration
local sequential = cr.Sequential({ cr.layers.Dense(3, { input_shape = { 4 } }) },
  { name = "stack" })
check.same(cr.Sequential:from_config(sequential:get_config()).name, "stack")
check.same(cr.Sequential:from_config(sequential:get_config()).output_shape, { -1, 3 })

-- a list with one loss means this loss
for _, loss in ipairs { { { "mse" }, { "mae" } }, { "mse", { { "mae" } } } } do
  local two_output_model = cr.Model { inputs = data, outputs = { result, hidden } }
  two_output_model:compile { loss = loss }
  assert(two_output_model:evaluate(rows, { cr.ones { 5, 2 }, cr.ones { 5, 4 } },
    { verbose = 0 })[1] > 0)
end
print "ok models"
