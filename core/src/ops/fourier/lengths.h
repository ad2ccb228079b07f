// Adjusts the length of the last axis to that of a Fourier transform.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent::ops {

/// Returns x with its last axis truncated or padded with zeros to `length`.
Tensor with_length(const Tensor& x, int64_t length);

}  // namespace crescent::ops
