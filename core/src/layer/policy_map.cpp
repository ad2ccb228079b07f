#include "layer/policy_map.h"

#include "crescent/base/pattern.h"

namespace crescent {
namespace {

constexpr const char *kClassName = "DTypePolicyMap", *kDefaultKey = "default_policy",
                     *kMapKey = "policy_map";

bool has_plain_floats(const DTypePolicy& policy) {
  return !DTypePolicy::is_map(policy.name) && Codec<DTypePolicy>::encode(policy).is_string();
}

/// Returns the name of the policy that `entry`, a value of the policy map, encodes. Error messages
/// begin with `what`, which says which value it is.
Value policy_name_in(const Value& entry, const std::string& what) {
  const DTypePolicy policy = Codec<DTypePolicy>::decode(entry);
  if (!has_plain_floats(policy))
    fail(kClassName, ": ", what, ": expected a dtype or a policy such as \"mixed_bfloat16\", got ",
         entry);
  return policy.name;
}

/// The name of the policy for the path of a layer: the policy whose key is this path, else the
/// policy whose key is a regular expression that matches the path, else the default policy.
std::string policy_name_at(const Dict& config, const std::string& path) {
  const Dict& map = config.at(kMapKey).as_dict();
  if (const Value* policy_name = map.find(path)) return policy_name->as_string();
  std::vector<std::string> matching_expressions, policy_names;
  for (const DictEntry& entry : map) {
    if (!Pattern(entry.key, kClassName).matches(path)) continue;
    matching_expressions.push_back("'" + entry.key + "'");
    policy_names.push_back(entry.value.as_string());
  }
  if (matching_expressions.size() > 1)
    fail(kClassName, ": expected one expression that matches the path '", path, "', got ",
         join(matching_expressions));
  return policy_names.empty() ? config.at(kDefaultKey).as_string() : policy_names.front();
}

}  // namespace

bool DTypePolicy::is_map(std::string_view name) { return name.starts_with('{'); }

DTypePolicy policy_map_from(const Dict& config) {
  for (const DictEntry& entry : config)
    if (entry.key != kDefaultKey && entry.key != kMapKey)
      fail(kClassName, ": no option '", entry.key, "'",
           did_you_mean(entry.key, std::vector<std::string>{kDefaultKey, kMapKey}));
  const Value *default_entry = config.find(kDefaultKey), *map = config.find(kMapKey);
  Dict policy_names;
  if (map && !map->is_null())
    for (const DictEntry& entry : Codec<Dict>::decode(*map))
      policy_names.set(entry.key,
                       policy_name_in(entry.value, concat("policy of '", entry.key, "'")));
  const Value default_name = policy_name_in(default_entry ? *default_entry : Value(), kDefaultKey);
  DTypePolicy policy = DTypePolicy::named(default_name.as_string());
  policy.name = to_json(Dict{{kDefaultKey, default_name}, {kMapKey, std::move(policy_names)}});
  return policy;
}

DTypePolicy policy_at(const DTypePolicy& policy, const std::string& path) {
  if (!DTypePolicy::is_map(policy.name)) return policy;
  DTypePolicy resolved_policy =
      DTypePolicy::named(policy_name_at(parse_json(policy.name).as_dict(), path));
  resolved_policy.name = policy.name;
  return resolved_policy;
}

}  // namespace crescent
