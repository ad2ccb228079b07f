// QR decompositions of batches of small matrices.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "crescent/ops/creation.h"
#include "crescent/ops/linalg.h"
#include "crescent/ops/ops.h"
#include "crescent/ops/random.h"

using namespace crescent;

namespace {

double largest_difference(const Tensor& a, const Tensor& b) {
  return ops::max(ops::abs(a - b)).item();
}

/// The identity matrix, once for each of `count` matrices.
Tensor identities(int64_t count, int64_t n) {
  return ops::broadcast_to(ops::eye(n, n, DType::float64), {count, n, n});
}

void check_factors(const Tensor& x, const std::string& mode) {
  const int64_t m = x.dim(1), n = x.dim(2), k = mode == "complete" ? m : std::min(m, n);
  const ops::QrResult f = ops::qr(x, mode);
  REQUIRE(f.q.shape() == Shape{x.dim(0), m, k});
  REQUIRE(f.r.shape() == Shape{x.dim(0), k, n});
  const double size = ops::max(ops::abs(x)).item();
  CHECK(largest_difference(ops::matmul(f.q, f.r) / size, x / size) < 1e-14 * double(m + n));
  CHECK(largest_difference(ops::matmul(f.q, f.q, true, false), identities(x.dim(0), k)) <
        1e-14 * double(m + n));
  CHECK(largest_difference(ops::triu(f.r), f.r) == 0);
}

}  // namespace

TEST_CASE("q r is the matrix, q is orthogonal and r is triangular") {
  SeedGenerator generator(1);
  for (const int64_t m : {1, 2, 3, 7, 8, 16, 17, 47, 60})
    for (const int64_t n : {1, 2, 3, 7, 8, 16, 17, 47, 60})
      for (const double scale : {1.0, 1e-200, 1e200})
        for (const char* mode : {"reduced", "complete"}) {
          CAPTURE(m, n, scale, mode);
          check_factors(ops::cast(generator.normal({3, m, n}), DType::float64) * scale, mode);
        }
}

TEST_CASE("columns of zeros and equal columns are decomposed") {
  SeedGenerator generator(2);
  const Tensor column = ops::cast(generator.normal({2, 6, 1}), DType::float64);
  const Tensor zeros = ops::zeros_like(column);
  check_factors(ops::concatenate(Tensors{zeros, column, column, zeros}, -1), "reduced");
  check_factors(ops::concatenate(Tensors{column, column, column}, -1), "complete");
}

TEST_CASE("the factors of a matrix with NaN are NaN, those of its neighbours are not") {
  SeedGenerator generator(3);
  const Tensor x = ops::cast(generator.normal({1, 5, 5}), DType::float64);
  const Tensor nan = x * std::numeric_limits<double>::quiet_NaN();
  const Tensor q = ops::qr(ops::concatenate(Tensors{nan, x}, 0), "reduced").q;
  CHECK(std::isnan(ops::sum(ops::slice_axis(q, 0, 0, 1)).item()));
  check_factors(x, "reduced");
  CHECK(largest_difference(ops::slice_axis(q, 0, 1, 2), ops::qr(x, "reduced").q) == 0);
}
