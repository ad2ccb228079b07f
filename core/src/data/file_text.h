// Whole files in memory.
#pragma once
#include <string>

namespace crescent {

/// As read_file, unpacked when it is gzip.
std::string read_file_unpacked(const std::string& path);

}  // namespace crescent
