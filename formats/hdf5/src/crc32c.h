// CRC-32C (Castagnoli), the checksum of every dataset we write.
#pragma once
#include <cstddef>
#include <cstdint>

namespace crescent::hdf5 {
uint32_t crc32c(const void* bytes, size_t size);
}
