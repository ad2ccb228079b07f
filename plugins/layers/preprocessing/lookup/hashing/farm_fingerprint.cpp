#include <bit>
#include <cstring>

#include "hashes.h"

namespace crescent {
namespace {

constexpr uint64_t k0 = 0xc3a5c85c97cb3127, k1 = 0xb492b66fbe98f273, k2 = 0x9ae16a3b2f90404f;

uint64_t read_word(const char* p) {
  uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
uint64_t read_half_word(const char* p) {
  uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}
uint64_t byte(char c) { return static_cast<unsigned char>(c); }

uint64_t fold_upper_bits(uint64_t value) { return value ^ (value >> 47); }

uint64_t mix_words(uint64_t a, uint64_t b, uint64_t factor) {
  const uint64_t first = fold_upper_bits((a ^ b) * factor);
  return fold_upper_bits((b ^ first) * factor) * factor;
}

/// The multiplier for a text of this length.
uint64_t factor_of(size_t length) { return k2 + 2 * length; }

uint64_t hash_up_to_16(const char* s, size_t n) {
  const uint64_t factor = factor_of(n);
  if (n >= 8) {
    const uint64_t a = read_word(s) + k2, b = read_word(s + n - 8);
    return mix_words(std::rotr(b, 37) * factor + a, (std::rotr(a, 25) + b) * factor, factor);
  }
  if (n >= 4) return mix_words(n + (read_half_word(s) << 3), read_half_word(s + n - 4), factor);
  if (n == 0) return k2;
  const uint64_t first_and_middle = byte(s[0]) + (byte(s[n / 2]) << 8),
                 last_and_length = n + (byte(s[n - 1]) << 2);
  return fold_upper_bits((first_and_middle * k2) ^ (last_and_length * k0)) * k2;
}

/// The mixture of 32 bytes: the first 16 and the last 16 of a text.
struct Quarter {
  uint64_t a, y, z;
};
Quarter quarter(const char* s, size_t n, uint64_t first_factor, uint64_t factor) {
  const uint64_t a = read_word(s) * first_factor, b = read_word(s + 8),
                 c = read_word(s + n - 8) * factor, d = read_word(s + n - 16) * k2;
  return {a, std::rotr(a + b, 43) + std::rotr(c, 30) + d, a + std::rotr(b + k2, 18) + c};
}

uint64_t hash_up_to_32(const char* s, size_t n) {
  const Quarter ends = quarter(s, n, k1, factor_of(n));
  return mix_words(ends.y, ends.z, factor_of(n));
}

uint64_t hash_up_to_64(const char* s, size_t n) {
  const uint64_t factor = factor_of(n);
  const Quarter ends = quarter(s, n, k2, factor);
  const uint64_t z = mix_words(ends.y, ends.z, factor);
  const uint64_t e = read_word(s + 16) * factor, f = read_word(s + 24),
                 g = (ends.y + read_word(s + n - 32)) * factor,
                 h = (z + read_word(s + n - 24)) * factor;
  return mix_words(std::rotr(e + f, 43) + std::rotr(g, 30) + h, e + std::rotr(f + ends.a, 18) + g,
                   factor);
}

struct Pair {
  uint64_t first, second;
};
Pair hash_32_bytes(const char* s, uint64_t a, uint64_t b) {
  a += read_word(s);
  b = std::rotr(b + a + read_word(s + 24), 21);
  const uint64_t start = a;
  a += read_word(s + 8) + read_word(s + 16);
  b += std::rotr(a, 44);
  return {a + read_word(s + 24), b + start};
}

/// The state for texts longer than 64 bytes: five words into which blocks of 64 bytes are mixed.
struct FarmState {
  uint64_t x, y, z;
  Pair v{0, 0}, w{0, 0};

  explicit FarmState(const char* s) {
    constexpr uint64_t seed = 81;
    x = seed * k2 + read_word(s);
    y = seed * k1 + 113;
    z = fold_upper_bits(y * k2 + 113) * k2;
  }
  void mix_in(const char* s, uint64_t factor, uint64_t weight) {
    x = std::rotr(x + y + v.first + read_word(s + 8), 37) * factor;
    y = std::rotr(y + v.second + read_word(s + 48), 42) * factor;
    x ^= w.second * weight;
    y += v.first * weight + read_word(s + 40);
    z = std::rotr(z + w.first, 33) * factor;
    v = hash_32_bytes(s, v.second * factor, x + w.first);
    w = hash_32_bytes(s + 32, z + w.second, y + read_word(s + 16));
    std::swap(z, x);
  }
};

uint64_t hash_longer(const char* s, size_t n) {
  FarmState state(s);
  const size_t block_bytes = (n - 1) / 64 * 64, last_bytes = (n - 1) % 64;
  for (size_t i = 0; i < block_bytes; i += 64) state.mix_in(s + i, k1, 1);
  const uint64_t factor = k1 + ((state.z & 0xff) << 1);
  state.w.first += last_bytes;
  state.v.first += state.w.first;
  state.w.first += state.v.first;
  state.mix_in(s + n - 64, factor, 9);
  return mix_words(
      mix_words(state.v.first, state.w.first, factor) + fold_upper_bits(state.y) * k0 + state.z,
      mix_words(state.v.second, state.w.second, factor) + state.x, factor);
}

}  // namespace

uint64_t farm_fingerprint(std::string_view text) {
  const size_t n = text.size();
  if (n <= 16) return hash_up_to_16(text.data(), n);
  if (n <= 32) return hash_up_to_32(text.data(), n);
  return n <= 64 ? hash_up_to_64(text.data(), n) : hash_longer(text.data(), n);
}

uint64_t joined_fingerprint(uint64_t first, uint64_t second) {
  constexpr uint64_t factor = 0xc6a4a7935bd1e995;
  uint64_t result = first ^ factor;
  result ^= fold_upper_bits(second * factor) * factor;
  result *= factor;
  return fold_upper_bits(fold_upper_bits(result) * factor);
}

}  // namespace crescent
