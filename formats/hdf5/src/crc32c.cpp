#include "crc32c.h"

#include <array>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace crescent::hdf5 {
namespace {

constexpr uint32_t kReversedPolynomial = 0x82f63b78;

constexpr std::array<uint32_t, 256> kTable = [] {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kReversedPolynomial : 0);
    table[i] = crc;
  }
  return table;
}();

uint32_t by_table(uint32_t crc, const unsigned char* p, size_t size) {
  for (; size > 0; --size) crc = crc >> 8 ^ kTable[(crc ^ *p++) & 0xff];
  return crc;
}

uint64_t load_word(const unsigned char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t by_instruction(uint32_t crc, const unsigned char* p,
                                                          size_t size) {
  uint64_t wide = crc;
  for (; size >= 8; size -= 8, p += 8) wide = _mm_crc32_u64(wide, load_word(p));
  return by_table(static_cast<uint32_t>(wide), p, size);
}
bool has_instruction() {
  return __builtin_cpu_supports("sse4.2");
}
#elif defined(__ARM_FEATURE_CRC32)
uint32_t by_instruction(uint32_t crc, const unsigned char* p, size_t size) {
  for (; size >= 8; size -= 8, p += 8) crc = __crc32cd(crc, load_word(p));
  return by_table(crc, p, size);
}
bool has_instruction() {
  return true;
}
#else
uint32_t by_instruction(uint32_t crc, const unsigned char* p, size_t size) {
  return by_table(crc, p, size);
}
bool has_instruction() {
  return false;
}
#endif

}  // namespace

uint32_t crc32c(const void* bytes, size_t size) {
  auto* p = static_cast<const unsigned char*>(bytes);
  return ~(has_instruction() ? by_instruction(~0u, p, size) : by_table(~0u, p, size));
}

}  // namespace crescent::hdf5
