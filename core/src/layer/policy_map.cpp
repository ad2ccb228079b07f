#include "layer/policy_map.h"

#include "crescent/base/pattern.h"

namespace crescent {
namespace {

constexpr const char *kClass = "DTypePolicyMap", *kDefault = "default_policy", *kMap = "policy_map";

bool has_plain_floats(const DTypePolicy& policy) {
  return !DTypePolicy::is_map(policy.name) && Codec<DTypePolicy>::encode(policy).is_string();
}

/// The name of a policy in a map; `entry` is described by `what` in messages.
Value policy_name_in(const Value& entry, const std::string& what) {
  const DTypePolicy policy = Codec<DTypePolicy>::decode(entry);
  if (!has_plain_floats(policy))
    fail(kClass, ": ", what, ": expected a dtype or a policy such as \"mixed_bfloat16\", got ",
         entry);
  return policy.name;
}

/// The name of the policy for a path: that of the path itself, that of the only matching
/// expression, or the default policy.
std::string policy_name_at(const Dict& config, const std::string& path) {
  const Dict& map = config.at(kMap).as_dict();
  if (const Value* policy = map.find(path)) return policy->as_string();
  std::vector<std::string> matching, policies;
  for (const DictEntry& entry : map) {
    if (!Pattern(entry.key, kClass).matches(path)) continue;
    matching.push_back("'" + entry.key + "'");
    policies.push_back(entry.value.as_string());
  }
  if (matching.size() > 1)
    fail(kClass, ": expected one expression that matches the path '", path, "', got ",
         join(matching));
  return policies.empty() ? config.at(kDefault).as_string() : policies.front();
}

}  // namespace

bool DTypePolicy::is_map(std::string_view name) { return name.starts_with('{'); }

DTypePolicy policy_map_from(const Dict& config) {
  for (const DictEntry& entry : config)
    if (entry.key != kDefault && entry.key != kMap)
      fail(kClass, ": no option '", entry.key, "'",
           did_you_mean(entry.key, std::vector<std::string>{kDefault, kMap}));
  const Value *default_entry = config.find(kDefault), *map = config.find(kMap);
  Dict names;
  if (map && !map->is_null())
    for (const DictEntry& entry : Codec<Dict>::decode(*map))
      names.set(entry.key, policy_name_in(entry.value, concat("policy of '", entry.key, "'")));
  const Value default_name = policy_name_in(default_entry ? *default_entry : Value(), kDefault);
  DTypePolicy policy = DTypePolicy::named(default_name.as_string());
  policy.name = to_json(Dict{{kDefault, default_name}, {kMap, std::move(names)}});
  return policy;
}

DTypePolicy policy_at(const DTypePolicy& policy, const std::string& path) {
  if (!DTypePolicy::is_map(policy.name)) return policy;
  DTypePolicy resolved =
      DTypePolicy::named(policy_name_at(parse_json(policy.name).as_dict(), path));
  resolved.name = policy.name;
  return resolved;
}

}  // namespace crescent
