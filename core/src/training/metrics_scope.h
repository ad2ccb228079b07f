// Locks for models that several threads use: they decide which thread may train, evaluate or
// predict.
#pragma once
#include <mutex>

#include "base/readers_writer_lock.h"
#include "crescent/model/model.h"

namespace crescent {

/// Returns a lock that keeps other threads from beginning a step of the model; predictions that are
/// already running continue.
std::unique_lock<ReadersWriterLock> enter_steps(const Model& model);

/// Fails if another thread trains or evaluates the model, because that thread updates the metrics.
/// The caller must hold a StepLock; `function_name` is its name in the message.
void expect_metrics_free(const Model& model, const char* function_name);

/// While an object of this class lives, this thread may update the metrics of the model, as
/// training and evaluation do. The constructor fails if another thread has such an object.
class MetricsScope {
 public:
  MetricsScope(const Model& model, const char* function_name);
  ~MetricsScope();
  MetricsScope(const MetricsScope&) = delete;

 private:
  const Model& model_;
};

}  // namespace crescent
