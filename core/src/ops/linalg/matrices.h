// Batches of matrices, as the functions of linear algebra take them: in float64.
#pragma once
#include "crescent/ops/arguments.h"
#include "crescent/ops/linalg.h"
#include "crescent/program/linalg_op_types.h"

namespace crescent {

void expect_square(const char* name, const Shape& shape);
/// Fails unless the size of the matrices is known.
void expect_matrices(const char* name, const Tensor& x);

inline Tensor doubled(const Tensor& x) { return ops::cast(x, DType::float64); }
inline Tensor transposed(const Tensor& x) { return ops::swap_axes(x, -1, -2); }
/// The result in the dtype of the argument x, that of integers in float32.
inline Tensor as_was(const Tensor& result, const Tensor& x) {
  return ops::cast(result, is_floating(x.dtype()) ? x.dtype() : DType::float32);
}
/// A vector of each matrix as a diagonal matrix that multiplies columns.
inline Tensor as_columns(const Tensor& vector) { return ops::expand_dims(vector, -2); }
/// ... or its rows.
inline Tensor as_rows(const Tensor& vector) { return ops::expand_dims(vector, -1); }
/// The column less the row of each place of n x n matrices: above 0 over the diagonal.
Tensor offsets_from_diagonal(int64_t n);

/// The x with a x = b, where only one triangle of a counts.
Tensor triangular(const Tensor& a, const Tensor& b, bool lower);
/// Identity matrices in the shape and dtype of x.
Tensor identity_like(const Tensor& x);

}  // namespace crescent
