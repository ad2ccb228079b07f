#include "files/crc32c.h"

#include <array>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace crescent::files {
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

/// Multiplies two polynomials modulo the polynomial of CRC-32C. In a number, the highest bit is the
/// coefficient of x^0.
constexpr uint32_t multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = uint32_t{1} << 31; bit; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b >> 1 ^ (b & 1 ? kReversedPolynomial : 0);
  }
  return product;
}

/// The polynomial x^(8 * bytes): multiplying a checksum by it gives the checksum of the same data
/// with `bytes` zero bytes appended.
constexpr uint32_t zero_bytes_factor(size_t bytes) {
  uint32_t power = uint32_t{1} << 31, square = uint32_t{1} << 23;  // the polynomials x^0 and x^8
  for (; bytes; bytes >>= 1, square = multiply(square, square))
    if (bytes & 1) power = multiply(power, square);
  return power;
}

uint32_t crc_by_table(uint32_t crc, const unsigned char* p, size_t size) {
  for (; size > 0; --size) crc = crc >> 8 ^ kTable[(crc ^ *p++) & 0xff];
  return crc;
}

uint64_t load_word(const unsigned char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

#if defined(__x86_64__)
#define CRC32C_TARGET __attribute__((target("sse4.2")))
CRC32C_TARGET inline uint32_t crc_step(uint32_t crc, uint64_t word) {
  return static_cast<uint32_t>(_mm_crc32_u64(crc, word));
}
bool has_instruction() { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__ARM_FEATURE_CRC32)
#define CRC32C_TARGET
inline uint32_t crc_step(uint32_t crc, uint64_t word) { return __crc32cd(crc, word); }
bool has_instruction() { return true; }
#else
#define CRC32C_TARGET
inline uint32_t crc_step(uint32_t crc, uint64_t) { return crc; }
bool has_instruction() { return false; }
#endif

/// Computes the checksums of three consecutive parts at the same time: the CRC instruction has a
/// latency of three cycles, and one can start in each cycle. The hardware prefetcher does not help
/// with such short parts, so the code prefetches the next three parts itself.
CRC32C_TARGET uint32_t crc_by_instruction(uint32_t crc, const unsigned char* p, size_t size) {
  constexpr size_t kPartBytes = 8192, kCacheLine = 64;
  constexpr uint32_t kOnePartFactor = zero_bytes_factor(kPartBytes),
                     kTwoPartsFactor = zero_bytes_factor(2 * kPartBytes);
  for (; size >= 3 * kPartBytes; size -= 3 * kPartBytes, p += 3 * kPartBytes) {
    uint32_t second_crc = 0, third_crc = 0;
    for (size_t line = 0; line < kPartBytes; line += kCacheLine) {
      for (size_t part = 3; part < 6; ++part) __builtin_prefetch(p + part * kPartBytes + line);
      for (size_t i = line; i < line + kCacheLine; i += 8) {
        crc = crc_step(crc, load_word(p + i));
        second_crc = crc_step(second_crc, load_word(p + kPartBytes + i));
        third_crc = crc_step(third_crc, load_word(p + 2 * kPartBytes + i));
      }
    }
    crc = multiply(crc, kTwoPartsFactor) ^ multiply(second_crc, kOnePartFactor) ^ third_crc;
  }
  for (; size >= 8; size -= 8, p += 8) crc = crc_step(crc, load_word(p));
  return crc_by_table(crc, p, size);
}

}  // namespace

uint32_t crc32c(const void* bytes, size_t size) {
  auto* p = static_cast<const unsigned char*>(bytes);
  return ~(has_instruction() ? crc_by_instruction(~0u, p, size) : crc_by_table(~0u, p, size));
}

uint32_t crc32c_joined(uint32_t first, uint32_t second, size_t size_of_second) {
  return multiply(first, zero_bytes_factor(size_of_second)) ^ second;
}

}  // namespace crescent::files
