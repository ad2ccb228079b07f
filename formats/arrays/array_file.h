// Files that consist of a header and the values of one array, in either byte order: code that the
// formats "idx" and "npy" share.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "crescent/io/format.h"

namespace crescent::arrays {

/// The type of the values in a file, and the dtype of the tensor that is made of them.
struct FileType {
  size_t width;  ///< the number of bytes of a value
  DType dtype;   ///< the dtype of the tensor
  /// The letter of NumPy for the kind of type: 'u' unsigned, 'i' signed, 'f' floating point, 'b'
  /// boolean, 'c' complex.
  char kind;
  bool needs_conversion() const { return width != size_of(dtype); }
};
struct FileArray {
  FileType type;
  std::vector<int64_t> dims;  ///< the sizes of the axes in the order of the file
  size_t start;               ///< the offset of the first value in the file, in bytes
  /// whether the byte order differs from that of this machine
  bool is_swapped = false;
  /// whether the values are in Fortran order, the first axis fastest
  bool is_fortran_order = false;
};

/// The type of functions that read the header at the beginning of `data`, the content of the file.
using ReadHeader = FileArray(const std::string& path, std::string_view data);

/// Fails unless `bytes`, the number of bytes behind the header, is the size of the values according
/// to the header.
void check_size(const std::string& path, const FileArray& array, size_t bytes);
/// Copies the array from `data`, the content of the file, to memory.
Tensor load(const std::string& path, const std::string& data, ReadHeader* read_header);
/// Returns a tensor whose values stay in the file. Fails if the values need a conversion; the
/// message then names the Lua function `loader_name`, which reads them to memory.
Tensor open(const std::string& path, ReadHeader* read_header, const char* loader_name);

/// Fails if `name`, the name of the wanted array, is not empty, since a file with a single array
/// stores no name.
void require_no_name(const std::string& path, const std::string& name);

}  // namespace crescent::arrays
