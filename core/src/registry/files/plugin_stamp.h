// The stamp of a plugin: data in its library that say for which build of Crescent it was compiled
// (crescent/registry/stamp.h). The stamp is read from the file and checked before the library is
// mapped and any of its code runs.
#pragma once
#include <string>

#include "crescent/base/export.h"
#include "crescent/registry/stamp.h"
#include "registry/elf/elf_file.h"

namespace crescent {

/// Reads the stamp; fails, naming the path, if the library has none.
CRESCENT_API PluginInfo read_stamp(const ElfFile& file);

/// Returns the reason why a library with this stamp cannot run in this process; empty if it can.
/// The text contains what differs between the stamp and this build of Crescent, and the command
/// that rebuilds the library.
CRESCENT_API std::string mismatch(const PluginInfo& stamp);

}  // namespace crescent
