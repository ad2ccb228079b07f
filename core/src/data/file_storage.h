// Files as memory of tensors.
#pragma once
#include "crescent/data.h"
#include "data/input_file.h"

namespace crescent {

/// The bytes of a file; what is read has elements of `swapped_width` bytes in the other byte order
/// (0: in ours).
std::shared_ptr<Storage> file_storage(InputFile file, size_t swapped_width = 0);
/// `array` is one that map_array gave, or rows of it.
bool is_mapped(const Tensor& array);
/// Asks the disk for rows of a mapped array that will be used; does not wait.
void expect_rows(const Tensor& array, int64_t first, int64_t count);
/// The order of bytes in each element turned around.
void swap_elements(std::byte* data, size_t bytes, size_t width);

}  // namespace crescent
