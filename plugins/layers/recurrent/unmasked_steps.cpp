#include "unmasked_steps.h"

namespace crescent {

UnmaskedSteps::UnmaskedSteps(const Tensor& mask)
    : batch_size_(mask.dim(0)), step_count_(mask.dim(1)) {
  const Tensor is_unmasked = ops::cast(mask, DType::float32);
  const Tensor step_order = ops::negative(ops::arange(step_count_, DType::float32));
  const auto rank_offset = static_cast<double>(step_count_);
  moved_indices_ =
      ops::top_k(is_unmasked * rank_offset + ops::expand_dims(step_order, 0), step_count_)[1];
  unmasked_counts_ = ops::cast(ops::cumsum(is_unmasked, 1), DType::int32);
}

Tensor UnmaskedSteps::rows_at(const Tensor& x, const Tensor& indices) const {
  const Shape width_shape = x.shape().slice(2, x.rank());
  const Tensor first_rows = ops::expand_dims(ops::arange(batch_size_) * step_count_, 1);
  return ops::gather(ops::reshape(x, Shape{batch_size_ * step_count_}.concat(width_shape)),
                     indices + first_rows, 0);
}

Tensor UnmaskedSteps::to_front(const Tensor& x) const { return rows_at(x, moved_indices_); }

/// Selects the states after `count` steps, or `initial_state` where count is 0; count is (batch,
/// n), initial is (batch, 1, width).
Tensor UnmaskedSteps::states_after(const Tensor& states, const Tensor& count,
                                   const Tensor& initial_state) const {
  const Tensor rows = rows_at(states, ops::maximum(count - 1, 0));
  return ops::where(ops::expand_dims(ops::greater(count, 0), -1), rows, initial_state);
}

Tensor UnmaskedSteps::states_at_all_steps(const Tensor& states, const Tensor& initial_state) const {
  return states_after(states, unmasked_counts_, ops::expand_dims(initial_state, 1));
}

Tensor UnmaskedSteps::state_at_last_step(const Tensor& states, const Tensor& initial_state) const {
  const Tensor total_count = ops::slice_axis(unmasked_counts_, 1, step_count_ - 1, step_count_);
  return ops::squeeze(states_after(states, total_count, ops::expand_dims(initial_state, 1)), 1);
}

}  // namespace crescent
