// Random numbers that depend only on a key.
#pragma once
#include "crescent/ops/random.h"

namespace crescent {

/// Derives a key for random numbers from a seed and the number of a pass or of an element.
inline uint64_t random_bits(int64_t seed, uint64_t number) {
  const PhiloxBlock block = philox(static_cast<uint64_t>(seed), number, 0);
  return uint64_t{block.word[0]} << 32 | block.word[1];
}

class IndexGenerator {
 public:
  explicit IndexGenerator(uint64_t key) : key_(key) {}
  /// Draws a number from 0 to count - 1.
  size_t index_below(size_t count) {
    if (words_used_ % 4 == 0) block_ = philox(key_, 0, words_used_ / 4);
    return static_cast<size_t>(uint64_t{block_.word[words_used_++ % 4]} * count >> 32);
  }

 private:
  uint64_t key_, words_used_ = 0;
  PhiloxBlock block_{};
};

}  // namespace crescent
