-- Mistakes of users who come from Python, and the messages for them: what was expected, what was
-- given, and how to write it correctly.
local cr = require "crescent"
local check = dofile(arg[0]:match "^(.*)/[^/]*/" .. "/support/check.lua")

local folder = check.temporary ""
os.execute("mkdir '" .. folder .. "'")
io.open(folder .. "/model.h5", "w"):close()

-- global variables, as entries of the prompt define them
_G.cr, _G.folder = cr, folder
_G.x, _G.y = cr.zeros { 2, 2 }, cr.zeros { 2, 1 }
_G.model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 }, name = "dense" }) }
_G.model:compile { optimizer = "sgd", loss = "mse" }
_G.history = _G.model:fit(_G.x, _G.y, { verbose = 0 })

local expected_messages = {
  { "cr.Sequental {}", "cr has no 'Sequental' (did you mean 'Sequential'?)" },
  { 'cr.load_model "m.h5"',
    "cr has no 'load_model' (did you mean 'cr.models.load_model' or 'cr.saving.load_model'?)" },
  { "cr.Dense(10)", "cr has no 'Dense' (did you mean 'cr.layers.Dense'?)" },
  { "cr.keras.layers.Dense(10)", "cr has no 'keras' (did you mean 'cr'?)" },
  { "cr.datasets.mnst.load_data()", "cr.datasets has no 'mnst' (did you mean 'mnist'?)" },
  { "cr.layers.Dens(10)", "cr.layers: unknown layer 'Dens' (did you mean 'Dense'?)" },
  { 'cr.ops.sort(cr.tensor { "a", "b" })', "sort takes no strings" },
  { 'cr.ops.median(cr.tensor { "a", "b" })', "median takes no strings" },
  { "cr.random.choice(1 << 40, { 2 })",
    "choice: expected at most 2147483647 items, whose places are int32, got 1099511627776" },
  { 'cr.plot(x, { width = "wide" })', "plot: option 'width': expected a number, got \"wide\"" },
  { 'history:plot { width = "wide" }', "plot: option 'width': expected a number, got \"wide\"" },
  { "cr.ops.matmull(x, x)", "cr.ops: no function 'matmull' (did you mean 'matmul'?)" },
  { "cr.ops.image.resiz(x)", "cr.ops.image has no 'resiz' (did you mean 'resize'?)" },
  { "cr.random.norml { 2 }", "cr.random has no 'norml' (did you mean 'normal'?)" },
  { 'cr.config.set_devise "cpu"',
    "cr.config has no 'set_devise' (did you mean 'set_device'?)" },
  { "cr.utils.to_categoricl { 1 }",
    "cr.utils has no 'to_categoricl' (did you mean 'to_categorical'?)" },
  { "cr.applications.ResNet51 {}",
    "cr.applications has no 'ResNet51' (did you mean 'ResNet50'?)" },
  { 'cr.preprocessing.text.one_hott "a"',
    "cr.preprocessing.text has no 'one_hott' (did you mean 'one_hot'?)" },
  { "cr.preprocessing.sequences.pad_sequences {}",
    "cr.preprocessing has no 'sequences' (did you mean 'sequence'?)" },
  { "cr.utils.FeatureSpace.flot()",
    "cr.utils.FeatureSpace has no 'flot' (did you mean 'float'?)" },
  { "cr.tree.mapstructure()",
    "cr.tree has no 'mapstructure' (did you mean 'map_structure'?)" },
  { "modle:fit(x, y)",
    "attempt to index a nil value (global 'modle') (did you mean 'model'?)" },
  { "Dense(10)",
    "attempt to call a nil value (global 'Dense') (did you mean 'cr.layers.Dense'?)" },
  { "Sequental {}",
    "attempt to call a nil value (global 'Sequental') (did you mean 'cr.Sequential' or "
    .. "'cr.layers.Sequential' or 'cr.models.Sequential'?)" },
  { "np.array { 1 }",
    "attempt to index a nil value (global 'np') (did you mean 'cr.ops'?)" },
  { "tf.zeros { 2 }", "attempt to index a nil value (global 'tf') (did you mean 'cr'?)" },
  { "quit()",
    "attempt to call a nil value (global 'quit'); "
    .. "it ends the prompt as an entry of its own; os.exit() ends scripts too" },
  { "exit()",
    "attempt to call a nil value (global 'exit'); "
    .. "it ends the prompt as an entry of its own; os.exit() ends scripts too" },
  { "len(x)", "attempt to call a nil value (global 'len'); the length of x is #x" },
  { "range(10)",
    "attempt to call a nil value (global 'range'); loops count by: for i = 1, n do ... end; "
    .. "cr.arange(n) is a tensor" },
  { "str(3)", "attempt to call a nil value (global 'str'); it is tostring(x)" },
  { 'f"loss"',
    "attempt to call a nil value (global 'f'); "
    .. "texts are put together by string.format('%d of %s', n, name) or '..'" },
  { "try: f()",
    "attempt to index a nil value (global 'try'); errors are caught by pcall(f, ...)" },
  { "inspect m.onnx", "syntax error near 'm'; "
    .. "it is a command of the program, outside of the prompt: crescent inspect m.onnx" },
  { "model:fti(x, y)", "Sequential: no attribute 'fti' (did you mean 'fit'?)" },
  { "model.fit(x, y)",
    "fit: expected a model before the arguments, got a tensor (2, 2): methods are called with "
    .. "':', model:fit(...)" },
  { "model.summary()",
    "summary: expected an object before the arguments, got no value: methods are called with "
    .. "':', object:summary(...)" },
  { 'model.compile { optimizer = "adam" }',
    "compile: expected an object before the arguments, got a table: methods are called with "
    .. "':', object:compile(...)" },
  { "seq = cr.Sequential(); seq.add(cr.layers.Dense(3))",
    "add: missing argument 'layer'; called with ':', as object:add(layer)" },
  { "cr.Sequential(cr.layers.Dense(3), cr.layers.Dense(3))",
    'Sequential: expected a table of layers, got several layers: Sequential { layer, layer }' },
  { "model.trainble = false",
    "model: 'trainble' cannot be set (did you mean 'trainable'?)" },
  { "model.layers[1].kernel = x",
    "layer: 'kernel' cannot be set: it is a variable, kernel:assign(value) sets its values" },
  { "model.layers[1].units = 3",
    "layer: 'units' cannot be set: it is an option, given when the layer is made" },
  { "model.layers[1].kernl:assign(x)",
    "Dense: no attribute 'kernl' (did you mean 'kernel'?)" },
  { "model.layers[-1]:get_config()",
    'a list has no position -1: positions count from 1, the last is list[#list]' },
  { "model.layers[0]:get_config()",
    'a list has no position 0: positions count from 1, the last is list[#list]' },
  { "model.layers[3]:get_config()",
    "attempt to index a nil value (field 'integer index'); "
    .. "positions in lists count from 1, the last is list[#list]" },
  { "print(x.shape[-1])",
    'a list has no position -1: positions count from 1, the last is list[#list]' },
  { "x:shape()",
    "attempt to call a table value (method 'shape'); "
    .. "'shape' is a table, which is read without brackets: x.shape" },
  { "x.reshape { 4 }",
    "reshape: expected an object before the arguments, got a table: methods are called with "
    .. "':', object:reshape(...)" },
  { "x.sum(1)",
    "sum: expected an object before the arguments, got 1: methods are called with ':', "
    .. "object:sum(...)" },
  { "x.argmax(-1)", "argmax: expected an object before the arguments, got -1: methods are called "
    .. "with ':', object:argmax(...)" },
  { "x.mean()", "mean: expected an object before the arguments, got no value: methods are called "
    .. "with ':', object:mean(...)" },
  { "x.expand_dims { 1, 2 }", "expand_dims: expected an object before the arguments, got a table: "
    .. "methods are called with ':', object:expand_dims(...)" },
  { "model.layers[1].kernel.std(0)", "std: expected an object before the arguments, got 0: methods "
    .. "are called with ':', object:std(...)" },
  { "x:reshpe { 4 }", "tensor: no attribute 'reshpe' (did you mean 'reshape'?)" },
  { "print(x < 3)",
    'comparisons in Lua cannot give a tensor: use cr.ops.less(a, b), less_equal, greater, '
    .. 'greater_equal, equal or not_equal, or compare numbers (t:item(), t[1])' },
  { 'print("loss: " + 3)',
    "attempt to add a 'string' with a 'number'; texts are joined by '..'" },
  { 'print("loss: " .. x.shape)',
    "attempt to concatenate a table value (field 'shape'); cr.show(x) makes a text of any value" },
  { "for layer in model.layers do print(layer) end",
    "attempt to call a table value (for iterator 'for iterator'); "
    .. "lists are gone through by: for i, x in ipairs(list) do ... end" },
  { "Dense(units=10)",
    "')' expected near '='; options go in a table: Dense { units = 10 }" },
  { "model:fit(x, y, epochs=3)",
    "')' expected near '='; options go in a table: model:fit(x, y, { epochs = 3 })" },
  { "model:fit(x, y, callbacks=[stop], verbose=False)",
    "')' expected near '='; "
    .. "options go in a table: model:fit(x, y, { callbacks = { stop }, verbose = false })" },
  { 'model:compile("adam", cr.losses.Huber(delta=2.0))',
    "')' expected near '='; options go in a table: cr.losses.Huber { delta = 2.0 }" },
  { "model:compile { optimizer = cr.optimizers.Adam(learning_rate=0.1), loss = f }",
    "')' expected near '='; options go in a table: cr.optimizers.Adam { learning_rate = 0.1 }" },
  { "x.argmax(axis=1)",
    "')' expected near '='; options go in a table: x:argmax { axis = 1 }" },
  { "cr.layers.Conv2D(32, (3,3))", "')' expected near ','; tuples are tables: { 3,3 }" },
  { "cr.layers.Flatten(x)",
    "Flatten: option 'data_format': expected a string, got <Tensor>; "
    .. "a layer is made first, then called: Flatten()(x)" },
  { "cr.layers.Flatten(cr.Input { shape = { 3 } })",
    "Flatten: option 'data_format': expected a string, got <Symbol>; "
    .. "a layer is made first, then called: Flatten()(x)" },
  { "cr.layers.Concatenate({ x, x })",
    "Concatenate: option 'axis': expected an integer, got <Tensor>; "
    .. "a layer is made first, then called: Concatenate()({ x, y })" },
  { "shape = [1, 2, 3]", "unexpected symbol near '['; lists are tables: { 1, 2, 3 }" },
  { "cr.zeros([2, 3])", "unexpected symbol near '['; lists are tables: { 2, 3 }" },
  { "cr.zeros(2, 3)",
    "zeros: argument 'shape': expected a shape such as {2, 3}, got 2; "
    .. "shapes are tables: write {2}, or {2, ...} with more axes" },
  { "print(x[1:3])",
    "']' expected near ':'; a part is x:slice(first, last), both included and counted from 1" },
  { 'options = { "units": 10 }',
    "'}' expected near ':'; entries are named by '=': { name = value }" },
  { "i += 1", "syntax error near '+'; it is written: i = i + 1" },
  { "if i != 3 then print(i) end",
    "'then' expected near '!'; unequal is written ~=, the opposite not x" },
  { "print(x ** 2)", "unexpected symbol near '*'; powers are written x ^ 2" },
  { "print(x @ x)", "')' expected near '@'; products of matrices are cr.ops.matmul(a, b)" },
  { "if i: print(i)",
    "'then' expected near <eof>; "
    .. "blocks have no ':' and end in 'end': if x then ... end, for i = 1, 10 do ... end" },
  { "for i in range(10): print(i)",
    "'do' expected near <eof>; "
    .. "blocks have no ':' and end in 'end': if x then ... end, for i = 1, 10 do ... end" },
  { "def f(x): return x",
    "syntax error near 'f'; functions are written: function f(x) ... end" },
  { "class Mine(cr.Layer): pass",
    [[syntax error near 'Mine'; classes are made by local Mine = cr.Layer:subclass("Mine")]] },
  { "f = lambda x: x",
    'function arguments expected near <eof>; functions are written: function(x) return x end' },
  { "import crescent",
    "syntax error near 'crescent'; the module is the table cr; require 'name' loads others" },
  { "from crescent import layers",
    "syntax error near 'crescent'; the module is the table cr; require 'name' loads others" },
  { 'with open("f") as f:', "syntax error near 'open'; a file is closed by file:close(), or at the "
    .. "end of a block: local file <close> = io.open(path)" },
  { "with cr.GradientTape() as tape:",
    "syntax error near 'cr'; gradients are taken of a function: "
    .. "tape = cr.GradientTape(function() ... end); tape:gradient(y, x)" },
  { "try:", "<name> expected near <eof>; errors are caught by pcall(f, ...)" },
  { "1 if x else 2", "unexpected symbol near '1'; it is written: x and a or b" },
  { "assert x == 3", "syntax error near 'x'; calls have brackets: assert(x)" },
  { "del x", "syntax error near 'x'; it is written: x = nil" },
  { 'raise ValueError("x")', "syntax error near 'ValueError'; it is written: error(text)" },
  { "const i = 1", "syntax error near 'i'; it is written: local x = 1" },
  { "let i = 1", "syntax error near 'i'; it is written: local x = 1" },
  { "var i = 1", "syntax error near 'i'; it is written: local x = 1" },
  { "i = 1 if x else 2", "'then' expected near 'else'; it is written: x and a or b" },
  { "i = x ? 1 : 2", "unexpected symbol near '?'; it is written: x and a or b" },
  { 'print(x, end="")', "unexpected symbol near 'end'; io.write(x) ends no line" },
  { 'print("abc"[0])', "')' expected near '['; "
    .. "a part of a text is text:sub(first, last), both included and counted from 1" },
  { "i = 1_000", "malformed number near '1_'; digits have no '_' between them" },
  { "model:predict x", "function arguments expected near 'x'; "
    .. "calls have brackets: object:method(x)" },
  { "i = x[1, 2]", "']' expected near ','; "
    .. "an element is x[{ row, column }], a column x[{ {}, column }], counted from 1" },
  { "i = x[:, 1]", "unexpected symbol near ':'; "
    .. "a column is x[{ {}, column }], rows are x[{ { first, last } }], counted from 1" },
  { '{"a": 1}', "unexpected symbol near '{'; entries are named by '=': { name = value }" },
  { "i++", "syntax error near '+'; it is written: i = i + 1" },
  { "cr.Sequential([cr.layers.Dense(1)])",
    "unexpected symbol near '['; lists are tables: { cr.layers.Dense(1) }" },
  { 'model.compile(optimizer="adam")',
    "')' expected near '='; options go in a table: model:compile { optimizer = \"adam\" }" },
  { 'print("%d" % 3)', "attempt to mod a 'string' with a 'number'; "
    .. "texts are filled in by string.format('%d of %s', n, name)" },
  { "local l = {} l.append(1)",
    "attempt to call a nil value (field 'append'); a list grows by list[#list + 1] = x" },
  { "local d = {} for k in d:items() do end", "attempt to call a nil value (method 'items'); "
    .. "tables are gone through by: for name, value in pairs(t) do ... end" },
  { "elif i == 3: print(i)", "syntax error near 'i'; it is written: elseif x then" },
  { "if i is not None then print(i) end",
    "'then' expected near 'is'; 'is not' is written ~=, None is nil" },
  { "print i", "syntax error near 'i'; calls have brackets: print(x)" },
  { "# a comment", "unexpected symbol near '#'; comments begin with --" },
  { "i = a && b", "unexpected symbol near '&'; it is written: x and y, x or y" },
  { "cr.layers.Dense { unit = 10 }", "Dense: no option 'unit' (did you mean 'units'?)" },
  { 'cr.layers.Dense("relu")', [[Dense: option 'units': expected an integer, got "relu"]] },
  { "cr.layers.Dense()", "Dense: missing required option 'units'" },
  { 'cr.layers.Dense(10, { activation = "rellu" })',
    "Dense: option 'activation': unknown activation 'rellu' (did you mean 'relu'?)" },
  { 'model:compile { optimiser = "adam" }',
    "compile: no option 'optimiser' (did you mean 'optimizer'?)" },
  { 'model:compile("adam", "mes")', "unknown loss 'mes' (did you mean 'mse'?)" },
  { "model:fit(x, y, { epoch = 3 })", "fit: no option 'epoch' (did you mean 'epochs'?)" },
  { 'model:load_weights "/nonexistent/model.h5"',
    "cannot read '/nonexistent/model.h5': No such file or directory" },
  { 'model:load_weights(folder .. "/modle.h5")',
    "cannot read 'FOLDER/modle.h5': No such file or directory (did you mean 'model.h5'?)" },
  { 'cr.models.load_model(folder .. "/modle.h5")',
    "cannot read 'FOLDER/modle.h5': No such file or directory (did you mean 'model.h5'?)" },
  { "plt.plot { 1, 2 }", "attempt to index a nil value (global 'plt'); pictures are drawn by "
    .. "cr.plot(x, y), cr.imshow(images), cr.hist(values), history:plot()" },
  { "x:tolist()", "tensor: no attribute 'tolist'; its numbers are t:totable()" },
  { 'x:astype "int32"',
    "tensor: no attribute 'astype'; it is t:cast(dtype)" },
  { "x:view { 4 }", "view: argument 'dtype': expected a string, got [4]; "
    .. "t:reshape(shape) changes the shape" },
  { "x:numel()", "tensor: no attribute 'numel'; it is t.size" },
  { "x:masked_fill(x:greater(0), 0)", "tensor: no attribute 'masked_fill'; elements are assigned: "
    .. "t[mask] = value; a new tensor is cr.ops.where(mask, x, t)" },
  { "x:add_(1)", "tensor: no attribute 'add_'; it is t = t + x" },
  { "x.device()", "tensor: no attribute 'device'; "
    .. "cr.config.device() names the device of all tensors" },
  { "model.layers[1].kernel:unsqueeze(0)",
    "variable: no attribute 'unsqueeze'; it is t:expand_dims(axis)" },
  { "cr.Input { shape = { 2 } }:get_shape()",
    "symbol: no attribute 'get_shape'; it is symbol.shape" },
  { "model:predict_classes(x)", "Sequential: no attribute 'predict_classes'; "
    .. "it is cr.ops.argmax(model:predict(x), -1)" },
  { "model:fit_generator(f)", "Sequential: no attribute 'fit_generator'; "
    .. "it is model:fit(f), where f returns a batch x, y at each call" },
  { "model.optimizer:minimize(f)", "SGD: no attribute 'minimize'; "
    .. "an update is optimizer:apply_gradients(tape:gradient(loss, weights), weights)" },
  { "print(history.loss)", "History: no attribute 'loss'; the logs are in "
    .. "history.history, as history.history.loss" },
  { "cr.data.from_tensor_slices({ x }):cardinality()",
    "Dataset: no attribute 'cardinality'; it is data.batches" },
  { "local Own = cr.Model:subclass 'Own' function Own:train_step(data) model(data) end "
    .. "local own = Own() own:compile { optimizer = 'sgd' } own:fit(x, { verbose = 0 })",
    "call: expected tensors by position or by name, got both in one table; "
    .. "the batch of a step is a table: local x, y = table.unpack(data), or data.x and data.y" },
  { "model:fit(x, y, { validation_data = x, y })", "fit: option 'batch_size': expected an integer, "
    .. "got <Tensor>; several tensors go into a table: validation_data = { x, y }" },
  { "cr.Schedule:subclass 'Mine'",
    "cr has no 'Schedule' (did you mean 'cr.schedules.LearningRateSchedule'?)" },
  { "cr.schedules.Schedule:subclass 'Mine'", "cr.schedules: unknown schedule 'Schedule' "
    .. "(did you mean 'cr.schedules.LearningRateSchedule'?)" },
  { "x:detach()", "tensor: no attribute 'detach'; it is cr.ops.stop_gradient(t)" },
  { 'x:to "cuda"', "tensor: no attribute 'to'; it is t:cast(dtype); "
    .. "cr.config.set_device(name) chooses a device" },
  { "cr.Input { shape = { 2 } }:item()", "symbol: no attribute 'item'; "
    .. "a symbol has no values; a model that ends in it computes them" },
  { "model:parameters()",
    "Sequential: no attribute 'parameters'; it is model.trainable_weights" },
  { "model:eval()", "Sequential: no attribute 'eval'; "
    .. "model:predict(x) and model(x) compute as after training" },
  { "cr.nn.Linear(2, 3)", "cr has no 'nn' (did you mean 'cr.layers'?)" },
  { "cr.layers.Linear(2, 3)",
    "cr.layers: unknown layer 'Linear' (did you mean 'cr.layers.Dense'?)" },
  { "cr.random.randn(2, 3)", "cr.random has no 'randn' (did you mean 'cr.random.normal'?)" },
  { 'cr.load "m.keras"',
    "cr has no 'load' (did you mean 'cr.models.load_model' or 'cr.data.read'?)" },
  { "train_test_split(x, y)",
    "attempt to call a nil value (global 'train_test_split') (did you mean 'cr.data.split'?)" },
  { "cr.ops.gather(x, 1)", "cr.ops: no function 'gather' (did you mean 'cr.ops.take'?)" },
  { "cr.random.randint(0, 10, { 3 })", "randint: argument 'shape': expected a shape such as "
    .. "{2, 3}, got 0; the shape comes before the numbers" },
  { "cr.random.normal(0, 1)", "normal: argument 'shape': expected a shape such as {2, 3}, got 0; "
    .. "shapes are tables: write {0}, or {0, ...} with more axes" },
  { "cr.ops.concatenate(x, x)", "concatenate: argument 'axis': expected an integer, got <Tensor>; "
    .. "several tensors go into a table: concatenate({ x, y })" },
  { 'print(string.format("%.2f", x:sum()))', "bad argument #2 to 'format' (number expected, got "
    .. "tensor); the number of a tensor of one element is t:item()" },
  { "cr.ops.dot(x, cr.ones { 3, 2 })",
    "dot: shapes (2, 2) and (3, 2) do not fit: rows of 2 elements against columns of 3" },
  { "cr.ops.unique(cr.Input { shape = { 3 } })", "Layer unique_1 (OperationLayer): unique: the "
    .. "size of the result depends on values, which are not known while a program is recorded or "
    .. "a model is built" },
  { "print(x[0])", "position 0 is outside of axis 0 of shape (2, 2); positions count from 1, "
    .. "negative ones from the end; cr.ops.take(t, positions, axis) counts from 0" },
  { "cr.data.Dataset.from_tensor_slices { x }", "class Dataset: no attribute "
    .. "'from_tensor_slices' (did you mean 'cr.data.from_tensor_slices'?)" },
  { "for row in x do print(row) end", "tensor: no call; it is not a function; an element is "
    .. "t[{ row, column }]; rows are gone through by: for i, row in ipairs(t) do ... end" },
  { 'x[1] = "a"', '[]: expected a tensor, got "a"' },
  { "cr.Sequential { cr.layers.Dense(1), cr.ops.relu }", "Sequential: argument 'layers': expected "
    .. "a layer, got a function; a function is a layer by: cr.layers.Lambda(f)" },
  { 'cr.Sequential { cr.layers.Dense(1), "relu" }', "Sequential: argument 'layers': expected a "
    .. 'layer, got "relu"; the layer is cr.layers.Activation "relu"' },
  { 'cr.Sequential { cr.layers.Dense(1), "dense" }',
    "Sequential: argument 'layers': expected a layer, got \"dense\"" },
  { "cr.Sequential { cr.layers.Dense }", "Sequential: argument 'layers': expected a layer, got the "
    .. "class Dense; the class makes one: Dense(...)" },
  { "cr.layers.Dense:get_weights()", "class Dense: 'get_weights' is a method of its objects: "
    .. "Dense(...):get_weights(...)" },
  { "return cr.layers.Dense.units", "class Dense: 'units' is an attribute of its objects: "
    .. "Dense(...).units" },
  { "return cr.layers.Dense.input_shape", "class Dense: 'input_shape' is an attribute of its "
    .. "objects: Dense(...).input_shape" },
  { "cr.layers.Dense.call(x)", "class Dense: 'call' is a method of its objects: "
    .. "Dense(...):call(...)" },
  { "return cr.layers.Dense.subclas",
    "class Dense: no attribute 'subclas' (did you mean 'subclass'?)" },
  { "return cr.Layer.subclas", "class Layer: no attribute 'subclas' (did you mean 'subclass'?)" },
  { "return cr.Sequential.from_confg",
    "class Sequential has no 'from_confg' (did you mean 'from_config'?)" },
  { 'cr.config.floatx = "float64"',
    "cr.config.floatx is not assigned; cr.config.set_floatx(value) sets it" },
  { "cr.config.memory = 1",
    "cr.config.memory is not assigned; it is a function: cr.config.memory(...)" },
  { "cr.config.thread = 2", "cr.config has no 'thread' (did you mean 'threads'?)" },
  { "return x.shape.ndim",
    "a list of 2 has no field 'ndim': its values are list[1], list[2], ..." },
  { "return model.layers.dense",
    "a list of 1 has no field 'dense': its values are list[1], list[2], ..." },
  { "return cr.layers.Dense[1]", "class Dense: no position 1" },
  { 'cr.Model:subclass("Net"):fit(x, y)',
    "fit: expected an object, got the class Net, which makes one: Net(...):fit(...)" },
  { 'cr.Layer:subclass("Own"):get_weights()',
    "get_weights: expected an object, got the class Own, which makes one: "
    .. "Own(...):get_weights(...)" },
  { "cr.ops.sum(x, { 1, keepdims = true })", "sum: expected a table of arguments by name, got one "
    .. "with 1 without a name, the first 1" },
  { "cr.ops.sum { x, x = x }", "sum: 'x' is given twice, by position and by name" },
  { "cr.ops.sum { x, 0, true, 4, dtype = 3 }",
    "sum: expected at most 3 arguments (x, axis, keepdims), got 4" },
  { "cr:help(x)", "help: what cr contains is called with '.', not with ':': cr.help(...)" },
  { "return history.history.los", "there is no log 'los' (did you mean 'loss'?)" },
  { "return history.history.Loss", "there is no log 'Loss' (did you mean 'loss'?)" },
  { "local i = cr.Input { 2 } cr.Model { inputs = i, output = i }",
    "Model: no option 'output' (did you mean 'outputs'?)" },
  { "model:fit(x, y, { verbose = 0, callbacks = { on_epoch_end = print } })",
    'fit: expected a callback with a class_name, got {"on_epoch_end": <function>}; functions are '
    .. "a callback by: cr.callbacks.LambdaCallback { on_epoch_end = f }" },
  { "model:predict(x[1])", "Error when checking input: expected dense_input to have 2 dimensions, "
    .. "but got array with shape (2,); x:expand_dims(0) adds a batch axis to a single sample" },
  { "model(x[1])", "Input 0 is incompatible with layer sequential_1: expected shape=(None, 2), "
    .. "found shape=(2,); x:expand_dims(0) adds a batch axis to a single sample" },
  { "cr.Sequential { cr.layers.LSTM(4, { input_shape = { 5, 2 } }), "
    .. "cr.layers.LSTM(3, { name = 'second' }) }", "Input 0 is incompatible with layer second: "
    .. "expected ndim=3, found ndim=2. Full shape received: (None, 4)" },
  { "seven = 7; seven(1)", "attempt to call a number value (global 'seven')" },
  { "print(#cr.data.from_tensor_slices { x })",
    "dataset: no length (#); its numbers are data.samples and data.batches" },
  { "for a in pairs(cr.data.from_tensor_slices { x }) do end", "dataset: no pairs; "
    .. "elements are gone through by: for x, y in data:elements() do ... end" },
  { "cr.data.from_tensor_slices({ x }):batch(0)", "batch: expected a size of at least 1, got 0" },
  { 'cr.imshow "photo.png"', 'imshow: expected a tensor, got "photo.png"' },
  { "local d = x:repeat(2)", "<name> expected near 'repeat'; 'repeat' is a word of Lua: elements "
    .. "are repeated by cr.ops.repeat_elements(x, n), datasets by data:repeated(n)" },
  { "i = j = 3",
    "unexpected symbol near '='; one value is assigned at a time: a, b = 3, 3" },
  { "f = function(x) x * 2 end",
    "syntax error near '*'; functions return by: function(x) return x end" },
  { '"abc".upper()', "unexpected symbol near '\"abc\"'; methods of a text are called so: "
    .. '("text"):upper()' },
  { 'print("-" * 10)',
    "attempt to mul a 'string' with a 'number'; a text is repeated by text:rep(n)" },
  { "Dense(units = 10)", "')' expected near '='; options go in a table: Dense { units = 10 }" },
  { "cr.GradientTape()", "GradientTape: missing argument 'function'; gradients are taken of a "
    .. "function: tape = cr.GradientTape(function() ... end)" },
  { "print(x[1.5])", "a position of a tensor is an integer, got 1.5" },
  { "print(x[{ { 1, 1.5 } }])", "a position of a tensor is an integer, got 1.5" },
  { 'model:rebase "dense"',
    "rebase: expected a model, a symbol or a list of symbols as 'inputs', got \"dense\"" },
  { 'cr.config.floatx "float64"', "floatx: expected no arguments, got 1; "
    .. "cr.config.set_floatx(value) sets it" },
  { "x:totable(1)", "totable: expected no arguments, got 1" },
  { "cr.ops.relu(x, { max_value = 6 })", "relu: no option 'max_value'; it takes x" },
  { "cr.ops.map(x, function(row) return row end)",
    "map: argument 'f': expected a function, got a tensor (2, 2)" },
  { "cr.ops.cond(x, function() end, function() end)", "cond: expected a condition of one element, "
    .. "got shape (2, 2); cr.ops.where chooses for each element" },
  { "cr.models.clone_model(model.layers[1])",
    "clone_model: argument 'model': expected a model, got <Dense>" },
  { 'model:get_layer "dens"',
    "No such layer: dens (did you mean 'dense'?). Existing layers are: [dense]." },
}

-- correct code, and mistakes that are not typical of Python, get Lua's own messages
local lua_errors = {
  { "5 5", "unexpected symbol near '5'" },
  { "error 'on purpose'", "on purpose" },
  { "local t = {} t.x.y = 1", "attempt to index a nil value (field 'x')" },
  { "local t t:fit()", "attempt to index a nil value (local 't')" },
  { "no_such_variable_at_all()",
    "attempt to call a nil value (global 'no_such_variable_at_all')" },
  { "x = = 1", "unexpected symbol near '='" },
  { "f(3)", "attempt to call a nil value (global 'f')" },
}

local function message_of(code) return (check.message_of(code):gsub(folder, "FOLDER")) end

assert(#expected_messages >= 50)
for _, list in ipairs { expected_messages, lua_errors } do
  for _, row in ipairs(list) do check.same(message_of(row[1]), row[2], row[1]) end
end

-- without the source text a hint shows a general example; the hint stands before the traceback
check.same(cr.explained "prompt:1: ')' expected near '='\nstack traceback:\n\t[C]: in ?",
  "prompt:1: ')' expected near '='; options go in a table: Dense { units = 10 }"
  .. "\nstack traceback:\n\t[C]: in ?")

-- the source of a chunk in a file is read from the file, also if the call began in an earlier line
local script = folder .. "/script.lua"
local file = io.open(script, "w")
file:write "local layer = cr.layers.Dense(10,\n  activation=\"relu\")\n"
file:close()
check.same(cr.explained(select(2, loadfile(script))):match "; .*",
  '; options go in a table: cr.layers.Dense(10, { activation = "relu" })')

-- the program warns once of each line that uses a name of Crescent without quotes as a variable,
-- unless the line calls it
if arg[-1]:find "crescent$" then
  local ok, output = check.run [[
for i = 1, 3 do
  print(cr.zeros({ 1 }, int32).dtype)
end
local options, float64 = { activation = relu }, nil
print(float64, rawget(_G, "int8"), pcall(function() tanh(1) end), int9)
]]
  assert(ok and select(2, output:gsub("is a variable without a value", "")) == 2, output)
  assert(output:find(":3: 'int32' is a variable without a value; it is written \"int32\"", 1, true))
  assert(output:find(":5: 'relu' is a variable without a value; it is written \"relu\"", 1, true))
end

-- failed look-ups store nothing in the tables, and rawget finds nothing
assert(rawget(cr, "Sequental") == nil and rawget(cr.datasets, "mnst") == nil)
assert(cr[1] == nil and cr.ops.image.resize and cr.applications.ResNet50)
check.same(#x.shape, 2)
assert(x.shape[3] == nil)

-- a message that was explained before is not explained again
local explanation = cr.explained("tensor: no attribute 'tolist'", "")
check.same(cr.explained(explanation, ""), explanation)

-- an error value that is a table is shown, and help accepts names as strings
local ok, shown_text = check.run [[
  local model = cr.Sequential()
  cr.help "Dense"
  cr.help "layers.Dense"
  cr.help "evaluate"
  cr.help "Dens"
]]
assert(ok and select(2, shown_text:gsub("Fully connected", "")) == 2, shown_text)
assert(shown_text:find("model:evaluate(x, y=nil)", 1, true), shown_text)
assert(shown_text:find("Nothing is called 'Dens' (did you mean 'cr.layers.Dense'?).", 1, true),
  shown_text)
-- operations that take a Lua function refuse symbols
for name, arguments in pairs { cond = "symbol, function() end, function() end",
  map = "function(row) return row end, symbol", vectorized_map = "function(row) end, symbol",
  switch = "symbol, { function() end }", scan = "function() end, symbol, symbol" } do
  local code = ("local symbol = cr.Input { shape = { 3 } } cr.ops.%s(%s)"):format(name, arguments)
  check.same(message_of(code), name .. ": expected a tensor, got a symbol of a graph, which has no "
    .. "values: call the function in a layer, such as cr.layers.Lambda(function(x) ... end)")
end

os.execute("rm -r '" .. folder .. "'")
