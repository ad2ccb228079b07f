// Positions as callers give them.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Negative ones count from the end; those before the first stay, for the check that names them.
Tensor wrapped(const Tensor& indices, int64_t size);

}  // namespace crescent
