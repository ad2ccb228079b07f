// The gradient of broadcasting: summing over what was repeated.
#pragma once
#include "crescent/ops.h"

namespace crescent {

/// `gradient` summed over the axes along which a tensor of `shape` was broadcast to it.
inline Tensor sum_to(const Tensor& gradient, const Shape& shape) {
  if (gradient.shape() == shape) return gradient;
  const int extra = gradient.rank() - shape.rank();
  ops::Axes axes;
  for (int i = 0; i < gradient.rank(); ++i)
    if (i < extra || (shape[i - extra] == 1 && gradient.dim(i) != 1)) axes.push_back(i);
  const Tensor summed = axes.empty() ? gradient : ops::sum(gradient, axes, true);
  return ops::reshape(summed, shape);
}

}  // namespace crescent
