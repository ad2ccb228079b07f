// The fast ways through all steps know no masks. A masked step leaves states as they are, so the
// steps that count can as well be the first ones of each sample, and the others come after them,
// where nobody looks.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

class CountingSteps {
 public:
  /// mask (batch, time) of known shape.
  explicit CountingSteps(const Tensor& mask);
  /// (batch, time, ...): of each sample the steps that count in their order, then the others.
  Tensor to_front(const Tensor& x) const;
  /// States (batch, time, width) after each step that was moved -> after each step in its place;
  /// `before`: (batch, width), until one counts.
  Tensor after_each(const Tensor& states, const Tensor& before) const;
  /// The same after the last step: (batch, width).
  Tensor after_last(const Tensor& states, const Tensor& before) const;

 private:
  /// Rows of (batch * time, ...) at places (batch, n) in time.
  Tensor rows_at(const Tensor& x, const Tensor& places) const;
  Tensor chosen(const Tensor& states, const Tensor& count, const Tensor& before) const;

  int64_t batch_, time_;
  Tensor order_;  ///< where the moved steps were
  Tensor count_;  ///< steps that count, up to each
};

}  // namespace crescent
