// The header of NumPy arrays in files and archives.
#pragma once
#include "array_file.h"

namespace crescent::arrays {

/// Reads the header at the beginning of `data`; `path` is for messages.
FileArray npy_header(const std::string& path, std::string_view data);
/// If the elements of the array are Python objects, the offset of the pickle that contains them; 0
/// for other arrays.
size_t npy_pickle_offset(const std::string& path, std::string_view data);
/// The bytes of a .npy file before its values. Fails for a dtype that NumPy lacks.
std::string npy_prefix(const Tensor& tensor);

}  // namespace crescent::arrays
