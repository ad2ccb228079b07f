// The random 32-bit words of the generator Philox, included once per SIMD target (Highway).
#include <cstdint>

#include "kernel/vector-inl.h"

#if defined(CRESCENT_CPU_PHILOX_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CRESCENT_CPU_PHILOX_INL_H
#undef CRESCENT_CPU_PHILOX_INL_H
#else
#define CRESCENT_CPU_PHILOX_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {

/// Fills words[0..4 kBlocks) from the philox blocks that begin with `block`; the blocks are
/// computed side by side, so that the compiler vectorizes the loop.
template <int kBlocks>
HWY_INLINE void philox_words(int64_t seed, int64_t counter, uint64_t block, uint32_t* words) {
  HWY_ALIGN uint32_t x[4][kBlocks];
  for (uint64_t i = 0; i < kBlocks; ++i) {
    const uint64_t number = block + i, count = static_cast<uint64_t>(counter);
    x[0][i] = static_cast<uint32_t>(number), x[1][i] = static_cast<uint32_t>(number >> 32);
    x[2][i] = static_cast<uint32_t>(count), x[3][i] = static_cast<uint32_t>(count >> 32);
  }
  uint32_t k0 = static_cast<uint32_t>(seed),
           k1 = static_cast<uint32_t>(static_cast<uint64_t>(seed) >> 32);
  for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
    for (int i = 0; i < kBlocks; ++i) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * x[0][i], p1 = uint64_t{0xCD9E8D57u} * x[2][i];
      x[0][i] = static_cast<uint32_t>(p1 >> 32) ^ x[1][i] ^ k0, x[1][i] = static_cast<uint32_t>(p1);
      x[2][i] = static_cast<uint32_t>(p0 >> 32) ^ x[3][i] ^ k1, x[3][i] = static_cast<uint32_t>(p0);
    }
  }
  for (int i = 0; i < kBlocks; ++i) {
    for (int word = 0; word < 4; ++word) words[4 * i + word] = x[word][i];
  }
}

}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
