// Replaces a file as a whole or not at all: temporary file in the same folder, fsync, rename, fsync
// of the folder.
#pragma once
#include <cstddef>
#include <string>

namespace crescent::hdf5 {

/// Afterwards `path` holds exactly these bytes, or an error is raised and what was there is
/// untouched. A symbolic link stays and the file behind it is replaced. Temporary files that dead
/// processes left for this name are removed.
void replace_file(const std::string& path, const std::byte* bytes, size_t size);

}  // namespace crescent::hdf5
