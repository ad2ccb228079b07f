// Normalization of indices given by callers.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Makes negative indices count from the end. Indices out of range are unchanged, so that the
/// message of a later check names them.
Tensor nonnegative_indices(const Tensor& indices, int64_t size);

}  // namespace crescent
