// What losses have in common: how targets are brought to the form of predictions.
#pragma once
#include "crescent/layer/training.h"

namespace crescent {

constexpr double kEpsilon = 1e-7;

/// Targets in the dtype of the predictions, both of one rank. Elements are compared one by one, so
/// the shapes must agree.
struct Pair {
  Tensor truth, prediction;
};
Pair matched(const Loss& loss, const Tensor& y_true, const Tensor& y_pred);

/// Targets that are class numbers, without a last axis of 1, for one prediction a class.
Tensor class_numbers(const Loss& loss, const Tensor& y_true, const Tensor& y_pred);

/// Whether targets are class numbers for predictions of a column a class, by their shapes.
inline bool are_class_numbers(const Tensor& y_true, const Tensor& y_pred) {
  return y_true.rank() < y_pred.rank() || (y_true.rank() > 0 && y_true.dim(-1) == 1);
}

/// With this axis as the last.
Tensor last_axis(const Tensor& x, int64_t axis);

}  // namespace crescent
