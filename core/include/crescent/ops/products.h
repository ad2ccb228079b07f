// Products of tensors besides matmul, dot and einsum (ops.h): inner, outer and tensor products,
// cross products, correlations, distances.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

/// (..., k), (..., k) -> the scalar products of each vector along the last axis of x1 with each one
/// of x2; if an operand is a scalar, the elementwise product.
CRESCENT_API Tensor inner(const Operand& x1, const Operand& x2);
/// The outer product of the flattened tensors: (m), (n) -> (m, n).
CRESCENT_API Tensor outer(const Tensor& x1, const Tensor& x2);
/// The sum of the products of conj(x1) and x2, both flattened: a scalar.
CRESCENT_API Tensor vdot(const Tensor& x1, const Tensor& x2);
/// Sums over the last `axes` axes of x1 and the first ones of x2, or over the given axes of each.
CRESCENT_API Tensor tensordot(const Tensor& x1, const Tensor& x2, int64_t axes = 2);
CRESCENT_API Tensor tensordot(const Tensor& x1, const Tensor& x2, const Axes& axes1,
                              const Axes& axes2);
/// The Kronecker product: (m, n), (p, q) -> (m p, n q). The tensor with fewer axes gets leading
/// axes of size 1.
CRESCENT_API Tensor kron(const Tensor& x1, const Tensor& x2);
/// Cross products of vectors of two or three elements; the result for two vectors of two elements
/// is a number. `axis`, if given, replaces axis1, axis2 and axis_of_result.
CRESCENT_API Tensor cross(const Tensor& x1, const Tensor& x2, int axis1 = -1, int axis2 = -1,
                          int axis_of_result = -1, std::optional<int64_t> axis = {});
/// Cross-correlation of two sequences; the mode is "valid", "same" or "full".
CRESCENT_API Tensor correlate(const Tensor& x1, const Tensor& x2,
                              const std::string& mode = "valid");
/// The correlation coefficients of the variables: (variables, samples) -> (variables, variables).
CRESCENT_API Tensor corrcoef(const Tensor& x);
/// (..., n, d), (..., m, d) -> (..., n, m): the Euclidean distance of each row of x to each row of
/// y.
CRESCENT_API Tensor cdist(const Tensor& x, const Tensor& y);

}  // namespace crescent::ops
