// Cumulative sums and products along an axis.
#include "crescent/ops/reductions.h"
#include "ops/functions/array_ops.h"
#include "program/support.h"

namespace crescent::ops {
namespace {

Tensor cumulative_sum(const Tensor& x, int axis, bool reverse) {
  Cumulative op;
  op.axis = normal_axis("cumsum", axis, x.shape());
  op.reverse = reverse;
  return apply1(op, {at_least_int32(x)});
}

Tensor cumulative_product(const Tensor& x, int axis) {
  Cumprod op;
  op.axis = axis;
  return ops::cast(apply1(op, {without_halves(x)}), x.dtype());
}

/// Applies f to the argument in int32 or a wider dtype, and casts the result to `dtype` or, without
/// `dtype`, to the dtype of the argument. The result for booleans is int32.
template <class F>
Tensor cumulate_in_dtype(const Tensor& input, std::optional<DType> dtype, F f) {
  if (dtype == DType::boolean) dtype = DType::int32;
  const Tensor x = dtype ? ops::cast(input, *dtype) : input;
  const Tensor result = f(at_least_int32(x));
  return x.dtype() == DType::boolean ? result : ops::cast(result, x.dtype());
}

template <Tensor (*F)(const Tensor&, std::optional<int64_t>, std::optional<DType>), int Neutral>
Tensor cumulate_numbers(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return F(is_floating(x.dtype()) ? ops::where(ops::isnan(x), Neutral, x) : x, axis, dtype);
}

}  // namespace

Tensor cumsum(const Tensor& x, int axis, bool reverse) { return cumulative_sum(x, axis, reverse); }

Tensor cumsum(const Tensor& input, std::optional<int64_t> axis, std::optional<DType> dtype) {
  const auto [x, positive_axis] = flat_without(input, axis);
  return cumulate_in_dtype(
      x, dtype, [axis = positive_axis](const Tensor& y) { return cumulative_sum(y, axis, false); });
}

Tensor cumprod(const Tensor& input, std::optional<int64_t> axis, std::optional<DType> dtype) {
  const auto [x, positive_axis] = flat_without(input, axis);
  return cumulate_in_dtype(
      x, dtype, [axis = positive_axis](const Tensor& y) { return cumulative_product(y, axis); });
}

Tensor nancumsum(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return cumulate_numbers<ops::cumsum, 0>(x, axis, dtype);
}
Tensor nancumprod(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return cumulate_numbers<ops::cumprod, 1>(x, axis, dtype);
}

}  // namespace crescent::ops
