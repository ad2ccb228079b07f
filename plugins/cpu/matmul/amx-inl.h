// Macros for functions that are compiled for AVX-512 and AMX tiles, independent of the target of
// the other code.
#pragma once
#include <immintrin.h>

#include <algorithm>
#include <cstdint>

// GCC 12 emits these warnings for its own header immintrin.h
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#define CRESCENT_AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#define CRESCENT_INLINE CRESCENT_AVX512 inline __attribute__((always_inline))
#define CRESCENT_AMX \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")))
#define CRESCENT_AMX_INLINE CRESCENT_AMX inline __attribute__((always_inline))
#define CRESCENT_AMX_LAMBDA CRESCENT_AMX __attribute__((always_inline))

namespace crescent::cpu::amx {

using Mask = __mmask32;
inline Mask first_lanes(int64_t count) {
  return static_cast<Mask>(count >= 32 ? ~0u : (1u << std::max<int64_t>(count, 0)) - 1);
}

}  // namespace crescent::cpu::amx
