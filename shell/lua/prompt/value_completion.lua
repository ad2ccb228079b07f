-- Completions of a string that is being typed: values of options and arguments, names of layers and
-- logs, and keys. Where this library finds nothing, the prompt completes names of files.
local cr, shell = ...
local typed_call = shell.library "prompt/typed_call"

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

-- Adds the values of the option or argument that `row` describes. `owner` is the object whose
-- method is called; nil if no method is called.
local function add_values(candidates, row, owner)
  for _, choice in ipairs(row.choices or {}) do candidates[tostring(choice)] = row.doc end
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
  if row.name == "monitor" then add_logs(candidates) end
  local is_layer = type_text:find "layer" or row.name == "layers"
  if owner ~= nil and is_layer then add_layers(candidates, owner) end
end

local function row_named(rows, name)
  for _, row in ipairs(rows or {}) do
    if row.name == name then return row end
  end
end

-- The name of the argument or option at a position. The object of a method is not counted.
local function name_at(description, call)
  if description.what == "function" then
    local row = (description.arguments or {})[call.position + (call.path:find ":" and 1 or 0)]
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

--- Returns a table of the values that may follow the text as a string, each with its description.
--- `value_of` returns the value at a path.
return function(text, value_of)
  local candidates = {}
  local call = typed_call.argument(text)
  local value = call and value_of(call.path)
  if value == nil then return candidates end
  if call.is_key then
    add_keys(candidates, value)
    return candidates
  end
  local description = cr.describe(value)
  local row = description and row_of(description, call)
  local owner = call.path:match "^(.*):"
  if row then add_values(candidates, row, owner and value_of(owner)) end
  return candidates
end
