#include "training/metrics_scope.h"

#include "training/state/training.h"

namespace crescent {

std::unique_lock<ReadersWriterLock> enter_steps(const Model& model) {
  ReadersWriterLock& lock = ModelAccess::training(model).ownership.lock;
  if (lock.is_reader_thread())
    fail("model '", model.name(), "' was used by what its own prediction computes");
  return std::unique_lock(lock);
}

StepLock::StepLock(const Model& model) : model_(model) {
  enter_steps(model).release()->wait_for_readers();
}
StepLock::~StepLock() { ModelAccess::training(model_).ownership.lock.unlock(); }

void expect_metrics_free(const Model& model, const char* function_name) {
  const ModelAccess::Training& state = ModelAccess::training(model);
  if (state.ownership.metrics_scopes > 0 &&
      state.ownership.metrics_owner != std::this_thread::get_id())
    fail(function_name, ": another thread trains or evaluates model '", model.name(),
         "' now, and both would count in its metrics: do one after the other, or use a clone "
         "(predict may run beside it)");
}

MetricsScope::MetricsScope(const Model& model, const char* function_name) : model_(model) {
  const StepLock lock(model);
  expect_metrics_free(model, function_name);
  ModelAccess::Training& state = ModelAccess::training(model);
  state.ownership.metrics_owner = std::this_thread::get_id();
  ++state.ownership.metrics_scopes;
}

MetricsScope::~MetricsScope() {
  const StepLock lock(model_);
  --ModelAccess::training(model_).ownership.metrics_scopes;
}

}  // namespace crescent
