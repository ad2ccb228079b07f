// Makes dtype policies from names: "float32"; "mixed_bfloat16" for bfloat16 computation on float32
// variables; "int8_from_float32" for layers whose largest weight is quantized to int8 and whose
// other variables follow the policy "float32".
#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>

#include "crescent/layer/layer.h"
#include "layer/policy_map.h"

namespace crescent {
namespace {

/// The policies named after each dtype, in the order of the enum DType.
std::array<DTypePolicy, kDTypeCount> policies_of_dtypes() {
  std::array<DTypePolicy, kDTypeCount> policies;
  for (size_t i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    policies[i] = {name_of(dtype), dtype, dtype};
  }
  return policies;
}

/// The default policy: until one is set, the policy named after floatx(). Policies that were
/// replaced are never freed, because another thread may still use a reference that default_policy()
/// returned.
class DefaultPolicy {
 public:
  const DTypePolicy& get() const {
    const DTypePolicy* policy = current_policy_.load(std::memory_order_acquire);
    return policy ? *policy : floatx_policies_[static_cast<size_t>(floatx())];
  }
  void set(const DTypePolicy& policy) {
    const std::lock_guard lock(mutex_);
    current_policy_.store(&policies_.try_emplace(policy.name, policy).first->second,
                          std::memory_order_release);
  }

 private:
  const std::array<DTypePolicy, kDTypeCount> floatx_policies_ = policies_of_dtypes();
  std::atomic<const DTypePolicy*> current_policy_{nullptr};
  std::mutex mutex_;
  std::map<std::string, DTypePolicy> policies_;
};

DefaultPolicy& default_policy_holder() {
  static DefaultPolicy policy;
  return policy;
}

constexpr std::string_view kSourceSeparator = "_from_",
                           kQuantizationModes[] = {"int8", "int4", "float8", "gptq", "awq"};

/// Makes a quantized policy: `mode` is "int8" or, with a block size, "int4/128"; `source` names the
/// policy of the variables that are not quantized.
DTypePolicy quantized_policy(std::string_view mode, std::string_view source) {
  const std::string_view mode_name = mode.substr(0, mode.find('/'));
  if (std::find(std::begin(kQuantizationModes), std::end(kQuantizationModes), mode_name) ==
      std::end(kQuantizationModes))
    fail("dtype policy \"", mode, kSourceSeparator, source,
         "\": expected int8, int4, float8, gptq or awq, got ", mode_name);
  DTypePolicy policy = DTypePolicy::named(source);
  if (policy.name.find(kSourceSeparator) != std::string::npos || !is_floating(policy.compute))
    fail("dtype policy \"", mode, kSourceSeparator, source,
         "\": expected floats such as \"float32\", got ", source);
  policy.name = concat(mode, kSourceSeparator, source);
  return policy;
}

/// Makes the policy from its configuration.
DTypePolicy policy_from_config(const Dict& config) {
  if (config.contains("policy_map")) return policy_map_from(config);
  // Keras writes null for the policy of new layers.
  if (const Value* name = config.find("name"); name && name->is_null()) return default_policy();
  const auto text_at = [&](const char* key) {
    const Value* config_value = config.find(key);
    return config_value && config_value->is_string() ? config_value->as_string() : std::string();
  };
  if (const std::string mode = text_at("mode"); !mode.empty())
    return quantized_policy(
        mode, config.contains("source_name") ? text_at("source_name") : default_policy().name);
  if (text_at("name").empty())
    fail("expected ", Codec<DTypePolicy>::type(), ", got ", Value(config));
  return DTypePolicy::named(text_at("name"));
}

}  // namespace

DTypePolicy DTypePolicy::named(std::string_view name) {
  if (name == "mixed_bfloat16") return {std::string(name), DType::bfloat16, DType::float32};
  if (DTypePolicy::is_map(name)) return policy_map_from(Codec<Dict>::decode(parse_json(name)));
  if (name == "mixed_float16") return {std::string(name), DType::float16, DType::float32};
  if (const size_t separator_index = name.find(kSourceSeparator); separator_index != name.npos)
    return quantized_policy(name.substr(0, separator_index),
                            name.substr(separator_index + kSourceSeparator.size()));
  const DType dtype = dtype_named(name);
  return {std::string(name), dtype, dtype};
}

DTypePolicy Codec<DTypePolicy>::decode(const Value& value) {
  if (value.is_null()) return default_policy();
  if (value.is_string()) return DTypePolicy::named(value.as_string());
  if (!value.is_dict()) fail("expected ", type(), ", got ", value);
  const Value* config = value.as_dict().find("config");
  if (!config || !config->is_dict()) fail("expected ", type(), ", got ", value);
  return policy_from_config(config->as_dict());
}
/// Encodes the policy as its name. A quantized policy is encoded as in Keras: as a dictionary in
/// which the mode and the source policy are separate entries.
Value Codec<DTypePolicy>::encode(const DTypePolicy& policy) {
  const size_t separator_index = policy.name.find(kSourceSeparator);
  if (separator_index == policy.name.npos) return policy.name;
  const std::string mode = policy.name.substr(0, separator_index);
  return Dict{
      {"class_name", mode.starts_with("int4/") ? "Int4DTypePolicy" : "QuantizedDTypePolicy"},
      {"config",
       Dict{{"mode", mode},
            {"source_name", policy.name.substr(separator_index + kSourceSeparator.size())}}}};
}
std::string Codec<DTypePolicy>::type() { return "a dtype or a policy such as \"mixed_bfloat16\""; }

const DTypePolicy& default_policy() { return default_policy_holder().get(); }
void set_default_policy(std::string_view name) {
  default_policy_holder().set(DTypePolicy::named(name));
}

}  // namespace crescent
