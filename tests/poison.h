// Detects reads of uninitialized memory: their results depend on the previous contents of the
// memory.
#pragma once
#include <algorithm>
#include <cmath>

#include "crescent/tensor/tensor.h"

namespace crescent::test {

/// Fills the memory that the next tensors are likely to get with this byte.
inline void poison(uint8_t byte) {
  Tensors blocks;
  for (int64_t bytes = 1; bytes <= 16384; bytes = bytes * 5 / 4 + 1) {
    for (int i = 0; i < 8; ++i) blocks.push_back(Tensor::full({bytes}, byte, DType::uint8));
  }
}

/// Whether the values are equal up to rounding; NaN equals NaN.
inline bool same_values(const Tensors& a, const Tensors& b) {
  auto equal = [](double x, double y) {
    return std::abs(x - y) <= 1e-5 || x == y || (std::isnan(x) && std::isnan(y));
  };
  auto equal_tensors = [&](const Tensor& s, const Tensor& t) {
    const auto x = s.to_vector(), y = t.to_vector();
    return s.spec() == t.spec() && std::equal(x.begin(), x.end(), y.begin(), y.end(), equal);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal_tensors);
}

}  // namespace crescent::test
