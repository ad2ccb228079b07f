// Helpers for batches of matrices.
#pragma once
#include "crescent/ops/arguments.h"
#include "crescent/ops/linalg.h"
#include "crescent/program/linalg_op_types.h"

namespace crescent {

void expect_square(const char* name, const Shape& shape);
/// Fails unless x has at least two axes and the last two have known sizes.
void expect_matrices(const char* name, const Tensor& x);

/// The dtype of the factorization of x: float32 for large matrices in float32, which halves the
/// time; else float64.
DType factorization_dtype(const Tensor& x);

inline Tensor as_float64(const Tensor& x) { return ops::cast(x, DType::float64); }
inline Tensor transposed(const Tensor& x) { return ops::swap_axes(x, -1, -2); }
/// Casts `result` to the dtype of the argument x, or to float32 if x has integers.
inline Tensor in_dtype_of(const Tensor& result, const Tensor& x) {
  return ops::cast(result, is_floating(x.dtype()) ? x.dtype() : DType::float32);
}
/// Reshapes vectors, one for each matrix of a batch, so that a matrix multiplied by them
/// elementwise has scaled columns.
inline Tensor as_columns(const Tensor& vector) { return ops::expand_dims(vector, -2); }
/// Reshapes vectors, one for each matrix of a batch, so that a matrix multiplied by them
/// elementwise has scaled rows.
inline Tensor as_rows(const Tensor& vector) { return ops::expand_dims(vector, -1); }
/// An n x n matrix whose element is its column index minus its row index: positive above the
/// diagonal.
Tensor offsets_from_diagonal(int64_t n);

/// Solves a x = b, reading only one triangle of a.
Tensor triangular_solution(const Tensor& a, const Tensor& b, bool lower);
/// Identity matrices in the shape and dtype of x.
Tensor identity_like(const Tensor& x);

}  // namespace crescent
