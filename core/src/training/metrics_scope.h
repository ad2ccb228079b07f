// Which thread trains, evaluates or predicts with a model that several threads use.
#pragma once
#include <mutex>

#include "base/readers_writer_lock.h"
#include "crescent/model/model.h"

namespace crescent {

/// Keeps other threads from beginning a step of the model, while predictions that run go on.
std::unique_lock<ReadersWriterLock> enter_steps(const Model& model);

/// Fails when another thread trains or evaluates the model. `what` names the caller, which must
/// hold a StepLock, and updates or replaces the metrics.
void expect_to_count_alone(const Model& model, const char* what);

/// While an object of this class lives, this thread may update the metrics of the model, as
/// training and evaluation do. The constructor fails when another thread does.
class MetricsScope {
 public:
  MetricsScope(const Model& model, const char* what);
  ~MetricsScope();
  MetricsScope(const MetricsScope&) = delete;

 private:
  const Model& model_;
};

}  // namespace crescent
