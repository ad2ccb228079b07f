// A plugin's stamp, read from the file: nothing of the library is mapped or run.
#pragma once
#include <string>

#include "crescent/base/export.h"
#include "crescent/registry/stamp.h"
#include "registry/loader/elf_file.h"

namespace crescent {

/// Fails naming the path when the library has no stamp.
CRESCENT_API PluginInfo read_stamp(const ElfFile& file);

/// Why a library with this stamp cannot run here, both sides named, with the command that mends it;
/// empty when it can.
CRESCENT_API std::string mismatch(const PluginInfo& stamp);

}  // namespace crescent
