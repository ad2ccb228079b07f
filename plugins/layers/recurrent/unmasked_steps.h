// Lets ops that compute all steps and take no mask be used with masks. Since a masked step does not
// change states, the unmasked steps of each sample are moved to the front, and the states after the
// other steps are ignored.
#pragma once
#include "crescent/layer/layer.h"

namespace crescent {

class UnmaskedSteps {
 public:
  /// `mask` is (batch, time); its shape must be known.
  explicit UnmaskedSteps(const Tensor& mask);
  /// Moves the unmasked steps of each sample of x (batch, time, ...) to the front, in their order.
  Tensor to_front(const Tensor& x) const;
  /// Converts states (batch, time, width) after the moved steps to states after the original steps;
  /// `initial_state` (batch, width) is the state before the first unmasked step.
  Tensor states_at_all_steps(const Tensor& states, const Tensor& initial_state) const;
  /// The state after the last step, (batch, width).
  Tensor state_at_last_step(const Tensor& states, const Tensor& initial_state) const;

 private:
  /// Selects, for each sample, the elements of x (batch, time, ...) at the time indices `indices`
  /// (batch, n).
  Tensor rows_at(const Tensor& x, const Tensor& indices) const;
  Tensor states_after(const Tensor& states, const Tensor& count, const Tensor& initial_state) const;

  int64_t batch_size_, step_count_;
  Tensor moved_indices_;    ///< the original indices of the moved steps
  Tensor unmasked_counts_;  ///< the number of unmasked steps up to and including each step
};

}  // namespace crescent
