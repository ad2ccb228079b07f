// DTypePolicy: "float32", or "mixed_bfloat16" for half-width computation on float32 variables.
#include <atomic>
#include <map>
#include <mutex>

#include "crescent/layer.h"

namespace crescent {
namespace {

/// What default_policy() gave stays where it is: a thread may have a look at it while another sets
/// one.
class DefaultPolicy {
 public:
  const DTypePolicy& get() const { return *current_.load(std::memory_order_acquire); }
  void set(const DTypePolicy& policy) {
    const std::lock_guard lock(mutex_);
    current_.store(&known_.try_emplace(policy.name, policy).first->second,
                   std::memory_order_release);
  }

 private:
  const DTypePolicy first_;
  std::atomic<const DTypePolicy*> current_{&first_};
  std::mutex mutex_;
  std::map<std::string, DTypePolicy> known_;
};

DefaultPolicy& default_one() {
  static DefaultPolicy policy;
  return policy;
}

}  // namespace

DTypePolicy DTypePolicy::named(std::string_view name) {
  if (name == "mixed_bfloat16") return {std::string(name), DType::bfloat16, DType::float32};
  if (name == "mixed_float16") return {std::string(name), DType::float16, DType::float32};
  const DType dtype = dtype_named(name);
  return {std::string(name), dtype, dtype};
}

DTypePolicy Codec<DTypePolicy>::decode(const Value& value) {
  if (value.is_null()) return default_policy();
  if (value.is_string()) return DTypePolicy::named(value.as_string());
  if (!value.is_dict()) fail("expected ", type(), ", got ", value);
  const Value* config = value.as_dict().find("config");
  const Value* name = config && config->is_dict() ? config->as_dict().find("name") : nullptr;
  if (!name || !name->is_string()) fail("expected ", type(), ", got ", value);
  return DTypePolicy::named(name->as_string());
}
Value Codec<DTypePolicy>::encode(const DTypePolicy& policy) { return policy.name; }
std::string Codec<DTypePolicy>::type() { return "a dtype or a policy such as \"mixed_bfloat16\""; }

const DTypePolicy& default_policy() { return default_one().get(); }
void set_default_policy(std::string_view name) { default_one().set(DTypePolicy::named(name)); }

}  // namespace crescent
