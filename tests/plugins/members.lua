-- Methods and properties that a plugin's class declares are called, completed and described as
-- those of built-in classes.
local cr = require "crescent"
local script_folder = arg[0]:match "^(.*)/[^/]*$"
package.path = script_folder .. "/../shell/support/?.lua;" .. package.path
local check = require "check"

local folder = os.tmpname()
os.remove(folder)
assert(os.execute(string.format("mkdir -m 700 '%s' && cp '%s'/members.so '%s'", folder,
  os.getenv "TEST_PLUGINS", folder)))
cr.plugins.load(folder .. "/members.so")
os.execute(string.format("rm -r '%s'", folder))

local function contains(list, wanted)
  for _, item in ipairs(list) do
    if item == wanted then return true end
  end
  return false
end

local layer = cr.layers.Centre { name = "centre" }

-- The method adapt changes state; it is called with arguments by position, by name, and with
-- default values.
assert(layer.mean == nil and layer.learned == 0)
check.fails(function() layer(cr.ones { 2, 2 }) end, "call adapt(data) first")
assert(layer:adapt(cr.tensor { { 1, 2 }, { 3, 4 } }) == 2)
check.same(layer.mean:totable(), { 2, 3 })
assert(layer:adapt { { 10, 20 } } == 1)
check.same(layer.mean:totable(), { 10, 20 })
layer:adapt({ { 20, 40 } }, { momentum = 0.5 })
check.same(layer.mean:totable(), { 15, 30 })
layer:adapt { data = { { 0, 0 } }, momentum = 0, mode = "finite" }
layer:adapt({ { 4, 8 } }, 0.5, "all")
layer:adapt({ { 4, 8 } }, nil, "all")
check.same(layer.mean:totable(), { 4, 8 })
assert(layer.learned == 6)
check.same(layer(cr.tensor { { 5, 10 } }):totable(), { { 1, 2 } })
assert(layer:forget() == nil and layer.learned == 0 and layer.mean == nil)

-- Error messages use the names of methods and arguments in the schema.
check.fails(function()
  layer:adapt(cr.ones { 2, 2 }, { momentu = 1 })
end, "Centre.adapt: no argument 'momentu' (did you mean 'momentum'?)")
check.fails(function() layer:adapt() end, "Centre.adapt: missing required argument 'data'")
check.fails(function()
  layer:adapt(cr.ones { 2, 2 }, 2)
end, "Centre.adapt: argument 'momentum' must be between 0 and 1, got 2")
check.fails(function()
  layer:adapt(cr.ones { 2, 2 }, 0, "al")
end, "Centre.adapt: argument 'mode' must be one of 'all', 'finite', got 'al' (did you mean 'all'?)")
check.fails(function()
  layer:adapt "text"
end, 'Centre.adapt: argument \'data\': expected a tensor, got "text"')
check.fails(function() layer:adapt { { 1, 2 }, { 3 } } end, "rows differ in length")
check.fails(function()
  layer:adapt(cr.ones { 2, 2 }, 0, "all", 1)
end, "Centre.adapt: expected at most 3 arguments by position (data, momentum, mode), got 4")
check.fails(function()
  layer:adapt(cr.ones { 2, 2 }, { data = cr.ones { 2, 2 } })
end, "argument 'data' is given twice")
check.fails(function()
  layer.adapt(cr.layers.Dense(1), cr.ones { 2, 2 })
end, "Dense: no method 'adapt'")
check.fails(function() layer.adapt(3) end, "got 3")
check.fails(function() layer:adap() end, "no attribute 'adap' (did you mean 'adapt'?)")
check.fails(function()
  layer:explode()
end, "std::out_of_range: the shelf has 3 places (in Centre of plugin 'members'")

-- Strings, tables, objects and functions are passed as arguments.
layer:set_names { "width", "height" }
check.same(layer:get_names(), { "width", "height" })
layer:set_names "alone"
check.same(layer:get_names(), { "alone" })
check.same(layer:describe_row { a = 1, b = { 2, 3 } },
  { layer = "centre", row = { a = 1, b = { 2, 3 } } })
check.same(layer:describe_row({ a = 1 }, { c = 2 }),
  { layer = "centre", row = { a = 1 }, more = { c = 2 } })
check.same(layer:describe_row { row = { a = 1 }, more = 5 },
  { layer = "centre", row = { a = 1 }, more = 5 })
layer:adapt { { 1, 3 } }
assert(layer:measured("mse", { 0, 0 }):item() == 5)
assert(layer:measured(cr.metrics.MeanAbsoluteError(), { 0, 0 }):item() == 2)
assert(layer:measured(function(t, p) return cr.ops.abs(t - p) * 2 end, { 0, 0 }):item() == 4)
check.fails(function()
  layer:measured("mze", { 0, 0 })
end, "Centre.measured: argument 'metric': unknown metric 'mze'")

-- Properties can be read and set.
assert(layer.factor == 1)
layer.factor = 2.5
assert(layer.factor == 2.5 and layer:get_config().scale == 2.5)
check.fails(function()
  layer.factor = -1
end, "Centre: property 'factor' must be at least 0, got -1")
check.fails(function() layer.factor = "much" end, "Centre: property 'factor': expected a number")
check.fails(function() layer.learned = 3 end, "'learned' cannot be set")
assert(rawequal(layer.itself, layer))
layer.variable:assign(7)
assert(cr.ops.sum(layer.variable):item() == 7)

-- cr.describe lists the methods and properties of a class.
local description = cr.describe(layer)
for _, name in ipairs { "adapt", "forget", "get_names", "build" } do
  assert(contains(description.methods, name), name)
end
for _, name in ipairs { "mean", "learned", "factor", "weights" } do
  assert(contains(description.properties, name), name)
end
local f = cr.describe(layer.adapt)
assert(f.signature == 'adapt(self, data, momentum=0.0, mode="all")', f.signature)
assert(f.options[1].name == "data" and f.options[1].required and f.options[2].default == 0
  and f.options[3].choices[2] == "finite")
assert(f.word == "argument")
local printed_lines = {}
local original_print = print
print = function(text) printed_lines[#printed_lines + 1] = text end
cr.help(layer.adapt)
cr.help(cr.layers.Centre)
cr.help(layer)
print = original_print
local text = table.concat(printed_lines, "\n")
for _, part in ipairs { "Learns the mean; gives how many rows it has seen.",
  "Arguments, in order or by name:", "Share of the old mean that stays.",
  "Its objects also have:", "adapt(data, momentum, mode) -> an integer",
  "learned: an integer", "Batches it has learned from." } do
  assert(text:find(part, 1, true), part .. "\n" .. text)
end
the_layer = layer
local function is_completed(line, name) return contains((cr.complete(line)), name) end
assert(is_completed("the_layer:ad", "adapt") and not is_completed("the_layer:me", "mean")
  and is_completed("the_layer.me", "mean"))
assert(is_completed("the_layer:adapt(x, {mo", "momentum")
  and is_completed("the_layer:adapt(x, {mo", "mode"))

-- Other classes of the same kind do not have these methods and properties.
check.fails(function() return cr.layers.Dense(1).adapt end, "no attribute 'adapt'")
print "ok members"
