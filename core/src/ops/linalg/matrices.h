// Helpers of the linear algebra functions, which compute on batches of matrices in float64.
#pragma once
#include "crescent/ops/arguments.h"
#include "crescent/ops/linalg.h"
#include "crescent/program/linalg_op_types.h"

namespace crescent {

void expect_square(const char* name, const Shape& shape);
/// Fails unless x has at least two axes and the last two are known.
void expect_matrices(const char* name, const Tensor& x);

inline Tensor doubled(const Tensor& x) { return ops::cast(x, DType::float64); }
inline Tensor transposed(const Tensor& x) { return ops::swap_axes(x, -1, -2); }
/// Casts the result to the dtype of the argument x; float32 if x is of integers.
inline Tensor as_was(const Tensor& result, const Tensor& x) {
  return ops::cast(result, is_floating(x.dtype()) ? x.dtype() : DType::float32);
}
/// (..., n) -> (..., 1, n): a product with it scales the columns of a matrix.
inline Tensor as_columns(const Tensor& vector) { return ops::expand_dims(vector, -2); }
/// (..., n) -> (..., n, 1): a product with it scales the rows of a matrix.
inline Tensor as_rows(const Tensor& vector) { return ops::expand_dims(vector, -1); }
/// The column index minus the row index of each element of n x n matrices: positive above the
/// diagonal.
Tensor offsets_from_diagonal(int64_t n);

/// The solution x of a x = b for a triangular a, of which the other triangle is ignored.
Tensor triangular(const Tensor& a, const Tensor& b, bool lower);
/// Identity matrices in the shape and dtype of x.
Tensor identity_like(const Tensor& x);

}  // namespace crescent
