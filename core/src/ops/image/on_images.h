// Images as functions take them: with a batch and the channels last, whatever the format.
#pragma once
#include "ops/formats.h"

namespace crescent::ops {

/// f on (batch, height, width, channels).
template <class F>
Tensor on_images(const char* name, const Tensor& x, DataFormat format, F f) {
  if (x.rank() != 3 && x.rank() != 4)
    fail(name, ": expected (batch, height, width, channels) or (height, width, channels), got ",
         x.shape());
  const Tensor result = in_format(x.rank() == 3 ? expand_dims(x, 0) : x, format, f);
  return x.rank() == 3 ? squeeze(result, 0) : result;
}

/// Whole numbers are rounded and cut off.
Tensor as_pixels(const Tensor& x, DType dtype);

}  // namespace crescent::ops
