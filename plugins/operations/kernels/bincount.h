// How many numbers are in each bin.
#pragma once
#include "../shared/shared.h"

namespace crescent::operations {

/// Of x (any shape): how often it has each of 0..count-1, which whole numbers must be. int32.
Tensor apply_bincount(const Tensor& x, int64_t count);
/// How many are from an edge up to the next, which has their dtype; the last bin has its upper edge
/// too. int32, one less than there are edges, which ascend evenly.
Tensor apply_histogram(const Tensor& x, const Tensor& edges);

}  // namespace crescent::operations
