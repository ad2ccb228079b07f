// Functions that draw random sizes and numbers.
#pragma once
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace crescent {

template <size_t N>
int64_t pick(const int64_t (&values)[N], std::mt19937& draw) {
  return values[draw() % N];
}

/// Numbers from -most to most.
inline std::vector<float> random_floats(int64_t count, float most, std::mt19937& draw) {
  std::uniform_real_distribution<float> uniform(-most, most);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& x : values) x = uniform(draw);
  return values;
}

}  // namespace crescent
