// Functions that draw random sizes and numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace crescent {

template <size_t N>
int64_t random_choice(const int64_t (&values)[N], std::mt19937& generator) {
  return values[generator() % N];
}

/// Random numbers from -max_magnitude to max_magnitude.
inline std::vector<float> random_floats(int64_t count, float max_magnitude,
                                        std::mt19937& generator) {
  std::uniform_real_distribution<float> uniform(-max_magnitude, max_magnitude);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& x : values) x = uniform(generator);
  return values;
}

}  // namespace crescent
