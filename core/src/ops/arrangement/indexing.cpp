// Reading elements by index, and enumerating indices.
#include "crescent/ops/indexing.h"

#include "ops/arrangement/positions.h"
#include "ops/functions/array_ops.h"

namespace crescent {

Tensor nonnegative_indices(const Tensor& indices, int64_t size) {
  const bool known = !indices.is_abstract() && is_integer(indices.dtype()) && indices.size() > 0;
  if (known && ops::min(indices).item() >= 0) return indices;
  const Tensor whole = is_integer(indices.dtype()) && indices.dtype() != DType::uint8
                           ? indices
                           : ops::cast(indices, DType::int32);
  if (size < 0) return whole;
  const Tensor from_end = ops::logical_and(ops::less(whole, 0), ops::greater_equal(whole, -size));
  return ops::where(from_end, whole + size, whole);
}

namespace ops {

Tensor take(const Tensor& given, const Tensor& indices, std::optional<int64_t> axis) {
  const auto [x, along] = flat_without(given, axis);
  return ops::gather(x, nonnegative_indices(indices, x.dim(along)), along);
}

Tensor take_along_axis(const Tensor& given, const Tensor& indices, std::optional<int64_t> axis) {
  const auto [x, along] = flat_without(given, axis);
  const Tensor wrapped_indices =
      nonnegative_indices(axis ? indices : ops::reshape(indices, {-1}), x.dim(along));
  Shape shape = x.shape(), of_indices = wrapped_indices.shape();
  if (of_indices.rank() != shape.rank())
    fail("take_along_axis: expected indices of ", shape.rank(), " axes, got shape ", of_indices);
  shape.set(along, 1), of_indices.set(along, 1);
  const Shape common = broadcast_shapes(shape, of_indices, "take_along_axis");
  Shape wide_x = common, wide_indices = common;
  wide_x.set(along, x.dim(along)), wide_indices.set(along, wrapped_indices.dim(along));
  const auto widened = [](const Tensor& t, const Shape& wide) {
    return t.shape() == wide ? t : ops::broadcast_to(t, wide);
  };
  return ops::gather_along_axis(widened(x, wide_x), widened(wrapped_indices, wide_indices), along);
}

Tensor one_hot(const Tensor& x, int64_t classes, int axis, std::optional<DType> dtype) {
  const Tensor whole = is_integer(x.dtype()) ? x : ops::cast(x, DType::int32);
  const Tensor hot = ops::one_hot(whole, classes, dtype.value_or(DType::float32));
  const int along = axis_of(hot, axis);
  std::vector<int> order;
  for (int i = 0; i + 1 < hot.rank(); ++i) order.push_back(i);
  order.insert(order.begin() + along, hot.rank() - 1);
  return ops::transpose(hot, order);
}

Tensor multi_hot(const Tensor& x, int64_t classes, int axis, std::optional<DType> dtype) {
  const Tensor hot = one_hot(x, classes, axis, dtype);
  return ops::cast(ops::max(hot, {x.rank() > 1 ? 1 : 0}), hot.dtype());
}

Tensors unravel_index(const Tensor& indices, const Shape& shape) {
  Tensors wrapped_indices(shape.rank());
  Tensor rest = ops::check_indices(nonnegative_indices(indices, shape.size()), shape.size(),
                                   "unravel_index: index", concat("shape ", shape));
  for (int i = shape.rank(); i-- > 0;) {
    wrapped_indices[i] = ops::mod(rest, shape[i]);
    rest = ops::floor_divide(rest, shape[i]);
  }
  return wrapped_indices;
}

}  // namespace ops
}  // namespace crescent
