// Several threads that use one model: who trains or evaluates it.
#pragma once
#include "crescent/model/model.h"

namespace crescent {

/// Fails where another thread trains or evaluates the model; for `what`, which has a turn.
void expect_to_count_alone(const Model& model, const char* what);

/// While it lives, this thread counts in the metrics of the model, as training and evaluation do.
/// Fails where another thread does.
class MetricsScope {
 public:
  MetricsScope(const Model& model, const char* what);
  ~MetricsScope();
  MetricsScope(const MetricsScope&) = delete;

 private:
  const Model& model_;
};

}  // namespace crescent
