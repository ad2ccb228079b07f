// Whole files in memory, unpacked or written atomically.
#pragma once
#include <span>
#include <string>

namespace crescent {

/// As read_file, unpacked when it is gzip.
std::string read_file_unpacked(const std::string& path);
/// Temporary file in the same folder, fsync, rename: the old file or the new one, never half of it.
void write_file(const std::string& path, std::span<const std::string> parts);

}  // namespace crescent
