#include "libraries/openblas_functions.h"

#include <cstdlib>
#include <optional>

namespace crescent::cpu {
namespace {

/// Sets a variable of the environment during the lifetime of this object.
class EnvironmentScope {
 public:
  EnvironmentScope(const char* name, const char* value) : name_(name) {
    if (const char* old_value = std::getenv(name)) old_value_ = old_value;
    setenv(name, value, 1);
  }
  ~EnvironmentScope() { old_value_ ? setenv(name_, old_value_->c_str(), 1) : unsetenv(name_); }
  EnvironmentScope(const EnvironmentScope&) = delete;
  EnvironmentScope& operator=(const EnvironmentScope&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_value_;
};

/// OpenBLAS' name of the kernels for the instruction sets of this processor; null where OpenBLAS
/// should choose.
const char* core_name() {
#ifdef __x86_64__
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  if (has_avx512) return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

LazyLibrary load_openblas() {
  const char* core = core_name();
  std::optional<EnvironmentScope> scope;
  if (core) scope.emplace("OPENBLAS_CORETYPE", core);
  return LazyLibrary(CRESCENT_OPENBLAS_PATH);
}

}  // namespace

const LazyLibrary& openblas_library() {
  static const LazyLibrary library = load_openblas();
  return library;
}

}  // namespace crescent::cpu
