-- cr.dtype_policies.DTypePolicyMap: policies by the paths of layers, also of layers inside a layer,
-- in configurations and in files.
local cr = require "crescent"
local script_folder = arg and arg[0]:match "^(.*)/" or "tests/shell/layers"
package.path = script_folder .. "/../support/?.lua;" .. package.path
local check = require "check"
local DTypePolicyMap = cr.dtype_policies.DTypePolicyMap

local map = DTypePolicyMap { default_policy = "float32",
  policy_map = { ["heads/.*"] = "mixed_bfloat16",
    ["heads/value"] = cr.dtype_policies.DTypePolicy "mixed_float16" } }
assert(map.name == "map_float32" and map.compute_dtype == "float32")
local input = cr.Input { shape = { 4, 6 } }
local heads = cr.layers.MultiHeadAttention(2, 3, { name = "heads", dtype = map })
local model = cr.Model { inputs = input, outputs = heads(input, input) }

--- Checks the dtypes of the layer "heads" and of the layers inside it.
local function expect_dtypes(model_with_heads)
  local layer = model_with_heads:get_layer "heads"
  assert(layer.compute_dtype == "float32")
  for _, sublayer in ipairs(layer.sublayers) do
    assert(sublayer.compute_dtype == (sublayer.name == "value" and "float16" or "bfloat16"),
      sublayer.name)
    assert(sublayer.variable_dtype == "float32")
  end
end

expect_dtypes(model)
local x = cr.random.normal({ 2, 4, 6 }, { seed = 1 })
local json = model:to_json { target = "keras3" }
assert(json:find('"class_name": "DTypePolicyMap", "config": {"default_policy": "float32"', 1, true))
for _, ending in ipairs { ".keras", ".h5" } do
  local path = check.temporary(ending)
  model:save(path)
  local model_with_heads = cr.models.load_model(path)
  os.remove(path)
  expect_dtypes(model_with_heads)
  check.same(model_with_heads:predict(x):totable(), model:predict(x):totable())
  assert(model_with_heads:to_json { target = "keras3" } == json)
end
expect_dtypes(cr.models.clone_model(model))

check.fails(function()
  local conflicting_map = DTypePolicyMap { policy_map = { ["a.*"] = "float16",
    [".*a"] = "bfloat16" } }
  cr.layers.Dense(2, { name = "aa", dtype = conflicting_map }):build { 1, 3 }
end, "DTypePolicyMap: expected one expression that matches the path 'aa'")
check.fails(function() DTypePolicyMap { default_policy = map } end, "a DTypePolicyMap")
check.fails(function() DTypePolicyMap { policy_map = { a = "float3" } } end, "float3")
check.fails(function() DTypePolicyMap { policy_map = { a = "int8_from_float32" } } end,
  "DTypePolicyMap", "'a'")
check.fails(function()
  cr.layers.Dense(2, { dtype = { class_name = "DTypePolicyMap",
    config = { default_policy = "float32", policy_map = { a = "int8_from_float32" } } } })
end, "DTypePolicyMap: policy of 'a'", "int8_from_float32")
do -- entries are added to a map after it was made
  local filled_map = DTypePolicyMap()
  filled_map["mha/.*"] = "mixed_bfloat16"
  filled_map["mha/value"] = cr.dtype_policies.DTypePolicy "mixed_float16"
  check.same(#filled_map, 2)
  check.same(filled_map:keys(), { "mha/.*", "mha/value" })
  check.same(filled_map["mha/query"].name, "mixed_bfloat16")
  check.same(filled_map["mha/value"].name, "mixed_float16")
  check.same(filled_map["other/value"].name, "float32")
  check.same(filled_map.default_policy.name, "float32")
  local mha = cr.layers.MultiHeadAttention(2, 3, { name = "mha", dtype = filled_map })
  mha:build { { 1, 4, 6 }, { 1, 4, 6 } }
  check.same(mha.query_dense.compute_dtype, "bfloat16")
  check.same(mha.value_dense.compute_dtype, "float16")
  check.fails(function() filled_map["mha/value"] = "float32" end, "'mha/value' already exists")
  check.fails(function() filled_map.x = 123 end, "dtype")
  filled_map["mha/v.*"] = "float64"
  check.fails(function() return filled_map["mha/val"] end, "matches several", "mha/.*, mha/v.*")
  check.same(filled_map:pop "mha/v.*".name, "float64")
  check.fails(function() filled_map:pop "mha/v.*" end, "no policy under 'mha/v.*'")
  filled_map["mha/value"] = nil
  check.same(#filled_map, 1)
  local copy = cr.dtype_policies.deserialize(cr.dtype_policies.serialize(filled_map))
  assert(copy == filled_map and copy ~= DTypePolicyMap())
end
print "ok policy maps"
