// The tables by which the dynamic linker links a library.
#pragma once
#include "registry/elf/elf_file.h"

namespace crescent {

/// Fails if an address, an index or a number in these tables, which the dynamic linker does not
/// check, points outside of the library: linking a damaged library would corrupt memory of the
/// process.
CRESCENT_API void check_tables(const ElfFile& file);

}  // namespace crescent
