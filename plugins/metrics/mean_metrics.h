// The base of metrics that are a weighted mean of a value per sample; their state is a total and a
// count.
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
    return as_result(ops::where(ops::not_equal(count_.value(), 0), total_ / count_, 0));
  }

 protected:
  /// The values (batch, ...) of a batch of which the metric is the mean.
  virtual Tensor values(const Tensor& y_true, const Tensor& y_pred) const = 0;
  /// Adds values to the total and their weights to the count. The axes of the weights are the
  /// leading axes of the values; without weights each sample counts once.
  void accumulate(Tensor values, Tensor sample_weight);

 private:
  Tensor values_of(const Tensor& y_true, const Tensor& y_pred) const {
    return values(y_true, y_pred);
  }
  Variable total_, count_;
};

/// A mean metric of labels and predictions, for which `better` says whether higher or lower values
/// are better.
template <Direction better>
class DirectedMean : public MeanMetric {
 public:
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override {
    need_predictions(y_pred);
    MeanMetric::update_state(y_true, y_pred, sample_weight);
  }
  Direction direction() const final { return better; }
};

}  // namespace crescent
