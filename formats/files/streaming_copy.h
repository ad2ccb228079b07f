// Copies large arrays with non-temporal stores, for memory that is not read soon: such stores
// bypass the cache and do not load the overwritten cache lines first.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace crescent::files {

inline void streaming_copy(std::byte* to, const std::byte* from, size_t size) {
#if defined(__SSE2__)
  constexpr size_t kCacheLine = 64, kWordBytes = sizeof(__m128i);
  const size_t unaligned_bytes = -reinterpret_cast<uintptr_t>(to) % kCacheLine;
  if (unaligned_bytes < size) {
    std::memcpy(to, from, unaligned_bytes);
    to += unaligned_bytes, from += unaligned_bytes, size -= unaligned_bytes;
    for (; size >= kCacheLine; to += kCacheLine, from += kCacheLine, size -= kCacheLine)
      for (size_t i = 0; i < kCacheLine; i += kWordBytes)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    _mm_sfence();
  }
#endif
  std::memcpy(to, from, size);
}

}  // namespace crescent::files
