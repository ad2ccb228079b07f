// Images with their channels last, whatever their format.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

Tensor channels_last(const Tensor& x);
Tensor channels_second(const Tensor& x);

/// f on images with the channels last.
template <class F>
Tensor in_format(const Tensor& x, DataFormat format, F f) {
  return format == DataFormat::channels_first ? channels_second(f(channels_last(x))) : f(x);
}

/// How many spatial axes images have.
inline size_t spatial_axes(const Tensor& x) {
  if (x.rank() < 3) fail("expected (batch, ..., channels), got shape ", x.shape());
  return static_cast<size_t>(x.rank() - 2);
}

}  // namespace crescent::ops
