#include "unmasked_steps.h"

namespace crescent {

UnmaskedSteps::UnmaskedSteps(const Tensor& mask) : batch_(mask.dim(0)), time_(mask.dim(1)) {
  const Tensor counts = ops::cast(mask, DType::float32);
  const Tensor step_order = ops::negative(ops::arange(time_, DType::float32));
  const auto offset = static_cast<double>(time_);
  order_ = ops::top_k(counts * offset + ops::expand_dims(step_order, 0), time_)[1];
  count_ = ops::cast(ops::cumsum(counts, 1), DType::int32);
}

Tensor UnmaskedSteps::rows_at(const Tensor& x, const Tensor& indices) const {
  const Shape width_shape = x.shape().slice(2, x.rank());
  const Tensor first_rows = ops::expand_dims(ops::arange(batch_) * time_, 1);
  return ops::gather(ops::reshape(x, Shape{batch_ * time_}.concat(width_shape)),
                     indices + first_rows, 0);
}

Tensor UnmaskedSteps::to_front(const Tensor& x) const { return rows_at(x, order_); }

/// Selects the states after `count` steps, or `initial` where count is 0; count is (batch, n),
/// initial is (batch, 1, width).
Tensor UnmaskedSteps::chosen(const Tensor& states, const Tensor& count,
                             const Tensor& initial) const {
  const Tensor rows = rows_at(states, ops::maximum(count - 1, 0));
  return ops::where(ops::expand_dims(ops::greater(count, 0), -1), rows, initial);
}

Tensor UnmaskedSteps::states_at_all_steps(const Tensor& states, const Tensor& initial) const {
  return chosen(states, count_, ops::expand_dims(initial, 1));
}

Tensor UnmaskedSteps::state_at_last_step(const Tensor& states, const Tensor& initial) const {
  const Tensor total = ops::slice_axis(count_, 1, time_ - 1, time_);
  return ops::squeeze(chosen(states, total, ops::expand_dims(initial, 1)), 1);
}

}  // namespace crescent
