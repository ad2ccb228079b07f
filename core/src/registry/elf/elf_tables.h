// The tables by which the dynamic linker links a library.
#pragma once
#include "registry/elf/elf_file.h"

namespace crescent {

/// Fails if an address, an index or a number in these tables points outside of the library. The
/// dynamic linker does not check this, so linking a damaged library would corrupt memory of the
/// process.
CRESCENT_API void check_tables(const ElfFile& file);

}  // namespace crescent
