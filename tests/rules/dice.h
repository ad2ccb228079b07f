// Random numbers and shapes drawn from a seed.
#pragma once
#include <initializer_list>

#include "crescent/ops/random.h"
#include "crescent/tensor/tensor.h"

namespace crescent::rules {

class Dice {
 public:
  explicit Dice(uint64_t seed) : seed_(seed) {}
  uint64_t random_word() { return philox(seed_, 0, next_++).word[0]; }
  int64_t below(int64_t n) {
    return static_cast<int64_t>(random_word() % static_cast<uint64_t>(n));
  }
  int64_t between(int64_t first, int64_t last) { return first + below(last - first + 1); }
  /// Returns true with a probability of `percent`.
  bool happens(int percent) { return below(100) < percent; }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  }

 private:
  uint64_t seed_, next_ = 0;
};

/// The range from which the numbers of a tensor are drawn.
enum class NumberRange {
  tame /* -2 to 2, some zeros */,
  special /* infinite, NaN, largest, too */
};
Tensor draw_tensor(Dice& dice, const TensorSpec& spec, NumberRange numbers);

}  // namespace crescent::rules
