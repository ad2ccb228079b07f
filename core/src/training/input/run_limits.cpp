#include "training/input/run_limits.h"

#include <cstdlib>
#include <mutex>
#include <string_view>

#include "crescent/base/error.h"

namespace crescent {
namespace {

/// A limit whose initial value is that of an environment variable.
class Limit {
 public:
  Limit(const char* name, const char* environment_variable)
      : name_(name), limit_(read(environment_variable)) {}
  std::optional<int64_t> get() {
    const std::lock_guard lock(mutex_);
    return limit_;
  }
  void set(std::optional<int64_t> limit) {
    if (limit && *limit < 1)
      fail("set_", name_, ": expected a limit of at least 1, or nothing for no limit, got ",
           *limit);
    const std::lock_guard lock(mutex_);
    limit_ = limit;
  }

 private:
  static std::optional<int64_t> read(const char* environment_variable) {
    const char* text = std::getenv(environment_variable);
    if (!text || !*text) return std::nullopt;
    char* end = nullptr;
    const int64_t limit = std::strtoll(text, &end, 10);
    if (*end || limit < 1) {
      warn(environment_variable, ": expected an integer of at least 1, got '", text,
           "'; there is no limit");
      return std::nullopt;
    }
    return limit;
  }

  const char* name_;
  std::mutex mutex_;
  std::optional<int64_t> limit_;
};

Limit& epoch_limit() {
  static Limit limit("max_epochs", "KERAS_MAX_EPOCHS");
  return limit;
}
Limit& step_limit() {
  static Limit limit("max_steps_per_epoch", "KERAS_MAX_STEPS_PER_EPOCH");
  return limit;
}

}  // namespace

std::optional<int64_t> max_epochs() { return epoch_limit().get(); }
void set_max_epochs(std::optional<int64_t> limit) { epoch_limit().set(limit); }
std::optional<int64_t> max_steps_per_epoch() { return step_limit().get(); }
void set_max_steps_per_epoch(std::optional<int64_t> limit) { step_limit().set(limit); }

int64_t limited_epochs(int64_t epochs) {
  const std::optional<int64_t> limit = max_epochs();
  if (!limit || *limit >= epochs) return epochs;
  warn("Limiting epochs to ", *limit);
  return *limit;
}

std::optional<int64_t> limited_steps(const DatasetPtr& data, std::optional<int64_t> steps) {
  const std::optional<int64_t> limit = max_steps_per_epoch();
  if (!limit || !data) return steps;
  const int64_t expected_steps = steps.value_or(data->batches());
  if (expected_steps >= 0 && expected_steps <= *limit) return steps;
  warn("Limiting steps_per_epoch to ", *limit);
  return limit;
}

}  // namespace crescent
