// Loops that round floats to bytes.
#pragma once
#include <cstdint>

namespace crescent::cpu {

struct RoundingLoops {
  /// Returns the largest magnitude; NaN if a value is NaN, and 0 if there are no values.
  float (*largest_magnitude)(const float* x, int64_t count);
  /// Stores x * scale, rounded to an integer from `low` to `high`, plus `offset`.
  void (*round)(const float* x, int64_t count, float scale, float low, float high, float offset,
                uint8_t* to);
};
RoundingLoops rounding_loops();

}  // namespace crescent::cpu
