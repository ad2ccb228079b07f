// Linear algebra of matrices (..., m, n), each of the leading axes by itself. It is computed in
// float64, and the results have the dtype of x, whole numbers float32. What fails says so by the
// name of the function: matrices that are not square where they must be, sizes that do not fit.
#pragma once
#include <tuple>

#include "crescent/ops/ops.h"

namespace crescent::ops {

// -- systems of equations
/// a (..., n, n), b (..., n, k) or (..., n) -> the x with a x = b, in the dtype of b; leading axes
/// broadcast. Large float32 matrices are factored in float32.
CRESCENT_API Tensor solve(const Tensor& a, const Tensor& b);
CRESCENT_API Tensor solve_triangular(const Tensor& a, const Tensor& b, bool lower = false);
/// a (m, n), b (m, k) or (m) -> the x for which a x is nearest to b. Singular values below the
/// share rcond of the largest count as 0, by default a rounding error of float32 for each row or
/// column.
CRESCENT_API Tensor lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond = {});
CRESCENT_API Tensor inv(const Tensor& x);  ///< square -> square
/// (..., m, n) -> (..., n, m), the pseudo-inverse; rcond as in lstsq.
CRESCENT_API Tensor pinv(const Tensor& x, std::optional<double> rcond = {});

// -- determinants: square (..., n, n) -> (...)
CRESCENT_API Tensor det(const Tensor& x);
CRESCENT_API std::tuple<Tensor, Tensor> slogdet(const Tensor& x);  ///< sign, logarithm
CRESCENT_API Tensor logdet(const Tensor& x);  ///< of positive definite matrices

// -- factors
/// (..., m, n) -> l below the diagonal and u on and above it, in one; the row that each was
/// exchanged with (int32, from 0).
CRESCENT_API std::tuple<Tensor, Tensor> lu_factor(const Tensor& x);
/// Positive definite -> the lower l with l l' = x, or u = l'; NaN where it is not.
CRESCENT_API Tensor cholesky(const Tensor& x, bool upper = false);
/// The inverse of the matrix that has this factor.
CRESCENT_API Tensor cholesky_inverse(const Tensor& x, bool upper = false);
/// q (..., m, k) with orthonormal columns, upper r (..., k, n). The mode is "reduced", k = min(m,
/// n), or "complete", k = m. qr of ops.h is of one matrix, in its dtype.
CRESCENT_API QrResult qr(const Tensor& x, const std::string& mode);

// -- eigenvalues and singular values
/// Symmetric -> ascending eigenvalues (..., n), eigenvectors in columns.
CRESCENT_API std::tuple<Tensor, Tensor> eigh(const Tensor& x);
/// Square, real or complex -> eigenvalues (..., n), eigenvectors in columns, of complex64; fails
/// where a matrix is not finite.
CRESCENT_API std::tuple<Tensor, Tensor> eig(const Tensor& x);
/// u (..., m, m), descending s (..., k), vt (..., n, n); reduced: u (..., m, k), vt (..., k, n). s
/// alone unless the others are computed. svd of ops.h is of one matrix, reduced, in its dtype.
CRESCENT_API SvdResult svd(const Tensor& x, bool full_matrices, bool compute_uv = true);
/// How many singular values are above the tolerance: (...), int32.
CRESCENT_API Tensor matrix_rank(const Tensor& x, std::optional<double> tol = {});

// -- norms
/// Of vectors along one axis or of matrices in two, all axes without any. The order is a number,
/// "inf" or "-inf", of matrices "fro", "nuc", 1, 2, inf and those with a minus; null: that of
/// ops.h.
CRESCENT_API Tensor norm(const Tensor& x, const Axes& axes, bool keepdims, const Value& order);

}  // namespace crescent::ops
