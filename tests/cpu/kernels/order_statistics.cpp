// Quantiles of rows, compared with sorted copies. The kernel of order statistics chooses its
// algorithm by the length of a row and the number of requested ranks; the tests use values around
// these thresholds.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "crescent/ops/ops.h"
#include "crescent/ops/reductions.h"
#include "crescent/program/gradient.h"

using namespace crescent;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

enum class Kind { normal, in_one_binade, few, equal, wide, with_infinities };

std::vector<double> random_numbers(Kind kind, int64_t count, std::mt19937& generator) {
  std::normal_distribution<float> normal;
  std::uniform_real_distribution<float> uniform(1, 2);
  std::vector<double> values(static_cast<size_t>(count));
  for (double& x : values) {
    const float z = normal(generator);
    x = kind == Kind::normal          ? z
        : kind == Kind::in_one_binade ? uniform(generator)
        : kind == Kind::few           ? std::round(2 * z)
        : kind == Kind::equal         ? 1.5
        : kind == Kind::wide          ? std::ldexp(std::round(100 * z), int(20 * z))
        : std::abs(z) > 1             ? std::copysign(kInfinity, z)
                                      : z;
  }
  return values;
}

/// The index, in sorted numbers, of the quantile q of n numbers by the method "lower".
size_t lower_index(int64_t n, double q, DType dtype) {
  if (dtype == DType::float64) return static_cast<size_t>(std::floor(double(n - 1) * q));
  return static_cast<size_t>(std::floor(static_cast<float>(n - 1) * static_cast<float>(q)));
}

}  // namespace

TEST_CASE("quantiles are elements of sorted rows", "[cpu]") {
  std::mt19937 generator(1);
  for (const int64_t n : {1, 2, 511, 512, 513, 2047, 2049, 70001})
    for (const Kind kind : {Kind::normal, Kind::in_one_binade, Kind::few, Kind::equal, Kind::wide,
                            Kind::with_infinities})
      for (const DType dtype : {DType::float32, DType::float64})
        for (const int64_t count : {1, 8, 9}) {
          CAPTURE(n, int(kind), to_text(dtype), count);
          const int64_t rows = n > 10000 ? 1 : 3;
          std::vector<double> values = random_numbers(kind, rows * n, generator), q;
          for (int64_t i = 0; i < count; ++i) q.push_back(std::fmod(double(i) * 0.37, 1.0));
          const Tensor x = ops::cast(Tensor::from(values, {rows, n}), dtype);
          const std::vector<double> lower =
              ops::quantile(x, ops::cast(Tensor::from(q, {count}), dtype), {1}, "lower")
                  .to_vector();
          for (int64_t row = 0; row < rows; ++row) {
            const auto first = values.begin() + row * n;
            std::sort(first, first + n);
            for (size_t i = 0; i < q.size(); ++i)
              CHECK(lower[i * size_t(rows) + size_t(row)] ==
                    values[size_t(row * n) + lower_index(n, q[i], dtype)]);
          }
        }
}

TEST_CASE("NaN is beyond all numbers, so that nanmedian does not reach it", "[cpu]") {
  std::mt19937 generator(2);
  for (const int64_t n : {100, 511, 512, 3001})
    for (const int64_t nan_count : {int64_t{1}, n / 3, n - 1, n}) {
      CAPTURE(n, nan_count);
      std::vector<double> values = random_numbers(Kind::normal, n, generator);
      std::fill_n(values.begin(), nan_count, std::nan(""));
      std::vector<double> numbers(values.begin() + nan_count, values.end());
      std::shuffle(values.begin(), values.end(), generator);
      std::sort(numbers.begin(), numbers.end());
      const Tensor x = Tensor::from(values, {n});
      CHECK(std::isnan(ops::median(x).item()));
      const double median = ops::nanmedian(x).item();
      if (numbers.empty()) {
        CHECK(std::isnan(median));
        continue;
      }
      const size_t last = numbers.size() - 1;
      CHECK(median == Approx((numbers[last / 2] + numbers[(last + 1) / 2]) / 2));
    }
}

TEST_CASE("the gradient of a median goes to the elements of which it consists", "[cpu]") {
  std::mt19937 generator(3);
  for (const int64_t n : {10, 511, 512, 1000, 3001})
    for (const Kind kind : {Kind::normal, Kind::few, Kind::equal}) {
      CAPTURE(n, int(kind));
      const Tensor x = Tensor::from(random_numbers(kind, n, generator), {n});
      GradientTape tape;
      tape.watch(x);
      const Tensor median = ops::median(x);
      const Tensor median_gradient = tape.gradient(median, std::vector<Tensor>{x})[0];
      CHECK(ops::sum(median_gradient).item() == Approx(1));
      CHECK(ops::sum(median_gradient * x).item() == Approx(median.item()));
      CHECK(ops::sum(ops::cast(ops::not_equal(median_gradient, 0.0), DType::float64)).item() ==
            (n % 2 == 1 ? 1 : 2));
    }
}
