// Matrix products.
#include <algorithm>
#include <cmath>

#include "validation/rules/rules.h"

namespace crescent::validation {
namespace {

/// A matrix in row-major order. If the op transposes this operand, it is stored transposed.
struct Matrix {
  std::vector<double> value, error;
};

Matrix matrix_of(const Bounded& x, size_t first, int64_t rows, int64_t columns,
                 bool is_transposed) {
  const size_t element_count = rows * columns;
  Matrix m{std::vector<double>(element_count),
           x.bound.empty() ? std::vector<double>{} : std::vector<double>(element_count)};
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const size_t target_index = static_cast<size_t>(i * columns + j),
                   source_index =
                       first + static_cast<size_t>(is_transposed ? j * rows + i : i * columns + j);
      m.value[target_index] = x.real[source_index];
      if (!m.error.empty()) m.error[target_index] = x.bound[source_index];
    }
  }
  return m;
}

/// Computes y (m, n) as the product of a (m, k) and b (k, n). For each element, `magnitude_sums`
/// gets the sum of the magnitudes of the terms, and `error_sums` the sum of their errors.
void multiply(const Matrix& a, const Matrix& b, int64_t m, int64_t k, int64_t n, double* y,
              double* magnitude_sums, double* error_sums) {
  for (int64_t i = 0; i < m; ++i) {
    double* row = y + i * n;
    double* row_magnitudes = magnitude_sums + i * n;
    double* row_errors = error_sums ? error_sums + i * n : nullptr;
    for (int64_t p = 0; p < k; ++p) {
      const size_t offset = i * k + p;
      const double x = a.value[offset], e = a.error.empty() ? 0 : a.error[offset],
                   magnitude = std::abs(x);
      const double* row_of_b = b.value.data() + p * n;
      for (int64_t j = 0; j < n; ++j)
        row[j] += x * row_of_b[j], row_magnitudes[j] += magnitude * std::abs(row_of_b[j]);
      if (e > 0)
        for (int64_t j = 0; j < n; ++j) row_errors[j] += e * std::abs(row_of_b[j]);
      if (b.error.empty()) continue;
      const double* errors = b.error.data() + p * n;
      for (int64_t j = 0; j < n; ++j) row_errors[j] += (magnitude + e) * errors[j];
    }
  }
}

std::vector<Bounded> matmul_rule(const RuleInput& r) {
  const auto& op = r.as<Matmul>();
  const Bounded &a = r.input(0), &b = r.input(1);
  if (!a.is_real()) return {Bounded::undecided(r.outputs[0])};
  Bounded y = Bounded::zeros(r.outputs[0]);
  const Shape &p = a.spec.shape, &q = b.spec.shape, &result_shape = y.spec.shape;
  const int64_t m = result_shape[-2], n = result_shape[-1], k = op.transpose_a ? p[-2] : p[-1];
  const Shape batch_shape = result_shape.slice(0, -2);
  const std::vector<size_t> a_offsets = broadcast_offsets(p.slice(0, -2), batch_shape),
                            b_offsets = broadcast_offsets(q.slice(0, -2), batch_shape);
  const bool has_errors = !a.bound.empty() || !b.bound.empty();
  std::vector<double> magnitude_sums(y.size(), 0);
  if (has_errors) y.bound.assign(y.size(), 0);
  for (size_t i = 0; i < a_offsets.size(); ++i) {
    const size_t offset = i * static_cast<size_t>(m * n);
    multiply(matrix_of(a, a_offsets[i] * static_cast<size_t>(m * k), m, k, op.transpose_a),
             matrix_of(b, b_offsets[i] * static_cast<size_t>(k * n), k, n, op.transpose_b), m, k, n,
             y.real.data() + offset, magnitude_sums.data() + offset,
             has_errors ? y.bound.data() + offset : nullptr);
  }
  const double relative_sum_error =
      sum_roundoff(y.spec.dtype, r.rounding) * static_cast<double>(k + 1);
  for (size_t i = 0; i < y.size(); ++i)
    if (magnitude_sums[i] != 0)
      y.widen(i, relative_sum_error * magnitude_sums[i] + r.roundoff() * std::abs(y.real[i]) +
                     r.tiny_sum(static_cast<double>(k)));
  return {std::move(y)};
}

constexpr OpRule kProductRules[] = {{Matmul::kName, matmul_rule}};

}  // namespace

std::span<const OpRule> product_rules() { return kProductRules; }

}  // namespace crescent::validation
