// The tables by which the system's loader links a library.
#pragma once
#include "registry/loader/elf_file.h"

namespace crescent {

/// Fails when an address, a name or a number of them that the system's loader will take on trust is
/// not inside of the library: a damaged one would read and write the memory of others.
CRESCENT_API void check_tables(const ElfFile& file);

}  // namespace crescent
