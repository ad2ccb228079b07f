// Reading elements by index, and enumerating indices.
#include "crescent/ops/indexing.h"

#include "ops/arrangement/positions.h"
#include "ops/functions/array_ops.h"

namespace crescent {

Tensor nonnegative_indices(const Tensor& indices, int64_t size) {
  const bool is_known = !indices.is_abstract() && is_integer(indices.dtype()) && indices.size() > 0;
  if (is_known && ops::min(indices).item() >= 0) return indices;
  const Tensor int_indices = is_integer(indices.dtype()) && indices.dtype() != DType::uint8
                                 ? indices
                                 : ops::cast(indices, DType::int32);
  if (size < 0) return int_indices;
  const Tensor is_negative =
      ops::logical_and(ops::less(int_indices, 0), ops::greater_equal(int_indices, -size));
  return ops::where(is_negative, int_indices + size, int_indices);
}

namespace ops {

Tensor take(const Tensor& input, const Tensor& indices, std::optional<int64_t> axis) {
  const auto [x, positive_axis] = flat_without(input, axis);
  return ops::gather(x, nonnegative_indices(indices, x.dim(positive_axis)), positive_axis);
}

Tensor take_along_axis(const Tensor& input, const Tensor& indices, std::optional<int64_t> axis) {
  const auto [x, positive_axis] = flat_without(input, axis);
  const Tensor wrapped_indices =
      nonnegative_indices(axis ? indices : ops::reshape(indices, {-1}), x.dim(positive_axis));
  Shape shape = x.shape(), index_shape = wrapped_indices.shape();
  if (index_shape.rank() != shape.rank())
    fail("take_along_axis: expected indices of ", shape.rank(), " axes, got shape ", index_shape);
  shape.set(positive_axis, 1), index_shape.set(positive_axis, 1);
  const Shape common_shape = broadcast_shapes(shape, index_shape, "take_along_axis");
  Shape x_shape = common_shape, indices_shape = common_shape;
  x_shape.set(positive_axis, x.dim(positive_axis)),
      indices_shape.set(positive_axis, wrapped_indices.dim(positive_axis));
  const auto broadcast_to_shape = [](const Tensor& t, const Shape& target_shape) {
    return t.shape() == target_shape ? t : ops::broadcast_to(t, target_shape);
  };
  return ops::gather_along_axis(broadcast_to_shape(x, x_shape),
                                broadcast_to_shape(wrapped_indices, indices_shape), positive_axis);
}

Tensor one_hot(const Tensor& x, int64_t num_classes, int axis, std::optional<DType> dtype) {
  const Tensor int_indices = is_integer(x.dtype()) ? x : ops::cast(x, DType::int32);
  const Tensor one_hot_rows = ops::one_hot(int_indices, num_classes, dtype.value_or(floatx()));
  const int positive_axis = axis_of(one_hot_rows, axis);
  std::vector<int> order;
  for (int i = 0; i + 1 < one_hot_rows.rank(); ++i) order.push_back(i);
  order.insert(order.begin() + positive_axis, one_hot_rows.rank() - 1);
  return ops::transpose(one_hot_rows, order);
}

Tensor multi_hot(const Tensor& x, int64_t num_classes, int axis, std::optional<DType> dtype) {
  const Tensor one_hot_rows = one_hot(x, num_classes, axis, dtype);
  return ops::cast(ops::max(one_hot_rows, {x.rank() > 1 ? 1 : 0}), one_hot_rows.dtype());
}

Tensors unravel_index(const Tensor& indices, const Shape& shape) {
  Tensors axis_indices(shape.rank());
  Tensor quotient = ops::check_indices(nonnegative_indices(indices, shape.size()), shape.size(),
                                       "unravel_index: index", concat("shape ", shape));
  for (int i = shape.rank(); i-- > 0;) {
    axis_indices[i] = ops::mod(quotient, shape[i]);
    quotient = ops::floor_divide(quotient, shape[i]);
  }
  return axis_indices;
}

}  // namespace ops
}  // namespace crescent
