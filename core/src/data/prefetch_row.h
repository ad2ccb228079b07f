// Software prefetch of rows in random order, which the hardware prefetcher cannot predict.
#pragma once
#include <algorithm>
#include <cstddef>

namespace crescent {

/// Prefetches into the cache the first 8 KiB of a row that will soon be copied.
inline void prefetch_row(const std::byte* row, size_t bytes) {
  constexpr size_t kCacheLine = 64, kMaxBytes = 8192;
  for (size_t offset = 0; offset < std::min(bytes, kMaxBytes); offset += kCacheLine)
    __builtin_prefetch(row + offset);
}

}  // namespace crescent
