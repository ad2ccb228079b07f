// Linear algebra on batches of matrices (..., m, n). Computations are in float64; results have the
// dtype of x, float32 for integers. Error messages begin with the name of the function; non-square
// matrices where square ones are needed and sizes that do not match are errors.
#pragma once
#include <tuple>

#include "crescent/ops/ops.h"

namespace crescent::ops {

// -- linear systems
/// a (..., n, n), b (..., n, k) or (..., n) -> the x with a x = b, in the dtype of b; leading axes
/// broadcast. Large float32 matrices are factored in float32.
CRESCENT_API Tensor solve(const Tensor& a, const Tensor& b);
/// As solve() for a triangular a: upper, or lower if `lower`. The other triangle of a is ignored.
CRESCENT_API Tensor solve_triangular(const Tensor& a, const Tensor& b, bool lower = false);
/// a (m, n), b (m, k) or (m) -> the least-squares solution of a x = b. Singular values below rcond
/// times the largest count as 0; the default is the float32 epsilon times max(m, n).
CRESCENT_API Tensor lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond = {});
CRESCENT_API Tensor inv(const Tensor& x);  ///< the inverse of square matrices
/// The pseudo-inverse: (..., m, n) -> (..., n, m); rcond has the meaning and default of lstsq.
CRESCENT_API Tensor pinv(const Tensor& x, std::optional<double> rcond = {});

// -- determinants: square (..., n, n) -> (...)
CRESCENT_API Tensor det(const Tensor& x);
/// The sign of the determinant and the logarithm of its absolute value.
CRESCENT_API std::tuple<Tensor, Tensor> slogdet(const Tensor& x);
CRESCENT_API Tensor logdet(const Tensor& x);  ///< the logarithm, for positive definite matrices

// -- factorizations
/// The LU factorization: (..., m, n) -> l below the diagonal and u on and above it, in one matrix;
/// and the pivots: the row that each row was exchanged with (int32, from 0).
CRESCENT_API std::tuple<Tensor, Tensor> lu_factor(const Tensor& x);
/// Positive definite x -> the lower l with l l' = x, or with `upper` its transpose; NaN if x is not
/// positive definite.
CRESCENT_API Tensor cholesky(const Tensor& x, bool upper = false);
/// The inverse of the matrix that has the Cholesky factor x.
CRESCENT_API Tensor cholesky_inverse(const Tensor& x, bool upper = false);
/// The QR factorization: q (..., m, k) with orthonormal columns, upper triangular r (..., k, n).
/// The mode is "reduced", k = min(m, n), or "complete", k = m. The qr of ops.h takes a single
/// matrix and computes in its dtype.
CRESCENT_API QrResult qr(const Tensor& x, const std::string& mode);

// -- eigenvalues and singular values
/// Symmetric x -> ascending eigenvalues (..., n), eigenvectors in columns.
CRESCENT_API std::tuple<Tensor, Tensor> eigh(const Tensor& x);
/// Square, real or complex x -> eigenvalues (..., n), eigenvectors in columns, both complex64;
/// fails if an element is not finite.
CRESCENT_API std::tuple<Tensor, Tensor> eig(const Tensor& x);
/// The singular value decomposition: u (..., m, m), descending s (..., k), vt (..., n, n); without
/// full_matrices: u (..., m, k), vt (..., k, n). Without compute_uv, only s is returned. The svd of
/// ops.h returns the reduced decomposition of a single matrix and computes in the dtype of the
/// matrix.
CRESCENT_API SvdResult svd(const Tensor& x, bool full_matrices, bool compute_uv = true);
/// The number of singular values above the tolerance: (...), int32.
CRESCENT_API Tensor matrix_rank(const Tensor& x, std::optional<double> tol = {});

// -- norms
/// The norm of vectors along one axis or of matrices in two axes; without axes, of all elements.
/// The order is a number, "inf" or "-inf"; for matrices "fro", "nuc", 1, 2, "inf" or one of the
/// last three negated; null: the norm of ops.h.
CRESCENT_API Tensor norm(const Tensor& x, const Axes& axes, bool keepdims, const Value& order);

}  // namespace crescent::ops
