-- Functions and classes of the user's are not in files: saving says so, loading names them and how
-- to bring them.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local layers = cr.layers
local x, y = cr.ones { 4, 2 }, cr.ones { 4, 1 }
local path = check.temporary ".h5"

local function wrote(code, ...)
  local ok, text =
    check.run(string.format("local path = %q\nlocal x, y = cr.ones { 4, 2 }, cr.ones { 4, 1 }\n%s",
    path, code))
  assert(ok, text)
  for _, part in ipairs { ... } do
    assert(text:find(part, 1, true), "expected '" .. part .. "' in:\n" .. text)
  end
  return text
end

-- an activation
local with_activation = [[
  function triple(t) return t * 3 end
  local m = cr.Sequential {
    cr.layers.Dense(1, { activation = triple, input_shape = { 2 }, kernel_initializer = "ones" }),
  }
  m:save(path)
  m:save(path)]]
local text = wrote(with_activation, "'triple' is code", "custom_objects = {triple = triple}")
assert(select(2, text:gsub("is code", "")) == 1, "told once: " .. text)
check.fails(function()
  cr.models.load_model(path)
end, path, "Dense", "'activation'", "unknown activation 'triple'",
  "custom_objects = {triple = triple}")
local model = cr.models.load_model(path, { custom_objects = { triple = function(t)
  return t * 3
end } })
check.near(model:predict(x), { { 6 }, { 6 }, { 6 }, { 6 } })

-- a function that has the name of one of ours is not that one
wrote([[
  function relu(t) return t * 5 end
  cr.Sequential { cr.layers.Dense(1, { activation = relu, input_shape = { 2 } }) }:save(path)]],
  "'function' is code")
check.fails(function() cr.models.load_model(path) end, "unknown activation 'function'")

-- a loss and a metric
wrote([[
  function gap(t, p) return (t - p):abs():mean(-1) end
  local m = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
  m:compile { optimizer = "sgd", loss = gap, metrics = { gap } }
  m:fit(x, y, { verbose = 0 })
  m:save(path)]], "'gap' is code")
local file = assert(io.open(path, "rb"))
local written = file:read "a"
file:close()
assert(written:find('"loss": {"class_name": "gap"', 1, true), "Keras asks for it by its name")
assert(not written:find('"class_name": "function"', 1, true))
text = wrote([[
  local m = cr.models.load_model(path)
  assert(not m.compiled)]], "the model was not compiled", "gap", "custom_objects = {gap = gap}")
model = cr.models.load_model(path, { custom_objects = { gap = function(t, p)
  return (t - p):abs():mean(-1)
end } })
assert(model.compiled)
model:fit(x, y, { verbose = 0 })

-- a class
local class = [[
  local Twice = cr.Layer:subclass "TwiceInFile"
  function Twice:call(t) return t * 2 end
]]
wrote(class .. [[cr.Sequential { cr.Input { shape = { 2 } }, Twice() }:save(path)]],
  "'TwiceInFile' is code")
check.fails(function()
  cr.models.load_model(path)
end, "TwiceInFile", "a class from Lua", "define it before loading",
  "custom_objects = {TwiceInFile = TwiceInFile}")
wrote(class .. [[assert(cr.models.load_model(path):predict(x):sum():item() == 16)]])
local Other = cr.Layer:subclass "OtherInFile"
function Other:call(t) return t * 2 end
check.near(cr.models.load_model(path, { custom_objects = { TwiceInFile = Other } }):predict(x),
  { { 2, 2 }, { 2, 2 }, { 2, 2 }, { 2, 2 } })

-- what is ours needs no word
local with_ours = [[
  cr.Sequential { cr.layers.Dense(1, { activation = "relu", input_shape = { 2 } }) }:save(path)]]
assert(wrote(with_ours) == "")
os.remove(path)
print "ok code_in_files"
