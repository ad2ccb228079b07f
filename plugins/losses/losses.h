// Functions by which losses check targets and predictions and bring them into forms that can be
// compared.
#pragma once
#include "crescent/layer/training.h"

namespace crescent {

constexpr double kEpsilon = 1e-7;

/// Targets and predictions, converted to the same dtype and rank. Losses compare them element by
/// element, so matched() requires equal shapes.
struct MatchedPair {
  Tensor truth, prediction;
};
MatchedPair matched(const Loss& loss, const Tensor& y_true, const Tensor& y_pred);

/// Returns the targets, which are class numbers, without a last axis of size 1. Fails unless the
/// predictions have one column per class.
Tensor class_numbers(const Loss& loss, const Tensor& y_true, const Tensor& y_pred);

/// Whether the shapes are those of class numbers and of predictions with one column per class.
inline bool are_class_numbers(const Tensor& y_true, const Tensor& y_pred) {
  return y_true.rank() < y_pred.rank() || (y_true.rank() > 0 && y_true.dim(-1) == 1);
}

/// Returns x with the axis `axis` moved to the end.
Tensor move_to_last_axis(const Tensor& x, int64_t axis);

}  // namespace crescent
