-- Chains of datasets: their elements and order, threads, and arguments that are refused.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/data"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"

local function collect(data)
  local rows = {}
  for x, y in data:elements() do
    local row = type(x) == "userdata" and x:totable() or x
    rows[#rows + 1] = y == nil and row or { row, type(y) == "userdata" and y:totable() or y }
  end
  return rows
end
local function integers(first, last)
  local list = {}
  for i = first, last do list[#list + 1] = i end
  return cr.data.from_list(list)
end

do -- the functions that make datasets: from lists, tensors and others
  check.same(collect(integers(1, 3)), { 1, 2, 3 })
  check.same(collect(cr.data.from_list { { "a.png", 0 }, { "b.png", 1 } }),
    { { "a.png", 0 }, { "b.png", 1 } })
  local x, y = cr.tensor { { 1, 2 }, { 3, 4 } }, cr.tensor({ 0, 1 }, "int32")
  check.same(collect(cr.data.from_tensor_slices { x, y }), { { { 1, 2 }, 0 }, { { 3, 4 }, 1 } })
  check.same(collect(cr.data.from_tensor_slices { { "a", "b" }, { 5, 6 } }),
    { { "a", 5 }, { "b", 6 } })
  check.same(collect(cr.data.from_tensor_slices { 7, 8 }), { 7, 8 })
  for row in cr.data.from_tensor_slices({ left = x, right = y }):elements() do
    check.same(row.left.shape, { 2 })
    check.same(row.right.shape, {})
  end
  check.fails(function() cr.data.from_tensor_slices { x, cr.ones { 3 } } end, "same length", "2",
    "3")
  local pass_count = 0
  local generated_data = cr.data.from_generator(function()
    pass_count = pass_count + 1
    local i = 0
    return function()
      i = i + 1
      if i <= 3 then return i, i * i end
    end
  end)
  check.same(collect(generated_data), { { 1, 1 }, { 2, 4 }, { 3, 9 } })
  check.same(#collect(generated_data:zip(generated_data)), 3)
  assert(pass_count == 3)
  check.fails(function() collect(cr.data.from_generator(function() return 5 end)) end,
    "return a function", "got 5")
  -- datasets of arrays, whose elements are batches, have the same methods
  local batches = cr.data.dataset(cr.ones { 5, 2 }, nil, { batch_size = 2 })
  check.same(#collect(batches:unbatch()), 5)
  check.fails(function() collect(batches:zip(batches)) end, "once at a time", "from_tensor_slices")
end

do -- take, skip, repeated and others: number, selection and order of elements
  local ten_numbers = integers(1, 10)
  assert(ten_numbers.batches == 10)
  check.same(collect(ten_numbers:take(3)), { 1, 2, 3 })
  check.same(collect(ten_numbers:skip(8)), { 9, 10 })
  check.same(collect(ten_numbers:skip(99)), {})
  check.same(collect(ten_numbers:take(2):repeated(2)), { 1, 2, 1, 2 })
  check.same(collect(ten_numbers:repeated():take(12)), { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2 })
  check.same(collect(integers(1, 0):repeated()), {})
  check.same(collect(ten_numbers:take(1):concatenate(ten_numbers:skip(9))), { 1, 10 })
  check.same(collect(ten_numbers:take(1):concatenate { ten_numbers:skip(9), ten_numbers:take(1) }),
    { 1, 10, 1 })
  check.same(collect(ten_numbers:zip(ten_numbers:skip(7))), { { 1, 8 }, { 2, 9 }, { 3, 10 } })
  check.same(collect(ten_numbers:skip(8):enumerate()), { { 1, 9 }, { 2, 10 } })
  check.same(collect(ten_numbers:skip(9):enumerate(0)), { { 0, 10 } })
  check.same(collect(ten_numbers:filter(function(x) return x % 4 == 0 end)), { 4, 8 })
  local function three_numbers(x) return cr.data.from_list { x, -x, 0 } end
  check.same(collect(ten_numbers:take(3):interleave(three_numbers, { cycle_length = 2 })),
    { 1, 2, -1, -2, 0, 0, 3, -3, 0 })
  check.same(collect(ten_numbers:take(2):interleave(three_numbers, { block_length = 2 })),
    { 1, -1, 2, -2, 0, 0 })
  check.fails(function() collect(ten_numbers:interleave(function() return 1 end)) end,
    "to give a dataset")
  for _, chain in ipairs { ten_numbers:take(3), ten_numbers:skip(3), ten_numbers:repeated(2),
    ten_numbers:batch(4),
    ten_numbers:batch(4, true), ten_numbers:window(3, { shift = 2 }),
    ten_numbers:window(3, { shift = 1, stride = 2, drop_remainder = true }),
    ten_numbers:zip(ten_numbers:take(4)),
      ten_numbers:concatenate(ten_numbers), ten_numbers:enumerate() } do
    assert(chain.batches == #collect(chain), chain.batches .. " and " .. #collect(chain))
  end
  assert(ten_numbers:filter(function() return true end).batches == nil
    and ten_numbers:repeated().batches == nil)
  check.fails(function() ten_numbers:take(-1) end, "at least 0", "-1")
  check.fails(function() ten_numbers:shuffle(0) end, "at least 1", "0")
end

-- Shuffle: a pass has every element once; the same seed gives the same order, another pass another
-- order.
do
  local data = integers(1, 50):shuffle(20, { seed = 3 })
  local first, second = collect(data), collect(data)
  local same_seed = collect(integers(1, 50):shuffle(20, { seed = 3 }))
  check.same(same_seed, first)
  assert(table.concat(first, ",") ~= table.concat(second, ","))
  table.sort(second)
  check.same(second, collect(integers(1, 50)))
  for i, x in ipairs(first) do assert(x <= i + 19) end
  local fixed_order_data = integers(1, 50):shuffle(50, { seed = 3,
    reshuffle_each_iteration = false })
  check.same(collect(fixed_order_data), collect(fixed_order_data))
  cr.random.seed(5)
  local shuffled_numbers = collect(integers(1, 50):shuffle(50))
  cr.random.seed(5)
  check.same(collect(integers(1, 50):shuffle(50)), shuffled_numbers)
end

do -- batches and windows
  check.same(collect(integers(1, 5):batch(2)), { { 1, 2 }, { 3, 4 }, { 5 } })
  check.same(collect(integers(1, 5):batch(2, { drop_remainder = true })), { { 1, 2 }, { 3, 4 } })
  check.same(collect(integers(1, 5):window(3, { shift = 1, drop_remainder = true })),
    { { 1, 2, 3 }, { 2, 3, 4 }, { 3, 4, 5 } })
  check.same(collect(integers(1, 5):window(2, { shift = 2, stride = 2 })),
    { { 1, 3 }, { 3, 5 }, { 5 } })
  check.same(collect(integers(1, 7):window(1, { shift = 3 })), { { 1 }, { 4 }, { 7 } })
  check.same(collect(integers(1, 5):batch(2):unbatch()), { 1, 2, 3, 4, 5 })
  for x in cr.data.from_list({ 1, 2 }):batch(2):elements() do assert(x.dtype == "int32") end
  for x in cr.data.from_list({ 1.5, 2.0 }):batch(2):elements() do assert(x.dtype == "float32") end
  for x in cr.data.from_list({ { { 1, 2 } }, { { 3, 4 } } }):batch(2):elements() do
    check.same(x.shape, { 2, 2 })
  end
  local function parts_of(i)
    return { a = cr.full({ 2 }, i), b = { cr.full({}, i), cr.full({ 1 }, i) } }, i
  end
  for x, y in integers(1, 4):map(parts_of):batch(4):elements() do
    check.same({ x.a.shape, x.b[1].shape, x.b[2].shape, y.shape },
      { { 4, 2 }, { 4 }, { 4, 1 }, { 4 } })
  end
  check.fails(function()
    collect(cr.data.from_list({ { cr.ones { 2 } }, { cr.ones { 3 } } }):batch(2)) end,
    "element 2", "(3,)", "(2,)", "same shape")
  check.fails(function() collect(cr.data.from_list({ { 1, 2 }, { 1 } }):batch(2)) end, "element 2")
  check.fails(function() integers(1, 3):batch(0) end, "at least 1", "0")
end

do -- map: any number of workers gives the same elements, also for random numbers
  local scale, offsets = cr.tensor { 2.0, 3.0 }, { first = 1, list = { 10 } }
  local function helper(x) return x + offsets.list[1] end
  local function work(i) return scale * i + helper(0), i, cr.random.uniform({ 2 }) end
  local function run_map(workers)
    cr.random.seed(7)
    local data, rows = integers(1, 30):map(work, { workers = workers }), {}
    for _ = 1, 2 do
      for x, i, draw in data:elements() do rows[#rows + 1] = { x:totable(), i, draw:totable() } end
    end
    return rows
  end
  local in_one_thread = run_map(0)
  check.same(in_one_thread[5][1], { 20, 25 })
  assert(in_one_thread[1][3][1] ~= in_one_thread[2][3][1]
    and in_one_thread[1][3][1] ~= in_one_thread[31][3][1])
  for _, workers in ipairs { 1, 2, 5 } do check.same(run_map(workers), in_one_thread) end
  check.same(collect(integers(1, 20):filter(function(x) return x % 5 == 0 end, { workers = 3 })),
    { 5, 10, 15, 20 })
  -- after a pass that ended early, the next one is complete
  local data = integers(1, 100):map(function(x) return x * 2 end, { workers = 2 })
  for x in data:elements() do if x == 10 then break end end
  assert(#collect(data) == 100)
  -- a worker in an endless loop is stopped when its dataset is garbage-collected
  local endless_data = integers(1, 3):map(function(x)
    while x > 1 do end
    return x
  end, { workers = 2 })
  for x in endless_data:elements() do
    assert(x == 1)
    break
  end
  endless_data = nil
  collectgarbage()
end

do -- values that a worker's function may use
  local format = string.format
  shared_factor = 3
  local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
  local layer = cr.layers.Rescaling and cr.layers.Rescaling(2) or cr.layers.ReLU()
  local text_data = integers(1, 3):map(function(i)
    return format("%d:%d:%d", i, fib(i + 3), shared_factor), cr.ops.sum(cr.ones { 3 }):item(),
      layer(cr.ones { 1 })
  end, { workers = 2 })
  check.same(collect(text_data:map(function(a) return a end)), { "1:3:3", "2:5:3", "3:8:3" })
  -- a module of the script is loaded by each worker separately
  local folder = check.temporary ""
  assert(os.execute("mkdir '" .. folder .. "'"))
  local file = assert(io.open(folder .. "/tenfold.lua", "w"))
  file:write "return { of = function(x) return 10 * x end }"
  file:close()
  package.path = folder .. "/?.lua;" .. package.path
  local tenfold = require "tenfold"
  check.same(collect(integers(1, 2):map(function(x) return tenfold.of(x) end, { workers = 1 })),
    { 10, 20 })
  os.execute("rm -r '" .. folder .. "'")
  local thread = coroutine.create(function() end)
  check.fails(function() integers(1, 2):map(function(x) return x, thread end, { workers = 1 }) end,
    "'thread'", "coroutine")
  local LuaLayer = cr.Layer:subclass "MineForWorkers"
  function LuaLayer:call(x) return x end
  local layer = LuaLayer()
  check.fails(function() integers(1, 2):map(function(x) return layer(x) end, { workers = 1 }) end,
    "'layer'", "class written in Lua")
  local object = setmetatable({}, { __index = {} })
  check.fails(function() integers(1, 2):map(function(x) return x, object end, { workers = 1 }) end,
    "'object'", "metatable")
  unused_class = LuaLayer
  local data = integers(1, 2):map(function(x) return unused_class(x) end, { workers = 1 })
  check.fails(function() collect(data) end, "element 1", "'unused_class'", "class written in Lua")
  check.fails(function()
    collect(integers(1, 2):map(function() return print end, { workers = 1 })) end, "element 1",
    "got a function")
end

do -- errors name the element and end the pass
  for _, workers in ipairs { 0, 1, 3 } do
    local data = integers(1, 9):map(function(x)
      if x == 7 then error "no sevens" end
      return x
    end, { workers = workers })
    local element_count = 0
    check.fails(function() for _ in data:elements() do element_count = element_count + 1 end end,
      "map: element 7",
      "no sevens")
    assert(element_count == 6)
  end
  check.fails(function() collect(integers(1, 3):filter(function() return "yes" end)) end,
    "filter: element 1", "true or false")
  check.fails(function() integers(1, 3):map(5) end, "a function or a layer")
  check.fails(function() integers(1, 3):map(print, { workers = 999 }) end, "999")
end

-- Prefetching makes elements ahead of their use; functions of the script's own thread run only when
-- an element is requested.
do
  check.same(collect(integers(1, 9):map(function(x) return x + 1 end, { workers = 2 }):prefetch(3)),
    { 2, 3, 4, 5, 6, 7, 8, 9, 10 })
  local call_count = 0
  local prefetched_data = integers(1, 3):map(function(x) call_count = call_count + 1 return x
    * 2 end)
    :prefetch(2)
  check.same(collect(prefetched_data), { 2, 4, 6 })
  check.same(collect(prefetched_data:batch(2):prefetch(1)), { { 2, 4 }, { 6 } })
  assert(call_count == 6)
  local ok, output = check.run [[
    cr.data.from_list { 1 }:map(function(x) return x end):prefetch()
    cr.data.from_list { 1 }:prefetch()]]
  assert(ok and select(2, output:gsub("not ahead; give its map or filter workers", "")) == 1,
    output)
  check.fails(function()
    collect(integers(1, 3):map(function(x) error("broken " .. x) end, { workers = 1 }):prefetch())
  end, "element 1", "broken 1")
  for x in integers(1, 1000):prefetch(2):elements() do if x == 3 then break end end
end

do -- cache keeps the elements of the first complete pass
  local call_count = 0
  local data = integers(1, 4):map(function(x)
    call_count = call_count + 1
    return cr.full({ 2 }, x), "text " .. x, { n = x }
  end):cache()
  for _ in data:elements() do break end
  assert(call_count == 1)
  assert(#collect(data) == 4 and #collect(data) == 4 and call_count == 5)
  local path = check.temporary ".cache"
  call_count = 0
  local cached_data = data:cache(path)
  local first = {}
  for x, y, z in cached_data:elements() do first[#first + 1] = { x:totable(), y, z.n } end
  data = nil
  local reopened_data = cr.data.from_generator(function() error "not asked" end):cache(path)
  local second = {}
  for x, y, z in reopened_data:elements() do second[#second + 1] = { x:totable(), y, z.n } end
  check.same(second, first)
  check.same(second[3], { { 3, 3 }, "text 3", 3 })
  local file = assert(io.open(path, "r+b"))
  local content = file:read "a"
  file:close()
  for _, length in ipairs { 5, #content // 2, #content - 1 } do
    file = assert(io.open(path, "wb"))
    file:write(content:sub(1, length))
    file:close()
    check.fails(function() collect(reopened_data) end, path)
  end
  os.remove(path)
  check.fails(function() collect(integers(1, 2):cache "/nonexistent/cache") end,
    "/nonexistent/cache")
end

do -- layers and models as functions of map
  local model = cr.Sequential { cr.layers.Dense(2,
    { input_shape = { 3 }, kernel_initializer = "ones" }) }
  local data = cr.data.from_tensor_slices({ cr.ones { 6, 3 }, cr.ones { 6 } }):batch(2):map(model)
  for x, y in data:elements() do
    check.near(x, { { 3, 3 }, { 3, 3 } })
    check.same(y.shape, { 2 })
  end
  check.fails(function() data:map(model, { workers = 2 }) end, "layer", "no workers")
  local dropout = cr.layers.Dropout(0.5, { seed = 1 })
  local noisy_data = cr.data.from_tensor_slices(cr.ones { 4, 8 }):batch(2):map(dropout,
    { training = true })
  local function values(d)
    local batches = {}
    for x in d:elements() do batches[#batches + 1] = x:totable() end
    return batches
  end
  local first, second = values(noisy_data), values(noisy_data)
  assert(cr.show(first) ~= cr.show(second) and cr.show(first[1]) ~= cr.show(first[2]))
  local prefetched_values = values(noisy_data:prefetch(2))
  assert(#prefetched_values == 2)
end

do -- fit, evaluate and predict on datasets made by chains
  local x = cr.random.normal { 24, 2 }
  local y = x:sum(-1, true)
  local function new_model()
    local model = cr.Sequential { cr.layers.Dense(1,
      { input_shape = { 2 }, kernel_initializer = "ones" }) }
    model:compile { optimizer = "sgd", loss = "mse" }
    return model
  end
  local reference_model = new_model()
  reference_model:fit(x, y, { batch_size = 8, epochs = 2, shuffle = false, verbose = 0 })
  local rows = cr.data.from_tensor_slices { x, y }
  local data = rows:map(function(a, b) return a * 1, b end, { workers = 2 }):batch(8):prefetch(2)
  local model = new_model()
  model:fit(data, { epochs = 2, verbose = 0, validation_data = rows:batch(8) })
  check.near(model:get_weights()[1], reference_model:get_weights()[1]:totable(), 0)
  check.near(model:evaluate(data, { verbose = 0 }),
    reference_model:evaluate(x, y, { verbose = 0, batch_size = 8 }))
  check.near(model:predict(cr.data.from_tensor_slices(x):batch(8)),
    reference_model:predict(x):totable())
  check.fails(function() model:fit(rows:batch(8):repeated(), { verbose = 0 }) end,
    "infinite dataset")
  model:fit(rows:batch(8):repeated(), { verbose = 0, steps_per_epoch = 2 })
  -- parts of an element go to inputs by their names
  local a, b = cr.Input { shape = { 1 }, name = "a" }, cr.Input { shape = { 2 }, name = "b" }
  local model = cr.Model { inputs = { b, a }, outputs = cr.layers.Concatenate()({ b, a }) }
  local named_data = cr.data.from_tensor_slices({ a = cr.zeros { 2, 1 },
    b = cr.ones { 2, 2 } }):batch(2)
  check.near(model:predict(named_data), { { 1, 1, 0 }, { 1, 1, 0 } })
  check.fails(function()
    model:predict(cr.data.from_tensor_slices({ a = cr.zeros { 2, 1 },
    c = cr.ones { 2, 2 } }):batch(2)) end, "\"b\"")
end

do -- a run saved within an epoch continues with the elements that it would have read
  local x = cr.random.normal { 40, 2 }
  local function noisy_dataset()
    return cr.data.from_tensor_slices({ x, x:sum(-1, true) }):shuffle(40)
      :map(function(a, b) return a + cr.random.normal({ 2 }) * 0.1, b end, { workers = 2 }):batch(8)
  end
  local function new_model()
    cr.random.seed(1)
    local model = cr.Sequential { cr.layers.Dense(1, { input_shape = { 2 } }) }
    model:compile { optimizer = "adam", loss = "mse" }
    return model
  end
  local path = check.temporary ".h5"
  local unbroken_model = new_model()
  local run = unbroken_model:start_training(noisy_dataset(), { epochs = 3, verbose = 0 })
  run:advance(7)
  run:save(path)
  run:finish()
  local resumed_model = new_model()
  cr.random.seed(99)
  run = resumed_model:start_training(noisy_dataset(), { epochs = 3, verbose = 0 })
  run:load(path)
  run:finish()
  check.near(resumed_model:get_weights()[1], unbroken_model:get_weights()[1]:totable(), 0)
  os.remove(path)
end

do -- workers draw no random numbers from the generator of the script's own thread
  local NoiseLayer = cr.layers.Layer:subclass "DrawnNoise"
  function NoiseLayer:call(inputs) return inputs + cr.random.normal({ 1 }, 0, 0.1) end
  local shared_generator = cr.random.SeedGenerator(4)
  local dropout = cr.layers.Dropout(0.5)
  local functions = {
    function(a, b) return a * 2, b end,
    function(a, b) return a + cr.random.normal { 3 }, b end,
    function(a, b) return a + cr.random.normal({ 3 }, 0, 1, { seed = shared_generator }), b end,
    function(a, b) return dropout(a, { training = true }), b end,
  }
  local function loss_with(f, workers)
    cr.random.seed(5)
    local x = cr.random.normal { 30, 3 }
    local model = cr.Sequential { cr.layers.Dense(4, { input_shape = { 3 } }), NoiseLayer(),
      cr.layers.Dense(1) }
    model:compile { optimizer = "sgd", loss = "mse" }
    local data = cr.data.from_tensor_slices({ x, x:sum(1, true) }):shuffle(20)
      :map(f, { workers = workers }):batch(5)
    local history = model:fit(data, { epochs = 2, verbose = 0 })
    return { history.history.loss[2], cr.random.uniform({}):item() }
  end
  for i, f in ipairs(functions) do
    local expected = loss_with(f, 2)
    for _ = 1, 50 do check.same(loss_with(f, 2), expected) end
    if i <= 2 then check.same(loss_with(f, 0), expected) end
  end
end

do -- errors for a function that returns nothing, and for a loop without elements()
  local numbers = cr.data.from_tensor_slices { 1, 2, 3 }
  for _, workers in ipairs { 0, 2 } do
    check.fails(function()
      for _ in numbers:map(function() end, { workers = workers }):elements() do end
    end, "element 1: the function returned nothing")
  end
  check.fails(function() for _ in numbers do end end, "data:elements()")
end
do -- a layer on elements with names
  local images = cr.random.uniform { 4, 5, 5, 1 }
  local named_data = cr.data.from_tensor_slices { images = images, labels = cr.arange(4) }:batch(2)
  local crop = cr.layers.CenterCrop(3, 3)
  local count = 0
  for layer_name, layer in pairs { crop = crop, pipeline = cr.layers.Pipeline { crop } } do
    local first = 1
    for batch in named_data:map(layer):elements() do
      check.near(batch.images, crop(images:slice(first, first + 1)), 1e-6, layer_name)
      check.same(batch.labels:totable(), { first - 1, first })
      first, count = first + 2, count + 1
    end
  end
  check.same(count, 4)
  local SumLayer = cr.Layer:subclass "SumOfNames"
  function SumLayer:call(inputs) return { sum = inputs.a + inputs.b, rest = { inputs.a } } end
  local pairs_of_numbers = cr.data.from_tensor_slices { a = cr.arange(2), b = cr.ones { 2 } }
  for element in pairs_of_numbers:batch(2):map(SumLayer()):elements() do
    check.near(element.sum, { 1, 2 })
    check.near(element.rest[1], { 0, 1 })
  end
end
print "ok streams"
