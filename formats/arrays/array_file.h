// A file of a header and the values of one array, in any byte order: the common part of idx and
// npy.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "crescent/io/format.h"

namespace crescent::arrays {

/// The representation of values in a file.
struct FileType {
  size_t width;
  DType dtype;  ///< the dtype of the tensor
  char kind;    ///< 'u', 'i', 'f', 'b', 'c'
  bool converted() const { return width != size_of(dtype); }
};
struct FileArray {
  FileType type;
  std::vector<int64_t> dims;  ///< the sizes of the axes in the order of the file
  size_t start;               ///< the offset of the values
  /// whether the byte order is not that of this machine; whether axes are in Fortran order
  bool swapped, fortran = false;
};

/// Reads the header at the beginning of `data`.
using Header = FileArray(const std::string& path, std::string_view data);

/// Fails unless `bytes`, the size of the values in the file, is the size that the header says.
void check_size(const std::string& path, const FileArray& array, size_t bytes);
/// The array in memory; `data` is the content of the file.
Tensor load(const std::string& path, const std::string& data, Header* header_of);
/// The array, whose values stay in the file. Fails if they must be converted; the message names the
/// function of Lua that loads them.
Tensor open(const std::string& path, Header* header_of, const char* load_with);

/// Fails unless `name` is empty: the array in a file of one array has no name.
void refuse_name(const std::string& path, const std::string& name);

}  // namespace crescent::arrays
