// Singular values without singular vectors.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Matrices (..., m, n) -> singular values (..., min(m, n)), descending, in float64.
Tensor singular_values(const Tensor& x);

}  // namespace crescent
