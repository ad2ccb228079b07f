// Metrics that are a weighted mean of values per sample; their state is total and count.
#pragma once
#include "metrics.h"

namespace crescent {

class MeanMetric : public Metric {
 public:
  template <class T>
  static void describe_base(Schema<T>& s) {
    Metric::describe_base(s);
    s.method("values", &MeanMetric::values_of, "The values to average, one for each sample.")
        .arg("y_true", "Labels.")
        .arg("y_pred", "Predictions.");
  }
  MeanMetric()
      : total_(add_variable("total", {}, kSums)), count_(add_variable("count", {}, kSums)) {}
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override;
  Tensor result() const override {
    return as_result(ops::where(ops::greater(count_.value(), 0), total_ / count_, 0));
  }

 protected:
  /// The numbers (batch, ...) of a batch that the metric averages.
  virtual Tensor values(const Tensor& y_true, const Tensor& y_pred) const = 0;
  /// Adds values; weights belong to their leading axes, and a mask of `y_pred` counts as weights.
  void accumulate(Tensor values, Tensor sample_weight);

 private:
  Tensor values_of(const Tensor& y_true, const Tensor& y_pred) const {
    return values(y_true, y_pred);
  }
  Variable total_, count_;
};

/// A mean that improves in a given direction.
template <Direction better>
class DirectedMean : public MeanMetric {
 public:
  Direction direction() const final { return better; }
};

}  // namespace crescent
