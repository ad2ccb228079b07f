// Batches of matrices, as linear algebra takes them: in float64, on the host.
#pragma once
#include <algorithm>
#include <cstdint>

#include "../shared/shared.h"

namespace crescent::operations {

/// Row-major view of one matrix in a batch.
struct Matrix {
  double* values;
  int64_t rows, columns;
  double& operator()(int64_t i, int64_t j) const { return values[i * columns + j]; }
};

inline void copy(const Matrix& from, const Matrix& to) {
  std::copy_n(from.values, from.rows * from.columns, to.values);
}

/// Calls f(i) for each matrix of a batch.
template <class F>
void each_matrix(const Tensor& x, F f) {
  const int64_t count = x.shape().slice(0, x.rank() - 2).size();
  for (int64_t i = 0; i < count; ++i) f(i);
}
inline Matrix matrix(Tensor& x, int64_t i) {
  const int64_t rows = x.dim(-2), columns = x.dim(-1);
  return {x.mutable_data<double>() + i * rows * columns, rows, columns};
}

inline void expect_square(const char* name, const Shape& shape) {
  const bool known = shape.rank() >= 2 && shape[-1] >= 0 && shape[-2] >= 0;
  if (shape.rank() < 2 || (known && shape[-1] != shape[-2]))
    fail(name, ": expected square matrices, got shape ", shape);
}

inline Tensor doubled(const Tensor& x) { return ops::cast(x, DType::float64); }
inline Tensor transposed(const Tensor& x) { return ops::swap_axes(x, -1, -2); }
/// As the argument was, integers as float32.
inline Tensor as_was(const Tensor& result, const Tensor& x) {
  return ops::cast(result, is_floating(x.dtype()) ? x.dtype() : DType::float32);
}
/// A vector of each matrix as a diagonal matrix that multiplies columns.
inline Tensor as_columns(const Tensor& vector) { return ops::expand_dims(vector, -2); }
/// ... or its rows.
inline Tensor as_rows(const Tensor& vector) { return ops::expand_dims(vector, -1); }

/// The x with a x = b.
Tensor solve(const Tensor& a, const Tensor& b);
/// The x with r x = b, where r is an upper triangle.
Tensor upper_solved(const Tensor& r, const Tensor& b);

}  // namespace crescent::operations
