-- Faults of plugins become Lua errors, in the program and in a stock interpreter, and the session
-- continues.
local cr = require "crescent"
local script_folder = arg[0]:match "^(.*)/[^/]*$"
package.path = script_folder .. "/../shell/support/?.lua;" .. package.path
local check = require "check"

-- The libraries are copied to a new folder, because folders that other users may write to are not
-- trusted.
local folder = os.tmpname()
os.remove(folder)
assert(os.execute(string.format("mkdir -m 700 '%s' && cp '%s'/*.so '%s'", folder,
  os.getenv "TEST_PLUGINS", folder)))
local function load(name) return cr.plugins.load(folder .. "/" .. name .. ".so") end

check.fails(function()
  load "exits_at_start"
end, "ends the process while it is loaded, with exit status 3")
check.fails(function() load "crashes_in_setup" end, "while it is loaded")
check.fails(function() load "throws_int" end, "an exception of type int")
load "throwing"

local x, y = cr.ones { 4, 2 }, cr.ones { 4, 1 }
for what, text in pairs { std = "std::out_of_range: the shelf has 3 places",
  int = "an exception of type int" } do
  check.fails(function()
    cr.layers.InCall { what = what, name = "e" }(x)
  end, "Layer e (InCall): " .. text .. " (in InCall of plugin 'throwing'")
  check.fails(function() cr.layers.InConfigured { what = what } end, text)
  local model = cr.Sequential { cr.layers.Dense(1) }
  model:compile { optimizer = "sgd", loss = cr.losses.InLoss { what = what } }
  check.fails(function()
    model:fit(x, y, { verbose = 0 })
  end, text .. " (in InLoss of plugin 'throwing'")
  model:compile { optimizer = "sgd", loss = "mse" }
  check.fails(function()
    model:fit(x, y, { verbose = 0, callbacks = { cr.callbacks.InCallback { what = what } } })
  end, text)
  check.fails(function() cr.activations.InActivation { what = what }(x) end, text)
  model:fit(x, y, { verbose = 0 })
end

-- If a layer calls itself without end, or an object of a plugin gives an invalid value, the error
-- says where.
load "careless"
check.fails(function()
  cr.layers.CallsItself { name = "e" }(x)
end, "Layer e (CallsItself): calls of layers are 1000 deep: does a layer call itself?")
check.fails(function()
  cr.layers.Dense(2, { name = "e", kernel_initializer = "ScalarStart" })(x)
end, "Layer e (Dense): weight 'kernel': initializer ScalarStart of plugin 'careless' gave a tensor "
  .. "of shape (), expected shape (2, 2)")
local model = cr.Sequential { cr.layers.Dense(1) }
model:compile { optimizer = "sgd", loss = "mse", metrics = { cr.metrics.NoResult() } }
check.fails(function()
  model:fit(x, y, { verbose = 0 })
end, "metric NoResult of plugin 'careless': result() of 'no_result' gave no tensor")
local limited = cr.Sequential { cr.layers.Dense(1, { kernel_constraint = "ScalarLimit" }) }
limited:compile { optimizer = "sgd", loss = "mse" }
check.fails(function()
  limited:fit(x, y, { verbose = 0 })
end, "constraint ScalarLimit of plugin 'careless' gave a tensor of shape () for variable 'dense")
model:compile { optimizer = cr.optimizers.AssignsNothing(), loss = "mse" }
check.fails(function() model:fit(x, y, { verbose = 0 }) end, "/kernel' cannot be assigned")
model:compile { optimizer = "sgd", loss = "mse" }
model:fit(x, y, { verbose = 0 })

-- A Lua layer that calls itself: the error names it only once, however deep the recursion is.
local Endless = cr.Layer:subclass "Endless"
function Endless:call(inputs) return self(inputs) end
local ok, message = pcall(function() return Endless { name = "e" }(x) end)
assert(not ok and #message < 500 and message:find "Layer e %(Endless%)", message)

-- If Lua code inside a layer raises an error, its value is kept; the layer's name is added if the
-- value is a message.
local Raises = cr.Layer:subclass "Raises"
local raised_value
function Raises:call() error(raised_value, 0) end
raised_value = { code = 7 }
local ok, caught_error = pcall(function() Raises { name = "e" }(x) end)
assert(not ok and caught_error == raised_value)
raised_value = "seven"
check.fails(function() Raises { name = "e" }(x) end, "Layer e (Raises): seven")

os.execute(string.format("rm -r '%s'", folder))
print "ok plugins"
