// Reads and writes arrays and tables with the format that a test names, independent of the ending
// of the file name.
#pragma once
#include "crescent/io/format.h"

namespace crescent {

inline Tensor read_array_of(const char* format, const std::string& path) {
  return format_named<ReadsArrays>(format)->read_array(path, "");
}
inline Tensor open_array_of(const char* format, const std::string& path) {
  return format_named<ReadsArrays>(format)->open_array(path, "");
}
inline Tensor read_idx(const std::string& path) { return read_array_of("idx", path); }
inline Tensor open_idx(const std::string& path) { return open_array_of("idx", path); }
inline Tensor read_npy(const std::string& path) { return read_array_of("npy", path); }
inline Tensor open_npy(const std::string& path) { return open_array_of("npy", path); }
inline void write_npy(const std::string& path, const Tensor& tensor) {
  format_named<WritesArrays>("npy")->write_arrays(path, {{"", tensor}});
}
inline Table read_csv(const std::string& path, const Dict& options = {}) {
  return format_named<ReadsTables>("csv")->read_table(path, options);
}

}  // namespace crescent
