// CRC-32C (Castagnoli), the checksum of every dataset that Crescent writes.
#pragma once
#include <cstddef>
#include <cstdint>

#include "files/export.h"

namespace crescent::files {
CRESCENT_FILES_API uint32_t crc32c(const void* bytes, size_t size);
/// The checksum of two parts one after the other, computed from the checksum of each part.
CRESCENT_FILES_API uint32_t crc32c_joined(uint32_t first, uint32_t second, size_t size_of_second);
}  // namespace crescent::files
