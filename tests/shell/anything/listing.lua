-- The listing of everything that can be called is complete, documented, and correct.
package.path = ((arg[0]:match "^(.*)/[^/]*$" or ".") .. "/../support/?.lua;") .. package.path
local check = require "check"
cr = require "crescent"

local listing = cr.listing()

-- ---- the listing contains everything that completion offers

local entry_by_path, members_by_type, parent_by_type = {}, {}, {}
for _, section in ipairs { "functions", "namespaces", "values" } do
  for _, row in ipairs(listing[section]) do entry_by_path[row.path] = row end
end
for _, class in ipairs(listing.classes) do
  for _, name in ipairs { class.name, table.unpack(class.aliases) } do
    entry_by_path[class.kind .. ":" .. name] = class
    entry_by_path[class.path:match "^(.*%.)" .. name] = class
  end
end
for _, type in ipairs(listing.types) do
  local rows_by_name = members_by_type[type.name] or {}
  for _, list in ipairs { type.methods, type.properties } do
    for _, row in ipairs(list) do rows_by_name[row.name] = row end
  end
  members_by_type[type.name] = rows_by_name
  if type.parent ~= type.name then parent_by_type[type.name] = type.parent end
end

local function has_member(type, name)
  return type and (members_by_type[type][name] or has_member(parent_by_type[type], name))
end

local completion_count = 0
local function check_completion(path, is_listed)
  for _, name in ipairs((cr.complete(path))) do
    completion_count = completion_count + 1
    assert(is_listed(name), path .. name .. " is offered, and not listed")
  end
end

local function check_namespace(value, path)
  local info = cr.describe(value)
  check_completion(path .. ".", function(name)
    return entry_by_path[path .. "." .. name] or info and info.kind
      and entry_by_path[info.kind .. ":" .. name]
  end)
  for key, child in next, value do
    if type(child) == "table" and type(key) == "string" then
      check_namespace(child, path .. "." .. key)
    end
  end
end
check_namespace(cr, "cr")

dense = cr.layers.Dense(2, { input_shape = { 3 } })
model = cr.Sequential { dense }
model:compile { optimizer = "adam", loss = "mse", metrics = { "mae" } }
objects = { layer = dense, model = model, optimizer = model.optimizer,
  loss = cr.losses.MeanSquaredError(), metric = cr.metrics.Mean(),
  callback = cr.callbacks.TerminateOnNaN(),
  dataset = cr.data.dataset(cr.zeros { 4, 3 }), tensor = cr.zeros { 2 },
  variable = dense.weights[1], symbol = cr.Input { shape = { 2 } }, class = cr.layers.Dense }
for name, object in pairs(objects) do
  local class = cr.describe(object).class
  local class_members = {}
  for _, list in ipairs(class and { class.options, class.members } or {}) do
    for _, row in ipairs(list) do class_members[row.name] = true end
  end
  check_completion("objects." .. name .. ".", function(member)
    return has_member(name, member) or class_members[member]
  end)
  check_completion("objects." .. name .. ":", function(member)
    return has_member(name, member) or class_members[member]
  end)
end
assert(completion_count > 2000, completion_count)

-- ---- every entry has a description

local function check_doc(row, entry_name)
  assert(type(row.doc) == "string" and row.doc ~= "", entry_name .. " has no doc")
end
local function check_types(row, entry_name)
  for _, parameter in ipairs(row.parameters) do
    assert(parameter.type ~= "", entry_name .. " has a parameter without a type: "
      .. parameter.name)
  end
  assert(row.result ~= "", entry_name .. " does not say what it gives")
end
for _, section in ipairs { "functions", "namespaces" } do
  for _, row in ipairs(listing[section]) do check_doc(row, row.path) end
end
for _, row in ipairs(listing.functions) do check_types(row, row.path) end
for _, class in ipairs(listing.classes) do
  check_doc(class, class.name)
  for _, list in ipairs { class.options, class.members } do
    for _, row in ipairs(list) do check_doc(row, class.name .. "." .. row.name) end
  end
end
for _, type in ipairs(listing.types) do
  for _, list in ipairs { type.methods, type.properties } do
    for _, row in ipairs(list) do check_doc(row, type.name .. "." .. row.name) end
  end
  for _, row in ipairs(type.methods) do check_types(row, type.name .. ":" .. row.name) end
end

-- ---- the listing is sorted

for _, section in ipairs { "functions", "namespaces", "values" } do
  for i = 2, #listing[section] do
    assert(listing[section][i - 1].path < listing[section][i].path, listing[section][i].path)
  end
end

-- ---- a call with explicit defaults equals the call without arguments

-- Functions of one tensor, such as sum, softmax and sort.
local x = cr.tensor { { 0.3, 0.7, 0.2 }, { 0.9, 0.1, 0.4 } }
local compared_count = 0
for _, row in ipairs(listing.functions) do
  local name = row.path:match "^cr%.ops%.(%w+)$"
  local first_parameter, defaults = row.parameters[1], {}
  local takes_one_tensor = name and first_parameter and first_parameter.required
    and not first_parameter.variadic
  for i = 2, #row.parameters do
    local parameter = row.parameters[i]
    takes_one_tensor = takes_one_tensor and not parameter.required
    defaults[parameter.name] = parameter.default
  end
  local with_defaults_left_out = takes_one_tensor and next(defaults) ~= nil
    and table.pack(pcall(cr.ops[name], x))
  if with_defaults_left_out and with_defaults_left_out[1] then
    local with_explicit_defaults = table.pack(cr.ops[name](x, defaults))
    compared_count = compared_count + 1
    assert(with_explicit_defaults.n == with_defaults_left_out.n - 1, row.path)
    for i = 1, with_explicit_defaults.n do
      assert(cr.show(with_explicit_defaults[i]) == cr.show(with_defaults_left_out[i + 1]), row.path)
    end
  end
end
assert(compared_count > 30, compared_count)
check.same(cr.random.normal({ 4 }, { seed = 3 }):totable(),
  cr.random.normal({ 4 }, 0.0, 1.0, "float32", 3):totable(), "random.normal")

-- ---- the description of a Lua library function is the comment above it

local flatten = cr.describe(cr.tree.flatten)
assert(flatten.doc == "The list of leaves in order." and flatten.parameters[1] == "structure")
assert(cr.describe(function() end) == nil)

-- ---- parameters that many functions share have texts; what differs by function is told apart

local function text_about(operation, name)
  for _, row in ipairs(members_by_type.operations[operation].parameters) do
    if row.name == name then return row.doc end
  end
end

assert(text_about("quantile", "q"):find "from 0 to 1;")
assert(text_about("nanpercentile", "q"):find "from 0 to 100;")
assert(text_about("sum", "axis"):find "nil: all axes")
assert(text_about("argmax", "axis"):find "^Axis to search.*nil: the flattened tensor")
assert(text_about("cumsum", "axis"):find "^Axis to accumulate.*nil: the flattened tensor")
assert(text_about("add", "x2"):find "^Second operand" and text_about("dot", "x2") == "")
for _, section in ipairs { "functions", "types" } do
  for _, entry in ipairs(listing[section]) do
    for _, row in ipairs(entry.methods or { entry }) do
      for _, parameter in ipairs(row.parameters or {}) do
        local name, doc = parameter.name, parameter.doc
        assert(doc ~= "" or name ~= "keepdims" and name ~= "q", "no text about " .. name)
      end
    end
  end
end

print "ok listing"
