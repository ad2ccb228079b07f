-- cr.dtype_policies: a policy says in what dtype a layer computes and in what its weights are kept.
-- It is a table, as in a configuration, and is taken where layers take a dtype: cr.layers.Dense(3,
-- {dtype = cr.dtype_policies.DTypePolicy "mixed_bfloat16"}).
local cr, shell = ...
local policies = {}

local function policy_named(name)
  local compute = name:match "^mixed_(.+)$" or name
  local dtype = cr.zeros({}, compute).dtype
  if compute ~= name and dtype ~= "bfloat16" and dtype ~= "float16" then
    shell.fail("no dtype policy '", name, "'")
  end
  return {
    class_name = "DTypePolicy", config = { name = name }, name = name, compute_dtype = dtype,
    variable_dtype = compute ~= name and "float32" or dtype,
  }
end

policies.DTypePolicy = shell.define("DTypePolicy",
  "The policy of a name: a dtype, mixed_bfloat16 or mixed_float16.", {
  { name = "name", type = "a text", doc = "nil: that of layers which are made now." },
}, function(name) return policy_named(name or cr.config.dtype_policy()) end)
policies.FloatDTypePolicy = policies.DTypePolicy

--- The policy of a name, a table of its own, or nil for that of layers which are made now.
function policies.get(identifier)
  if type(identifier) == "table" then return policies.deserialize(identifier) end
  return policies.DTypePolicy(identifier)
end

function policies.deserialize(config)
  local name = type(config) == "table" and (config.name or config.config and config.config.name)
  if not name then
    shell.fail("dtype_policies: expected the configuration of a policy, got ", cr.show(config))
  end
  return policy_named(name)
end

function policies.serialize(policy)
  return { class_name = "DTypePolicy", config = { name = policy.name } }
end

return policies
