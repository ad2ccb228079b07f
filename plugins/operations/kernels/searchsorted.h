// Places of numbers in a sorted list, and whether they are in a set.
#pragma once
#include "../shared/shared.h"

namespace crescent::operations {

/// How many of the sorted numbers (of one axis) are below (or not above) each value, which has
/// their dtype; NaN is above all. int32.
Tensor apply_searchsorted(const Tensor& sorted, const Tensor& values, bool right);

/// Whether each value equals one of the set (of one axis), which has their dtype; or, where
/// inverted, none of it. NaN equals nothing.
Tensor apply_isin(const Tensor& values, const Tensor& set, bool invert);

}  // namespace crescent::operations
