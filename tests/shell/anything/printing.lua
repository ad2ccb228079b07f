-- How values are printed at the prompt: cr.show, cr.print, cr.config.print, and tostring of
-- objects.
local cr = require "crescent"
local check = dofile(arg[0]:match "^(.*)/[^/]*/" .. "/support/check.lua")

local function check_shown(value, text) check.same(cr.show(value), text, "shown") end

-- Strings are quoted inside of tables; long ones are shortened.
check_shown({ "a", b = "c\n" }, [[{ "a", b = "c\n" }]])
check_shown("plain", "plain")
check_shown({ ("x"):rep(500) }, '{ "' .. ("x"):rep(70) .. '"... (500 bytes) }')

-- Lists of numbers are printed on one line and shortened.
local numbers = {}
for i = 1, 60 do numbers[i] = i * 100 end
local shown_text = cr.show(numbers)
assert(select(2, shown_text:gsub("\n", "")) <= 6, shown_text)
for line in shown_text:gmatch "[^\n]+" do assert(#line <= 100, line) end
for i = 61, 10000 do numbers[i] = i end
shown_text = cr.show(numbers)
assert(shown_text:find "... 9900 more\n}$" and not shown_text:find "101", shown_text)
check_shown({ 0.1 + 0.2, 1 / 3, 1e-9 / 3, 2.0, -0.5, 1 / 0 },
  "{ 0.3, 0.33333333, 3.3333333e-10, 2.0, -0.5, inf }")

-- Tensors are aligned in tables and shortened there; a tensor that is not in a table is followed
-- by dtype and shape.
check_shown({ a = cr.tensor { { 1, 20 }, { 300, 4 } } },
  "{\n  a = [[  1.  20.]\n       [300.   4.]]\n}")
check_shown({ cr.zeros { 2, 64, 64, 3 }, cr.zeros({ 100 }, "int32") },
  "{ <float32(2, 64, 64, 3)>, <int32(100)> }")
check_shown(cr.tensor { { 1, 2 } }, "[[1. 2.]]\n<float32(1, 2)>")
check_shown(cr.tensor { { "a", "日本語" }, { "日本語", "b" }, { "é", "e\u{301}" } },
  '[[     "a" "日本語"]\n ["日本語"      "b"]\n [     "é"      "e\u{301}"]]\n<string(3, 2)>')

-- Functions of the module show as much of their signature as fits. In a table, fields whose text
-- has several lines come last.
check_shown(cr.ops.clip, "<clip(x, x_min, x_max)>")
check_shown({ f = cr.ops.clip }, "{ f = <clip(x, x_min, x_max)> }")
check_shown(cr.tree.flatten, "<function(structure)>")
assert(cr.show(cr.Input):find "^<Input%(shape=nil, .*, %.%.%.%)>$" and #cr.show(cr.Input) < 80)
cr.config.print { width = 20 }
check_shown(cr.config.is_interactive_logging_enabled, "<is_interactive_logging_enabled(...)>")
cr.config.print {}
assert(cr.show(print):find "^function" and cr.show(function() end):find "^function")
do
  local shown_description = cr.show(cr.describe(cr.tensor { 1, 2 }))
  assert(shown_description:find("mean = 1.5", 1, true)
    and shown_description:find('what = "tensor"', 1, true))
  assert(select(2, shown_description:gsub("\n", "")) < 16
    and not shown_description:find "argpartition", shown_description)
  assert(#cr.describe(cr.tensor { 1, 2 }).methods > 100)
  check_shown({ what = "x", methods = { 1 } }, '{ methods = { 1 }, what = "x" }')
end

-- NaN is printed without a sign, whatever its sign bit is
do
  local roots = cr.ops.sqrt(cr.tensor { -1.0, 1.0 })
  local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  local history = model:fit(cr.ones { 4, 2 } * roots, cr.ones { 4, 1 }, { verbose = 0 })
  local values_with_nan = {
    roots[1], roots:totable()[1], roots[{ 1 }], cr.show(0 / 0), cr.show { 0 / 0, -(0 / 0) },
    cr.ops.cast(roots, "complex64"), history, history.history.loss[1],
    model:evaluate(cr.ones { 4, 2 } * roots, cr.ones { 4, 1 }, { verbose = 0 }),
  }
  for _, value in ipairs(values_with_nan) do
    local text = tostring(value)
    assert(text:find "nan" and not text:find "-nan", text)
  end
  local path = check.temporary ".csv"
  cr.data.write_csv(path, { a = roots, b = cr.ops.cast(roots, "float64") })
  check.same(io.open(path):read "a", "a,b\nnan,nan\n1,1\n")
  os.remove(path)
  path = check.temporary ".txt"
  cr.heatmap(cr.ops.reshape(roots, { 1, 2 }), { file = path })
  local heatmap_text = io.open(path):read "a"
  assert(heatmap_text:find "nan" and not heatmap_text:find "-nan", heatmap_text)
  os.remove(path)
end

-- The settings of cr.config.print apply to tensors and tables.
cr.config.print { precision = 3, threshold = 5, width = 20 }
check_shown({ 1 / 3 }, "{ 0.333 }")
check.same(tostring(cr.tensor { 1 / 3, 1 }), "[0.333 1.   ]")
check.same(tostring(cr.arange(7)), "[0 1 2 ... 4 5 6]")
check.same(tostring(cr.tensor { 1111, 2222, 3333, 4444 }), "[1111. 2222. 3333.\n 4444.]")
assert(cr.show { 1, 2, 3, 4, 5, 6, 7 }:find "2 more", "abbreviated")
check.fails(function() cr.config.print { precision = -1 } end,
  "precision must be an integer from 0 to 17, got -1")
check.fails(function() cr.config.print { precision = 18 } end, "from 0 to 17, got 18")
check.fails(function() cr.config.print { threshold = -1 } end, "threshold must be an integer not")
check.fails(function() cr.config.print { width = 0 } end, "width must be an integer not below 1")
check.fails(function() cr.config.print { pager = 5 } end, "pager must be true or false, got 5")
check.fails(function() cr.config.print { time = -1 } end, "time must be a number not below 0, got")
check.fails(function() cr.config.print { time = "x" } end, "time must be a number not below 0, got")
cr.config.print {}
check_shown({ 1 / 3 }, "{ 0.33333333 }")
check.same(tostring(cr.arange(7)), "[0 1 2 3 4 5 6]")

-- tostring describes an object in one line.
local function check_tostring(value, text) check.same(tostring(value), text) end
check_tostring(cr.optimizers.Adam(0.01), "<Adam learning_rate=0.01>")
check_tostring(cr.metrics.MeanSquaredError { name = "error" }, "<MeanSquaredError name=error>")
check_tostring(cr.losses.Huber { delta = 2 }, "<Huber delta=2.0>")
check_tostring(cr.callbacks.EarlyStopping { monitor = "loss", patience = 3 },
  "<EarlyStopping monitor=loss patience=3>")
local model = cr.Sequential({ cr.layers.Dense(2, { input_shape = { 3 }, name = "d" }) },
  { name = "m" })
check_tostring(model, "<Sequential name=m, 1 layer, 8 parameters>")
check_tostring(model.layers[1], "<Dense name=d>")
check_tostring(cr.Sequential({}, { name = "e" }), "<Sequential name=e, 0 layers, not built>")
check_tostring(cr.data.dataset(cr.zeros { 100, 3 }), 
  "<Dataset of float32(None, 3), 4 batches, 100 samples>")
check_tostring(cr.data.from_tensor_slices(cr.zeros { 100, 3 }):take(7),
  "<Dataset of float32(3,), 7 elements>")
check_tostring(cr.utils.FeatureSpace { features = { age = "float" } },
  "<FeatureSpace: 1 features, 0 crosses, output_mode=concat, not adapted>")

-- cr.null is shown as "null", in tables and alone.
check.same(tostring(cr.null), "null")
check.same(cr.show { cr.null, a = cr.null }, "{ null, a = null }")

-- A result that its command has already printed is not shown again.
local report = model:profile(cr.zeros { 4, 3 }, { print_fn = function() end })
assert(cr.show(report):find "^<profile of %d+ instructions>$" and #report.rows > 0, cr.show(report))
report = model:validate(cr.zeros { 4, 3 }, { print_fn = function() end })
check_tostring(report, "<validation: ok, 0 findings>")

-- at the prompt, print shows the contents of tables
local ok, text = check.run "cr.print({ 1, 'a' }, 'b', nil, cr.tensor { 1 })"
assert(ok and text == '{ 1, "a" }\tb\tnil\t[1.]\n', text)

-- in scripts that the program runs, print shows tables too; stock Lua keeps its own print
local is_program = rawget(_G, "cr") ~= nil
ok, text = check.run "print({ 1, 'a' }, 'b', nil, cr.zeros({ 2, 3 }).shape)"
assert(ok and (text == '{ 1, "a" }\tb\tnil\t{ 2, 3 }\n') == is_program, text)
