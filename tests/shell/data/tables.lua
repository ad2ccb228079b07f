-- CSV files with a type for each column: tables of arrays, and rows read as they are needed.
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/data"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local cr = require "crescent"

local function write_temporary(text, ending)
  local path = check.temporary(ending or ".csv")
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end
local people_path = write_temporary [[
age,name,height,city,member
31, Ann ,1.5,"Paris, 7",true
42,"Bo ""B""",NA,Oslo,false
23,Cy,2,,true
]]
local function as_list(column) return type(column) == "userdata" and column:totable() or column end
-- Converts a column, a tensor of strings or a list, to a table of strings.
local function strings_of(column)
  local list = {}
  for i, text in ipairs(as_list(column)) do list[i] = text end
  return list
end

do -- the type of a column is found from its values
  local table_, names = cr.data.read_table(people_path)
  check.same(names, { "age", "name", "height", "city", "member" })
  assert(table_.age.dtype == "int32" and table_.height.dtype == "float32")
  check.same(table_.age:totable(), { 31, 42, 23 })
  check.same(strings_of(table_.name), { "Ann", "Bo \"B\"", "Cy" })
  check.same(strings_of(table_.city), { "Paris, 7", "Oslo", "" })
  check.same(strings_of(table_.member), { "true", "false", "true" })
  local heights = table_.height:totable()
  assert(heights[1] == 1.5 and heights[2] ~= heights[2] and heights[3] == 2)
  local selected_table,
    column_order = cr.data.read_table(people_path,
    { columns = { "height", "age" }, types = { age = "float64" }, defaults = { height = -1 } })
  check.same(column_order, { "height", "age" })
  check.same(selected_table.height:totable(), { 1.5, -1, 2 })
  assert(selected_table.age.dtype == "float64" and selected_table.name == nil)
  local bool_table = cr.data.read_table(people_path, { columns = { "member" },
    types = { member = "bool" } })
  check.same(bool_table.member:totable(), { true, false, true })
end

do -- separators, names, no header, other quotes, other missing values, large numbers
  local path = write_temporary "1;'a;b';3000000000\n2;c;-\n"
  local options = { separator = ";", quote = "'", names = { "x", "y", "z" }, na_values = { "-" } }
  local loaded_table = cr.data.read_table(path, options)
  check.same(loaded_table.x:totable(), { 1, 2 })
  check.same(strings_of(loaded_table.y), { "a;b", "c" })
  -- Integers cannot be missing, so a column with missing values becomes float32.
  assert(loaded_table.z.dtype == "float32")
  options.defaults = { z = 7 }
  loaded_table = cr.data.read_table(path, options)
  assert(loaded_table.z.dtype == "int64")
  check.same(loaded_table.z:totable(), { 3000000000, 7 })
  check.same(select(2, cr.data.read_table(path, { separator = ";", quote = "'", header = false })),
    { "column_1", "column_2", "column_3" })
  os.remove(path)
  path = write_temporary("a,b\r\n1,2\r\n\r\n3,4")
  check.same(cr.data.read_table(path).b:totable(), { 2, 4 })
  os.remove(path)
end

do -- errors name the file, the line and the column
  local function check_read_fails(text, options, ...)
    local path = write_temporary(text)
    local words = { path, ... }
    check.fails(function() cr.data.read_table(path, options) end, table.unpack(words))
    check.fails(function() for _ in cr.data.csv_dataset(path, options):elements() do end end,
      table.unpack(words))
    os.remove(path)
  end
  check_read_fails("a,b\n1,2\n3\n", {}, "line 3", "expected 2 columns, got 1")
  check_read_fails("a,b\n1,2\n3,x\n", { types = { b = "int32" } }, "line 3, column 'b'",
    "expected int32, got 'x'")
  check_read_fails("a,b\n1,2\n3,\n", { types = { b = "int32" } }, "line 3, column 'b'", "missing",
    "default")
  check_read_fails("a,b\n1,\"2\n3,4\n", {}, "line 2", "does not end")
  check_read_fails("a,b\n1,\"2\"3\n", {}, "line 2", "expected a separator")
  check_read_fails("a,a\n1,2\n", {}, "two columns are called 'a'")
  check_read_fails("a,b\n1,2\n", { columns = { "c" } }, "no column 'c'", "a, b")
  check_read_fails("a,height\n1,2\n", { label = "heigth" }, "no column 'heigth'",
    "did you mean 'height'?")
  check_read_fails("a,b\n1,2\n", { names = { "x" } }, "expected names of 2 columns, got 1")
  check_read_fails("", {}, "holds no rows")
  check_read_fails("a,b\n", {}, "a header and no rows")
  local path = write_temporary "a,b\n1,2\n"
  check.fails(function() cr.data.read_table(path, { types = { c = "int32" } }) end,
    "types: no column 'c'")
  check.fails(function() cr.data.read_table(path, { types = { a = "int" } }) end,
    "column 'a' cannot be int", "int32")
  check.fails(function() cr.data.read_table(path, { separator = ", " }) end, "one character")
  check.fails(function() cr.data.read_table(path, { seperator = "," }) end, "seperator",
    "did you mean 'separator'?")
  check.fails(function() cr.data.read_table "/nonexistent.csv" end, "/nonexistent.csv")
  os.remove(path)
end

do -- datasets of rows: of one file, of several files, and of gzipped files
  local rows = {}
  for row, label in cr.data.csv_dataset(people_path,
    { label = "age", columns = { "name", "height" }, defaults = { height = 0 } }):elements() do
    rows[#rows + 1] = { row.name, row.height, label }
  end
  check.same(rows, { { "Ann", 1.5, 31 }, { "Bo \"B\"", 0, 42 }, { "Cy", 2, 23 } })
  local more_people_path = write_temporary "age,name,height,city,member\n9,Di,1,Rome,true\n"
  local data = cr.data.csv_dataset({ people_path, more_people_path },
    { columns = { "age", "height" }, defaults = { height = 0 } })
  for _ = 1, 2 do
    local ages = {}
    for row in data:batch(3):elements() do ages[#ages + 1] = row.age:totable() end
    check.same(ages, { { 31, 42, 23 }, { 9 } })
  end
  local other_path = write_temporary "name,age\nEd,9\n"
  check.fails(function()
    for _ in cr.data.csv_dataset({ people_path, other_path },
      { columns = { "age" } }):elements() do end end,
    other_path, "not those of", people_path)
  assert(os.execute("gzip -c '" .. people_path .. "' > '" .. other_path .. ".gz'"))
  check.same(cr.data.read_table(other_path .. ".gz").age:totable(), { 31, 42, 23 })
  assert(os.execute(("head -c 60 '%s.gz' > '%s'"):format(other_path, other_path)))
  check.fails(function() cr.data.read_table(other_path) end, other_path)
  os.remove(other_path .. ".gz")
  os.remove(other_path)
  os.remove(more_people_path)
end

do -- a model trained on a table that is never in memory as a whole
  local lines = { "a,b,y" }
  for i = 1, 400 do
    local a, b = (i * 37 % 100) / 100, (i * 53 % 100) / 100
    lines[#lines + 1] = ("%g,%g,%g"):format(a, b, 2 * a - b)
  end
  local path = write_temporary(table.concat(lines, "\n"))
  local a, b = cr.Input { shape = { 1 }, name = "a" }, cr.Input { shape = { 1 }, name = "b" }
  local model = cr.Model { inputs = { a, b },
    outputs = cr.layers.Dense(1)(cr.layers.Concatenate()({ a, b })) }
  model:compile { optimizer = cr.optimizers.Adam(0.05), loss = "mse" }
  local data = cr.data.csv_dataset(path, { label = "y" }):shuffle(400, { seed = 1 }):batch(20)
    :map(function(x, y) return { a = x.a:reshape { -1, 1 }, b = x.b:reshape { -1, 1 } }, y end,
      { workers = 1 })
  local history = model:fit(data, { epochs = 30, verbose = 0 })
  assert(history.history.loss[30] < 1e-3, history.history.loss[30])
  os.remove(path)
end
os.remove(people_path)
print "ok tables"
