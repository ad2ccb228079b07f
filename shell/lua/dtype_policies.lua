-- cr.dtype_policies: a policy consists of the dtype in which a layer computes and the dtype of its
-- weights. It is a table, as in a configuration, and is accepted as the dtype of layers:
-- cr.layers.Dense(3, {dtype = cr.dtype_policies.DTypePolicy "mixed_bfloat16"}).
local cr, shell = ...
local policies = {}
local weight_modes = { int8 = true, int4 = true }
local policy_named

local Policy = { __name = "DTypePolicy" }
Policy.__index = Policy

--- Policies of one name are equal.
function Policy.__eq(a, b)
  return getmetatable(a) == getmetatable(b) and a.name == b.name
end

function Policy:__tostring() return "<" .. self.class_name .. " \"" .. self.name .. "\">" end

--- The options of the policy.
function Policy:get_config()
  local config = {}
  for name, value in pairs(self.config) do config[name] = value end
  return config
end

--- Policies by paths. Reading map[path] gives the policy for a path, as a layer finds it;
--- map[path] = policy adds one, map[path] = nil removes it.
local PolicyMap = { __name = "DTypePolicyMap", __tostring = Policy.__tostring }
local map_methods = { get_config = Policy.get_config }

--- The policy for weights quantized by `mode`, such as "int8"; the dtypes are those of the policy
--- `source_name`.
local function quantized_policy(mode, source_name)
  local policy = policy_named(source_name)
  if not weight_modes[mode:match "^[^/]*"] then
    shell.fail("no way to keep weights in few bits is '", mode, "'")
  end
  if mode == "int8" and policy.compute_dtype == "float16" then
    shell.fail("Quantization mode='int8' doesn't work well with compute_dtype='float16'.")
  end
  return setmetatable({
    class_name = mode:find "^int4/" and "Int4DTypePolicy" or "QuantizedDTypePolicy",
    config = { mode = mode, source_name = policy.name }, name = mode .. "_from_" .. policy.name,
    compute_dtype = policy.compute_dtype, variable_dtype = policy.variable_dtype,
    quantization_mode = mode:match "^[^/]+",
  }, Policy)
end

function policy_named(name)
  local mode, source_name = name:match "^(.-)_from_(.+)$"
  if mode then return quantized_policy(mode, source_name) end
  local compute_name = name:match "^mixed_(.+)$" or name
  local succeeded, sample_tensor = pcall(cr.zeros, {}, compute_name)
  if not succeeded then
    shell.fail("DTypePolicy: ", (tostring(sample_tensor):gsub("^.*argument 'dtype': ", "")))
  end
  local dtype = sample_tensor.dtype
  if compute_name ~= name and dtype ~= "bfloat16" and dtype ~= "float16" then
    shell.fail("DTypePolicy: expected mixed_bfloat16 or mixed_float16, got '", name, "'")
  end
  return setmetatable({
    class_name = "DTypePolicy", config = { name = name }, name = name, compute_dtype = dtype,
    variable_dtype = compute_name ~= name and "float32" or dtype,
  }, Policy)
end

policies.DTypePolicy = shell.define("DTypePolicy -> a dtype policy",
  "The dtype policy of a name: a dtype, mixed_bfloat16 or mixed_float16.", {
  { name = "name", type = "a text", doc = "Name of the policy; nil: that of new layers." },
}, function(name) return policy_named(name or cr.config.dtype_policy()) end)
policies.FloatDTypePolicy = policies.DTypePolicy

for _, class in ipairs { "QuantizedDTypePolicy", "Int4DTypePolicy" } do
  policies[class] = shell.define(class .. " -> a dtype policy",
    "The policy of layers whose largest weight is quantized.", {
    { name = "mode", type = "a text", doc = "\"int8\"." },
    { name = "source_name", type = "a text",
      doc = "The policy of everything that is not quantized; nil: that of new layers." },
  }, function(mode, source_name)
    return quantized_policy(mode, source_name or cr.config.dtype_policy())
  end)
end

--- The name of a policy of plain dtypes, as an entry of a map; `what` describes it in messages.
local function entry_name(entry, what)
  local policy = policies.get(entry)
  if policy.class_name ~= "DTypePolicy" then
    shell.fail("DTypePolicyMap: ", what, ": expected a dtype or a policy such as ",
      '"mixed_bfloat16", got a ', policy.class_name)
  end
  return policy.name
end

--- The paths and expressions of the map, sorted.
function map_methods:keys()
  local keys = {}
  for key in pairs(self.config.policy_map) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

--- Removes the policy under this key.
--- @return the policy
function map_methods:pop(key)
  local name = self.config.policy_map[key]
  if not name then
    shell.fail("DTypePolicyMap: no policy under '", key, "'",
      shell.did_you_mean(tostring(key), self:keys()))
  end
  self.config.policy_map[key] = nil
  return policy_named(name)
end

function PolicyMap:__index(key)
  if map_methods[key] or type(key) ~= "string" then return map_methods[key] end
  local names, matching_patterns = rawget(self, "config").policy_map, {}
  if key == "default_policy" then return policy_named(self.config.default_policy) end
  if names[key] then return policy_named(names[key]) end
  for _, pattern in ipairs(self:keys()) do
    if shell.matches(pattern, key) then matching_patterns[#matching_patterns + 1] = pattern end
  end
  if #matching_patterns > 1 then
    shell.fail("DTypePolicyMap: path '", key, "' matches several expressions: ",
      table.concat(matching_patterns, ", "))
  end
  return policy_named(names[matching_patterns[1]] or self.config.default_policy)
end

function PolicyMap:__newindex(key, entry)
  if type(key) ~= "string" then
    shell.fail("DTypePolicyMap: expected a path, a text, got ", cr.show(key))
  end
  if entry == nil then return self:pop(key) end
  local names = self.config.policy_map
  if names[key] then
    shell.fail("DTypePolicyMap: '", key, "' already exists with the policy ", names[key])
  end
  names[key] = entry_name(entry, "policy of '" .. key .. "'")
end

function PolicyMap:__len() return #self:keys() end

function PolicyMap.__eq(a, b)
  return getmetatable(a) == getmetatable(b) and cr.show(a.config) == cr.show(b.config)
end

policies.DTypePolicyMap = shell.define("DTypePolicyMap -> a dtype policy",
  "Policies by the paths of layers, such as \"mha/query\" for a layer inside the layer mha. "
    .. "map[path] = policy adds one, map[path] is the policy for a path, #map their number, "
    .. "map:keys() lists paths and expressions, map:pop(path) removes one.", {
  { name = "default_policy", type = "a text or a dtype policy",
    doc = "The policy of layers whose path matches no key; nil: that of new layers." },
  { name = "policy_map", type = "a table with names",
    doc = "Policies by paths, or by regular expressions that match whole paths." },
}, function(default, map)
  default = policies.get(entry_name(default, "default_policy"))
  local names = {}
  for path, entry in pairs(map or {}) do
    names[path] = entry_name(entry, "policy of '" .. path .. "'")
  end
  return setmetatable({
    class_name = "DTypePolicyMap", config = { default_policy = default.name, policy_map = names },
    name = "map_" .. default.name, compute_dtype = default.compute_dtype,
    variable_dtype = default.variable_dtype,
  }, PolicyMap)
end)

--- The policy for a name or a table; nil: the default of new layers.
--- @param identifier a name, a table or a policy
--- @return a dtype policy
function policies.get(identifier)
  if type(identifier) == "table" then return policies.deserialize(identifier) end
  if identifier ~= nil and type(identifier) ~= "string" then
    shell.fail("dtype_policies: expected a dtype or a policy, got ", cr.show(identifier))
  end
  return policies.DTypePolicy(identifier)
end

--- The policy for a result of serialize, or for a table of this form.
--- @param config a table with names
--- @return a dtype policy
function policies.deserialize(config)
  local options = type(config) == "table" and (config.config or config) or {}
  if options.policy_map then
    return policies.DTypePolicyMap {
      default_policy = options.default_policy, policy_map = options.policy_map }
  end
  if options.mode then
    return quantized_policy(options.mode, options.source_name or cr.config.dtype_policy())
  end
  local name = type(config) == "table" and config.name or options.name
  if not name then
    shell.fail("dtype_policies: expected the configuration of a policy, got ", cr.show(config))
  end
  return policy_named(name)
end

--- The class of a policy and its options.
--- @param policy a dtype policy
--- @return a table with names
function policies.serialize(policy)
  shell.expect("table", policy, "serialize", "policy")
  return { class_name = policy.class_name, config = policy.config }
end

return policies
