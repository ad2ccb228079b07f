// Replaces a file as a whole or not at all: temporary file in the same folder, fsync, rename, fsync
// of the folder.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace crescent::hdf5 {

/// Afterwards `path` holds exactly these pieces, one after the other, or an error is raised and what was there is
/// untouched. A symbolic link stays and the file behind it is replaced. Temporary files that dead
/// processes left for this name are removed.
void replace_file(const std::string& path, std::span<const std::span<const std::byte>> pieces);

}  // namespace crescent::hdf5
