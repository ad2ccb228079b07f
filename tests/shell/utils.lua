-- cr.tree, cr.utils, cr.random and cr.saving: nested tables, samples, progress bars, cached files,
-- pictures of graphs, objects as tables, distributions.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local ops, tree, utils = cr.ops, cr.tree, cr.utils

-- functions of cr.tree
local structure = { 1, { b = 3, a = 2 }, { { 4 } } }
check.same(tree.flatten(structure), { 1, 2, 3, 4 })
check.same(tree.flatten(5), { 5 })
check.same(tree.flatten_with_path(structure)[3], { { 2, "b" }, 3 })
check.same(tree.map_structure(function(x, y)
  return x + y
end, structure, structure), { 2, { b = 6, a = 4 }, { { 8 } } })
check.same(tree.map_structure(function(t) return t:item() end, { x = cr.tensor(1) }), { x = 1 })
check.same(tree.pack_sequence_as(structure, { "p", "q", "r", "s" }),
  { "p", { b = "r", a = "q" }, { { "s" } } })
check.same(tree.map_structure_up_to({ 0, 0 }, function(x)
  return type(x)
end, { 1, { 2, 3 } }), { "number", "table" })
check.same(tree.traverse(function(x)
  return type(x) == "number" and x * 10 or nil
end, structure), { 10, { b = 30, a = 20 }, { { 40 } } })
check.same(tree.traverse(function(x)
  if x == 2 then return tree.MAP_TO_NONE end
end, { a = 1, b = 2 }), { a = 1 })
check.same(tree.traverse(function(x)
  if type(x) == "table" then return #x end
end, { { 1, 2 }, { 3 } }, false), 2)
check.same(tree.map_shape_structure(function(shape)
  return #shape
end, { a = { 2, 3 }, b = {} }), { a = 2, b = 0 })
assert(tree.is_nested {} and not tree.is_nested(cr.tensor(1)) and not tree.is_nested "a")
tree.assert_same_structure(structure, tree.map_structure(tostring, structure))
check.fails(function() tree.assert_same_structure({ a = 1 }, { b = 1 }) end, "a", "the top")
check.fails(function() tree.assert_same_paths({ 1, { 2 } }, { 1, 2 }) end, "structure")
check.fails(function() tree.pack_sequence_as({ 1, 2 }, { 1 }) end, "2 leaves, got 1")
check.fails(function() tree.map_structure(print, { 1 }, { 1, 2 }) end, "structure")
local nested_list = { 1, { a = {} } }
nested_list[2].a.b = nested_list[2]
local shared_table = { 7 }
-- The same table may occur twice in a structure, but not inside itself.
check.same(tree.flatten { shared_table, shared_table }, { 7, 7 })
for name, visit in pairs {
  flatten = tree.flatten,
  flatten_with_path = tree.flatten_with_path,
  pack_sequence_as = function(x) tree.pack_sequence_as(x, { 1 }) end,
  traverse = function(x) tree.traverse(function() end, x) end,
  assert_same_structure = function(x) tree.assert_same_structure(x, x) end,
  assert_same_paths = function(x) tree.assert_same_paths(x, x) end,
  map_shape_structure = function(x) tree.map_shape_structure(print, x) end,
  map_structure = function(x) tree.map_structure(print, x) end,
  map_structure_up_to = function(x) tree.map_structure_up_to(x, print, x) end,
} do
  check.fails(function() visit(nested_list) end, "must have an end", "contains itself")
end
for _, call in ipairs { cr.tensor, cr.layers.Dense,
  function(x) cr.ops.map(print, x) end, function(x) cr.Sequential(x) end,
  function(x) cr.data.from_list(x) end } do
  local cyclic_table = {}
  cyclic_table[1] = cyclic_table
  assert(not pcall(call, cyclic_table))
end

-- tuples of inputs, targets and weights, and splits of datasets
local x, y = cr.tensor { { 1 }, { 2 }, { 3 }, { 4 } }, cr.tensor { 1, 2, 3, 4 }
assert(#utils.pack_x_y_sample_weight(x, y) == 2 and utils.pack_x_y_sample_weight(x) == x)
local a, b, c = utils.unpack_x_y_sample_weight(utils.pack_x_y_sample_weight(x, nil, y))
assert(a == x and b == nil and c == y)
check.fails(function() utils.unpack_x_y_sample_weight { x, x, x, x } end, "sample_weight")
local first_part, second_part = utils.split_dataset({ x, y }, 0.75)
check.same(first_part[2]:totable(), { 1, 2, 3 })
check.same(second_part[1]:totable(), { { 4 } })
first_part, second_part = utils.split_dataset(y, { right_size = 1, shuffle = true, seed = 3 })
assert(#first_part == 3 and #second_part == 1
  and (ops.sum(first_part) + ops.sum(second_part)):item() == 10)
first_part, second_part = utils.split_dataset({ a = x, b = { y } }, { left_size = 3 })
check.same(first_part.b[1]:totable(), { 1, 2, 3 })
check.same(second_part.a:totable(), { { 4 } })
check.fails(function() utils.split_dataset({ a = x, b = cr.ones { 3 } }, 1) end, "[b] has 3 rows")
local function elements_of(dataset)
  local elements = {}
  for element in dataset:elements() do elements[#elements + 1] = element:item() end
  return elements
end
first_part, second_part = utils.split_dataset(cr.data.from_tensor_slices(y), 0.75)
check.same(elements_of(first_part), { 1, 2, 3 })
check.same(elements_of(second_part), { 4 })
first_part, second_part = utils.split_dataset(cr.data.from_tensor_slices(y), { right_size = 2,
  shuffle = true, seed = 3 })
local all_elements = elements_of(first_part)
for _, element in ipairs(elements_of(second_part)) do all_elements[#all_elements + 1] = element end
check.same(#elements_of(first_part), 2)
table.sort(all_elements)
check.same(all_elements, { 1, 2, 3, 4 })
check.fails(function() utils.split_dataset(y, 5) end, "left_size", "1 to 4")
check.fails(function() utils.split_dataset(y) end, "At least one")
check.fails(function() utils.split_dataset(y, 3, 2) end, "3 and 2", "4")

-- small functions of cr.utils
local symbol = cr.Input { shape = { 4 } }
assert(utils.is_keras_tensor(symbol) and not utils.is_keras_tensor(x)
  and not utils.is_keras_tensor(3))
assert(utils.get_source_inputs(cr.layers.Dense(2)(symbol * 2))[1].name == symbol.name)
assert(utils.standardize_dtype() == "float32" and utils.standardize_dtype "int" == "int32"
  and utils.standardize_dtype "int8" == "int8")
check.fails(function() utils.standardize_dtype "flaot32" end, "float32")
check.same(ops.convert_to_numpy(y), { 1, 2, 3, 4 })
local config = utils.Config { rate = 0.1 }
config.depth = 3
config:freeze()
check.same(config:as_dict(), { rate = 0.1, depth = 3 })
assert(config:get("width", 7) == 7)
check.fails(function() config.rate = 1 end, "rate", "frozen")

-- settings with a fixed value
assert(cr.config.is_flash_attention_enabled() and not cr.config.is_nnx_enabled()
  and cr.config.backend() == "crescent")
cr.config.enable_flash_attention()
cr.config.set_image_data_format "channels_last"
check.fails(function()
  cr.config.disable_flash_attention()
end, "disable_flash_attention", "always computes")
check.fails(function() cr.config.enable_unsafe_deserialization() end, "custom_objects")
check.fails(function() cr.config.set_backend "jax" end, "crescent", "jax")
check.fails(function() utils.disable_interactive_logging() end, "verbose")

-- Progbar prints a progress bar
local ok, text = check.run [[
local bar = cr.utils.Progbar(3, { width = 3, interval = 0 })
bar:update(1, { { "loss", 1 }, { "rate", 5 } })
bar:add(2, { { "loss", 4 } })
local silent = cr.utils.Progbar(1, { verbose = 0 })
silent:update(1)
]]
assert(ok and text:find("1/3 ━  ", 1, true) and text:find("3/3 ━━━", 1, true)
  and text:find("loss: 3.0000", 1, true), text)
assert(select(2, text:gsub("\n", "")) == 1, text)

-- get_file finds files in the cache folder and downloads nothing
local folder = check.temporary ""
os.execute("mkdir -p '" .. folder .. "/datasets'")
check.fails(function()
  utils.get_file("a b.txt", "https://example.org/a", { cache_dir = folder })
end,
  folder .. "/datasets/a b.txt", "https://example.org/a", "nothing is downloaded")
local file = assert(io.open(folder .. "/datasets/a b.txt", "w"))
file:write "abc"
file:close()
local path = folder .. "/datasets/a b.txt"
assert(utils.get_file("a b.txt", { cache_dir = folder }) == path)
local hashes = { md5 = "900150983cd24fb0d6963f7d28e17f72",
  sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" }
for _, hash in pairs(hashes) do
  assert(utils.get_file("a b.txt", { cache_dir = folder, file_hash = hash }) == path)
end
check.fails(function()
  utils.get_file("a b.txt", { cache_dir = folder, file_hash = ("0"):rep(64) })
end, "damaged", hashes.sha256)
os.execute("tar -cf '" .. folder .. "/datasets/packed.tar' -C '" .. folder
  .. "/datasets' 'a b.txt' && mkdir -p '" .. folder .. "/other' && mv '" .. folder
  .. "/datasets/packed.tar' '" .. folder .. "/other'")
assert(utils.get_file("packed.tar", { cache_dir = folder, cache_subdir = "other", extract = true })
  == folder .. "/other/packed")
assert(io.open(folder .. "/other/a b.txt")):close()
os.execute("rm -r '" .. folder .. "'")

-- pictures of graphs: model_to_dot, plot_model
local inner_model = cr.Sequential { name = "inner",
  cr.layers.Dense(3, { name = "deep", input_shape = { 4 }, activation = "relu" }),
  cr.layers.Dropout(0.1, { name = "drop" }) }
local first_output = cr.layers.Dense(4, { name = 'fi"rst<' })(symbol)
local model = cr.Model { inputs = symbol,
  outputs = cr.layers.Add { name = "sum" } { inner_model(first_output),
  cr.layers.Dense(3, { name = "side" })(symbol) }, name = "outer" }
local dot = utils.model_to_dot(model,
  { show_shapes = true, show_layer_activations = true, show_trainable = true, show_dtype = true })
for _, part in ipairs {
  'digraph "outer" {', '"inner" -> "sum";', '"side" -> "sum";', '"fi\\"rst<" -> "inner";',
  "fi&quot;rst&lt;", "Output shape: <b>(None, 3)</b>",
  "Output dtype: <b>float32</b>", "Trainable: <b>true</b>", "(Add)", "rankdir=TB",
} do assert(dot:find(part, 1, true), part .. " is not in\n" .. dot) end
dot = utils.model_to_dot(model,
  { expand_nested = true, show_layer_names = false, rankdir = "LR", show_layer_activations = true })
for _, part in ipairs {
  'subgraph "cluster_inner"', '"inner/deep" -> "inner/drop";', '"inner/drop" -> "sum";',
  "Activation: <b>relu</b>", "rankdir=LR",
} do assert(dot:find(part, 1, true), part .. " is not in\n" .. dot) end
assert(not dot:find("<b>deep</b>", 1, true)
  and utils.model_to_dot(model, { subgraph = true }):find('^subgraph "cluster_outer"'))
-- operations of a graph are boxes, too, also at the end of a nested model
local shifted = cr.layers.Dense(4, { name = "shifted" })(symbol) + symbol
local shift_model = cr.Model { inputs = symbol, outputs = shifted * 2, name = "shift" }
local doubled_name = shift_model.outputs[1].node.outbound_layer.name
local outer_symbol = cr.Input { 4 }
dot = utils.model_to_dot(cr.Model { inputs = outer_symbol,
  outputs = cr.layers.ReLU { name = "relu" } (shift_model(outer_symbol)) },
  { expand_nested = true })
for _, part in ipairs {
  ('"shift/%s" [label='):format(doubled_name), ('"shift/%s" -> "relu";'):format(doubled_name),
  '"shift/shifted" -> "shift/' .. shifted.node.outbound_layer.name .. '";',
  "<b>" .. shifted.node.outbound_layer.name .. "</b> (add)",
} do assert(dot:find(part, 1, true), part .. " is not in\n" .. dot) end
path = check.temporary ".dot"
assert(utils.plot_model(model, path, { show_layer_names = true }) == path)
file = assert(io.open(path))
assert(file:read "a" == utils.model_to_dot(model))
file:close()
os.remove(path)
if os.execute "command -v dot > /dev/null 2>&1" then
  path = check.temporary ".svg"
  utils.plot_model(model, { to_file = path, show_shapes = true })
  file = assert(io.open(path))
  assert(file:read "a":find("<svg", 1, true))
  file:close()
  os.remove(path)
else
  check.fails(function() utils.plot_model(model, "m.pdf") end, "Graphviz", ".svg")
end
check.fails(function() utils.plot_model(model, "picture") end, "ending")
check.fails(function() utils.model_to_dot(model, { rankdir = "XY" }) end, "rankdir")
check.fails(function() utils.model_to_dot(3) end, "expected a model")

-- objects are serialized as tables and made from them; registered names
local dense = cr.layers.Dense(3, { activation = "relu" })
local copy = utils.deserialize_keras_object(utils.serialize_keras_object(dense))
assert(copy.class_name == "Dense" and copy:get_config().units == 3)
assert(
  utils.deserialize_keras_object(cr.saving.serialize_keras_object(cr.losses.Huber())).class_name
  == "Huber")
assert(utils.serialize_keras_object(5) == 5)
-- the key `module` of a configuration tells classes of the same name apart
for _, row in ipairs { { "metrics", "Poisson", "metric" }, { "losses", "Poisson", "loss" },
  { "initializers", "Identity", "initializer" }, { "layers", "Identity", "layer" } } do
  local namespace, class, kind = table.unpack(row)
  local config = utils.serialize_keras_object(cr[namespace][class]())
  check.same(config.module, "keras." .. namespace)
  check.same(cr.describe(utils.deserialize_keras_object(config)).what, kind)
end
local schedule = cr.optimizers.schedules.ExponentialDecay(0.1, 10, 0.9)
check.same(utils.deserialize_keras_object(utils.serialize_keras_object(schedule)):get_config(),
  schedule:get_config())
-- the variables of a metric can be read as attributes of the metric
local accuracy = cr.metrics.BinaryAccuracy()
accuracy:update_state({ 1, 0, 1 }, { 0.9, 0.9, 0.8 })
check.near(accuracy.count, 3)
check.fails(function() return accuracy.counts end, "no attribute 'counts'")
check.fails(function()
  utils.deserialize_keras_object { class_name = "Dnse", config = {} }
end, "Dnse")
local function thrice(v) return v * 3 end
assert(utils.register_keras_serializable("mine", "thrice")(thrice) == thrice)
assert(utils.get_registered_object "mine>thrice" == thrice
  and utils.get_custom_objects().thrice == thrice)
check.near(cr.layers.Activation "thrice"(cr.tensor { 2 }), { 6 })
local PackedLayer = cr.Layer:subclass "Packed"
assert(utils.register_keras_serializable()(PackedLayer) == PackedLayer)
assert(utils.get_registered_name(PackedLayer) == "Custom>Packed"
  and PackedLayer().class_name == "Custom>Packed")
do
  local scope <close> = utils.custom_object_scope { halved = function(v) return v / 2 end }
  assert(utils.get_registered_object "halved")
  check.near(cr.layers.Activation "halved"(cr.tensor { 2 }), { 1 })
end
check.fails(function() cr.layers.Activation "halved" end,
  "unknown activation 'halved': it is no longer registered")
assert(utils.get_registered_object "halved" == nil and utils.get_registered_name(dense) == "Dense")

-- a scope around a function ends with the function, also by an error; then names mean what they
-- meant before
local function activation_of_2(name) return cr.layers.Activation(name)(cr.tensor { 2 }):item() end
local registered_objects = cr.saving.get_custom_objects()
registered_objects.scaled = function(v) return v * 3 end
check.same(activation_of_2 "scaled", 6.0)
local scope_result, second_result = cr.saving.custom_object_scope({ scaled = function(v)
  return v * 7
end }, function() return activation_of_2 "scaled", "second" end)
check.same({ scope_result, second_result }, { 14.0, "second" })
check.same(activation_of_2 "scaled", 6.0)
check.fails(function()
  cr.utils.CustomObjectScope({ scaled = function(v) return v end }, function() error "in it" end)
end, "in it")
check.same(activation_of_2 "scaled", 6.0)
local listed_names = {}
for name in pairs(registered_objects) do listed_names[name] = true end
assert(listed_names.scaled and listed_names.thrice and cr.show(registered_objects):find "scaled")
registered_objects.scaled = nil
check.fails(function() activation_of_2 "scaled" end, "unknown activation 'scaled'")
assert(registered_objects.scaled == nil)
check.fails(function() registered_objects.scaled = 5 end,
  "get_custom_objects: expected a class or a function for 'scaled', got 5")
check.fails(function() cr.saving.custom_object_scope { scaled = 5 } end,
  "custom_object_scope: expected a class or a function for 'scaled', got 5")
local scope = cr.saving.custom_object_scope { b_two = print, a_two = print }
check.same(cr.show(scope), "<scope of a_two, b_two>")
check.fails(function() cr.saving.custom_object_scope({}, 5) end, "'f': expected a function, got 5")

-- within a scope, files and configurations use the class that the scope gives for a class name
do
  local Doubling, Tenfold = cr.Layer:subclass "Doubling", cr.Layer:subclass "Tenfold"
  function Doubling:call(v) return v * 2 end
  function Tenfold:call(v) return v * 10 end
  local model = cr.Sequential { cr.Input { shape = { 1 } }, Doubling() }
  local path = check.temporary ".keras"
  model:save(path)
  local tenfold_layers = cr.saving.custom_object_scope({ Doubling = Tenfold }, function()
    return { cr.models.load_model(path), cr.models.model_from_json(model:to_json()),
      cr.models.from_config(model:get_config()),
      cr.saving.deserialize_keras_object(cr.saving.serialize_keras_object(Doubling())) }
  end)
  for _, layer in ipairs(tenfold_layers) do check.near(layer(cr.ones { 1, 1 }), { { 10 } }) end
  check.near(cr.models.load_model(path)(cr.ones { 1, 1 }), { { 2 } })
  os.remove(path)
end
local policy = cr.dtype_policies.DTypePolicy "mixed_bfloat16"
assert(policy.compute_dtype == "bfloat16" and policy.variable_dtype == "float32")
assert(cr.layers.Dense(2, { dtype = policy }).compute_dtype == "bfloat16")
assert(cr.dtype_policies.get(cr.dtype_policies.serialize(policy)).name == "mixed_bfloat16")
check.fails(function() cr.dtype_policies.get "mixed_int32" end, "mixed_int32")
assert(policy == cr.dtype_policies.get "mixed_bfloat16"
  and policy ~= cr.dtype_policies.get "bfloat16")
check.same(policy:get_config(), { name = "mixed_bfloat16" })
check.same(tostring(policy), '<DTypePolicy "mixed_bfloat16">')
check.fails(function() cr.dtype_policies.QuantizedDTypePolicy("int8", "mixed_float16") end,
  "doesn't work well with compute_dtype='float16'")

-- random distributions: mean and variance within five standard errors
local n = 20000
local function check_moments(t, mean, variance)
  local sample_mean, sample_variance = ops.mean(t):item(), ops.var(t):item()
  assert(math.abs(sample_mean - mean) < 5 * math.sqrt(variance / n),
    string.format("mean %g, want %g", sample_mean, mean))
  assert(math.abs(sample_variance - variance) < 0.1 * variance,
    string.format("variance %g, want %g", sample_variance, variance))
end
for _, alpha in ipairs { 0.3, 1, 4.5 } do
  check_moments(cr.random.gamma({ n }, alpha, { seed = 1 }), alpha, alpha)
end
check_moments(cr.random.beta({ n }, 2, 3, { seed = 2 }), 0.4, 0.04)
check_moments(cr.random.binomial({ n }, 12, 0.25, { seed = 3 }), 3, 2.25)
check.same(cr.random.binomial({ 2, 2 }, cr.tensor { 0, 5 }, cr.tensor { 1, 1 }):totable(),
  { { 0, 5 }, { 0, 5 } })
local classes = cr.random.categorical(ops.log(cr.tensor { { 0.1, 0.2, 0.7 } }), n, { seed = 4 })
check.same(classes.shape, { 1, n })
assert(classes.dtype == "int32")
for class, share in ipairs { 0.1, 0.2, 0.7 } do
  local sample_mean = ops.mean(ops.equal(classes, class - 1)):item()
  assert(math.abs(sample_mean - share) < 5 * math.sqrt(share * (1 - share) / n), sample_mean)
end
local dropout_values = cr.random.dropout(cr.ones { n }, 0.25, { seed = 5 })
check_moments(dropout_values, 1, 1 / 3)
local row_dropout = cr.random.dropout(cr.ones { 50, 4 }, 0.5, { noise_shape = { 50, 1 }, seed = 6 })
check.near(ops.max(row_dropout, 1), ops.min(row_dropout, 1))
check.near(cr.random.gamma({ 3 }, 2, { seed = 7 }), cr.random.gamma({ 3 }, 2, { seed = 7 }))
check.same(cr.random.gamma({ 2 }, cr.tensor { 1, 2 }, "float64").dtype, "float64")
check.fails(function() cr.random.dropout(x, 1.5) end, "rate")
check.same(cr.random.dropout(cr.ones { 2 }, 1):totable(), { 0, 0 })
check_moments(cr.random.beta({ n }, 0.01, 0.01, { seed = 8 }), 0.5, 0.25 / 1.02)
check.fails(function() cr.random.gamma({ 2 }, -1) end, "gamma: alpha must be above 0, got -1")
check.fails(function() cr.random.beta({ 2 }, 1, 0) end, "beta: beta must be above 0, got 0")
check.fails(function() cr.random.binomial({ 2 }, 3, 1.5) end, "from 0 to 1, got 1.5")
check.fails(function() cr.random.categorical(y, 3) end, "(batch, classes)")
check.same(ops.sort(cr.random.shuffle(cr.tensor { { 3, 1, 2 } }, { axis = 1, seed = 1 })):totable(),
  { { 1, 2, 3 } })
assert(cr.random.randint({ 3 }, 0, 9, { dtype = "int8" }).dtype == "int8")
check.fails(function()
  cr.random.randint({ 3 }, 0, 9, { dtype = "float16" })
end, "a dtype of integers, got float16")
