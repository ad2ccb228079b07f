// Which thread trains, evaluates or predicts with a model that several threads use.
#pragma once
#include <mutex>

#include "base/readers_writer_lock.h"
#include "crescent/model/model.h"

namespace crescent {

/// Prevents other threads from beginning a step of the model; predictions already running continue.
std::unique_lock<ReadersWriterLock> enter_steps(const Model& model);

/// Fails when another thread trains or evaluates the model, and so owns its metrics. `what` names
/// the caller, which must hold a StepLock and updates or replaces the metrics.
void expect_metrics_free(const Model& model, const char* what);

/// While an object of this class lives, this thread may update the metrics of the model, as
/// training and evaluation do. The constructor fails when another thread may.
class MetricsScope {
 public:
  MetricsScope(const Model& model, const char* what);
  ~MetricsScope();
  MetricsScope(const MetricsScope&) = delete;

 private:
  const Model& model_;
};

}  // namespace crescent
