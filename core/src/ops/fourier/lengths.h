// Adjusts the length of the last axis, for transforms of whole signals and of frames.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent::ops {

/// Returns x with its last axis truncated or padded with zeros to `length`.
Tensor with_length(const Tensor& x, int64_t length);

}  // namespace crescent::ops
