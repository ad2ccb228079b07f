-- The types of objects in the listing, what the texts of results say of them ("a list of tensors"),
-- and what objects of a class have. See typed_value.lua for the tables that describe what is known.
local cr = ...
local types = {}

local types_by_name, sorted_names

-- The types by name. Types of the same name, such as the kinds of models, are combined.
local function all_types()
  if types_by_name then return types_by_name end
  types_by_name, sorted_names = {}, {}
  for _, row in ipairs(cr.listing(true).types) do
    local entry = types_by_name[row.name]
    if not entry then
      local parent = type(row.parent) == "string" and row.parent ~= row.name and row.parent or nil
      entry = { parent = parent, methods = {}, properties = {} }
      types_by_name[row.name], sorted_names[#sorted_names + 1] = entry, row.name
    end
    for _, method in ipairs(row.methods) do entry.methods[method.name] = method end
    for _, property in ipairs(row.properties) do entry.properties[property.name] = property end
  end
  table.sort(sorted_names, function(a, b) return #a > #b or #a == #b and a < b end)
  return types_by_name
end

function types.named(name) return all_types()[name] end

-- Whether the row of a member that a class declares is that of a method.
local function is_method(row) return row.parameters ~= nil end

--- Calls visit(row, is_method) for every member that is known of an object.
function types.each_member(known, visit)
  local entry = not known.is_list and types.named(known.type)
  while entry do
    for _, row in next, entry.methods do visit(row, true) end
    for _, row in next, entry.properties do visit(row, false) end
    entry = types.named(entry.parent)
  end
  for _, row in ipairs(known.class and known.class.members or {}) do visit(row, is_method(row)) end
end

--- The row of the method with this name, or nil and the row of the property.
function types.member(known, name)
  local method, property
  types.each_member(known, function(row, row_is_method)
    if row.name ~= name then return end
    if row_is_method then method = method or row else property = property or row end
  end)
  return method, property
end

--- The description of a method in the form of cr.describe.
function types.described_method(row)
  local names = {}
  for i, parameter in ipairs(row.parameters) do names[i] = parameter.name end
  return {
    what = "function", name = row.name, doc = row.doc, result = row.result, word = row.word,
    signature = row.signature or row.text:gsub(" %->.*", ""), options = row.options,
    parameters = names, arguments = row.parameters,
  }
end

-- The longest name of a type with which the text begins.
local function type_in(text)
  all_types()
  for _, name in ipairs(sorted_names) do
    if text == name or text:sub(1, #name + 1) == name .. " " or text == name .. "s" then
      return name
    end
  end
end

local texts = {}
for _, text in ipairs { "string", "text", "path", "dtype" } do texts[text] = true end

--- What the text of a result or of a property says of its value: "a tensor", "a list of layers".
--- `owner` is the object whose member `name` it is.
function types.of_result(text, owner, name)
  text = (text or ""):match "^[^,]*":gsub("^an? ", ""):gsub("^the ", ""):gsub("^two ", "")
  if texts[text] or texts[text:match "^(.*) or nil$" or text:match "^(.*) or null$"] then
    return { value = "" }
  end
  if text == "object" and types.named(name) then return { type = name } end
  if text == "object" or text:find "^object of the class" then
    local owner_type = owner and (owner.type
      or type(owner.value) == "userdata" and cr.describe(owner.value).what)
    return owner_type and types.named(owner_type)
      and { type = owner_type, class = owner.class, fields = owner.fields } or nil
  end
  local element_text = text:match "^list of (.*)$"
  local may_be_list = text:find " or a list of them$" ~= nil
  local type_name = type_in((element_text or text):gsub("^object of kind ", ""))
  if not type_name then return nil end
  local is_list = element_text ~= nil or may_be_list and (name or ""):find "s$" ~= nil
  return { type = type_name, is_list = is_list, may_be_list = may_be_list }
end

-- Whether a class is cr.Model or derives from it.
local function derives_from_model(class)
  for _ = 1, 20 do
    if rawequal(class, cr.Model) then return true end
    local ok, parent = pcall(function() return class.super end)
    if not ok or type(parent) ~= "table" then return false end
    class = parent
  end
  return false
end

local model_classes = { Sequential = true, Functional = true }

--- What is known of an object of the class with this description, whose value is `class`.
function types.object_of(description, class)
  local is_model = model_classes[description.name] or derives_from_model(class)
  local type_name = is_model and "model" or description.kind
  return {
    type = types.named(type_name) and type_name or "object", class = description,
    fields = type(class) == "table" and class or nil,
  }
end

local model_options = {
  { name = "inputs", type = "a symbol or a list of them",
    doc = "The symbols at which the graph begins." },
  { name = "outputs", type = "a symbol or a list of them",
    doc = "The symbols at which the graph ends." },
  { name = "name", type = "a string", doc = "Name of the model." },
}

--- The description of a base whose call makes an object, which is cr.Model.
function types.of_base(value)
  if not rawequal(value, cr.Model) then return nil end
  return {
    what = "function", name = "Model", doc = "", signature = "Model(options=nil)",
    result = "a model", options = model_options, parameters = {}, arguments = {},
  }
end

return types
