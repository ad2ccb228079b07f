#include <catch2/catch.hpp>
#include <cmath>
#include <complex>

#include "crescent/ops/ops.h"
#include "crescent/program/gradient.h"

using namespace crescent;
using Catch::Matchers::Contains;
using Complex = std::complex<float>;

namespace {

Tensor complex_tensor(const std::vector<Complex>& values) {
  return Tensor::from_bytes(values.data(), values.size() * sizeof(Complex),
                            {DType::complex64, {static_cast<int64_t>(values.size())}});
}

void check(const Tensor& got, const std::vector<Complex>& expected) {
  REQUIRE(got.dtype() == DType::complex64);
  const std::vector<double> pairs = ops::view_as_real(got).to_vector();
  REQUIRE(pairs.size() == 2 * expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    CHECK(pairs[2 * i] == Approx(expected[i].real()).margin(1e-6));
    CHECK(pairs[2 * i + 1] == Approx(expected[i].imag()).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("complex numbers are computed with") {
  const std::vector<Complex> a{{1, 2}, {-3, 0.5f}}, b{{0.25f, -1}, {2, 2}};
  const Tensor x = complex_tensor(a), y = complex_tensor(b);
  check(x + y, {a[0] + b[0], a[1] + b[1]});
  check(x - y, {a[0] - b[0], a[1] - b[1]});
  check(x * y, {a[0] * b[0], a[1] * b[1]});
  check(x / y, {a[0] / b[0], a[1] / b[1]});
  check(x * 2.0, {a[0] * 2.0f, a[1] * 2.0f});
  check(-x, {-a[0], -a[1]});
  check(ops::square(x), {a[0] * a[0], a[1] * a[1]});
  check(ops::reciprocal(x), {1.0f / a[0], 1.0f / a[1]});
  check(ops::exp(x), {std::exp(a[0]), std::exp(a[1])});
  check(ops::log(x), {std::log(a[0]), std::log(a[1])});
  check(ops::sum(x), {a[0] + a[1]});
  check(ops::cast(Tensor::from(std::vector<float>{1, 2}, {2}), DType::complex64), {1, 2});
  CHECK(ops::abs(x).to_vector()[0] == Approx(std::abs(a[0])));
  CHECK(ops::equal(x, complex_tensor({a[0], b[0]})).to_vector() == std::vector<double>{1, 0});
  CHECK(to_text(x) == "[   1+2j -3+0.5j]");
  CHECK_THROWS_WITH(ops::sqrt(x), Contains("sqrt takes no complex numbers"));
  CHECK_THROWS_WITH(ops::less(x, y), Contains("less takes no complex numbers"));
  CHECK_THROWS_WITH(ops::cast(x, DType::float32), Contains("real, imag and abs"));
  CHECK_THROWS_WITH(x.to_vector(), Contains("view_as_real"));
  CHECK_THROWS_WITH(ops::view_as_complex(Tensor(1.0)), Contains("pairs of numbers"));
}

TEST_CASE("gradients go through complex numbers") {
  const Tensor pairs = Tensor::from(std::vector<float>{3, 4}, {1, 2});
  GradientTape tape;
  tape.watch(pairs);
  const Tensor z = ops::view_as_complex(pairs);
  const Tensor loss = ops::sum(ops::abs(z * z));  // equals the sum of |z|^2
  tape.stop();
  CHECK(loss.item() == Approx(25));
  const std::vector<double> gradient = tape.gradient(loss, std::span(&pairs, 1))[0].to_vector();
  CHECK(gradient[0] == Approx(6));
  CHECK(gradient[1] == Approx(8));
}
