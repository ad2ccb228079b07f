// Whole files in memory.
#pragma once
#include <string>

namespace crescent {

/// Fails naming the path and the reason.
std::string read_file(const std::string& path);
/// The same, unpacked when it is gzip.
std::string read_file_unpacked(const std::string& path);

}  // namespace crescent
