// Software prefetch of rows in random order, which the hardware prefetcher cannot predict.
#pragma once
#include <algorithm>
#include <cstddef>

namespace crescent {

/// Prefetches the first 8 KiB of a row that will be copied soon into the cache.
inline void prefetch_row(const std::byte* row, size_t bytes) {
  constexpr size_t kCacheLine = 64, kMaximum = 8192;
  for (size_t offset = 0; offset < std::min(bytes, kMaximum); offset += kCacheLine)
    __builtin_prefetch(row + offset);
}

}  // namespace crescent
