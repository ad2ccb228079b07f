-- Lines of programs for Keras and PyTorch that are typed at the prompt, and the messages that say
-- how such lines are written for Crescent.
local cr = require "crescent"
local check = dofile(arg[0]:match "^(.*)/[^/]*$" .. "/../support/check.lua")

_G.cr = cr
_G.x, _G.y = cr.zeros { 2, 2 }, cr.zeros { 2, 1 }
_G.model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 }, name = "dense" }) }
_G.model:compile { optimizer = "sgd", loss = "mse" }
_G.measured = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
_G.measured:compile { loss = "mse", metrics = { "mae", cr.metrics.Mean("mean of all") } }
_G.results = _G.measured:evaluate(_G.x, _G.y, { verbose = 0 })

local list_hint = " returns one list, which is no number: write local r = model:%s(...); "
  .. "its numbers are r.loss, r.mae, r[\"mean of all\"]"
local function results_hint(method) return method .. list_hint:format(method) end

local expected_messages = {
  { "local loss, mae = measured:evaluate(x, y, { verbose = 0 }); print(loss + 1)",
    results_hint "evaluate" },
  { "return results < 1", results_hint "evaluate" },
  { "return 2 >= results", results_hint "evaluate" },
  { "return -results", results_hint "evaluate" },
  { 'return "loss: " .. results', results_hint "evaluate" },
  { "return measured:train_on_batch(x, y) * 100", results_hint "train_on_batch" },
  { "return measured:test_on_batch(x, y) // 1", results_hint "test_on_batch" },
  { 'string.format("%.3f", results)', "bad argument #2 to 'format' (number expected, got results)"
    .. "; loss and metrics are one list: local r = model:evaluate(...); its numbers are r[1], r[2] "
    .. "or, by their names, r.loss" },
  { "return results.los", "there is no log 'los' (did you mean 'loss'?)" },
  { "cr:print(x)", "print: what cr contains is called with '.', not with ':': cr.print(...)" },
  { "cr:show(x)", "show: what cr contains is called with '.', not with ':': cr.show(...)" },
  { "cr:tensor { 1 }",
    "tensor: what cr contains is called with '.', not with ':': cr.tensor(...)" },
  { "cr.ops:add(x, x)",
    "add: what cr.ops contains is called with '.', not with ':': cr.ops.add(...)" },
  { "cr.tree:flatten({ 1 })",
    "flatten: what cr.tree contains is called with '.', not with ':': cr.tree.flatten(...)" },
  { "cr.applications.resnet:preprocess_input(x)", "preprocess_input: what "
    .. "cr.applications.resnet contains is called with '.', not with ':': "
    .. "cr.applications.resnet.preprocess_input(...)" },
  { "model.optimizer.apply(x, x)", "apply: expected an optimizer before the arguments, got a "
    .. "tensor (2, 2): methods are called with ':', object:apply(...)" },
  { "model.layers[1].call(x)", "call: expected a layer before the arguments, got a tensor (2, 2): "
    .. "methods are called with ':', layer:call(...)" },
  { "with cr.utils.custom_object_scope({}):", "syntax error near 'cr'; a scope ends with a block: "
    .. "local scope <close> = cr.utils.custom_object_scope { name = f }, or with a function: "
    .. "cr.utils.custom_object_scope({ name = f }, function() ... end)" },
  { "cr.utils.get_custom_objects():update { f = print }", "attempt to call a nil value (method "
    .. "'update'); entries are set one by one: t[name] = value" },
  { "model:compile(optimizer = cr.optimizers.Adam(lr = 0.01), loss = \"mse\", metrics = [f])",
    "')' expected near '='; options go in a table: model:compile { optimizer = "
    .. "cr.optimizers.Adam { lr = 0.01 }, loss = \"mse\", metrics = { f } }" },
  { 'cr.models.load_model("m.h5", custom_objects={"my_loss": f, "rmse": g})',
    "')' expected near '='; options go in a table: "
    .. 'cr.models.load_model("m.h5", { custom_objects = {my_loss = f, rmse = g} })' },
  { "model:add(cr.layers.Conv2D(8, 3, padding='same', strides=(2,)), name='a')",
    "')' expected near '='; options go in a table: "
    .. "cr.layers.Conv2D(8, 3, { padding = 'same', strides = { 2 } })" },
  { "i = cr.Input((12,))", "')' expected near ','; tuples are tables: { 12 }" },
  { "scores = []", "unexpected symbol near '['; lists are tables: {}" },
  { "for layer in model.layers: layer.trainable = False", "function arguments expected near '.'; "
    .. "blocks have no ':' and end in 'end': if x then ... end, for i = 1, 10 do ... end" },
  { "with torch.no_grad():",
    "syntax error near 'torch'; only a tape takes gradients: no block is needed" },
  { "return results[0]",
    "a list has no position 0: positions count from 1, the last is list[#list]" },
  { "model.layers[1]:predict(x)",
    "Dense: no attribute 'predict'; models have it; a layer is called: layer(x)" },
  { 'model:compile { loss = "mse", learning_rate = 0.1 }', "compile: no option 'learning_rate'; "
    .. "it is the optimizer's: optimizer = cr.optimizers.Adam(0.01)" },
  { "model:fit { x, y, epochs = 1 }", "fit: expected a list, got a table with the name 'epochs'; "
    .. "options are a table behind the data: model:fit(x, y, { epochs = ... })" },
  { "cr.optimizers.Adam(model.trainable_weights, 1e-3)", "Adam: option 'learning_rate': expected a "
    .. "number or a schedule, got [<Variable>, <Variable>]; weights are given with their "
    .. "gradients: optimizer:apply_gradients(gradients, weights)" },
  { "model.requires_grad = false",
    "model: 'requires_grad' cannot be set; it is model.trainable" },
  { "x:view(2, -1)", "view: expected at most 2 arguments (x, dtype), got 3; "
    .. "t:reshape(shape) changes the shape" },
  { "cr.data.folds(90, { n_splits = 3 })", "folds: no option 'n_splits'; it takes rows, k, "
    .. "shuffle, seed, stratify (did you mean 'k'?)" },
  { 'local index = { good = 1 }; index.get("good")', "attempt to call a nil value (field 'get'); "
    .. "it is t[key], or with a default t[key] or default" },
  { 'cr.preprocessing.text.Tokenizer().fit_on_texts { "a" }', "fit_on_texts: expected a Tokenizer "
    .. "before the arguments, got a table: methods are called with ':', "
    .. "tokenizer:fit_on_texts(...)" },
  { 'cr.layers.Embedding(3, 2)(cr.tensor { "a", "b" })', "Layer embedding_1 (Embedding): expected "
    .. "ids, got strings: TextVectorization or StringLookup makes ids of texts" },
}

for _, row in ipairs(expected_messages) do check.same(check.message_of(row[1]), row[2], row[1]) end
