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
  const Tensor squared_distance = ops::sum(ops::square(difference), {-1});
  const Tensor is_zero = ops::equal(squared_distance, 0);
  return ops::where(is_zero, 0.0, ops::sqrt(ops::where(is_zero, 1.0, squared_distance)));
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
Tensor contract(const Tensor& a, const Tensor& b, std::vector<int> axes_a,
                std::vector<int> axes_b) {
  const auto [x, y] = promoted(a, b);
  if (axes_a.size() != axes_b.size())
    fail("tensordot: expected as many axes of one as of the other, got ", axes_a.size(), " and ",
         axes_b.size());
  for (int& axis : axes_a) axis = axis_of(x, axis);
  for (int& axis : axes_b) axis = axis_of(y, axis);
  const auto axes_besides = [](const Tensor& t, const std::vector<int>& axes) {
    std::vector<int> free_axes;
    for (int i = 0; i < t.rank(); ++i)
      if (std::find(axes.begin(), axes.end(), i) == axes.end()) free_axes.push_back(i);
    return free_axes;
  };
  const std::vector<int> kept_axes_of_a = axes_besides(x, axes_a),
                         kept_axes_of_b = axes_besides(y, axes_b);
  Shape kept_shape_a, kept_shape_b;
  int64_t contracted_size = 1;
  for (int axis : kept_axes_of_a) kept_shape_a.append(x.dim(axis));
  for (int axis : kept_axes_of_b) kept_shape_b.append(y.dim(axis));
  for (size_t i = 0; i < axes_a.size(); ++i) {
    if (x.dim(axes_a[i]) != y.dim(axes_b[i]))
      fail("tensordot: axis ", axes_a[i], " of shape ", x.shape(), " and axis ", axes_b[i],
           " of shape ", y.shape(), " differ");
    contracted_size *= x.dim(axes_a[i]);
  }
  std::vector<int> order_a = kept_axes_of_a, order_b = axes_b;
  order_a.insert(order_a.end(), axes_a.begin(), axes_a.end());
  order_b.insert(order_b.end(), kept_axes_of_b.begin(), kept_axes_of_b.end());
  const auto size_or_unknown = [](const Shape& shape) {
    return shape.is_known() ? shape.size() : -1;
  };
  const Tensor left =
      ops::reshape(ops::transpose(x, order_a), {size_or_unknown(kept_shape_a), contracted_size});
  const Tensor right =
      ops::reshape(ops::transpose(y, order_b), {contracted_size, size_or_unknown(kept_shape_b)});
  return ops::cast(ops::reshape(ops::matmul(left, right), kept_shape_a.concat(kept_shape_b)),
                   x.dtype());
}

}  // namespace

Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes) {
  if (axes < 0 || axes > std::min(a.rank(), b.rank()))
    fail("tensordot: cannot sum over ", axes, " axes of shapes ", a.shape(), " and ", b.shape());
  const auto count = static_cast<int>(axes);
  Axes axes_a, axes_b;
  for (int i = 0; i < count; ++i) {
    axes_a.push_back(a.rank() - count + i);
    axes_b.push_back(i);
  }
  return contract(a, b, axes_a, axes_b);
}
Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& axes_a, const Axes& axes_b) {
  return contract(a, b, axes_a, axes_b);
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
  const auto with_common_rank = [&](Tensor x) {
    while (x.rank() < rank) x = ops::expand_dims(x, 0);
    return x;
  };
  const Tensor x = with_common_rank(a), y = with_common_rank(b);
  Shape x_shape, y_shape, result;
  for (int i = 0; i < rank; ++i) {
    x_shape.append(x.dim(i)), x_shape.append(1);
    y_shape.append(1), y_shape.append(y.dim(i));
    result.append(x.dim(i) * y.dim(i));
  }
  return ops::reshape(ops::multiply(ops::reshape(x, x_shape), ops::reshape(y, y_shape)), result);
}

Tensor cross(const Tensor& a, const Tensor& b, int axis1, int axis2, int axis_of_result,
             std::optional<int64_t> axis) {
  if (axis) axis1 = axis2 = axis_of_result = static_cast<int>(*axis);
  const auto [x, y] = promoted(a, b);
  const auto components = [](const Tensor& t, int vector_axis) {
    const int64_t n = t.dim(vector_axis);
    if (n != 2 && n != 3)
      fail("cross: expected two or three along axis ", vector_axis, ", got shape ", t.shape());
    Tensors component_list;
    for (const Tensor& component : ops::split(t, std::vector<int64_t>(n, 1), vector_axis))
      component_list.push_back(ops::squeeze(component, vector_axis));
    return component_list;
  };
  Tensors u = components(x, axis_of(x, axis1)), v = components(y, axis_of(y, axis2));
  const Tensor z = u[0] * v[1] - u[1] * v[0];
  if (u.size() == 2 && v.size() == 2) return z;
  if (u.size() == 2) u.push_back(ops::zeros_like(u[0]));
  if (v.size() == 2) v.push_back(ops::zeros_like(v[0]));
  return ops::stack(Tensors{u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], z},
                    axis_of_result);
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
