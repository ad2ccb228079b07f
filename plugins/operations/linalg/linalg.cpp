// Linear algebra of batches of matrices.
#include "crescent/ops/linalg.h"

#include "../given_axes.h"
#include "../shared/shared.h"
#include "crescent/registry/registration.h"

namespace crescent::operations {
namespace {

std::tuple<Tensor, Tensor> qr(const Tensor& x, const std::string& mode) {
  const ops::QrResult result = ops::qr(x, mode);
  return {result.q, result.r};
}

Value svd(const Tensor& x, bool full_matrices, bool compute_uv) {
  const ops::SvdResult result = ops::svd(x, full_matrices, compute_uv);
  const Value s = Codec<Tensor>::encode(result.s);
  if (!compute_uv) return s;
  return List{Codec<Tensor>::encode(result.u), s, Codec<Tensor>::encode(result.vt)};
}

Tensor norm(const Tensor& x, const Value& order, const GivenAxes& axes, bool keepdims) {
  if (axes.list && axes.list->empty()) fail("norm: expected one axis or two, got 0");
  return ops::norm(x, axes.list.value_or(ops::Axes()), keepdims, order);
}

}  // namespace

CRESCENT_REGISTER(linalg) {
  Operations(registry, "keras.src.ops.linalg")
      .add("Cholesky", "cholesky(x, upper=False)", &ops::cholesky,
           "The Cholesky factor: the triangular matrix whose product with its transpose is x.")
      .add("CholeskyInverse", "cholesky_inverse(x, upper=False)", &ops::cholesky_inverse,
           "The inverse of the matrix that has this Cholesky factor.")
      .add("Det", "det(x)", &ops::det, "The determinants of square matrices.")
      .add("Inv", "inv(x)", &ops::inv, "The inverses of square matrices.")
      .add("LuFactor", "lu_factor(x)", &ops::lu_factor,
           "The LU factorization with partial pivoting: L and U in one matrix, and the exchanges "
           "of rows.")
      .add("Solve", "solve(a, b)", &ops::solve, "The solution x of the linear system a x = b.")
      .add("SolveTriangular", "solve_triangular(a, b, lower=False)", &ops::solve_triangular,
           "The solution x of a x = b for a triangular matrix a.")
      .add("Eigh", "eigh(x)", &ops::eigh, "The eigenvalues and eigenvectors of symmetric matrices.")
      .add("Norm", "norm(x, ord=None, axis=None, keepdims=False)", &norm,
           "The norm of vectors or matrices along one or two axes.")
      .add("Qr", "qr(x, mode='reduced')", &qr,
           "The QR factorization: Q orthogonal, R upper triangular.")
      .add("SVD", "svd(x, full_matrices=True, compute_uv=True)", &svd,
           "The singular value decomposition: U, the singular values, and V transposed.")
      .add("Lstsq", "lstsq(a, b, rcond=None)", &ops::lstsq,
           "The least-squares solution x of a x = b.")
      .add("Pinv", "pinv(x, rcond=None)", &ops::pinv,
           "The Moore-Penrose pseudo-inverses of matrices.")
      .add("MatrixRank", "matrix_rank(x, tol=None)", &ops::matrix_rank,
           "The rank: the number of singular values above a tolerance.")
      .add("Eig", "eig(x)", &ops::eig,
           "The eigenvalues and eigenvectors of square matrices, as complex numbers.");
  Operations(registry, "keras.src.ops.numpy")
      .add("Slogdet", "slogdet(x)", &ops::slogdet,
           "The sign and the logarithm of the absolute value of the determinant.");
  Operations(registry, "keras.src.ops.math")
      .add("Logdet", "logdet(x)", &ops::logdet,
           "The logarithm of the determinant of positive definite matrices.");
}

}  // namespace crescent::operations
