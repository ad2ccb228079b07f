// Cholesky factors of positive definite matrices.
#include "ops/linalg/matrices.h"

namespace crescent {

TensorSpecs Cholesky::infer(std::span<const TensorSpec> in) const { return {in[0]}; }
Tensors Cholesky::vjp(const Vjp& v) const {
  const Tensor& l = v.outputs[0];
  const Tensor offset = offsets_from_diagonal(l.dim(-1));
  const Tensor product = ops::matmul(l, v.gradients[0], true, false);
  const Tensor half_product = ops::where(ops::equal(offset, 0), product * 0.5,
                                         ops::where(ops::less(offset, 0), product, 0));
  // `unsymmetric_gradient` is l^-T half_product l^-1; the gradient is its symmetric part.
  const Tensor left = triangular_solution(transposed(l), half_product, false);
  const Tensor unsymmetric_gradient =
      transposed(triangular_solution(transposed(l), transposed(left), false));
  return {(unsymmetric_gradient + transposed(unsymmetric_gradient)) * 0.5};
}

namespace ops {

Tensor cholesky(const Tensor& x, bool upper) {
  expect_square("cholesky", x.shape());
  const Tensor l = apply1(Cholesky{}, {as_float64(x)});
  return in_dtype_of(upper ? transposed(l) : l, x);
}

/// The inverse of the matrix whose Cholesky factor is x.
Tensor cholesky_inverse(const Tensor& x, bool upper) {
  expect_square("cholesky_inverse", x.shape());
  const Tensor factor = as_float64(x), l = upper ? transposed(factor) : factor;
  const Tensor inverse_factor = triangular_solution(l, identity_like(l), true);
  return in_dtype_of(matmul(inverse_factor, inverse_factor, true, false), x);
}

}  // namespace ops
}  // namespace crescent
