-- t[key] and t[key] = value, compared with plain loops over lists: positions, ranges, lists of
-- positions, masks, views, dtypes, gradients, compiled functions, and refused keys.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
local cr = require "crescent"
local plain_array = require "plain_array"

local size_of, nested_table, table_of = plain_array.size_of, plain_array.nested,
  plain_array.table_of
local selected_part = plain_array.selected

local random = math.random
math.randomseed(20)

-- ---- random keys: ranges, lists of positions, masks --------------------------------------------

-- Returns the same position, counted from the front or from the end.
local function from_either_end(n, from_front)
  return (random(2) == 1) and from_front or from_front - n - 1
end

local function random_range(n)
  local kind = random(5)
  if kind == 1 or n == 0 then return {} end
  if kind == 2 then return { from_either_end(n, random(n)) } end
  local a, b = random(n), random(n)
  if kind == 3 then
    if a > b then a, b = b, a end
    return { from_either_end(n, a), from_either_end(n, b) }
  end
  if kind == 4 and a > 1 then return { a, a - 1 } end -- a range without elements
  local step = random(3)
  if a > b then step = -step end
  return { from_either_end(n, a), from_either_end(n, b), step }
end

local list_dtypes = { "int32", "int64", "int16" }

local function random_list(n, shape)
  local values = {}
  for i = 1, size_of(shape) do values[i] = from_either_end(n, random(n)) end
  return { kind = "list", shape = shape, values = values,
    tensor = cr.tensor(nested_table(shape, function(i) return values[i] end),
      list_dtypes[random(#list_dtypes)]) }
end

local function random_mask(shape)
  local values = {}
  for i = 1, size_of(shape) do values[i] = random(2) == 1 end
  local tensor = #values == 0 and cr.zeros(shape, "bool")
    or cr.tensor(nested_table(shape, function(i) return values[i] end), "bool")
  return { kind = "mask", shape = shape, values = values, tensor = tensor }
end

-- A random key for some leading axes, in two forms: for plain_array.selected, and as users write
-- it.
local function random_key(shape)
  local key, lua_key, axis, length, pick_count = {}, {}, 1, nil, 0
  local axes = random(#shape)
  local with_lists, is_single_list = random(2) == 1, random(4) == 1
  while axis <= axes do
    local n, item, lua_item = shape[axis], nil, nil
    local kind = random(6)
    if kind <= 2 and n > 0 then
      item = { kind = "position", at = from_either_end(n, random(n)) }
      lua_item = item.at
    elseif kind == 3 and n > 0 and with_lists then
      length = length or random(3)
      local list_shape = { random(4) == 1 and 1 or length }
      if is_single_list and axis == axes and pick_count == 0 then list_shape = { 2, length } end
      item = random_list(n, list_shape)
      lua_item, pick_count = item.tensor, pick_count + 1
    elseif kind == 4 and n > 0 and with_lists and pick_count == 0 and axis == axes then
      local last = random(axis, #shape)
      item = random_mask({ table.unpack(shape, axis, last) })
      lua_item, pick_count, axis = item.tensor, pick_count + 1, last
    else
      item = { kind = "range", range = random_range(n) }
      lua_item = item.range
    end
    key[#key + 1], lua_key[#lua_key + 1] = item, lua_item
    axis = axis + 1
  end
  local is_single = #key == 1 and key[1].kind ~= "range" and random(2) == 1
  return key, is_single and lua_key[1] or lua_key
end

local function random_shape(least_size)
  local shape = {}
  for i = 1, random(4) do shape[i] = random(12) == 1 and least_size == 0 and 0 or random(4) end
  return shape
end

local dtypes = { "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64",
  "uint8", "bool", "string" }

local function random_value(dtype)
  if dtype == "bool" then return random(2) == 1 end
  if dtype == "string" then return ("abcdef"):sub(random(3), 2 + random(4)) end
  return dtype:find "float" and random(100) / 4 or random(100)
end

local function random_array(shape, dtype)
  local values = {}
  for i = 1, size_of(shape) do values[i] = random_value(dtype) end
  local array = plain_array.new(shape, values)
  if size_of(shape) == 0 then return cr.zeros(shape, dtype), array end
  return cr.tensor(table_of(array), dtype), array
end

local function as_table(part) return type(part) == "userdata" and part:totable() or part end
local function key_text(key)
  return cr.show(key):gsub("\n", " ")
end

-- ---- reads and writes, through views ------------------------------------------------------------

-- A random view of a tensor (a row, adjacent rows, or another shape) and of its plain array.
local function random_view(tensor, array)
  local shape, kind = array.shape, random(3)
  if kind == 1 and #shape > 1 and shape[1] > 0 then
    local row = random(shape[1])
    return tensor[row], selected_part(array, { { kind = "position", at = row } })
  end
  if kind == 2 and #shape > 0 and shape[1] > 0 then
    local a, b = random(shape[1]), random(shape[1])
    if a > b then a, b = b, a end
    return tensor[{ { a, b } }], selected_part(array, { { kind = "range", range = { a, b } } })
  end
  local flat = { size_of(shape) }
  return tensor:reshape(flat), { shape = flat, indices = array.indices, values = array.values }
end

-- A random part of a tensor of two or more axes, whose elements are often not contiguous, and of
-- its plain array.
local function random_block(tensor, array)
  local key, lua_key = {}, {}
  for axis, size in ipairs(array.shape) do
    local a, b = random(size), random(size)
    if a > b then a, b = b, a end
    key[axis], lua_key[axis] = { kind = "range", range = { a, b } }, { a, b }
  end
  return tensor[lua_key], selected_part(array, key)
end

-- A random value to assign: a number, a table or a tensor of that shape, or one that broadcasts to
-- it.
local function random_value_for(shape, dtype)
  if random(3) == 1 or #shape == 0 then
    local value = random_value(dtype)
    return value, function() return value end
  end
  local first = random(#shape)
  local value_shape = { table.unpack(shape, first) }
  local value, array = random_array(value_shape, dtype)
  if random(2) == 1 and size_of(value_shape) > 0 then value = value:totable() end
  return value, function(i) return array.values[(i - 1) % size_of(value_shape) + 1] end
end

local read_count, write_count = 0, 0
for round = 1, 500 do
  local dtype = dtypes[random(#dtypes)]
  local tensor, array = random_array(random_shape(0), dtype)
  local views = { { tensor, array } }
  for _ = 1, 2 do views[#views + 1] = { random_view(table.unpack(views[#views])) } end
  for _ = 1, 6 do
    local view, view_array = table.unpack(views[random(#views)])
    if #view_array.shape > 0 then
      local key, lua_key = random_key(view_array.shape)
      local part = selected_part(view_array, key)
      local label = string.format("round %d, %s, shape %s, key %s", round, dtype,
        key_text(view_array.shape), key_text(lua_key))
      if not (math.type(lua_key) == "integer" and #view_array.shape == 0) then
        local value = view[lua_key]
        check.same(as_table(value), table_of(part), label)
        if type(value) == "userdata" then check.same(value.shape, part.shape, label) end
        read_count = read_count + 1
      end
      local assigned_value, value_at = random_value_for(part.shape, dtype)
      view[lua_key] = assigned_value
      for i, index in ipairs(part.indices) do part.values[index] = value_at(i) end
      for _, view_pair in ipairs(views) do check.same(view_pair[1]:totable(),
        table_of(view_pair[2]), label) end
      write_count = write_count + 1
    end
  end
end

-- ---- writes through copies of elements that are not contiguous ----------------------------------

for round = 1, 300 do
  local dtype = dtypes[random(#dtypes)]
  local tensor, array
  repeat tensor, array = random_array(random_shape(0), dtype) until #array.shape > 1
    and size_of(array.shape) > 0
  local parts = { { tensor, array } }
  for _ = 1, random(3) do
    local last_tensor, last_array = table.unpack(parts[#parts])
    local is_block = #last_array.shape > 1 and random(3) > 1
    parts[#parts + 1] = { (is_block and random_block or random_view)(last_tensor, last_array) }
    if type(parts[#parts][1]) ~= "userdata" then parts[#parts] = nil end
  end
  for _ = 1, 4 do
    local part, part_array = table.unpack(parts[random(#parts)])
    if #part_array.shape > 0 then
      local key, lua_key = random_key(part_array.shape)
      local selected = selected_part(part_array, key)
      local value, value_at = random_value_for(selected.shape, dtype)
      part[lua_key] = value
      for i, index in ipairs(selected.indices) do selected.values[index] = value_at(i) end
      local label = string.format("round %d, %s, shape %s, key %s", round, dtype,
        key_text(part_array.shape), key_text(lua_key))
      check.same(part:totable(), table_of(part_array), label)
      check.same(tensor:totable(), table_of(array), label)
      write_count = write_count + 1
    end
  end
end

do
  local matrix = cr.zeros { 4, 4 }
  matrix[{ { 1, 2 }, { 1, 2 } }][1] = 7
  check.same(matrix[1]:totable(), { 7, 7, 0, 0 })
  local column = matrix[{ {}, 1 }]
  matrix[2] = 5
  column[3] = 9
  check.same(column:totable(), { 7, 5, 9, 0 }, "a write reads what was written elsewhere")
  check.same(matrix[{ {}, 1 }]:totable(), { 7, 5, 9, 0 })
  local own_column = matrix[{ {}, 1 }]:clone()
  own_column[1] = 100
  matrix[cr.tensor({ 1, 2 }, "int32")][1] = 100
  check.same(matrix[1][1], 7, "copies by lists and clones are tensors of their own")
  local variable = cr.Variable(cr.ones { 2, 2 })
  local weights = variable.value[{ {}, 1 }]
  check.fails(function() weights[1] = 0 end, "clone()")
  check.same(weights:totable(), { 1, 1 }, "a refused write changes nothing")
end
assert(read_count > 1000 and write_count > 1000, read_count .. " reads, " .. write_count
  .. " writes")

-- ---- gradients and compiled reads --------------------------------------------------------------

local function loss_of(x, lua_key, weights) return cr.ops.sum(weights * x[lua_key] ^ 2) end

for round = 1, 60 do
  local shape = random_shape(1)
  local x, array = random_array(shape, "float64")
  local key, lua_key = random_key(shape)
  local part = selected_part(array, key)
  local label = string.format("round %d, shape %s, key %s", round, key_text(shape),
    key_text(lua_key))
  local weights = random_array(part.shape, "float64")
  local tape = cr.GradientTape(function(tape)
    tape:watch(x)
    TARGET = loss_of(x, lua_key, weights)
  end)
  local gradient, numeric, h = tape:gradient(TARGET, x), cr.zeros(shape, "float64"), 1e-3
  local flat = numeric:reshape { -1 }
  for i = 1, size_of(shape) do
    local moved_x, moved_losses = x:clone(), {}
    for sign = -1, 1, 2 do
      moved_x:reshape({ -1 })[i] = x:reshape({ -1 })[i] + sign * h
      moved_losses[sign] = loss_of(moved_x, lua_key, weights):item()
    end
    flat[i] = (moved_losses[1] - moved_losses[-1]) / (2 * h)
  end
  if gradient then
    check.near(gradient, numeric, 1e-6, label)
  else
    assert(size_of(part.shape) == 0, label)
  end
  local has_masks = false
  for _, item in ipairs(key) do has_masks = has_masks or item.kind == "mask" end
  if size_of(part.shape) > 0 then
    local compiled_read = cr.compiled(function(y) return y[lua_key] * 1 end)
    check.same(as_table(compiled_read(x)), table_of(part), label)
  end
end
TARGET = nil

-- ---- cases that are written by hand ------------------------------------------------------------

local t = cr.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
assert(t[{ 1, 2 }] == 2 and t[{ -1, -1 }] == 6)
check.same(t[{ {}, 2 }]:totable(), { 2, 5 })
check.same(t[{ { 1, 2 }, { 2, 3 } }]:totable(), { { 2, 3 }, { 5, 6 } })
check.same(t[{ {}, { -1, 1, -2 } }]:totable(), { { 3, 1 }, { 6, 4 } })
check.same(t[{ {}, { 2 } }]:totable(), { { 2 }, { 5 } })
check.same(t[cr.tensor({ 2, 2, 1 }, "int32")]:totable(), { { 4, 5, 6 }, { 4, 5, 6 }, { 1, 2, 3 } })
check.same(t[t:greater(2)]:totable(), { 3, 4, 5, 6 })
check.same(t[{ cr.tensor({ 1, 2 }, "int32"), cr.tensor({ 3, 1 }, "int32") }]:totable(), { 3, 4 })
check.same(cr.tensor(7)[{}], 7)
t[t:greater(2)] = 0
check.same(t:totable(), { { 1, 2, 0 }, { 0, 0, 0 } })
t[2] = 9
t[1][3] = 8
check.same(t:totable(), { { 1, 2, 8 }, { 9, 9, 9 } })
t[{ {}, { 2, 3 } }] = t[{ {}, { 1, 2 } }] -- source and target share memory
check.same(t:totable(), { { 1, 1, 2 }, { 9, 9, 9 } })
t[{ { 1 } }] = t[{ { 2 } }]
check.same(t[1]:totable(), { 9, 9, 9 })
local integers = cr.zeros({ 2 }, "int64")
integers[1] = 9007199254740993
assert(integers[1] == 9007199254740993)
for dtype, numbers in pairs {
  int32 = { 2.7, -2147483649, 2147483648, 1e30, 0 / 0, 1 / 0, { 1, 2.5 } },
  uint8 = { 300, -1, 0.5, { 0, 256 } },
  int8 = { 128, -129 },
  int64 = { 2.0 ^ 63, 1e30 },
} do
  for _, number in ipairs(numbers) do
    local integers = cr.tensor({ 5, 6 }, dtype)
    local function assign() integers[type(number) == "table" and { {} } or 2] = number end
    check.fails(assign, "an element of " .. dtype .. " is an integer that fits, got")
    check.same(integers:totable(), { 5, 6 })
  end
end
local uint8_tensor = cr.tensor({ 0, 0, 0, 0 }, "uint8")
uint8_tensor[1], uint8_tensor[2], uint8_tensor[3], uint8_tensor[4] = 255, 2.0, true, cr.tensor(2.7)
check.same(uint8_tensor:totable(), { 255, 2, 1, 2 })
local complex_tensor = cr.ops.cast(cr.tensor { 1, 2, 3 }, "complex64")
  * cr.ops.view_as_complex { 1, 2 }
complex_tensor[1] = complex_tensor[3]
complex_tensor[{ { 2, 3 } }] = complex_tensor[{ { 2, 3 } }]:totable()
check.same(complex_tensor:totable(), { { 3, 6 }, { 2, 4 }, { 3, 6 } })
complex_tensor[{ { 1, 2 } }] = { 7, 8 }
check.same(complex_tensor:totable(), { { 7, 0 }, { 8, 0 }, { 3, 6 } })
check.fails(function() complex_tensor[1] = cr.tensor { 1, 2 } end, "(2,)")
local scalar = cr.tensor(3)
scalar[{}] = 4
assert(scalar:item() == 4)
local copy = t:clone()
copy[1] = 0
check.same(t[1]:totable(), { 9, 9, 9 })
local copy_by_op = cr.ops.copy(t)
copy_by_op[1] = 0
check.same(t[1]:totable(), { 9, 9, 9 })

-- a function of map writes into tensors that it made
local written_rows = {}
for row in cr.data.from_tensor_slices(cr.zeros { 2, 3 }):map(function(x)
  local y = x:clone()
  y[2] = 5
  return y
end):elements() do written_rows[#written_rows + 1] = row:totable() end
check.same(written_rows, { { 0, 5, 0 }, { 0, 5, 0 } })

-- ---- elements of variables: the variable gets a new tensor, the old one stays -------------------

local v = cr.Variable(cr.tensor { { 1, 2 }, { 3, 4 } }, { name = "v" })
local old_value = v.value
v[1] = 7
v[{ {}, 2 }] = cr.tensor { 5, 6 }
check.same(v:totable(), { { 7, 5 }, { 3, 6 } })
check.same(old_value:totable(), { { 1, 2 }, { 3, 4 } })
local doubled_v = cr.compiled(function() return v * 2 end)
check.same(doubled_v():totable(), { { 14, 10 }, { 6, 12 } })
v[{ 2, 1 }] = -1
check.same(doubled_v():totable(), { { 14, 10 }, { -2, 12 } })
check.fails(function() v.value[1] = 0 end, "variable", "clone()")
local initial_tensor = cr.ones { 2 }
local variable = cr.Variable(initial_tensor)
initial_tensor[1] = 3
check.same(variable:totable(), { 1, 1 })
local assigned_tensor = cr.ones { 2 }
variable:assign(assigned_tensor)
check.fails(function() assigned_tensor[1] = 3 end, "variable", "clone()")
check.same(variable:totable(), { 1, 1 })
variable:assign { 2, 2 }
assigned_tensor[1] = 3 -- allowed now, since the variable no longer uses this tensor
check.same(variable:totable(), { 2, 2 })

-- the prepacked weight is updated after the assignment
local dense = cr.layers.Dense(2, { use_bias = false })
local model = cr.Sequential { cr.layers.Input { shape = { 3 } }, dense }
local x = cr.ones { 4, 3 }
model:predict(x, { verbose = 0 })
dense.kernel[{}] = 0
dense.kernel[{ 1, 2 }] = 5
check.same(model:predict(x, { verbose = 0 })[1]:totable(), { 0, 5 })

-- ---- writes are refused to tensors whose values compiled programs or tapes use -----------------

local constant, scale = cr.tensor { 1, 2, 3 }, cr.tensor { 10, 10, 10 }
local add_constants = cr.compiled(function(y) return y + constant, y * (scale * 2) end)
constant[1] = 4 -- allowed, since the function is not traced yet
check.same(add_constants(cr.zeros { 3 }):totable(), { 4, 2, 3 })
check.fails(function() constant[1] = 0 end, "compiled program", "clone()")
check.fails(function() scale[1] = 0 end, "compiled program", "clone()")
local view = constant:reshape { 3, 1 }
check.fails(function() view[1] = 0 end, "compiled program")
add_constants = nil
collectgarbage()
collectgarbage()
constant[1] = 0 -- allowed, since the compiled program no longer exists
check.same(view:totable(), { { 0 }, { 2 }, { 3 } })

check.fails(function()
  cr.compiled(function(y)
    y[1] = 0
    return y
  end)(cr.zeros { 2 })
end, "program", "slice_update", "where")
check.fails(function()
  cr.GradientTape(function() constant[1] = 1 end)
end, "tape", "slice_update")
local squares
local tape = cr.GradientTape(function() squares = constant ^ 2 end, constant)
check.near(tape:gradient(squares, constant), { 0, 4, 6 })
constant[2] = 100
check.fails(function() tape:gradient(squares, constant) end, "written", "clone()")

-- several ops that read the same indices do not count as writes
local rows, ids = cr.tensor({ { 1, 2 }, { 3, 4 }, { 5, 6 } }), cr.tensor({ 2, 0 }, "int32")
local product
tape = cr.GradientTape(function()
  product = cr.ops.take(rows, ids, 0) * cr.ops.take(rows, ids, 0)
end, rows)
check.near(tape:gradient(product, rows), { { 2, 4 }, { 0, 0 }, { 10, 12 } })

-- on a tape, an element of a watched tensor is a tensor, and an element of another tensor a number
cr.GradientTape(function(tape)
  assert(type(constant[1]) == "number")
  tape:watch(constant)
  assert(type(constant[1]) == "userdata")
end)

-- ---- tensors from mapped files cannot be changed ------------------------------------------------

local path = check.temporary ".npy"
cr.data.write_npy(path, cr.tensor { { 1, 2 }, { 3, 4 } })
local mapped_tensor = cr.data.open(path)
check.fails(function() mapped_tensor[1] = 0 end, path, "clone()")
local mapped_copy = mapped_tensor:clone()
mapped_copy[1] = 0
check.same(mapped_tensor[1]:clone():totable(), { 1, 2 })
os.remove(path)

-- ---- errors for invalid keys and values ---------------------------------------------------------

t = cr.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
local integer_tensor = function(list) return cr.tensor(list, "int32") end
for _, wrong_key in ipairs {
  { { 0, 1 }, "position 0", "axis 0", "(2, 3)", "count from 1" },
  { { 1, 4 }, "position 4", "axis 1", "count from 1" },
  { { {}, { 0, 2 } }, "0 to 2", "axis 1" },
  { { {}, { 1, 4 } }, "1 to 4", "axis 1", "both ends" },
  { { {}, { 3, 1 } }, "3 to 1", "axis 1" },
  { { {}, { 1, 3, 0 } }, "step", "0" },
  { { {}, { 1, 2, 1, 1 } }, "first, last, step", "4 numbers" },
  { { 1, 2, 3 }, "3 axes", "(2, 3)", "list of rows" },
  { integer_tensor { 1, 3 }, "position 3", "axis 0", "(2, 3)" },
  { integer_tensor { 0 }, "position 0", "count from 1" },
  { cr.tensor { 1, 2 }, "dtype of integers", "float32" },
  { cr.tensor { true, false, true }, "mask of shape (3,)", "(2, 3)" },
  { { "x" }, "position", '"x"' },
  { { 1.5 }, "integer", "1.5" },
  { true, "position", "true" },
} do
  check.fails(function() return t[wrong_key[1]] end, table.unpack(wrong_key, 2))
  check.fails(function() t[wrong_key[1]] = 0 end, table.unpack(wrong_key, 2))
end
check.fails(function() t[0] = 1 end, "position 0")
check.fails(function() t[3] = 1 end, "position 3", "axis 0")
check.fails(function() t[1] = { 1, 2 } end, "(2,)", "(3,)")
check.fails(function() t[1] = nil end, "nil")
check.fails(function() t[1] = "one" end, '"one"')
check.fails(function() t.x = 1 end, "'x'", "cannot be set")
check.fails(function() cr.tensor(3)[1] = 2 end, "item()")
check.same(t:totable(), { { 1, 2, 3 }, { 4, 5, 6 } })

-- ---- keys of symbols ----------------------------------------------------------------------------

local i = cr.Input { shape = { 3, 4 } }
local part_model = cr.Model { inputs = i, outputs = i[{ {}, 2, { -1, 1, -2 } }] }
local values = cr.random.normal { 2, 3, 4 }
check.same(part_model(values):totable(), values[{ {}, 2, { -1, 1, -2 } }]:totable())
check.same(i[{ {}, integer_tensor { 3, 1 } }].shape, { -1, 2, 4 })
check.fails(function() return i[{ {}, 4 }] end, "position 4", "axis 1")
print "ok indexing"
