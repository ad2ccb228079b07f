// Conversion of image arguments to batches in channels_last.
#pragma once
#include "ops/formats.h"

namespace crescent::ops {

/// Calls f on (batch, height, width, channels) and converts its result back.
template <class F>
Tensor on_images(const char* name, const Tensor& x, DataFormat format, F f) {
  if (x.rank() != 3 && x.rank() != 4)
    fail(name, ": expected (batch, height, width, channels) or (height, width, channels), got ",
         x.shape());
  const Tensor result = in_format(x.rank() == 3 ? expand_dims(x, 0) : x, format, f);
  return x.rank() == 3 ? squeeze(result, 0) : result;
}

/// Casts to `dtype`; for integers, values are rounded and clipped to its range.
Tensor as_pixels(const Tensor& x, DType dtype);

}  // namespace crescent::ops
