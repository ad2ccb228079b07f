// Whole files in memory, written atomically.
#pragma once
#include <span>
#include <string>

namespace crescent {

/// Fails naming the path and the reason.
std::string read_file(const std::string& path);
/// The same, unpacked when it is gzip.
std::string read_file_unpacked(const std::string& path);
/// Temporary file in the same folder, fsync, rename: the old file or the new one, never half of it.
void write_file(const std::string& path, std::span<const std::string> parts);

}  // namespace crescent
