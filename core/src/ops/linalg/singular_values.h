// Singular values alone.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Matrices (..., m, n) -> descending, in float64.
Tensor singular_values(const Tensor& x);

}  // namespace crescent
