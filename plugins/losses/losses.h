// Functions that several losses use; they convert targets to the form of predictions.
#pragma once
#include "crescent/layer/training.h"

namespace crescent {

constexpr double kEpsilon = 1e-7;

/// Converts targets and predictions to the same dtype and rank. They are compared element by
/// element, so the shapes must agree.
struct Pair {
  Tensor truth, prediction;
};
Pair matched(const Loss& loss, const Tensor& y_true, const Tensor& y_pred);

/// Returns targets that are class numbers, without a last axis of size 1. Predictions must have one
/// column per class.
Tensor class_numbers(const Loss& loss, const Tensor& y_true, const Tensor& y_pred);

/// Whether the shapes are those of class numbers and of predictions with one column per class.
inline bool are_class_numbers(const Tensor& y_true, const Tensor& y_pred) {
  return y_true.rank() < y_pred.rank() || (y_true.rank() > 0 && y_true.dim(-1) == 1);
}

/// x with this axis moved to the end.
Tensor last_axis(const Tensor& x, int64_t axis);

}  // namespace crescent
