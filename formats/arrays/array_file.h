// A file with a header and the values of one array after it, in any byte order: what idx and npy
// have in common.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "crescent/io/format.h"

namespace crescent::arrays {

/// How a file holds its values.
struct FileType {
  size_t width;
  DType dtype;  ///< what it becomes
  char kind;    ///< 'u', 'i', 'f', 'b', 'c'
  bool converted() const { return width != size_of(dtype); }
};
struct FileArray {
  FileType type;
  std::vector<int64_t> dims;      ///< as they lie in the file
  size_t start;                   ///< of the values
  bool swapped, fortran = false;  ///< byte order of the other kind; axes reversed
};

/// Reads the header at the beginning of `data`.
using Header = FileArray(const std::string& path, std::string_view data);

/// Fails when `bytes` that are there for the values are more or fewer than its header says.
void check_size(const std::string& path, const FileArray& array, size_t bytes);
/// The values in memory. `data` is the whole file.
Tensor load(const std::string& path, const std::string& data, Header* header_of);
/// The values staying in the file. Fails where they cannot, naming the function of Lua that loads
/// them.
Tensor open(const std::string& path, Header* header_of, const char* load_with);

/// A file with one array knows no places.
void refuse_place(const std::string& path, const std::string& place);

}  // namespace crescent::arrays
