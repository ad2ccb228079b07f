// Metrics that are a weighted mean of values per sample: state total and count.
#pragma once
#include "crescent/training.h"

namespace crescent {

class MeanMetric : public Metric {
 public:
  MeanMetric() : total_(add_variable("total", {})), count_(add_variable("count", {})) {}
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override;
  Tensor result() const override {
    return ops::where(ops::greater(count_.value(), 0), total_ / count_, 0);
  }

 protected:
  /// (batch, ...) values of this batch.
  virtual Tensor values(const Tensor& y_true, const Tensor& y_pred) const = 0;
  /// Adds values, weighted from the left; a mask on `y_pred` counts as weights.
  void accumulate(Tensor values, Tensor sample_weight);

 private:
  Variable total_, count_;
};

void add_mean_metrics(Registry& registry);
void add_accuracies(Registry& registry);

}  // namespace crescent
