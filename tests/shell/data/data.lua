-- Data files, gradients, compiled functions, plugins, and settings.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"

-- tables and arrays are written to files and read again
local path = check.temporary ".csv"
local file = assert(io.open(path, "w"))
file:write "length,kind\n1.5,red\n2.5,blue\n3.5,red\n"
file:close()
local values, columns_info = cr.data.read_csv(path)
check.near(values, { { 1.5, 0 }, { 2.5, 1 }, { 3.5, 0 } })
check.same(columns_info.columns, { "length", "kind" })
check.same(columns_info.classes[2], { "red", "blue" })
check.fails(function() cr.data.read_csv(path, { separator = "ab" }) end, "one character")
os.remove(path)
check.fails(function() cr.data.read_csv(path) end, path)
path = check.temporary ".npy"
cr.data.write_npy(path, cr.tensor { { 1, 2 }, { 3, 4 } })
check.near(cr.data.read_npy(path), { { 1, 2 }, { 3, 4 } })
os.remove(path)
check.fails(function() cr.data.read_idx "/nonexistent" end, "/nonexistent")
path = check.temporary ".h5"
cr.data.write_hdf5(path, { a = cr.tensor { 1, 2 }, b = cr.tensor({ { 3 } }, "int32") })
check.near(cr.data.read_hdf5(path, "a"), { 1, 2 })
assert(cr.data.read_hdf5(path, "b").dtype == "int32")
check.fails(function() cr.data.read_hdf5(path, "c") end, path, "c")
local inputs = cr.random.normal { 40, 3 }
cr.data.write_hdf5(path, { x = inputs, y = inputs:sum(-1, true) })
local file_inputs, file_targets = cr.data.open_hdf5(path, "x"), cr.data.open_hdf5(path, "y")
check.same(file_inputs.shape, { 40, 3 })
check.near(file_inputs:slice(2, 3):clone(), inputs:slice(2, 3):totable())
check.fails(function() return file_inputs + 1 end, path, "clone()")
assert(tostring(file_inputs):find(path, 1, true))
local function train_and_predict(x, y)
  cr.random.seed(1)
  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 3 } }) }
  model:compile { optimizer = "adam", loss = "mse" }
  model:fit(x, y, { batch_size = 8, epochs = 2, shuffle = "batch", validation_split = 0.25,
    verbose = 0 })
  return model:predict(x)
end
check.near(train_and_predict(file_inputs, file_targets), train_and_predict(inputs,
  inputs:sum(-1, true)):totable())
file_inputs, file_targets = nil, nil
os.remove(path)

-- the format of a file is recognized by its first bytes or its name
path = check.temporary ".csv"
file = assert(io.open(path, "w"))
file:write "a;b\n1;2\n"
file:close()
for _, read_file in ipairs { cr.data.open, cr.data.read } do
  local rows, columns = read_file(path, { separator = ";" })
  check.near(rows, { { 1, 2 } })
  check.same(columns.columns, { "a", "b" })
  check.near(read_file(path, ";"), { { 1, 2 } })
  check.near((read_file { path = path, separator = ";" }), { { 1, 2 } })
  check.fails(function()
    read_file(path, { seperator = ";" })
  end, "seperator", "did you mean 'separator'?")
end
os.remove(path)
path = check.temporary ".npy"
cr.data.write_npy(path, cr.tensor { 1, 2, 3 })
check.near(cr.data.open(path):slice(2, 3):clone(), { 2, 3 })
check.near(cr.data.read(path), { 1, 2, 3 })
check.fails(function() cr.data.open(path, "x") end, path, "holds one array")
check.fails(function() cr.models.load_model(path) end, path, "do not hold models", "hdf5")
os.remove(path)
path = check.temporary ".h5"
cr.data.write_hdf5(path, { a = cr.tensor { 1, 2 }, b = cr.tensor { 3 } })
check.near(cr.data.read(path, "b"), { 3 })
check.near(cr.data.open(path, { dataset = "a" }):clone(), { 1, 2 })
check.fails(function()
  cr.data.open(path, { dataste = "a" })
end, "dataste", "did you mean 'dataset'?")
os.remove(path)
check.fails(function() cr.data.open "/nonexistent.csv" end, "/nonexistent.csv")

-- gradients by a tape, and their use by an optimizer
local v, w = cr.Variable(cr.tensor { 2.0 }), cr.Variable(cr.tensor { 5.0 })
local y
local tape = cr.GradientTape(function() y = (v * v * 3):sum() end)
local g = tape:gradient(y, { v, w })
check.near(g[1], { 12 })
assert(g[2] == false and #g == 2)
check.near(tape:gradient(y, v), { 12 })
local x = cr.tensor { 1, 2 }
tape = cr.GradientTape(function() y = (x * x):sum() end, x)
check.near(tape:gradient(y, { x })[1], { 2, 4 })
tape = cr.GradientTape(function(t)
  t:watch(x)
  -- a slice has a gradient, while an element by position is a plain number
  y = x[1] * 0 + x:slice(2, 2):sum() * 5
end)
check.near(tape:gradient(y, { x })[1], { 0, 5 })
check.fails(function() cr.GradientTape(function() error "inside" end) end, "inside")
check.fails(function() cr.GradientTape(5) end, "function")
check.fails(function() tape:gradient(y, { v, x }) end, "both")
local optimizer = cr.optimizers.SGD(0.5)
optimizer:apply_gradients { { cr.tensor { 1.0 }, v } }
check.near(v, { 1.5 })
optimizer:apply_gradients({ cr.tensor { 1.0 } }, { v })
check.near(v, { 1.0 })

-- compiled functions: structures of arguments and results, tracing again, errors
local trace_count = 0
local f = cr.compiled(function(a, options, flag)
  trace_count = trace_count + 1
  if flag then return a * options[1], { a, a + 1 } end
  return nil
end)
local product, pair = f(cr.ones { 2 }, { cr.full({ 2 }, 3) }, true)
check.near(product, { 3, 3 })
check.near(pair[2], { 2, 2 })
for _ = 1, 5 do f(cr.ones { 2 }, { cr.ones { 2 } }, true) end
assert(trace_count == 1, "traced " .. trace_count .. " times")
assert(f(cr.ones { 2 }, { cr.ones { 2 } }, false) == nil and trace_count == 2)
f(cr.ones { 3 }, { cr.ones { 3 } }, true)
assert(trace_count == 3)
local sum_by_name = cr.compiled(function(data) return { sum = data.a + data.b,
  all = { data.a } } end)
check.same(sum_by_name { a = cr.ones { 2 }, b = cr.tensor { 2, 3 } }.sum:totable(), { 3, 4 })
local results = sum_by_name { b = cr.ones { 2 }, a = cr.zeros { 2 } }
check.near(results.all[1], { 0, 0 })
check.fails(function() f(print) end, "function")
check.fails(function()
  cr.compiled(function(a) return a:totable() end)(cr.ones { 2 })
end, "no values")
local counter = cr.Variable(cr.tensor(0), { trainable = false })
local add_step = cr.compiled(function(step) counter:assign_add(step) return counter.value end)
for _ = 1, 4 do add_step(cr.tensor(2)) end
check.near(counter, 8)
local states, outputs = cr.ops.scan(function(s, x)
  return { s[1] + x[1] }, { s[1] }
end, { cr.tensor(0) }, { cr.tensor { 1, 2, 3 } })
check.near(states[1], 6)
check.near(outputs[1], { 0, 1, 3 })

-- settings of cr.config, and the list of plugins
assert(cr.config.floatx() == "float32" and cr.config.dtype_policy() == "float32")
cr.config.set_dtype_policy "mixed_bfloat16"
assert(cr.layers.Dense(1).compute_dtype == "bfloat16")
cr.config.set_dtype_policy "float32"
check.fails(function() cr.config.set_dtype_policy "float31" end, "float31")
assert(cr.config.threads() >= 1)
cr.config.set_threads(1)
assert(cr.config.threads() == 1)
cr.config.enable_op_determinism()
assert(cr.config.is_op_determinism_enabled())
local plugin_by_name = {}
for _, plugin in ipairs(cr.plugins.list()) do plugin_by_name[plugin.name] = plugin end
assert(plugin_by_name.core and plugin_by_name.losses and plugin_by_name.core.classes)
assert(#cr.plugins.path() >= 1)
check.fails(function() cr.plugins.load "no.such.plugin" end, "no.such.plugin")
path = check.temporary ".lua"
file = assert(io.open(path, "w"))
file:write [[
local cr = require "crescent"
local Twice = cr.Layer:subclass "TwiceFromFile"
function Twice:call(x) return x * 2 end
return Twice]]
file:close()
local Twice = cr.plugins.load(path)
os.remove(path)
check.near(Twice()(cr.ones { 1 }), { 2 })
check.near(cr.layers.TwiceFromFile()(cr.ones { 1 }), { 2 })

-- listing classes by pairs, and the texts of help
local listed_classes = {}
for name, class in pairs(cr.activations) do listed_classes[name] = class end
assert(listed_classes.relu)
local function printed_text(f, ...)
  local original_print, lines = print, {}
  print = function(text) lines[#lines + 1] = tostring(text) end
  local ok, err = pcall(f, ...)
  print = original_print
  assert(ok, err)
  return table.concat(lines, "\n")
end
local function expect_parts(text, ...)
  for _, part in ipairs { ... } do
    assert(text:find(part, 1, true), part .. " is not in\n" .. text)
  end
end
expect_parts(printed_text(cr.help), "cr.Sequential")
expect_parts(printed_text(cr.help, cr.layers.Dense), "units", "required", "use_bias",
  "default true",
  "By name only")
expect_parts(printed_text(cr.help, cr.layers), "Conv2D")
expect_parts(printed_text(cr.help, cr.ops.sum), "sum(x, axis=nil, keepdims=false)")
expect_parts(printed_text(cr.help, cr.Sequential().fit), "validation_split", "epochs")
expect_parts(printed_text(cr.help, cr.layers.Dense(1)), "get_weights", "Methods")
expect_parts(printed_text(cr.help, cr), "layers")
expect_parts(printed_text(cr.help, nil), "nil")
expect_parts(printed_text(cr.help, 5), "number")
assert(cr.show { 1, "two", { three = 3 } } == '{ 1, "two", { three = 3 } }')
assert(cr.show { [1] = 1, ["a b"] = 2 } == '{ 1, ["a b"] = 2 }')
local cyclic_list = { 1 }
cyclic_list.self = cyclic_list
assert(cr.show(cyclic_list):find "above")
local function check_completions(line, ...)
  local list = cr.complete(line)
  local set = {}
  for _, name in ipairs(list) do set[name] = true end
  for _, name in ipairs { ... } do assert(set[name], name .. " does not complete " .. line) end
end
_G.cr = cr
check_completions("cr.lay", "layers")
check_completions("x = cr.layers.Conv2", "Conv2D", "Conv2DTranspose")
check_completions("cr.layers.Dense{un", "units")
check_completions("cr.layers.Dense(3, {activ", "activation", "activity_regularizer")
_G.a_model = cr.Sequential()
check_completions("a_model:su", "summary")
check_completions("a_model:fit(x, y, {ep", "epochs")
check_completions("a_model.lay", "layers")
check_completions("pri", "print")
check_completions("string.for", "format")
assert(#cr.complete "nothing.here" == 0)
print "ok data"
