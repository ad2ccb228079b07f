// Normalization of indices.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Adds `size` to negative indices. Indices below -size stay negative, so that the range check
/// reports them.
Tensor wrapped(const Tensor& indices, int64_t size);

}  // namespace crescent
