// Products of tensors other than matmul, dot and einsum.
#include "crescent/ops/products.h"
#include "crescent/ops/elementwise.h"

#include "ops/functions/array_ops.h"

namespace crescent {
namespace {

/// The Euclidean distances of all pairs of rows by broadcasting; the gradient of a distance of zero
/// is zero.
Tensor distances_by_broadcasting(const Tensor& x, const Tensor& y) {
  const Tensor difference = ops::expand_dims(x, -2) - ops::expand_dims(y, -3);
  const Tensor square = ops::sum(ops::square(difference), {-1});
  const Tensor is_zero = ops::equal(square, 0);
  return ops::where(is_zero, 0.0, ops::sqrt(ops::where(is_zero, 1.0, square)));
}

}  // namespace

TensorSpecs Distances::infer(std::span<const TensorSpec> in) const {
  return {{in[0].dtype, {in[0].shape[0], in[1].shape[0]}}};
}
Tensors Distances::decompose(std::span<const Tensor> in) const {
  return {distances_by_broadcasting(in[0], in[1])};
}

namespace ops {
namespace {

/// The sums of products over the given axes of a and b, computed as one matrix product after these
/// axes are moved to the end of a and to the start of b.
Tensor contract(const Tensor& a, const Tensor& b, std::vector<int> of_a, std::vector<int> of_b) {
  const auto [x, y] = promoted(a, b);
  if (of_a.size() != of_b.size())
    fail("tensordot: expected as many axes of one as of the other, got ", of_a.size(), " and ",
         of_b.size());
  for (int& axis : of_a) axis = axis_of(x, axis);
  for (int& axis : of_b) axis = axis_of(y, axis);
  const auto other_axes = [](const Tensor& t, const std::vector<int>& axes) {
    std::vector<int> free_axes;
    for (int i = 0; i < t.rank(); ++i)
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) free_axes.push_back(i);
    return free_axes;
  };
  const std::vector<int> kept_axes_of_a = other_axes(x, of_a), kept_axes_of_b = other_axes(y, of_b);
  Shape rows, columns;
  int64_t contracted_size = 1;
  for (int axis : kept_axes_of_a) rows.append(x.dim(axis));
  for (int axis : kept_axes_of_b) columns.append(y.dim(axis));
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (x.dim(of_a[i]) != y.dim(of_b[i]))
      fail("tensordot: axis ", of_a[i], " of shape ", x.shape(), " and axis ", of_b[i],
           " of shape ", y.shape(), " differ");
    contracted_size *= x.dim(of_a[i]);
  }
  std::vector<int> order_a = kept_axes_of_a, order_b = of_b;
  order_a.insert(order_a.end(), of_a.begin(), of_a.end());
  order_b.insert(order_b.end(), kept_axes_of_b.begin(), kept_axes_of_b.end());
  const auto size = [](const Shape& shape) { return shape.is_known() ? shape.size() : -1; };
  const Tensor left = ops::reshape(ops::transpose(x, order_a), {size(rows), contracted_size});
  const Tensor right = ops::reshape(ops::transpose(y, order_b), {contracted_size, size(columns)});
  return ops::cast(ops::reshape(ops::matmul(left, right), rows.concat(columns)), x.dtype());
}

}  // namespace

Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes) {
  if (axes < 0 || axes > std::min(a.rank(), b.rank()))
    fail("tensordot: cannot sum over ", axes, " axes of shapes ", a.shape(), " and ", b.shape());
  const auto count = static_cast<int>(axes);
  Axes a_axes, b_axes;
  for (int i = 0; i < count; ++i) {
    a_axes.push_back(a.rank() - count + i);
    b_axes.push_back(i);
  }
  return contract(a, b, a_axes, b_axes);
}
Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& of_a, const Axes& of_b) {
  return contract(a, b, of_a, of_b);
}

Tensor dot(const Operand& a, const Operand& b) {
  const Tensor x = tensor_of(a), y = tensor_of(b);
  if (x.rank() == 0 || y.rank() == 0) return ops::multiply(x, y);
  if (y.rank() == 2 && x.rank() > 1)
    return ops::cast(ops::matmul(x, y), promote(x.dtype(), y.dtype()));
  return contract(x, y, {-1}, {y.rank() == 1 ? 0 : y.rank() - 2});
}

Tensor inner(const Operand& a, const Operand& b) {
  const Tensor x = tensor_of(a), y = tensor_of(b);
  if (x.rank() == 0 || y.rank() == 0) return ops::multiply(x, y);
  return contract(x, y, {-1}, {-1});
}

Tensor outer(const Tensor& a, const Tensor& b) {
  const Tensor outer_product = ops::multiply(ops::reshape(a, {-1, 1}), ops::reshape(b, {1, -1}));
  return ops::cast(outer_product, promote(a.dtype(), b.dtype()));
}

Tensor vdot(const Tensor& a, const Tensor& b) {
  const Tensor sum =
      ops::sum(ops::multiply(ops::reshape(ops::conj(a), {-1}), ops::reshape(b, {-1})));
  return ops::cast(sum, promote(a.dtype(), b.dtype()));
}

Tensor kron(const Tensor& a, const Tensor& b) {
  const int rank = std::max(a.rank(), b.rank());
  const auto lifted = [&](Tensor x) {
    while (x.rank() < rank) x = ops::expand_dims(x, 0);
    return x;
  };
  const Tensor x = lifted(a), y = lifted(b);
  Shape x_shape, y_shape, result;
  for (int i = 0; i < rank; ++i) {
    x_shape.append(x.dim(i)), x_shape.append(1);
    y_shape.append(1), y_shape.append(y.dim(i));
    result.append(x.dim(i) * y.dim(i));
  }
  return ops::reshape(ops::multiply(ops::reshape(x, x_shape), ops::reshape(y, y_shape)), result);
}

Tensor cross(const Tensor& a, const Tensor& b, int axisa, int axisb, int axisc,
             std::optional<int64_t> axis) {
  if (axis) axisa = axisb = axisc = static_cast<int>(*axis);
  const auto [x, y] = promoted(a, b);
  const auto components = [](const Tensor& t, int along) {
    const int64_t n = t.dim(along);
    if (n != 2 && n != 3)
      fail("cross: expected two or three along axis ", along, ", got shape ", t.shape());
    Tensors rows;
    for (const Tensor& row : ops::split(t, std::vector<int64_t>(n, 1), along))
      rows.push_back(ops::squeeze(row, along));
    return rows;
  };
  Tensors u = components(x, axis_of(x, axisa)), v = components(y, axis_of(y, axisb));
  const Tensor z = u[0] * v[1] - u[1] * v[0];
  if (u.size() == 2 && v.size() == 2) return z;
  if (u.size() == 2) u.push_back(ops::zeros_like(u[0]));
  if (v.size() == 2) v.push_back(ops::zeros_like(v[0]));
  return ops::stack(Tensors{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], z}, axisc);
}

Tensor correlate(const Tensor& a, const Tensor& b, const std::string& mode) {
  auto [x, y] = promoted(a, b);
  if (x.rank() != 1 || y.rank() != 1)
    fail("correlate: expected one axis each, got shapes ", x.shape(), " and ", y.shape());
  x = wide_floating(x), y = wide_floating(y);
  const bool is_swapped = x.dim(0) < y.dim(0);
  if (is_swapped) std::swap(x, y);
  const int64_t m = y.dim(0);
  int64_t before = 0, after = 0;
  if (mode == "full")
    before = after = m - 1;
  else if (mode == "same")
    before = m / 2, after = m - 1 - before;
  else if (mode != "valid")
    fail("correlate: mode must be 'valid', 'same' or 'full', got '", mode, "'");
  const Tensor padded_x = ops::reshape(ops::pad(x, {before}, {after}), {1, -1, 1});
  const Tensor result =
      ops::reshape(ops::conv(padded_x, ops::reshape(y, {m, 1, 1}), {1}, ops::Padding::valid), {-1});
  return is_swapped ? ops::flip(result, {0}) : result;
}

Tensor corrcoef(const Tensor& input) {
  const Tensor x = wide_floating(input), rows = x.rank() == 1 ? ops::expand_dims(x, 0) : x;
  const Tensor centered = rows - ops::mean(rows, {1}, true);
  const Tensor covariance = ops::matmul(centered, centered, false, true);
  const int64_t n = covariance.dim(0);
  const Tensor variance = ops::sum(covariance * ops::eye(n, n, x.dtype()), {1});
  const Tensor scale = ops::sqrt(variance);
  const Tensor r = covariance / ops::expand_dims(scale, 1) / ops::expand_dims(scale, 0);
  return n == 1 ? ops::reshape(r, {}) : ops::clip(r, -1, 1);
}

Tensor cdist(const Tensor& a, const Tensor& b) {
  auto [x, y] = promoted(a, b);
  x = floating(x), y = floating(y);
  const bool is_matrix_pair =
      x.rank() == 2 && y.rank() == 2 && x.dim(1) == y.dim(1) && x.dim(1) >= 0;
  return is_matrix_pair ? apply1(Distances{}, {x, y}) : distances_by_broadcasting(x, y);
}

}  // namespace ops
}  // namespace crescent
