// Storages of tensors in files.
#pragma once
#include "crescent/data/data.h"

namespace crescent {

/// Whether the array is a result of map_array(), or consists of rows of such a result.
bool is_mapped(const Tensor& array);
/// Asks the system to read rows of a mapped array from disk ahead, without waiting for them.
void read_rows_ahead(const Tensor& array, int64_t first, int64_t count);

}  // namespace crescent
