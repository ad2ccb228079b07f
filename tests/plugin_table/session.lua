-- Plugins that provide a C table: their layers and ops behave like others, plugins built against
-- earlier or later headers load, and faulty ones give errors that explain the fault.
local cr = require "crescent"
local script_folder = arg[0]:match "^(.*)/[^/]*$"
package.path = script_folder .. "/../shell/support/?.lua;" .. package.path
local check = require "check"

-- The libraries are copied to a new folder, because folders that other users may write to are not
-- trusted.
local folder = os.tmpname()
os.remove(folder)
assert(os.execute(string.format("mkdir -m 700 '%s' && cp '%s'/*.so '%s'", folder,
  os.getenv "TEST_TABLES", folder)))
local function load(name) return cr.plugins.load(folder .. "/" .. name .. ".so") end
local function largest_magnitude(x) return cr.ops.max(cr.ops.abs(x)):item() end

-- A layer with options, weights, an added loss and a weight that a training step changes.
load "scale"
local x = cr.random.normal { 256, 3 }
local y = x * cr.tensor { 2, -1, 0.5 }
local model = cr.Sequential {
  cr.layers.TableScale { times = 2, name = "scale", input_shape = { 3 } },
}
model:compile { optimizer = cr.optimizers.SGD { learning_rate = 0.1 }, loss = "mse" }
local history = model:fit(x, y, { epochs = 30, verbose = 0 })
assert(history.history.loss[30] < 1e-6)
local weights = model:get_weights()
assert(largest_magnitude(weights[1] * 2 - cr.tensor { 2, -1, 0.5 }) < 1e-3)
assert(weights[2]:item() == 240, "240 steps, counted " .. weights[2]:item())
local path = folder .. "/model.keras"
model:save(path)
local loaded_model = cr.models.load_model(path)
assert(loaded_model.layers[1]:get_config().times == 2.0)
assert(largest_magnitude(loaded_model:predict(x) - model:predict(x)) == 0)
local penalized_model = cr.Sequential { cr.layers.TableScale { penalty = 5, input_shape = { 3 } } }
penalized_model:compile { loss = "mse" }
assert(math.abs(penalized_model:evaluate(x, x, { verbose = 0 }) - 5) < 1e-6)

check.fails(function() cr.layers.TableScale { times = 0 } end, "times = 0 learns nothing")
check.fails(function() cr.layers.TableScale { tims = 1 } end, "did you mean 'times'")
check.fails(function() cr.layers.TableScale { times = "two" } end, "times")

cr.check.layer(cr.layers.TableScale, { times = 2 }, { 3 })

assert(largest_magnitude(cr.layers.TableSum() { x, y } - (x + y)) == 0)
check.fails(function() cr.layers.TableSum()(x) end, "2 inputs")
cr.check.layer(cr.layers.TableMasked, {}, { 3 })
local embedded_input = cr.layers.Embedding(5, 2, { mask_zero = true })(cr.tensor { { 1, 0 } })
assert(cr.layers.TableMasked()(embedded_input).mask, "the mask goes on")

-- An op: eager, in a graph and under a tape.
local function tanh(v) return (math.exp(2 * v) - 1) / (math.exp(2 * v) + 1) end
local capped_values = cr.ops.table_softcap(cr.tensor { -9, 0, 0.5 }, { limit = 2 }):totable()
for i, v in ipairs { -9, 0, 0.5 } do assert(math.abs(capped_values[i] - 2 * tanh(v / 2)) < 1e-6) end
local input = cr.Input { shape = { 3 } }
local graph_model = cr.Model(input, cr.ops.table_softcap(cr.layers.Dense(1)(input), 5.0))
graph_model:compile { optimizer = cr.optimizers.Adam { learning_rate = 0.05 }, loss = "mse" }
local target = cr.ops.tanh(cr.ops.sum(x, -1, true))
local losses = graph_model:fit(x, target, { epochs = 20, verbose = 0 }).history.loss
assert(losses[20] < losses[1] / 2)
graph_model:save(path)
local loaded_graph_model = cr.models.load_model(path)
assert(largest_magnitude(loaded_graph_model:predict(x) - graph_model:predict(x)) == 0)
cr.check.gradient(function(v) return cr.ops.table_softcap(v, 2) end, { cr.random.normal { 3 } })
check.fails(function() cr.ops.table_softcap(x, -1) end, "limit must be positive")
check.fails(function() cr.ops.table_softcap(cr.ops.cast(x, "int32")) end, "x must be float32")
check.fails(function() cr.ops.table_softcap() end, "x")

-- plugins built against other versions of the header
load "older"
load "later"
for _, name in ipairs { "TableOlder", "TableLater" } do
  assert(largest_magnitude(cr.layers[name]()(x) - x) == 0)
end

-- A plugin written with the C++ wrapper.
load "wrapped"
assert(largest_magnitude(cr.layers.TablePower { squares = 2 }(x) - x * x * x * x) < 1e-4)
cr.check.layer(cr.layers.TablePower, { squares = 1 }, { 3 })
check.fails(function() cr.layers.TablePower { squares = -1 } end, "squares must not be negative")

-- Faulty plugins give errors that explain the fault.
check.fails(function() load "wrong_version" end, "its table has version 2")
check.fails(function() load "no_table" end, "its table is not one")
check.fails(function() load "start_fails" end, "the licence server is asleep")
check.fails(function() cr.layers.TableAsleep() end, "TableAsleep")
load "careless"
for name, message in pairs {
  null_op = "'ops[0]' is NULL",
  no_layers = "'layers' is NULL",
  null_option = "'options[0]' is NULL",
  taken_option = "layer 'TableTakenOption' has an option 'trainable' already",
  no_name = "'layer->name' is empty",
  bad_name = "'layer->name' is 'bad name!', expected letters, digits, _, . and >",
  bad_default = "option 'factor': default_value: JSON, line 1, column",
} do
  check.fails(function() load(name) end, message)
end
check.fails(function() cr.layers.TableLate()(x) end, "weights are added within build")
check.fails(function() cr.ops.table_unknown(x) end, "shape (None, 3) for inputs of known shapes")
check.fails(function() cr.ops.table_strings(x) end, "gave strings")
check.fails(function() cr.ops.table_nothing(x) end, "gave no results")
check.fails(function() cr.ops.table_idle(x) end, "gave 16 results, and left result 0 unset")
check.fails(function() cr.layers.TableNull()(x) end, "NULL for a tensor")
check.fails(function() cr.layers.TableMany()(x) end, "1000 tensors, with room for 16")
check.fails(function() cr.layers.TableNoWeight()(x) end, "the layer has 0 weights")
check.fails(function()
  local layer = cr.layers.TableKept()
  layer(x)
  layer(x)
end, "freed")

os.execute("rm -r '" .. folder .. "'")
print "ok tables"
