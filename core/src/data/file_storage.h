// Files as memory of tensors.
#pragma once
#include "crescent/data/data.h"

namespace crescent {

/// `array` is one that map_array gave, or rows of it.
bool is_mapped(const Tensor& array);
/// Asks the disk for rows of a mapped array that will be used; does not wait.
void expect_rows(const Tensor& array, int64_t first, int64_t count);

}  // namespace crescent
