// The stamp of a plugin (stamp.h of the public headers): it is read from the file and compared
// without mapping the library or running its code.
#pragma once
#include <string>

#include "crescent/base/export.h"
#include "crescent/registry/stamp.h"
#include "registry/elf/elf_file.h"

namespace crescent {

/// Reads the stamp; fails, naming the path, if the library has none.
CRESCENT_API PluginInfo read_stamp(const ElfFile& file);

/// Returns the reason why a library with this stamp cannot run here, with the values of both sides
/// and the command to rebuild it; empty if it can run.
CRESCENT_API std::string mismatch(const PluginInfo& stamp);

}  // namespace crescent
