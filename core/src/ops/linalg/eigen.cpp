// Eigenvalues and eigenvectors.
#include <cmath>

#include "ops/linalg/matrices.h"

namespace crescent {

// ---- symmetric matrices

TensorSpecs Eigh::infer(std::span<const TensorSpec> in) const {
  const Shape& shape = in[0].shape;
  return {{in[0].dtype, shape.slice(0, shape.rank() - 1)}, in[0]};
}
Tensors Eigh::vjp(const Vjp& v) const {
  const Tensor &w = v.outputs[0], &vectors = v.outputs[1];
  const int64_t n = w.dim(-1);
  Tensor scaled_product = ops::zeros_like(vectors);
  if (v.gradients[1]) {
    const Tensor differences = ops::expand_dims(w, -2) - ops::expand_dims(w, -1);
    const Tensor is_equal = ops::equal(differences, 0);
    scaled_product =
        ops::matmul(vectors, v.gradients[1], true, false) *
        ops::where(is_equal, 0.0, ops::reciprocal(ops::where(is_equal, 1.0, differences)));
  }
  if (v.gradients[0])
    scaled_product = scaled_product + as_columns(v.gradients[0]) * ops::eye(n, n, w.dtype());
  const Tensor g = ops::matmul(ops::matmul(vectors, scaled_product), vectors, false, true);
  return {(g + transposed(g)) * 0.5};
}

// ---- general square matrices

TensorSpecs Eig::infer(std::span<const TensorSpec> in) const {
  const Shape shape = in[0].shape.slice(0, -1);
  return {{DType::complex64, shape.slice(0, -1)}, {DType::complex64, shape}};
}

namespace {

/// Complex matrices as real and imaginary parts in float64.
struct ComplexParts {
  Tensor re, im;
};
ComplexParts parts_of(const Tensor& x) {
  const Tensors parts = ops::split(as_float64(ops::view_as_real(x)), {1, 1}, -1);
  return {ops::squeeze(parts[0], -1), ops::squeeze(parts[1], -1)};
}
ComplexParts adjoint(const ComplexParts& x) { return {transposed(x.re), -transposed(x.im)}; }
ComplexParts product(const ComplexParts& a, const ComplexParts& b) {
  return {ops::matmul(a.re, b.re) - ops::matmul(a.im, b.im),
          ops::matmul(a.re, b.im) + ops::matmul(a.im, b.re)};
}
/// Solves a x = b for complex matrices, as a system of real numbers of twice the size.
ComplexParts solution_of(const ComplexParts& a, const ComplexParts& b) {
  const Tensor upper_rows = ops::concatenate(Tensors{a.re, -a.im}, -1),
               lower_rows = ops::concatenate(Tensors{a.im, a.re}, -1);
  const int64_t n = a.re.dim(-1);
  const Tensors x = ops::split(ops::solve(ops::concatenate(Tensors{upper_rows, lower_rows}, -2),
                                          ops::concatenate(Tensors{b.re, b.im}, -2)),
                               {n, n}, -2);
  return {x[0], x[1]};
}

/// Returns its first input, eigenvectors, which are defined only up to a complex phase (angle). The
/// second input is the gradient with respect to these phases: the op fails if it is not 0, because
/// a target that depends on the phase has no gradient.
struct PhaseInvariantCheck final : OpOf<PhaseInvariantCheck> {
  static constexpr const char* kName = "eig_of_no_angle";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    constexpr double kMaxPhaseGradient = 1e-2;
    const double* phase_gradient = in[1].data<double>();
    for (int64_t i = 0; i < in[1].size(); ++i)
      if (std::abs(phase_gradient[i]) > kMaxPhaseGradient)
        fail("eig: there is no gradient of what depends on the angles of complex eigenvectors, ",
             "which are arbitrary");
    std::copy_n(in[0].data<double>(), in[0].size(), out[0].mutable_data<double>());
    return true;
  }
};

/// For eigenvectors v of length 1 with gradients g: v^H g without the part that changes the lengths
/// of v, divided by the conjugate differences of the eigenvalues; 0 for equal eigenvalues.
ComplexParts divided_by_eigenvalue_gaps(const ComplexParts& values, const ComplexParts& v,
                                        const ComplexParts& g) {
  const Tensor eye = ops::eye(values.re.dim(-1), values.re.dim(-1), DType::float64);
  const ComplexParts p = product(adjoint(v), g), gram_matrix = product(adjoint(v), v);
  const Tensor length_gradient = as_columns(ops::sum(p.re * eye, {-2}));
  const Tensor re = p.re - gram_matrix.re * length_gradient;
  const Tensor im = apply1(PhaseInvariantCheck{},
                           {p.im - gram_matrix.im * length_gradient, ops::sum(p.im * eye, {-2})});
  const Tensor x = as_columns(values.re) - as_rows(values.re),
               y = as_columns(values.im) - as_rows(values.im);
  const Tensor squared_distance = x * x + y * y, is_equal = ops::equal(squared_distance, 0);
  const Tensor scale =
      ops::where(is_equal, 0, ops::reciprocal(ops::where(is_equal, 1, squared_distance)));
  return {(re * x - im * y) * scale, (re * y + im * x) * scale};
}

/// The gradient of a matrix from the gradients gw of its eigenvalues and g of its eigenvectors v:
/// v^-H (diag(gw) + divided_by_eigenvalue_gaps(v, g)) v^H (Boeddeker et al., On the computation of
/// complex-valued gradients, 2017).
Tensor gradient_of_pairs(const Vjp& pairs) {
  const ComplexParts values = parts_of(pairs.outputs[0]), v = parts_of(pairs.outputs[1]);
  const Tensor eye = ops::eye(v.re.dim(-1), v.re.dim(-1), DType::float64);
  ComplexParts scaled_product{ops::zeros_like(v.re), ops::zeros_like(v.re)};
  if (pairs.gradients[1])
    scaled_product = divided_by_eigenvalue_gaps(values, v, parts_of(pairs.gradients[1]));
  if (pairs.gradients[0]) {
    const ComplexParts g = parts_of(pairs.gradients[0]);
    scaled_product = {scaled_product.re + as_columns(g.re) * eye,
                      scaled_product.im + as_columns(g.im) * eye};
  }
  const ComplexParts result = solution_of(adjoint(v), product(scaled_product, adjoint(v)));
  return ops::stack(Tensors{result.re, result.im}, -1);
}

}  // namespace

Tensors Eig::vjp(const Vjp& v) const { return {gradient_of_pairs(v)}; }

namespace ops {

std::tuple<Tensor, Tensor> eigh(const Tensor& x) {
  expect_square("eigh", x.shape());
  const Tensor float_x = cast(x, factorization_dtype(x));
  const Tensors result = apply(Eigh{}, {(float_x + transposed(float_x)) * 0.5});
  return {in_dtype_of(result[0], x), in_dtype_of(result[1], x)};
}

std::tuple<Tensor, Tensor> eig(const Tensor& x) {
  expect_square("eig", x.shape());
  const Tensor complex_pairs = x.dtype() == DType::complex64
                                   ? as_float64(view_as_real(x))
                                   : stack(Tensors{as_float64(x), zeros_like(as_float64(x))}, -1);
  const Tensors result = apply(Eig{}, {complex_pairs});
  return {result[0], result[1]};
}

}  // namespace ops
}  // namespace crescent
