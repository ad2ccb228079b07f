-- Completions of a value that is being typed: values of options and arguments, names of layers and
-- logs, and keys. Where this library finds no strings, the prompt completes names of files.
local cr, shell = ...
local typed_call = shell.library "prompt/typed_call"
local typed_value = shell.library "prompt/typed_value"

-- Adds the names by which configurations refer to the classes of a kind, such as "relu".
local function add_names_of_kind(candidates, kind)
  for _, namespace in next, cr do
    local description = type(namespace) == "table" and cr.describe(namespace)
    if description and description.what == "namespace" and description.kind == kind then
      for _, name in ipairs(description.names) do
        local class = cr.describe(namespace[name])
        local aliases = class and class.aliases or {}
        for _, alias in ipairs(#aliases > 0 and aliases or { name }) do
          candidates[alias] = { namespace[name] }
        end
      end
    end
  end
end

-- Calls visit(model) for each variable that holds a model.
local function each_model(visit)
  local function visit_value(value)
    local description = type(value) == "userdata" and cr.describe(value)
    if description and description.what == "model" then visit(value) end
  end
  for _, value in next, shell.variables do visit_value(value()) end
  for _, value in next, _G do visit_value(value) end
end

-- Adds the names of the logs of all models in variables; callbacks can monitor these logs.
local function add_logs(candidates)
  each_model(function(model)
    for _, name in ipairs(model.metrics_names) do
      candidates[name], candidates["val_" .. name] = "while training", "on validation data"
    end
  end)
  candidates.loss, candidates.val_loss = "while training", "on validation data"
end

local function add_layers(candidates, model)
  local ok, layers = pcall(function() return model.layers end)
  if not ok or type(layers) ~= "table" then return end
  for _, layer in ipairs(layers) do candidates[layer.name] = { layer } end
end

-- What the documentation of an option says of one of its values: `"same": padding so that ...`,
-- `smaller ("min")`, `"auto" decides by the name`; "" if it says nothing.
local function meaning_of(value, doc)
  local name = value:gsub("%p", "%%%0")
  local quoted = "\"" .. name .. "\""
  local words = doc:match("%f[\"]" .. quoted .. ": ([^;\"]+)")
    or doc:match("%f[%w]" .. name .. ": ([^,;\"]+)")
    or doc:match(quoted .. " %(([^)]+)%)") or doc:match("([%w-]+) %(" .. quoted .. "%)")
    or doc:match(quoted .. ", (%l[^,;\".]+)")
  if not words then
    words = doc:match(quoted .. " (%l[^;,\".]+)")
    if words and (words:find "^or%f[%W]" or words:find "^and%f[%W]") then words = nil end
  end
  return words and words:gsub("[%s,.]*$", ""):gsub("%s+or$", "") or ""
end

local function add_devices(candidates)
  for _, device in ipairs(cr.config.devices()) do candidates[device.name] = device.doc end
end

-- Adds everything of the module that help finds by its name.
local function add_names_of_module(candidates)
  for _, path in ipairs(shell.library "names".all_paths()) do
    candidates[path:match "[^.]*$"] = path
  end
end

-- Adds the strings that may be the value of the option or argument that `row` describes. `owner` is
-- the object whose method is called; nil if no method is called.
local function add_strings(candidates, row, owner)
  local doc = row.doc or ""
  for _, choice in ipairs(row.choices or {}) do
    candidates[tostring(choice)] = meaning_of(tostring(choice), doc)
  end
  if row.type == "anything" and not row.kind then
    for word in doc:gmatch "\"([%w_]+)\"" do candidates[word] = meaning_of(word, doc) end
  end
  if row.kind then add_names_of_kind(candidates, row.kind) end
  local type_text = row.type or ""
  if type_text:find "dtype" or row.name == "dtype" then
    for _, dtype in ipairs(shell.dtypes()) do candidates[dtype] = "a dtype" end
  end
  if type_text:find "policy" then
    for _, policy in ipairs { "mixed_bfloat16", "mixed_float16" } do
      candidates[policy] = "a policy"
    end
  end
  if type_text:find "device" then add_devices(candidates) end
  if row.name == "monitor" then add_logs(candidates) end
  local is_layer = type_text:find "layer" or row.name == "layers"
  if owner ~= nil and is_layer then add_layers(candidates, owner) end
end

local function row_named(rows, name)
  for _, row in ipairs(rows or {}) do
    if row.name == name then return row end
  end
end

-- Whether the text ends in the name of a method, as in "model:fit".
local function is_method(callee) return callee:find ":%s*[%w_]+$" ~= nil end

-- The name of the argument or option at a position. The object of a method is not counted.
local function name_at(description, call)
  if description.what == "function" and #(description.arguments or {}) > 0 then
    local row = description.arguments[call.position + (is_method(call.callee) and 1 or 0)]
    return row and row.name
  end
  local position = 0
  for _, row in ipairs(description.options or {}) do
    if not row.keyword_only then position = position + 1 end
    if position == call.position then return row.name end
  end
end

-- The row that describes the option or argument of the call. Rows of options are preferred, because
-- they contain more.
local function row_of(description, call)
  local name = call.name or name_at(description, call)
  return row_named(description.options, name) or row_named(description.arguments, name)
end

-- Adds the keys of a table that are strings.
local function add_keys(candidates, value)
  if type(value) ~= "table" then return end
  for key, field in next, value do
    if type(key) == "string" then candidates[key] = { field } end
  end
end

-- What is known of the object before the colon of a call; nil if no method is called.
local function owner_of(callee)
  local object_text = callee:match "^(.*):%s*[%w_]+$"
  local object_type = object_text and typed_value.at_end(object_text)
  return object_type and object_type.value
end

local values = {}

--- Returns a table of the strings that may follow the text, each with its description.
function values.strings(text)
  local candidates = {}
  local call = typed_call.argument(text)
  local callee_type = call and typed_value.at_end(call.callee)
  if not callee_type then return candidates end
  if call.is_key then
    add_keys(candidates, callee_type.value)
  elseif rawequal(callee_type.value, cr.help) then
    add_names_of_module(candidates)
  elseif rawequal(callee_type.value, require) then
    add_keys(candidates, package.loaded)
  else
    local description = typed_value.description(callee_type)
    local row = description and row_of(description, call)
    if row then add_strings(candidates, row, owner_of(call.callee)) end
  end
  return candidates
end

--- Returns a table of the values, as they are written in Lua, that an option may have whose name
--- and "=" end the text, each with its description.
function values.literals(text)
  local candidates = {}
  local call = text:find "[%w_]%s*=%s*$" and typed_call.argument(text)
  local description = call and call.name
    and typed_value.description(typed_value.at_end(call.callee))
  local row = description and row_of(description, call)
  if not row then return candidates end
  local strings, doc = {}, row.doc or ""
  add_strings(strings, row, owner_of(call.callee))
  for word, help in next, strings do candidates['"' .. word .. '"'] = help end
  for number in doc:gmatch "%f[%w](%d+): " do candidates[number] = meaning_of(number, doc) end
  if row.type == "a boolean" or row.type == "true or false" then
    candidates["true"], candidates["false"] = doc, ""
  end
  return candidates
end

return values
