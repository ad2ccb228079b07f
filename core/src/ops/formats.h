// Runs functions of channels-last images on images of either data format.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

/// Moves the channels from axis 1 to the last axis.
Tensor to_channels_last(const Tensor& x);
/// Moves the channels from the last axis to axis 1.
Tensor to_channels_first(const Tensor& x);

/// Calls f on the images with channels last and converts the result back.
template <class F>
Tensor in_format(const Tensor& x, DataFormat format, F f) {
  return format == DataFormat::channels_first ? to_channels_first(f(to_channels_last(x))) : f(x);
}

/// The number of spatial axes of images.
inline size_t spatial_axis_count(const Tensor& x) {
  if (x.rank() < 3) fail("expected (batch, ..., channels), got shape ", x.shape());
  return static_cast<size_t>(x.rank() - 2);
}

}  // namespace crescent::ops
