// Quantiles along axes.
#include <limits>

#include "crescent/ops/indexing.h"
#include "crescent/ops/reductions.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

/// Returns x with the axes joined into one last axis: (other axes..., n).
Tensor with_axes_last(const Tensor& x, const Axes& axes) {
  std::vector<int> order, reduced_axes = axes_of(x, axes);
  for (int i = 0; i < x.rank(); ++i)
    if (std::find(reduced_axes.begin(), reduced_axes.end(), i) == reduced_axes.end())
      order.push_back(i);
  const auto kept_count = static_cast<int>(order.size());
  order.insert(order.end(), reduced_axes.begin(), reduced_axes.end());
  const Tensor transposed_x = ops::transpose(x, order);
  int64_t n = 1;
  for (int axis : reduced_axes) n = x.dim(axis) < 0 ? -1 : n * x.dim(axis);
  if (n < 0) fail("quantile: the size of the axes must be known, got shape ", x.shape());
  return ops::reshape(transposed_x, transposed_x.shape().slice(0, kept_count).concat({n}));
}

/// Appends a column of NaN to rows (..., n).
Tensor with_nan_column(const Tensor& rows) {
  std::vector<int64_t> before(static_cast<size_t>(rows.rank())), after = before;
  after.back() = 1;
  return ops::pad(rows, before, after, std::numeric_limits<double>::quiet_NaN());
}

/// The position of a quantile in sorted elements: the indices of the elements below and above it,
/// and the weight of the element above, from 0 to 1.
struct QuantilePosition {
  Tensor low, high, weight;
};

QuantilePosition quantile_position(const Tensor& position, const std::string& method) {
  const Tensor low = ops::floor(position), high = ops::ceil(position);
  if (method == "lower") return {low, low, ops::zeros_like(low)};
  if (method == "higher") return {high, high, ops::zeros_like(low)};
  if (method == "nearest") {
    const Tensor nearest_index = ops::round(position);
    return {nearest_index, nearest_index, ops::zeros_like(low)};
  }
  if (method == "midpoint") return {low, high, ops::full(low.shape(), 0.5, low.dtype())};
  if (method == "linear") return {low, high, position - low};
  const std::vector<std::string> method_names{"linear", "lower", "higher", "midpoint", "nearest"};
  fail("quantile: unknown method '", method, "'", did_you_mean(method, method_names));
}

/// Returns the values at `position` (..., count) in the sorted rows (..., n), by the interpolation
/// method of this name.
Tensor interpolated_values(const Tensor& rows, const Tensor& position, const std::string& method) {
  const QuantilePosition bracket = quantile_position(position, method);
  const Tensor ranks =
      ops::cast(ops::concatenate(Tensors{bracket.low, bracket.high}, -1), DType::int32);
  const Tensor elements = order_statistics(rows, ranks);
  const int64_t count = position.dim(-1);
  const Tensor low = ops::slice_axis(elements, -1, 0, count),
               high = ops::slice_axis(elements, -1, count, 2 * count);
  // If `low` and `high` are equal infinities, their difference is NaN and must not be used. Equal
  // finite elements are interpolated nevertheless, so that both get their share of the gradient.
  const Tensor are_equal_infinities =
      ops::logical_and(ops::equal(ops::abs(low), kInfinity), ops::equal(low, high));
  const Tensor is_low_exact = ops::logical_or(ops::equal(bracket.weight, 0), are_equal_infinities);
  return low + ops::where(is_low_exact, 0.0, (high - low) * bracket.weight);
}

Tensor quantile_of(const Tensor& input, const Tensor& q, const Axes& axes,
                   const std::string& method, bool keepdims, bool ignore_nan) {
  const Tensor x = floating(input), input_rows = with_axes_last(x, axes);
  // The quantiles of zero elements are NaN, like those of elements that contain a NaN.
  const Tensor data_rows = input_rows.dim(-1) > 0 ? input_rows : with_nan_column(input_rows);
  const int64_t n = data_rows.dim(-1);
  const Tensor is_nan = ops::isnan(data_rows);
  const Tensor number_count =
      ops::sum(ops::cast(ops::logical_not(is_nan), data_rows.dtype()), {-1}, true);
  const Tensor count =
      ignore_nan ? ops::maximum(number_count, 1.0) : ops::full({1}, double(n), x.dtype());
  const Tensor flat_q = ops::reshape(ops::cast(q, x.dtype()), {-1});
  Shape kept_shape = data_rows.shape().slice(0, data_rows.rank() - 1);
  const Tensor position = number_count * 0.0 + (count - 1.0) * flat_q;
  const Tensor is_defined =
      ignore_nan ? ops::greater(number_count, 0) : ops::equal(number_count, double(n));
  Tensor result = ops::where(is_defined, interpolated_values(data_rows, position, method),
                             std::numeric_limits<double>::quiet_NaN());
  std::vector<int> order{result.rank() - 1};
  for (int i = 0; i + 1 < result.rank(); ++i) order.push_back(i);
  result = ops::transpose(result, order);
  if (keepdims) {
    kept_shape = x.shape();
    for (int axis : axes_of(x, axes)) kept_shape.set(axis, 1);
  }
  return ops::reshape(result, q.shape().concat(kept_shape));
}

template <bool IgnoreNan, int MaxQ>
Tensor quantile_of_fraction(const Tensor& x, const Operand& q, const Axes& axes,
                            const std::string& method, bool keepdims) {
  if (!q.tensor && !(q.number >= 0 && q.number <= MaxQ))
    fail("expected q from 0 to ", MaxQ, ", got ", q.number);
  const Tensor fraction = q.tensor ? floating(q.tensor) : Tensor::scalar(q.number);
  return quantile_of(x, fraction / static_cast<double>(MaxQ), axes, method, keepdims, IgnoreNan);
}

}  // namespace

Tensor nanmedian(const Tensor& x, const Axes& axes, bool keepdims) {
  return quantile_of(x, Tensor::scalar(0.5), axes, "linear", keepdims, true);
}

Tensor median(const Tensor& x, const Axes& axes, bool keepdims) {
  return quantile_of(x, Tensor::scalar(0.5), axes, "linear", keepdims, false);
}

Tensor quantile(const Tensor& x, const Operand& q, const Axes& axes, const std::string& method,
                bool keepdims) {
  return quantile_of_fraction<false, 1>(x, q, axes, method, keepdims);
}
Tensor percentile(const Tensor& x, const Operand& q, const Axes& axes, const std::string& method,
                  bool keepdims) {
  return quantile_of_fraction<false, 100>(x, q, axes, method, keepdims);
}
Tensor nanquantile(const Tensor& x, const Operand& q, const Axes& axes, const std::string& method,
                   bool keepdims) {
  return quantile_of_fraction<true, 1>(x, q, axes, method, keepdims);
}
Tensor nanpercentile(const Tensor& x, const Operand& q, const Axes& axes, const std::string& method,
                     bool keepdims) {
  return quantile_of_fraction<true, 100>(x, q, axes, method, keepdims);
}

}  // namespace crescent::ops
