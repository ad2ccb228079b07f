// Places of numbers in a sorted list.
#pragma once
#include "../families.h"

namespace crescent::operations {

/// How many of the sorted numbers (of one axis) are below (or not above) each value, which has
/// their dtype; NaN is above all. int32.
Tensor places_in(const Tensor& sorted, const Tensor& values, bool right);

void add_places_kernel(Registry& registry);

}  // namespace crescent::operations
