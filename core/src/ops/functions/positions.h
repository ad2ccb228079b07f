// Normalization of indices given by callers.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Negative indices count from the end; those out of range are unchanged, so that the check names
/// them.
Tensor wrapped(const Tensor& indices, int64_t size);

}  // namespace crescent
