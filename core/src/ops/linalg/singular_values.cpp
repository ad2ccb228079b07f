// Singular value decomposition, rank, pseudo-inverse, least squares.
#include <limits>

#include "ops/linalg/matrices.h"
#include "ops/linalg/singular_values.h"

namespace crescent {

TensorSpecs BatchedSvd::infer(std::span<const TensorSpec> in) const {
  const Shape& shape = in[0].shape;
  const Shape batch_shape = shape.slice(0, shape.rank() - 2);
  const int64_t m = shape[-2], n = shape[-1], k = std::min(m, n);
  const DType dtype = in[0].dtype;
  return {{dtype, batch_shape.concat({m, k})},
          {dtype, batch_shape.concat({k})},
          {dtype, batch_shape.concat({k, n})}};
}
/// The formulas are those of Townsend, Differentiating the singular value decomposition (2016).
Tensors BatchedSvd::vjp(const Vjp& v) const {
  const Tensor &u = v.outputs[0], &s = v.outputs[1], &vt = v.outputs[2];
  const int64_t k = s.dim(-1);
  const Tensor eye = ops::eye(k, k, s.dtype());
  Tensor scaled_product = ops::zeros_like(ops::matmul(vt, vt, false, true)), sum;
  const auto add_to_sum = [&](const Tensor& term) { sum = sum ? sum + term : term; };
  if (v.gradients[1]) scaled_product = scaled_product + as_columns(v.gradients[1]) * eye;
  const Tensor squared_s = ops::square(s);
  const Tensor differences = as_columns(squared_s) - as_rows(squared_s),
               is_equal = ops::equal(differences, 0);
  const Tensor reciprocal_differences =
      ops::where(is_equal, 0.0, ops::reciprocal(ops::where(is_equal, 1.0, differences)));
  const Tensor is_zero = ops::equal(s, 0);
  const Tensor inverse = ops::where(is_zero, 0.0, ops::reciprocal(ops::where(is_zero, 1.0, s)));
  if (const Tensor& gu = v.gradients[0]) {
    const Tensor product = ops::matmul(u, gu, true, false);
    scaled_product =
        scaled_product + reciprocal_differences * (product - transposed(product)) * as_columns(s);
    add_to_sum(ops::matmul((gu - ops::matmul(u, product)) * as_columns(inverse), vt));
  }
  if (v.gradients[2]) {
    const Tensor gv = transposed(v.gradients[2]), product = ops::matmul(vt, gv);
    scaled_product =
        scaled_product + as_rows(s) * (reciprocal_differences * (product - transposed(product)));
    add_to_sum(ops::matmul(u * as_columns(inverse),
                           transposed(gv - ops::matmul(vt, product, true, false)), false, false));
  }
  add_to_sum(ops::matmul(ops::matmul(u, scaled_product), vt));
  return {sum};
}

Tensor singular_values(const Tensor& x) { return apply(BatchedSvd{}, {as_float64(x)})[1]; }

namespace {

/// The default of rcond. Singular values that are smaller than the largest one times rcond count as
/// zero.
double default_rcond(const Tensor& x) {
  return std::numeric_limits<float>::epsilon() *
         static_cast<double>(std::max(x.dim(-1), x.dim(-2)));
}

/// The pseudo-inverse of a (m, n): the matrix p (n, m) with a p a = a and p a p = p for which both
/// products, a p and p a, are symmetric.
struct PseudoInverse final : OpOf<PseudoInverse> {
  static constexpr const char* kName = "pseudo_inverse";
  double rcond = 0;
  auto fields() const { return std::tie(rcond); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    const Shape& a = in[0].shape;
    return {{DType::float64, a.slice(0, a.rank() - 2).concat({a[-1], a[-2]})}};
  }
  Tensors decompose(std::span<const Tensor> in) const override {
    const Tensors result = apply(BatchedSvd{}, {in[0]});
    const Tensor& s = result[1];
    const Tensor is_large = ops::greater(s, ops::max(s, {-1}, true) * rcond);
    const Tensor inverse = ops::where(is_large, ops::reciprocal(ops::where(is_large, s, 1)), 0);
    return {ops::matmul(transposed(result[2]) * as_columns(inverse), result[0], false, true)};
  }
  /// The formula is that of Golub and Pereyra, The differentiation of pseudo-inverses (1973).
  Tensors vjp(const Vjp& v) const override {
    const Tensor &a = v.inputs[0], &p = v.outputs[0], &g = v.gradients[0];
    const auto times = [](const Tensor& x, const Tensor& y) { return ops::matmul(x, y); };
    const Tensor pt = transposed(p), gt = transposed(g);
    const Tensor right_term = times(gt, times(p, pt)), left_term = times(times(pt, p), gt);
    return {right_term - times(a, times(p, right_term)) + left_term -
            times(times(left_term, p), a) - times(pt, times(g, pt))};
  }
};

Tensor pseudo_inverse(const Tensor& x, std::optional<double> rcond) {
  PseudoInverse op;
  op.rcond = rcond.value_or(default_rcond(x));
  return apply1(op, {as_float64(x)});
}

/// Completes orthonormal columns u to a basis in float64; returns u unchanged if it is a basis. The
/// added columns are determined only up to a rotation. Their gradient assumes that they stay
/// orthogonal to u and do not rotate among themselves.
Tensor completed_basis(const Tensor& u) {
  const int64_t m = u.dim(-2), k = u.dim(-1);
  if (m == k) return u;
  BatchedQr op;
  op.complete = true;
  const Tensor columns = as_float64(u), fixed_columns = ops::stop_gradient(columns);
  const Tensor added_columns = ops::slice_axis(apply(op, {fixed_columns})[0], -1, k, m);
  const Tensor projection =
      ops::matmul(fixed_columns, ops::matmul(columns - fixed_columns, added_columns, true, false));
  return ops::concatenate(Tensors{columns, added_columns - projection}, -1);
}

}  // namespace

namespace ops {

SvdResult svd(const Tensor& x, bool full_matrices, bool compute_uv) {
  expect_matrices("svd", x);
  const Tensors result = apply(BatchedSvd{}, {cast(x, factorization_dtype(x))});
  const Tensor s = in_dtype_of(result[1], x);
  if (!compute_uv) return {{}, s, {}};
  const Tensor u = full_matrices ? completed_basis(result[0]) : result[0];
  const Tensor vt = full_matrices ? transposed(completed_basis(transposed(result[2]))) : result[2];
  return {in_dtype_of(u, x), s, in_dtype_of(vt, x)};
}

Tensor pinv(const Tensor& x, std::optional<double> rcond) {
  expect_matrices("pinv", x);
  return in_dtype_of(pseudo_inverse(x, rcond), x);
}

Tensor lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond) {
  expect_matrices("lstsq", a);
  const bool is_vector = b.rank() == 1;
  const Tensor right = as_float64(is_vector ? expand_dims(b, -1) : b);
  const Tensor x = matmul(pseudo_inverse(a, rcond), right);
  return in_dtype_of(is_vector ? squeeze(x, -1) : x, b);
}

Tensor matrix_rank(const Tensor& x, std::optional<double> tol) {
  expect_matrices("matrix_rank", x);
  const Tensor s = singular_values(x);
  const Tensor tolerance =
      tol ? full({1}, *tol, DType::float64) : max(s, {-1}, true) * default_rcond(x);
  return sum(cast(greater(s, tolerance), DType::int32), {-1});
}

}  // namespace ops
}  // namespace crescent
