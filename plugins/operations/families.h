// The families of operations, each a file: rows, and above them what the rows call. Here is what
// families take from each other.
#pragma once
#include "shared/shared.h"

namespace crescent::operations {

/// Of what is sorted, the middle or the mean of the two there.
Tensor median(const Tensor& x, const std::vector<int>& axes, bool keepdims);
/// Places of what is not zero, a tensor an axis.
Tensors nonzero(const Tensor& x);
/// The k-th diagonal of two axes, as the last axis.
Tensor diagonal(const Tensor& x, int64_t k, int axis1, int axis2);

}  // namespace crescent::operations
