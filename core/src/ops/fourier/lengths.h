// What transforms of whole signals and of frames share.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent::ops {

/// Cut, or filled with zeros, to a length of the last axis.
Tensor of_length(const Tensor& x, int64_t length);

}  // namespace crescent::ops
