-- cr.check: gradients of functions and checks of layers written in Lua.
local script_folder = arg[0]:match "^(.*)/[^/]*$"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local cr = require "crescent"
local check = require "check"

local x, y = cr.random.normal { 3, 4 }, cr.random.normal { 3, 4 }
local report = cr.check.gradient(function(a, b) return cr.ops.sin(a) * b end, { x, y })
assert(report.ok and #report.rows == 4 and tostring(report):find "by input 2")
assert(report.rows[3].outcome == "passed" and report.rows[3].name == "by input 1")

-- Gradients are checked in float64 where the function allows it, so that small errors are found.
local function slightly_wrong(a) return a * a + cr.ops.stop_gradient(a) * 1e-3 end
check.fails(function() cr.check.gradient(slightly_wrong, x) end, "the gradient is")
report = cr.check.gradient(slightly_wrong, x, { raise = false })
assert(not report.ok and tostring(report):find "1 failed")

local weight = cr.Variable(cr.ones { 4 })
report = cr.check.gradient(function(a) return a * weight end, x, { variables = weight })
assert(report.ok and #report.rows == 4)
check.fails(function() cr.check.gradient(5, x) end, "a function")
check.fails(function() cr.check.gradient(cr.ops.sqrt, cr.tensor { 1.0, -1.0, 2.0 }) end,
  "result 1 is nan at {2}")
check.fails(function() cr.check.gradient(function() end, x, { raise = true }) end, "gave nothing")

local LinearLayer = cr.Layer:subclass "CheckedLinear"
function LinearLayer:init(config) self.units = config.units or 2 end
function LinearLayer:build(shape)
  self.w = self:add_weight { name = "w", shape = { shape[#shape], self.units } }
end
function LinearLayer:call(inputs) return inputs:matmul(self.w) end
function LinearLayer:get_config() return { units = self.units } end
report = cr.check.layer(LinearLayer, { units = 3 }, { 4 }, { raise = false })
assert(report.ok, tostring(report))

local ForgetfulLayer = LinearLayer:subclass "CheckedForgets"
function ForgetfulLayer:get_config() return {} end
check.fails(function() cr.check.layer(ForgetfulLayer, { units = 3 }, { 4 }) end, "has no 'units'")

-- While gradients are compared, sublayers compute in float64 too, so that the correct gradient of a
-- layer with a Dense in it passes and a gradient with an error of 1 % is found.
local FilmLayer = cr.Layer:subclass("CheckedFilm", { { "error", 0.0 } })
function FilmLayer:build(shapes)
  self.dense = cr.layers.Dense(2 * shapes[1][#shapes[1]])
  self.dense:build(shapes[2])
end
function FilmLayer:call(inputs)
  local features, condition = table.unpack(inputs)
  local condition_with_error =
    condition * (1 + self.error) - cr.ops.stop_gradient(condition * self.error)
  local factors = cr.ops.split(self.dense(condition_with_error), 2, -1)
  return features * (1 + factors[1]) + factors[2]
end
report = cr.check.layer(FilmLayer, {}, { { 3 }, { 4 } }, { raise = false })
assert(report.ok, tostring(report))
report = cr.check.layer(FilmLayer, { error = 0.01 }, { { 3 }, { 4 } }, { raise = false })
assert(tostring(report):find "FAILED +gradient by input 2", tostring(report))
assert(cr.config.dtype_policy() == "float32")

report = cr.check.layer(cr.layers.Add, {}, { { 4, 3 }, { 4, 3 } })
assert(report.ok and report.subject:find "Add")
assert(cr.check.layer("Embedding", { input_dim = 5, output_dim = 2 }, { 3 },
  { dtype = "int32", low = 0, high = 5 }).ok)
check.fails(function() cr.check.layer(cr.losses.Huber, {}, { 3 }) end, "a class of layers")
check.fails(function() cr.check.layer(cr.layers.Dense, { units = 1 }) end, "the shape of a sample")
print "ok checks"
