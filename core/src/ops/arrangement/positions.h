// Converts indices that callers pass, which may be negative, to indices that count from 0.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Replaces negative indices, which count from the end, by the indices from 0 of the same elements.
/// Indices out of range are unchanged, so that the message of a later check names them.
Tensor nonnegative_indices(const Tensor& indices, int64_t size);

}  // namespace crescent
