// Weights of true and false positives and negatives at thresholds: what Precision, AUC and the like
// are computed from.
#pragma once
#include "metrics.h"

namespace crescent {

/// a / b, 0 where b is 0.
Tensor divide_no_nan(const Tensor& a, const Tensor& b);

/// State of a metric: variables of (thresholds) or (thresholds, labels); those not counted are
/// none.
struct Confusion {
  Variable true_positives, false_positives, true_negatives, false_negatives;

  Tensor precision() const { return share(true_positives, false_positives); }
  Tensor recall() const { return share(true_positives, false_negatives); }
  Tensor specificity() const { return share(true_negatives, false_positives); }
  Tensor fall_out() const { return share(false_positives, true_negatives); }

 private:
  static Tensor share(const Tensor& part, const Tensor& rest) {
    return as_result(divide_no_nan(part, part + rest));
  }
};

struct ConfusionOptions {
  std::vector<double> thresholds;
  std::optional<int64_t> top_k{}, class_id{};
  bool multi_label = false;  ///< count each column on its own
  Tensor label_weights{};    ///< of the columns, together with the samples' weights
};

/// Adds a batch. A prediction above a threshold is positive; an evenly spaced row of thresholds is
/// compared in steps, as Keras does it.
void count(const Confusion& state, const ConfusionOptions& options, const Tensor& y_true,
           const Tensor& y_pred, const Tensor& sample_weight);

/// An option that is a number or a list of numbers, each in [0, 1]; `otherwise` when it is null.
std::vector<double> thresholds_of(const Value& option, double otherwise);
/// Between 0 and 1 float32 tells no more apart.
constexpr double kMostThresholds = 1 << 24;
/// 0, 1 / (n - 1), ..., 1.
std::vector<double> even_thresholds(int64_t n);
/// What stands for no threshold where the largest k predictions are chosen.
constexpr double kNoThreshold = -1e10;

}  // namespace crescent
