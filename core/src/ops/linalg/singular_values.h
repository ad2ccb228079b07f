// Singular values without vectors.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// The singular values of matrices (..., m, n) in descending order, in float64.
Tensor singular_values(const Tensor& x);

}  // namespace crescent
