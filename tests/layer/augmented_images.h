// Images with known values, and a check of layers against a formula for each pixel.
#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "crescent/crescent.h"

namespace crescent::test {

/// The value at (image, row, column, channel).
using PixelFunction = std::function<double(int, int, int, int)>;
constexpr int kBatch = 2, kHeight = 4, kWidth = 5, kChannels = 3;

inline double value(int n, int y, int x, int c) {
  return std::round(127 + 120 * std::sin(1.3 * n + 0.7 * y + 1.9 * x + 2.3 * c));
}

inline Tensor images() {
  std::vector<float> values;
  for (int n = 0; n < kBatch; ++n)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int c = 0; c < kChannels; ++c) values.push_back(float(value(n, y, x, c)));
  return Tensor::from(values, {kBatch, kHeight, kWidth, kChannels});
}

inline Tensors outputs_in_training(const char* name, const Dict& options, const Tensor& x,
                                   const Dict& arguments = {}) {
  const LayerPtr layer = make<Layer>(name, options);
  CallOptions call;
  call.arguments = arguments;
  return (*layer)(Tensors{x}, call);
}

inline void check(const char* name, const Dict& options, const PixelFunction& formula) {
  const std::vector<double> got = outputs_in_training(name, options, images())[0].to_vector();
  REQUIRE(got.size() == size_t(kBatch * kHeight * kWidth * kChannels));
  size_t i = 0;
  for (int n = 0; n < kBatch; ++n)
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int c = 0; c < kChannels; ++c, ++i) {
          INFO(name << " image " << n << " row " << y << " column " << x << " channel " << c);
          CHECK(got[i] == Approx(formula(n, y, x, c)).epsilon(1e-4).margin(2e-3));
        }
}

inline Value pair_of(double number) { return List{number, number}; }

inline double clipped(double x, double low = 0, double high = 255) {
  return std::clamp(x, low, high);
}

/// The index mirrored at the edges, where the edge element is repeated.
inline int reflected(int i, int size) {
  const int position = ((i % (2 * size)) + 2 * size) % (2 * size);
  return position < size ? position : 2 * size - 1 - position;
}

}  // namespace crescent::test
