// Linear systems, inverses and determinants by factorizations.
#include "ops/linalg/matrices.h"

namespace crescent {

// ---- triangular systems

TensorSpecs TriangularSolve::infer(std::span<const TensorSpec> in) const { return {in[1]}; }
Tensors TriangularSolve::vjp(const Vjp& v) const {
  const Tensor gb = triangular_solution(transposed(v.inputs[0]), v.gradients[0], !lower);
  const Tensor ga = -ops::matmul(gb, v.outputs[0], false, true);
  const Tensor offset = offsets_from_diagonal(ga.dim(-1));
  const Tensor is_in_triangle = lower ? ops::less_equal(offset, 0) : ops::greater_equal(offset, 0);
  return {ops::where(is_in_triangle, ga, 0), gb};
}

Tensor triangular_solution(const Tensor& a, const Tensor& b, bool lower) {
  TriangularSolve op;
  op.lower = lower;
  return apply1(op, {a, b});
}

// ---- general systems

TensorSpecs Solve::infer(std::span<const TensorSpec> in) const { return {in[1]}; }
Tensors Solve::vjp(const Vjp& v) const {
  const Tensor gb = apply1(Solve{}, {transposed(v.inputs[0]), v.gradients[0]});
  return {-ops::matmul(gb, v.outputs[0], false, true), gb};
}

namespace {

Tensor inverse(const Tensor& x) { return apply1(Solve{}, {x, identity_like(x)}); }

}  // namespace

// ---- LU factors

TensorSpecs Lu::infer(std::span<const TensorSpec> in) const {
  const Shape& shape = in[0].shape;
  const Shape batch_shape = shape.slice(0, shape.rank() - 2);
  return {in[0],
          {DType::int32, batch_shape.concat({std::min(shape[-2], shape[-1])})},
          {DType::float64, batch_shape},
          {DType::float64, batch_shape}};
}
namespace {

/// The gradient with respect to x of the factors in `packed_factors`, x = p l u, from their
/// gradient g. The permutation matrix p, which is not stored, follows from the square part s of x
/// and its factors: p l^-T = s^-T u^T.
Tensor gradient_by_factors(const Tensor& x, const Tensor& packed_factors, const Tensor& g) {
  const int64_t rows = x.dim(-2), columns = x.dim(-1);
  if (rows > columns)
    fail(
        "lu_factor: there is no gradient of the factors of a matrix with more rows than columns, "
        "got shape ",
        x.shape());
  const Tensor offset = offsets_from_diagonal(rows), below_diagonal = ops::less(offset, 0);
  const auto square_part = [&](const Tensor& t) { return ops::slice_axis(t, -1, 0, rows); };
  const auto right_columns = [&](const Tensor& t) { return ops::slice_axis(t, -1, rows, columns); };
  const auto lower_triangle = [&](const Tensor& t) { return ops::where(below_diagonal, t, 0); };
  const auto upper_triangle = [&](const Tensor& t) { return ops::where(below_diagonal, 0, t); };
  const Tensor l =
      lower_triangle(square_part(packed_factors)) + identity_like(square_part(packed_factors));
  const Tensor u = upper_triangle(square_part(packed_factors)), gu = upper_triangle(square_part(g));
  const Tensor products = ops::matmul(gu, u, false, true) +
                          ops::matmul(right_columns(g), right_columns(packed_factors), false, true);
  const Tensor scaled_product =
      lower_triangle(ops::matmul(l, lower_triangle(square_part(g)), true, false) - products);
  const Tensor left_columns =
      gu + transposed(triangular_solution(u, transposed(scaled_product), false));
  const Tensor joined_columns = ops::concatenate(Tensors{left_columns, right_columns(g)}, -1);
  return apply1(Solve{}, {transposed(square_part(x)), ops::matmul(u, joined_columns, true, false)});
}

}  // namespace

Tensors Lu::vjp(const Vjp& v) const {
  Tensor sum;
  if (v.gradients[0]) sum = gradient_by_factors(v.inputs[0], v.outputs[0], v.gradients[0]);
  if (v.gradients[3]) {
    const Tensor& x = v.inputs[0];
    const Tensor g = ops::expand_dims(ops::expand_dims(v.gradients[3], -1), -1);
    const Tensor gradient_by_logarithm = ops::cast(g, x.dtype()) * transposed(inverse(x));
    sum = sum ? sum + gradient_by_logarithm : gradient_by_logarithm;
  }
  return {sum};
}

namespace ops {
namespace {

/// Calls f on both operands as batches of matrices with the same leading axes and dtype. A vector b
/// is passed to f as a matrix with one column.
template <class F>
Tensor solve_batches(const char* name, const Tensor& a, const Tensor& b, DType dtype, F f) {
  expect_square(name, a.shape());
  const bool is_vector = b.rank() == a.rank() - 1;
  const Tensor left = cast(a, dtype), right = cast(is_vector ? expand_dims(b, -1) : b, dtype);
  if (right.rank() < 2 || right.dim(-2) != left.dim(-1))
    fail(name, ": shapes ", a.shape(), " and ", b.shape(), " do not fit");
  const Shape batch_shape = broadcast_shapes(left.shape().slice(0, left.rank() - 2),
                                             right.shape().slice(0, right.rank() - 2), name);
  const auto with_batch_shape = [&](const Tensor& x) {
    return broadcast_to(x, batch_shape.concat(x.shape().slice(-2, x.rank())));
  };
  const Tensor x = f(with_batch_shape(left), with_batch_shape(right));
  return in_dtype_of(is_vector ? squeeze(x, -1) : x, b);
}

/// The dtype in which the system a x = b is solved.
DType system_dtype(const Tensor& a, const Tensor& b) {
  return b.dtype() == DType::float64 ? DType::float64 : factorization_dtype(a);
}

/// The LU factors of x, in the dtype of the factorization if x is square, else in float64.
Tensors lu_factors(const Tensor& x) {
  const bool is_square = x.dim(-1) == x.dim(-2);
  return apply(Lu{}, {cast(x, is_square ? factorization_dtype(x) : DType::float64)});
}

}  // namespace

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool lower) {
  return solve_batches(
      "solve_triangular", a, b, system_dtype(a, b),
      [&](const Tensor& x, const Tensor& y) { return triangular_solution(x, y, lower); });
}

Tensor solve(const Tensor& a, const Tensor& b) {
  return solve_batches("solve", a, b, system_dtype(a, b), [](const Tensor& x, const Tensor& y) {
    return apply1(Solve{}, {x, y});
  });
}

Tensor inv(const Tensor& x) {
  expect_square("inv", x.shape());
  return in_dtype_of(inverse(cast(x, factorization_dtype(x))), x);
}

std::tuple<Tensor, Tensor> lu_factor(const Tensor& x) {
  if (x.rank() < 2) fail("lu_factor: expected matrices, got shape ", x.shape());
  const Tensors result = lu_factors(x);
  return {in_dtype_of(result[0], x), result[1]};
}

std::tuple<Tensor, Tensor> slogdet(const Tensor& x) {
  expect_square("slogdet", x.shape());
  const Tensors result = lu_factors(x);
  return {in_dtype_of(stop_gradient(result[2]), x), in_dtype_of(result[3], x)};
}

Tensor logdet(const Tensor& x) { return std::get<1>(slogdet(x)); }

Tensor det(const Tensor& x) {
  expect_square("det", x.shape());
  const Tensors result = lu_factors(x);
  return in_dtype_of(stop_gradient(result[2]) * exp(result[3]), x);
}

}  // namespace ops
}  // namespace crescent
