-- Temporary tensors are collected in time, and calls that fail leak no memory (the fault [L02] in
-- tests/faults/README.md).
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local memory = require "memory"
collectgarbage "generational"  -- the mode of the garbage collector that the program uses
local cr = require "crescent"

-- With a sanitizer, freed memory is kept for a while, so limits are not checked.
local has_sanitizer = io.open("/proc/self/maps"):read("a"):find "lib[at]san"
local large_tensor = cr.ones { 4, 1024, 1024 } -- 16 MiB that stay in use
local x = large_tensor[1]:reshape { 1024, 1024 }:slice(1, 64)
local _ = (x + 1):sum():item()
local start_mib, peak_mib = memory.mib "VmRSS", 0
for i = 1, 100000 do
  local small_tensor = x + i -- tensors of 256 KiB each, 25 GiB in all
  if i % 1000 == 0 then peak_mib = math.max(peak_mib, memory.mib "VmRSS") end
end
assert(has_sanitizer or peak_mib < start_mib + 32,
  string.format("memory went from %.0f to %.0f MiB", start_mib, peak_mib))

-- the result of a call is freed before the second call after it, however much memory is in use
local results, max_alive_count = setmetatable({}, { __mode = "v" }), 0
for i = 1, 100 do
  results[i] = large_tensor[1] + i -- a result of 4 MiB
  local alive_count = 0
  for _ in pairs(results) do alive_count = alive_count + 1 end
  max_alive_count = math.max(max_alive_count, alive_count)
end
assert(max_alive_count <= 3, max_alive_count .. " temporary results at a time")

-- tensors in the old generation are collected too
local last_strings, peak_heap_kib = {}, 0
for i = 1, 5000 do
  last_strings[i % 8] = ("x"):rep(4096) .. i
  local temporary_tensor = x + 1
  peak_heap_kib = math.max(peak_heap_kib, collectgarbage "count")
end
assert(peak_heap_kib < 8192, string.format("Lua's heap grew to %.0f KiB", peak_heap_kib))

-- calls that fail free the memory that they have allocated
local function check_no_leak(n, f)
  for _ = 1, n do pcall(f) end
  collectgarbage()
  local start_mib = memory.mib "VmRSS"
  for _ = 1, 10 * n do pcall(f) end
  collectgarbage()
  local added_mib = memory.mib "VmRSS" - start_mib
  assert(has_sanitizer or added_mib < 8, string.format("%.1f MiB more after errors", added_mib))
end
check_no_leak(2000, function() return x:matmul(cr.ones { 3, 3 }) end)
check_no_leak(2000, function() return cr.layers.Dense { units = 3, nonsense = { 1, 2, 3 } } end)
check_no_leak(2000, function() return cr.tensor { { 1, 2 }, { 3, "x" } } end)
check_no_leak(500, function() return cr.GradientTape(function() error "stop" end) end)
local FailingLayer = cr.Layer:subclass "BadInMemory"
function FailingLayer:call(x) return x:matmul(x):matmul(error "stop") end
local bad_layer = FailingLayer()
check_no_leak(500, function() return bad_layer(cr.ones { 8, 8 }) end)

-- coroutines may call into the module
local worker = coroutine.wrap(function()
  for i = 1, 3 do coroutine.yield(cr.ones { 2 } * i) end
  local layer = cr.layers.Lambda(function(t) return t + 1 end)
  coroutine.yield(layer(cr.ones { 2 }))
end)
for _ = 1, 3 do worker() end
assert(worker():sum():item() == 4)
-- models and layers that refer to themselves are garbage-collected
local InnerLayer = cr.Layer:subclass "InnerInMemory"
function InnerLayer:build(shape)
  self.w = self:add_weight { name = "w", shape = { shape[#shape], 100 } }
end
function InnerLayer:call(t) return t:matmul(self.w) * self.factor end
local OuterModel = cr.Model:subclass "OuterInMemory"
function OuterModel:init(config)
  self.inner, self.model_table = InnerLayer(), config.model_table
  self.inner.factor = cr.ones { 100 }
  self.inner.outer, self.me = function() return self end, { self }
  self.again = function() return self end
end
function OuterModel:call(t) return self.inner(t) end
local EmptyCallback = cr.callbacks.Callback:subclass "WatchInMemory"
local data = cr.ones { 2, 1000 }

local alive_objects = setmetatable({}, { __mode = "k" })
local function count_alive()
  for _ = 1, 6 do collectgarbage() end
  local count = 0
  for _ in pairs(alive_objects) do count = count + 1 end
  return count
end
local function make_cyclic_model(i)
  local model_table = {}
  local model = OuterModel { model_table = model_table }
  model_table.model = model
  model(data)
  model.callback = EmptyCallback()
  model.callback.owner = model
  if i % 20 == 0 then
    model:compile { optimizer = "adam", loss = "mse" }
    model:fit(data, cr.ones { 2, 100 }, { verbose = 0, callbacks = { model.callback } })
  end
  alive_objects[model], alive_objects[model.inner], alive_objects[model.callback] = true, true, true
end
make_cyclic_model(20)
local start_mib = memory.mib "VmRSS"
for i = 1, 200 do make_cyclic_model(i) end
local live_count = count_alive()
assert(live_count == 0, live_count .. " objects that only refer to each other are left")
local added_mib = memory.mib "VmRSS" - start_mib
assert(has_sanitizer or added_mib < 30,
  string.format("%.1f MiB more after 200 models that refer to themselves", added_mib))

-- a graph whose layer refers to the graph
local function make_cyclic_graph(make)
  local layer = InnerLayer()
  layer.factor = cr.ones { 100 }
  local model = make(layer)
  model(data)
  layer.graph = function() return model end
  alive_objects[model], alive_objects[layer] = true, true
end
for _ = 1, 20 do
  make_cyclic_graph(function(layer) return cr.Sequential { cr.Input { shape = { 1000 } },
    layer } end)
  make_cyclic_graph(function(layer) return cr.Sequential { layer } end)
  make_cyclic_graph(function(layer)
    local inputs = cr.Input { shape = { 1000 } }
    return cr.Model(inputs, cr.layers.Dense(3)(layer(inputs)))
  end)
end
live_count = count_alive()
assert(live_count == 0, live_count .. " layers and graphs that refer to each other are left")

-- objects that only C++ owns keep their attributes
local function collect_and_allocate()
  for _ = 1, 6 do
    collectgarbage()
    local unused_tensors = {}
    for i = 1, 200 do unused_tensors[i] = cr.ones { 3 } end
  end
end
local function model_with_hidden_layer(wrap)
  local layer = InnerLayer { name = "hidden" }
  layer.factor, layer.note = cr.ones { 100 } * 3, { deep = { cr.ones { 2 } } }
  return wrap(layer)
end
local function check_kept(model, get_layer)
  collect_and_allocate()
  local first = model(data)
  collect_and_allocate()
  assert(get_layer(model).note.deep[1]:sum():item() == 2
    and get_layer(model).factor:sum():item() == 300)
  collect_and_allocate()
  assert((model(data) - first):abs():max():item() == 0)
end
check_kept(model_with_hidden_layer(function(l)
  return cr.Sequential { cr.Input { shape = { 1000 } }, l }
end), function(m)
  return m:get_layer "hidden"
end)
check_kept(model_with_hidden_layer(function(l) return cr.Sequential { cr.Sequential { l } } end),
  function(m)
  return m.layers[1]:get_layer "hidden"
end)
check_kept(model_with_hidden_layer(function(l)
  local inner = cr.Sequential { cr.Input { shape = { 1000 } }, l }
  collect_and_allocate()
  local outer = cr.Sequential { cr.Input { shape = { 1000 } } }
  outer:add(inner)
  return outer
end), function(m) return m.layers[1]:get_layer "hidden" end)
check_kept(model_with_hidden_layer(function(l)
  local inputs = cr.Input { shape = { 1000 } }
  local first = cr.Model(inputs, cr.layers.Dense(2)(l(inputs)))
  collect_and_allocate()
  return cr.Model(first.inputs, first.layers[2].output)
end), function(m) return m:get_layer "hidden" end)
check_kept(model_with_hidden_layer(function(l)
  local HolderModel = cr.Model:subclass "HolderInMemory"
  function HolderModel:init() self.parts = { l } end
  function HolderModel:call(t) return self.parts[1](t) end
  local holder = HolderModel()
  l = nil
  return holder
end), function(m) return m.layers[1] end)
print "ok memory"
