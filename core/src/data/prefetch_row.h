// Rows in a drawn order are no pattern that a processor could see by itself.
#pragma once
#include <algorithm>
#include <cstddef>

namespace crescent {

/// Asks for the first 8 KiB of a row that will be copied soon.
inline void prefetch_row(const std::byte* row, size_t bytes) {
  constexpr size_t kLine = 64, kMost = 8192;
  for (size_t at = 0; at < std::min(bytes, kMost); at += kLine) __builtin_prefetch(row + at);
}

}  // namespace crescent
