// Distances of rows from each other.
#pragma once
#include "../shared/shared.h"

namespace crescent::operations {

/// (..., n, d), (..., m, d) of one floating dtype -> (..., n, m).
Tensor distances(const Tensor& x, const Tensor& y);

}  // namespace crescent::operations
