// Ops that change the shape or the order of elements: reshape, broadcast, transpose, reverse.
#include <numeric>

#include "program/support.h"

namespace crescent {
namespace {

/// Returns dim * n; an unknown size (-1) stays unknown.
int64_t repeated_size(std::string_view op, int64_t dim, int64_t n) {
  if (n < 0) fail(op, ": cannot repeat ", n, " times");
  int64_t product = -1;
  if (dim >= 0 && __builtin_mul_overflow(dim, n, &product))
    fail(op, ": ", n, " times ", dim, " is too long");
  return product;
}

/// The target shape with its -1 replaced by the size for which both shapes have the same number of
/// elements.
Shape resolved_shape(const Shape& source_shape, const Shape& target_shape) {
  const int64_t size = known_size(source_shape);
  if (size < 0) return target_shape;
  int64_t known_product = 1;
  int unknown_axis = -1;
  for (int i = 0; i < target_shape.rank(); ++i) {
    if (target_shape[i] >= 0) {
      if (__builtin_mul_overflow(known_product, target_shape[i], &known_product))
        fail("reshape: shape ", target_shape, " has too many elements");
    } else if (unknown_axis >= 0) {
      fail("reshape: only one dimension of ", target_shape, " may be left open");
    } else {
      unknown_axis = i;
    }
  }
  Shape result = target_shape;
  const bool is_valid =
      unknown_axis < 0 ? known_product == size : known_product > 0 && size % known_product == 0;
  if (!is_valid)
    fail("reshape: shape ", source_shape, " has ", size, " elements and does not fit ",
         target_shape);
  if (unknown_axis >= 0) result.set(unknown_axis, size / known_product);
  return result;
}

/// Tiles one axis after another: an axis of length n * d consists of n copies of d elements.
Tensor tiled_axis_by_axis(const Tensor& x, const std::vector<int64_t>& repeats) {
  expect_one_per_axis("tile", repeats.size(), x.shape(), "count");
  Tensor y = x;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t n = repeats[i];
    if (n == 1) continue;
    const Shape leading_dims = y.shape().slice(0, i), trailing_dims = y.shape().slice(i, y.rank());
    Shape tiled_shape = y.shape();
    tiled_shape.set(i, repeated_size("tile", y.dim(i), n));
    y = ops::reshape(
        ops::broadcast_to(ops::expand_dims(y, i), leading_dims.concat({n}).concat(trailing_dims)),
        tiled_shape);
  }
  return y;
}

}  // namespace

TensorSpecs Reshape::infer(std::span<const TensorSpec> in) const {
  return {{in[0].dtype, resolved_shape(in[0].shape, shape)}};
}
Tensors Reshape::vjp(const Vjp& v) const {
  return {ops::reshape(v.gradients[0], v.inputs[0].shape())};
}

TensorSpecs BroadcastTo::infer(std::span<const TensorSpec> in) const {
  const Shape result = broadcast_shapes(in[0].shape, shape, "broadcast_to");
  if (!result.compatible(shape))
    fail("broadcast_to: shape ", in[0].shape, " does not broadcast to ", shape);
  return {{in[0].dtype, result}};
}
Tensors BroadcastTo::vjp(const Vjp& v) const {
  return {sum_to(v.gradients[0], v.inputs[0].shape())};
}

TensorSpecs Transpose::infer(std::span<const TensorSpec> in) const {
  const Shape& x = in[0].shape;
  expect_one_per_axis("transpose", axes.size(), x, "place");
  if (normal_axes("transpose", axes, x).size() != axes.size())
    fail("transpose: expected every axis of ", x, " once");
  Shape shape;
  for (int axis : axes) shape.append(x[axis]);
  return {{in[0].dtype, shape}};
}
Tensors Transpose::vjp(const Vjp& v) const {
  std::vector<int> inverse_order(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) inverse_order[axes[i]] = static_cast<int>(i);
  return {ops::transpose(v.gradients[0], inverse_order)};
}

TensorSpecs Reverse::infer(std::span<const TensorSpec> in) const {
  normal_axes("flip", axes, in[0].shape);
  return {in[0]};
}
Tensors Reverse::vjp(const Vjp& v) const { return {ops::flip(v.gradients[0], axes)}; }

namespace ops {

Tensor reshape(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape && shape.is_known()) return x;
  Reshape op;
  op.shape = resolved_shape(x.shape(), shape);
  return apply1(op, {x});
}

Tensor flatten(const Tensor& x) {
  if (x.rank() < 1) return reshape(x, {1, 1});
  return reshape(x, {x.dim(0), known_size(x.shape().slice(1, x.rank()))});
}

Tensor transpose(const Tensor& x, std::vector<int> axes) {
  Transpose op;
  if (axes.empty()) {
    axes.resize(x.rank());
    std::iota(axes.rbegin(), axes.rend(), 0);
  }
  for (int axis : axes) op.axes.push_back(normal_axis("transpose", axis, x.shape()));
  if (std::is_sorted(op.axes.begin(), op.axes.end()) &&
      static_cast<int>(op.axes.size()) == x.rank() &&
      std::adjacent_find(op.axes.begin(), op.axes.end()) == op.axes.end()) {
    return x;
  }
  return apply1(op, {x});
}

Tensor swap_axes(const Tensor& x, int a, int b) {
  std::vector<int> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[normal_axis("swap_axes", a, x.shape())],
            axes[normal_axis("swap_axes", b, x.shape())]);
  return transpose(x, axes);
}

Tensor expand_dims(const Tensor& x, int axis) {
  const int rank = x.rank() + 1, positive_axis = axis < 0 ? axis + rank : axis;
  if (positive_axis < 0 || positive_axis >= rank)
    fail("expand_dims: axis ", axis, " is out of range for shape ", x.shape());
  return reshape(x, x.shape()
                        .slice(0, positive_axis)
                        .concat({1})
                        .concat(x.shape().slice(positive_axis, x.rank())));
}

Tensor squeeze(const Tensor& x, std::optional<int> axis) {
  Shape shape;
  const int squeezed_axis = axis ? normal_axis("squeeze", *axis, x.shape()) : -1;
  if (axis && x.dim(squeezed_axis) >= 0 && x.dim(squeezed_axis) != 1)
    fail("squeeze: axis ", *axis, " of shape ", x.shape(), " is not 1");
  for (int i = 0; i < x.rank(); ++i) {
    const bool is_removed = axis ? i == squeezed_axis : x.dim(i) == 1;
    if (!is_removed) shape.append(x.dim(i));
  }
  return reshape(x, shape);
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  BroadcastTo op;
  op.shape = shape;
  return apply1(op, {x});
}

Tensor repeat(const Tensor& x, int64_t n, int axis) {
  const int positive_axis = normal_axis("repeat", axis, x.shape());
  const Shape leading_dims = x.shape().slice(0, positive_axis + 1),
              trailing_dims = x.shape().slice(positive_axis + 1, x.rank());
  Shape result = x.shape();
  result.set(positive_axis, repeated_size("repeat", x.dim(positive_axis), n));
  return reshape(broadcast_to(expand_dims(x, positive_axis + 1),
                              leading_dims.concat({n}).concat(trailing_dims)),
                 result);
}

/// If Shape::kMaxRank permits twice as many axes as x has, all axes are tiled by a single
/// broadcast; otherwise one axis after another.
Tensor tile(const Tensor& input, const std::vector<int64_t>& repeats) {
  const auto count = static_cast<int>(repeats.size());
  Tensor x = input;
  while (x.rank() < count) x = expand_dims(x, 0);
  std::vector<int64_t> all_repeats(x.rank() - count, 1);
  all_repeats.insert(all_repeats.end(), repeats.begin(), repeats.end());
  const auto is_small_count = [](int64_t n) { return n >= 0 && n < INT32_MAX; };
  const bool fits_one_pass = x.shape().is_known() && 2 * x.rank() <= Shape::kMaxRank &&
                             std::all_of(all_repeats.begin(), all_repeats.end(), is_small_count);
  if (!fits_one_pass || x.rank() == 0) return tiled_axis_by_axis(x, all_repeats);
  Shape input_shape, broadcast_shape, result_shape;
  for (int i = 0; i < x.rank(); ++i) {
    const int64_t n = all_repeats[i], size = x.dim(i);
    input_shape.append(1), input_shape.append(size);
    broadcast_shape.append(n), broadcast_shape.append(size);
    result_shape.append(n * size);
  }
  return ops::reshape(ops::broadcast_to(ops::reshape(x, input_shape), broadcast_shape),
                      result_shape);
}

Tensor flip(const Tensor& x, const std::vector<int>& axes) {
  Reverse op;
  op.axes = normal_axes("flip", axes, x.shape());
  return apply1(op, {x});
}

}  // namespace ops
}  // namespace crescent
