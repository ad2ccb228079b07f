-- Every function and method is called with every kind of invalid argument; it may fail but not
-- crash (the fault [L03] in tests/faults/README.md).
local cr = require "crescent"
local small_layer = cr.layers.Dense(2, { input_shape = { 3 } })
local model = cr.Sequential { small_layer }
model:compile { optimizer = "sgd", loss = "mse" }
local JunkLayer = cr.Layer:subclass "JunkLayer"
function JunkLayer:init() end
function JunkLayer:call(x) return x end
local symbol = cr.Input { shape = { 3 } }
local tape = cr.GradientTape(function() end)
local cyclic_table = {}
cyclic_table[1], cyclic_table.x = cyclic_table, cyclic_table
local deep_table = {}
for _ = 1, 200 do deep_table = { deep_table } end

local invalid_values = {
  false, true, 0, -1, 3, 2.5, 1 / 0, 0 / 0, math.maxinteger, "", "x", "relu", {}, { 1, 2 }, { -1 },
  { a = 1 }, { { 1 }, { 2, 3 } },
  { axis = 99 }, { shape = "x" }, cyclic_table, deep_table, function() end, function()
    error "junk"
  end, function(x) return x end, print,
  coroutine.create(function() end), io.stdout, cr, cr.layers, cr.Layer, JunkLayer, JunkLayer(),
  small_layer, model,
  symbol, tape, cr.null,
  cr.ones { 2, 3 }, cr.zeros { 0 }, cr.tensor(1), cr.tensor { true }, cr.tensor({ 1, 2 }, "int32"),
  cr.Variable(cr.ones { 2 }),
  cr.InputSpec { ndim = 2 }, cr.layers.Dense, cr.optimizers.SGD(), cr.losses.MeanSquaredError(),
  cr.random.SeedGenerator(1),
  small_layer.weights, model.layers, { cr.ones { 2 }, "x" }, { [0] = 1, [-5] = 2 }, { [1.5] = 1 },
  ("x"):rep(5000),
}
local seed = 12345
local function random(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return seed // 65536 % n + 1
end
local function pick_junk()
  local i = random(#invalid_values + 3)
  return invalid_values[i]
end

-- Functions that exit, wait, write files, or change settings for the rest of the run; they are
-- not called.
local skipped_names = { sleep = true, help = true, summary = true, profile = true, validate = true,
  load = true, save = true, save_weights = true, save_model = true, write_npy = true,
  write_hdf5 = true, set_threads = true, set_device = true, enable_op_determinism = true,
  set_dtype_policy = true, set_floatx = true, register = true }
local functions = {}
local function gather_functions(table_, name, depth)
  for key, value in pairs(table_) do
    if type(value) == "function" and not skipped_names[key] then
      functions[#functions + 1] = { name .. "." .. tostring(key), value }
    elseif type(value) == "table" and depth < 2 and value ~= cr and getmetatable(value) == nil then
      gather_functions(value, name .. "." .. tostring(key), depth + 1)
    end
  end
end
gather_functions(cr, "cr", 0)
for _, kind in ipairs { "layers", "optimizers", "losses", "metrics", "initializers", "regularizers",
  "constraints", "activations" } do
  for name, class in pairs(cr[kind]) do
    functions[#functions + 1] = { kind .. "." .. name, class }
  end
end
local subjects = { cr.ones { 2, 3 }, cr.Variable(cr.ones { 2 }), small_layer, model, JunkLayer(),
  symbol, tape,
  cr.optimizers.SGD(), cr.InputSpec {},
  cr.losses.MeanSquaredError(), cr.metrics.Mean(), symbol.node, cr.random.SeedGenerator(2),
  cr.layers.Dense, cr.Layer, JunkLayer }
for _, subject in ipairs(subjects) do
  local description = cr.describe(subject)
  for _, name in ipairs(description and description.methods or {}) do
    if not skipped_names[name] and name ~= "fit" then
      functions[#functions + 1] = { "method " .. name, function(...)
        return subject[name](subject, ...)
      end }
      functions[#functions + 1] = { "function " .. name, subject[name] }
    end
  end
  for _, name in ipairs(description and description.properties or {}) do
    functions[#functions + 1] = { "get " .. name, function() return subject[name] end }
    functions[#functions + 1] = { "set " .. name, function(value) subject[name] = value end }
  end
  functions[#functions + 1] = { "call", function(...) return subject(...) end }
  functions[#functions + 1] = { "index", function(key) return subject[key] end }
  functions[#functions + 1] = { "newindex", function(key, value) subject[key] = value end }
  functions[#functions + 1] = { "operators", function(other_value)
    return subject + other_value, other_value * subject, subject == other_value, #subject
  end }
end
local prints_calls = os.getenv "JUNK_TRACE"
local call_count, error_count = 0, 0
for round = 1, tonumber(arg[1]) or 12 do
  for _, entry in ipairs(functions) do
    local argument_count = random(4) - 1
    local a, b, c = pick_junk(), pick_junk(), pick_junk()
    if prints_calls then
      io.stderr:write(round, " ", entry[1], " ", argument_count, " ", tostring(a):sub(1, 60), " | ",
        tostring(b):sub(1, 60), " | ", tostring(c):sub(1, 60), "\n")
    end
    local ok, message
    if argument_count == 0 then ok, message = pcall(entry[2])
    elseif argument_count == 1 then ok, message = pcall(entry[2], a)
    elseif argument_count == 2 then ok, message = pcall(entry[2], a, b)
    else ok, message = pcall(entry[2], a, b, c) end
    call_count = call_count + 1
    if not ok then
      error_count = error_count + 1
      assert(message ~= nil and tostring(message) ~= "")
    else
      pcall(tostring, message)
      pcall(cr.show, message)
    end
  end
end
assert(call_count > error_count and error_count > 100)
collectgarbage()
print "ok junk"

do -- a table that contains itself is refused at once by add_loss, which searches it for symbols
  local start_time = os.clock()
  local layer = cr.layers.Dense(1)
  assert(not pcall(layer.add_loss, layer, cyclic_table))
  assert(not pcall(layer.add_loss, layer, 1.0, cyclic_table))
  assert(os.clock() - start_time < 5)
end
