// A stamp is the build record in a plugin's file that is read before loading: it is read and
// compared without mapping or running the library.
#pragma once
#include <string>

#include "crescent/base/export.h"
#include "crescent/registry/stamp.h"
#include "registry/elf/elf_file.h"

namespace crescent {

/// Reads the stamp; fails, naming the path, if the library has none.
CRESCENT_API PluginInfo read_stamp(const ElfFile& file);

/// The reason why a library with this stamp cannot run here, with the values of both sides and the
/// command to rebuild it; empty if it can.
CRESCENT_API std::string mismatch(const PluginInfo& stamp);

}  // namespace crescent
