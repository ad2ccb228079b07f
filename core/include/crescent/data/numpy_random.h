// NumpyRandom shuffles as numpy.random.RandomState does, with which Keras splits and shuffles data:
// the same seed gives the same parts as in Keras.
#pragma once
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace crescent {

/// The Mersenne Twister of numpy.random.RandomState with the same seed.
class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : words_(seed) {}

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (uint64_t i = items.size(); i-- > 1;) std::swap(items[i], items[up_to(i)]);
  }

 private:
  /// Draws an integer from 0 to `most`: random bits are drawn until they give a number that is not
  /// greater than `most`.
  uint64_t up_to(uint64_t most) {
    uint64_t mask = most;
    for (int shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
    for (;;) {
      const uint64_t low = words_();
      const uint64_t drawn = (most <= UINT32_MAX ? low : low << 32 | words_()) & mask;
      if (drawn <= most) return drawn;
    }
  }

  std::mt19937 words_;
};

}  // namespace crescent
