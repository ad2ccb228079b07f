-- Dataset classes of a plugin: they are found by name, their options are checked, and fit trains on
-- their data.
local cr = require "crescent"

cr.plugins.load(os.getenv "TEST_PLUGINS" .. "/datasets.so")
local rows = cr.data.EvenRows { count = 6 }
assert(rows.batches == 6)
assert(cr.data.EvenRows().batches == 4 and cr.data.EvenRows(5).batches == 5)
local model = cr.Sequential { cr.layers.Dense(2, { input_shape = { 2 } }) }
model:compile { loss = "mse" }
model:fit(rows:map(function(x) return x, x end):batch(2), { epochs = 2, verbose = 0 })

local function expect_error(f, words)
  local ok, message = pcall(f)
  assert(not ok and tostring(message):find(words, 1, true), message)
end
expect_error(function() cr.data.EvenRows { count = 0 } end, "must be at least 1, got 0")
expect_error(function() cr.data.EvenRows { cuont = 2 } end, "count")
expect_error(function() cr.data.NoRows() end,
  "dataset NoRows of plugin 'test.datasets': its method stream must give a dataset, such as that "
  .. "of from_tensor_slices, got 5")
expect_error(function() return cr.data.from_tensor_slice end, "from_tensor_slices")

local report = cr.check.plugin("test.datasets", { raise = false })
local text = tostring(report)
assert(not report.ok, text)
assert(text:find("EvenRows (dataset): 4 checks passed, 0 failed", 1, true), text)
assert(text:find("element 4 is", 1, true), text)
-- The last batch of a pass may have fewer rows; a batch in the middle may not.
assert(text:find("ShortEnd (dataset): 4 checks passed, 0 failed", 1, true), text)
for _, name in ipairs { "ShortMiddle", "TwoShort" } do
  local rows_of_class = text:match(name .. " %(dataset%)[^\n]*\n(.-)\n%S")
  assert(rows_of_class:find("element 2 has fewer rows than the first and is not the last", 1, true),
    text)
end
for name, element in pairs { LongEnd = "float32(4, 2), float32(4, 1)",
  UnlikeEnds = "float32(2, 2), float32(1, 1)" } do
  local rows_of_class = text:match(name .. " %(dataset%)[^\n]*\n(.*)")
  assert(rows_of_class:find("element 3 is (" .. element .. "), the first", 1, true), text)
end
assert(cr.describe(cr.data.EvenRows).kind == "dataset")
for _, class in ipairs(cr.listing().classes) do
  assert(class.name ~= "EvenRows" or class.path == "cr.data.EvenRows", class.path)
end
print "ok"
