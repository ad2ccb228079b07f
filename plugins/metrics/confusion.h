// Weighted counts of true and false positives and negatives at thresholds, from which Precision,
// AUC and similar metrics are computed.
#pragma once
#include "metrics.h"

namespace crescent {

/// a / b, or 0 where b is 0.
Tensor divide_no_nan(const Tensor& a, const Tensor& b);

/// The state of a metric: variables (thresholds) or (thresholds, labels). Variables that the metric
/// does not need are empty.
struct Confusion {
  Variable true_positives, false_positives, true_negatives, false_negatives;

  Tensor precision() const { return fraction(true_positives, false_positives); }
  Tensor recall() const { return fraction(true_positives, false_negatives); }
  Tensor specificity() const { return fraction(true_negatives, false_positives); }
  Tensor fall_out() const { return fraction(false_positives, true_negatives); }

 private:
  static Tensor fraction(const Tensor& count, const Tensor& other_count) {
    return as_result(divide_no_nan(count, count + other_count));
  }
};

struct ConfusionOptions {
  std::vector<double> thresholds;
  std::optional<int64_t> top_k{}, class_id{};
  bool multi_label = false;  ///< whether each column is counted separately
  Tensor label_weights{};    ///< weights of columns, which multiply the weights of samples
};

/// Adds a batch. A prediction above a threshold is positive; for equidistant thresholds predictions
/// are sorted into buckets, as in Keras.
void count(const Confusion& state, const ConfusionOptions& options, const Tensor& y_true,
           const Tensor& y_pred, const Tensor& sample_weight);

/// The thresholds that an option gives, which is a number or a list of numbers in [0, 1];
/// `default_threshold` if the option is null.
std::vector<double> thresholds_of(const Value& option, double default_threshold);
/// The limit of the number of thresholds: float32 cannot represent more equidistant numbers from 0
/// to 1.
constexpr double kMaxThresholds = 1 << 24;
/// The thresholds 0, 1 / (n - 1), ..., 1.
std::vector<double> even_thresholds(int64_t n);
/// The threshold if the option top_k is given without thresholds. It is below all predictions.
/// Predictions that are not among the k largest are replaced by this value, so that they count as
/// negative.
constexpr double kNoThreshold = -1e10;

}  // namespace crescent
