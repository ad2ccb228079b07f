// Support of masks for ops over all steps, which have no mask. A masked step does not change
// states, so the unmasked steps of each sample can be moved to the front; the states after the
// others are ignored.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

class UnmaskedSteps {
 public:
  /// The mask is (batch, time) with a known shape.
  explicit UnmaskedSteps(const Tensor& mask);
  /// Moves the unmasked steps of each sample of x (batch, time, ...) to the front, in their order.
  Tensor to_front(const Tensor& x) const;
  /// Converts states (batch, time, width) after moved steps to the states after the original steps;
  /// `before` (batch, width) is the state before the first unmasked step.
  Tensor after_each(const Tensor& states, const Tensor& before) const;
  /// The state after the last step, (batch, width).
  Tensor after_last(const Tensor& states, const Tensor& before) const;

 private:
  /// Takes rows of (batch * time, ...) at indices (batch, n) of time.
  Tensor rows_at(const Tensor& x, const Tensor& indices) const;
  Tensor chosen(const Tensor& states, const Tensor& count, const Tensor& before) const;

  int64_t batch_, time_;
  Tensor order_;  ///< the original indices of the moved steps
  Tensor count_;  ///< the number of unmasked steps up to and including each step
};

}  // namespace crescent
