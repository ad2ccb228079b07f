// Sums of many products stay accurate, because kernels compute partial sums and then add these.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"
#include "crescent/program/gradient.h"

using namespace crescent;

namespace {

/// The largest relative error; all terms have the same sign, so they cannot cancel.
double error_of(const Tensor& result, const Tensor& exact) {
  const std::vector<double> got = result.to_vector(), wanted = exact.to_vector();
  double largest_error = 0;
  for (size_t i = 0; i < got.size(); ++i)
    largest_error = std::max(largest_error, std::abs(got[i] - wanted[i]) / wanted[i]);
  return largest_error;
}

Tensor positive_numbers(const Shape& shape, int64_t seed) {
  return ops::abs(SeedGenerator(seed).normal(shape));
}

Tensor as_float64(const Tensor& x) { return ops::cast(x, DType::float64); }

/// The gradient of a convolution's kernel for the upstream gradient dy.
Tensor kernel_gradient(const Tensor& x, const Tensor& kernel, const Tensor& dy) {
  Variable weight(kernel, {});
  GradientTape tape;
  const Tensor loss = ops::sum(ops::conv(x, weight.value(), {1}, ops::Padding::same) * dy);
  tape.stop();
  return tape.gradient(loss, std::span<const Variable>(&weight, 1)).front();
}

}  // namespace

TEST_CASE("products with few columns add in stretches at all depths", "[cpu][matmul]") {
  for (const int64_t depth : {255, 256, 257, 512, 513, 70001, 1 << 20}) {
    for (const int64_t columns : {1, 3, 10, 16}) {
      if (depth > 100000 && columns != 10) continue;
      const Tensor a = positive_numbers({depth, 8}, 1), b = positive_numbers({depth, columns}, 2);
      const Tensor product = ops::matmul(a, b, true);
      CAPTURE(depth, columns);
      CHECK(error_of(product, ops::matmul(as_float64(a), as_float64(b), true)) < 1.5e-6);
    }
  }
}

TEST_CASE("gradients of small kernels add in slices of the batch", "[cpu][conv]") {
  for (const int64_t batch : {1000, 1821, 300000}) {
    const Tensor x = positive_numbers({batch, 9, 1}, 1), dy = positive_numbers({batch, 9, 1}, 2);
    const Tensor kernel = positive_numbers({4, 1, 1}, 3);
    const Tensor gradient = kernel_gradient(x, kernel, dy);
    CAPTURE(batch);
    CHECK(error_of(gradient, kernel_gradient(as_float64(x), as_float64(kernel), as_float64(dy))) <
          4e-6);
  }
}
