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
           "The triangular matrix whose product with its transpose is x.")
      .add("CholeskyInverse", "cholesky_inverse(x, upper=False)", &ops::cholesky_inverse,
           "The inverse of the matrix with this factor.")
      .add("Det", "det(x)", &ops::det, "The determinants of matrices.")
      .add("Inv", "inv(x)", &ops::inv, "The inverses of matrices.")
      .add("LuFactor", "lu_factor(x)", &ops::lu_factor,
           "The factors L and U of matrices, in one, and the exchanges of rows.")
      .add("Solve", "solve(a, b)", &ops::solve, "The x for which a x = b.")
      .add("SolveTriangular", "solve_triangular(a, b, lower=False)", &ops::solve_triangular,
           "The x for which a x = b, where a is triangular.")
      .add("Eigh", "eigh(x)", &ops::eigh, "Eigenvalues and vectors of symmetric matrices.")
      .add("Norm", "norm(x, ord=None, axis=None, keepdims=False)", &norm,
           "The norm of vectors or matrices along one or two axes.")
      .add("Qr", "qr(x, mode='reduced')", &qr, "Factors Q, orthogonal, and R, triangular.")
      .add("SVD", "svd(x, full_matrices=True, compute_uv=True)", &svd,
           "The singular value decomposition: U, the values, and V transposed.")
      .add("Lstsq", "lstsq(a, b, rcond=None)", &ops::lstsq, "The x for which a x is nearest to b.")
      .add("Pinv", "pinv(x, rcond=None)", &ops::pinv, "The pseudo-inverses of matrices.")
      .add("MatrixRank", "matrix_rank(x, tol=None)", &ops::matrix_rank,
           "How many singular values are above a tolerance.")
      .add("Eig", "eig(x)", &ops::eig, "Eigenvalues and eigenvectors, complex.");
  Operations(registry, "keras.src.ops.numpy")
      .add("Slogdet", "slogdet(x)", &ops::slogdet, "Sign and logarithm of the determinant.");
  Operations(registry, "keras.src.ops.math")
      .add("Logdet", "logdet(x)", &ops::logdet,
           "The logarithms of the determinants of positive definite matrices.");
}

}  // namespace crescent::operations
