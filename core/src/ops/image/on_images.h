// Runs functions on images with a batch axis and channels last, whatever the caller's format is.
#pragma once
#include "ops/formats.h"

namespace crescent::ops {

/// Calls f on (batch, height, width, channels) and converts the result back.
template <class F>
Tensor on_images(const char* name, const Tensor& x, DataFormat format, F f) {
  if (x.rank() != 3 && x.rank() != 4)
    fail(name, ": expected (batch, height, width, channels) or (height, width, channels), got ",
         x.shape());
  const Tensor result = in_format(x.rank() == 3 ? expand_dims(x, 0) : x, format, f);
  return x.rank() == 3 ? squeeze(result, 0) : result;
}

/// Casts x to the dtype of the images; integers are rounded and clipped.
Tensor as_pixels(const Tensor& x, DType dtype);

}  // namespace crescent::ops
