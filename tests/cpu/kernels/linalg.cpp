#include <limits>

#include "support.h"

using namespace crescent;
using namespace crescent::cpu;
using namespace crescent::cpu::test;

namespace {

Array product(const Array& a, const Array& b) {
  const int64_t m = a.spec.shape[0], k = a.spec.shape[1], n = b.spec.shape[1];
  Array c = zeros({m, n}, a.spec.dtype);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t q = 0; q < k; ++q) c.values[i * n + j] += a[i * k + q] * b[q * n + j];
    }
  }
  return c;
}

Array transposed(const Array& a) {
  const int64_t m = a.spec.shape[0], n = a.spec.shape[1];
  Array t = zeros({n, m}, a.spec.dtype);
  for (int64_t i = 0; i < m * n; ++i) t.values[i % n * m + i / n] = a[i];
  return t;
}

Array diagonal(const std::vector<double>& values, DType dtype) {
  const int64_t n = static_cast<int64_t>(values.size());
  Array d = zeros({n, n}, dtype);
  for (int64_t i = 0; i < n; ++i) d.values[i * n + i] = values[i];
  return d;
}

Outcome outcome_of(const Op& op, const Array& a, const std::vector<Shape>& shapes,
                   int threads = 1) {
  TensorSpecs out;
  for (const auto& shape : shapes) out.push_back({a.spec.dtype, shape});
  for (const auto& kernel_entry : linalg_kernels()) {
    if (op.name() != kernel_entry.op) continue;
    if (auto kernel = kernel_entry.make({op, {&a.spec, 1}, out, Options{}}))
      return run(*kernel, {a}, out, threads);
  }
  return {};
}

std::vector<Array> run_op(const Op& op, const Array& a, const std::vector<Shape>& shapes) {
  return outcome_of(op, a, shapes).outputs;
}

}  // namespace

TEST_CASE("QR gives orthogonal columns and an upper triangle", "[cpu][linalg]") {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{5, 3}, Shape{3, 5}, Shape{40, 40}, Shape{128, 17}, Shape{1, 300},
        Shape{300, 1}, Shape{129, 129}, Shape{330, 270}, Shape{140, 420}}) {
    for (DType dtype : {DType::float32, DType::float64}) {
      const int64_t m = shape[0], n = shape[1], k = std::min(m, n);
      const Array a = random(shape, dtype, 1);
      const auto qr = run_op(Qr{}, a, {{m, k}, {k, n}});
      REQUIRE(qr.size() == 2);
      CHECK(difference(product(qr[0], qr[1]), a) < 10 * tolerance(dtype));
      CHECK(difference(product(transposed(qr[0]), qr[0]),
                       diagonal(std::vector<double>(k, 1), dtype)) < 10 * tolerance(dtype));
      for (int64_t i = 0; i < k; ++i) {
        for (int64_t j = 0; j < i && j < n; ++j) CHECK(qr[1][i * n + j] == 0);
      }
    }
  }
}

TEST_CASE("QR has the same bits for any number of threads", "[cpu][linalg]") {
  const Array a = random({150, 700}, DType::float32, 1);
  CHECK(outcome_of(Qr{}, a, {{150, 150}, {150, 700}}, 1).bits ==
        outcome_of(Qr{}, a, {{150, 150}, {150, 700}}, 3).bits);
}

TEST_CASE("QR of what is singular, tiny or huge", "[cpu][linalg]") {
  for (double scale : {0.0, 1e-30, 1e30}) {
    Array a = random({20, 12}, DType::float32, 1);
    for (int64_t i = 0; i < 240; ++i)
      a.values[i] = i % 12 == 5 ? 0 : static_cast<float>(a.values[i] * scale);
    const auto qr = run_op(Qr{}, a, {{20, 12}, {12, 12}});
    CHECK(difference(product(transposed(qr[0]), qr[0]),
                     diagonal(std::vector<double>(12, 1), DType::float32)) < 1e-5);
    Array reconstructed = product(qr[0], qr[1]);
    for (Array* matrix : {&reconstructed, &a})
      for (double& x : matrix->values) x /= scale == 0 ? 1 : scale;
    CHECK(difference(reconstructed, a) < 1e-5);
  }
}

TEST_CASE("the singular value decomposition multiplies back", "[cpu][linalg]") {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{5, 3}, Shape{3, 5}, Shape{40, 40}, Shape{17, 128}}) {
    for (DType dtype : {DType::float32, DType::float64}) {
      const int64_t m = shape[0], n = shape[1], k = std::min(m, n);
      const Array a = random(shape, dtype, 1);
      const auto usv = run_op(Svd{}, a, {{m, k}, {k}, {k, n}});
      REQUIRE(usv.size() == 3);
      CHECK(difference(product(product(usv[0], diagonal(usv[1].values, dtype)), usv[2]), a) <
            10 * tolerance(dtype));
      for (int64_t i = 1; i < k; ++i) CHECK(usv[1][i - 1] >= usv[1][i]);
    }
  }
}

TEST_CASE("decompositions of what is empty or not a number", "[cpu][linalg]") {
  CHECK(run_op(Qr{}, zeros({0, 3}), {{0, 0}, {0, 3}}).size() == 2);
  CHECK(run_op(Svd{}, zeros({3, 0}), {{3, 0}, {0}, {0, 0}}).size() == 3);
  Array a = random({4, 4}, DType::float32, 1);
  a.values[5] = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(run_op(Svd{}, a, {{4, 4}, {4}, {4, 4}})[1][0]));
  CHECK(std::isnan(run_op(Qr{}, a, {{4, 4}, {4, 4}})[1][1]));
}
