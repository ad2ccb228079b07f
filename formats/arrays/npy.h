// The header of NumPy's arrays, in files of their own and in archives.
#pragma once
#include "array_file.h"

namespace crescent::arrays {

/// Reads the header at the beginning of `data`; `path` is for messages.
FileArray npy_header(const std::string& path, std::string_view data);
/// Where the pickle of an array of Python's objects begins; 0 for other arrays.
size_t npy_objects(const std::string& path, std::string_view data);
/// What stands before the values of a tensor. Fails for a dtype that NumPy does not have.
std::string npy_start(const Tensor& tensor);

}  // namespace crescent::arrays
