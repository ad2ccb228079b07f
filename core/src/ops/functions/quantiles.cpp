// Quantiles along axes.
#include <limits>

#include "crescent/ops/indexing.h"
#include "crescent/ops/reductions.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

/// Returns x with the axes joined into one last axis: (other axes..., n).
Tensor with_axes_last(const Tensor& x, const Axes& axes) {
  std::vector<int> order, chosen = axes_of(x, axes);
  for (int i = 0; i < x.rank(); ++i)
    if (std::find(chosen.begin(), chosen.end(), i) == chosen.end()) order.push_back(i);
  const auto kept = static_cast<int>(order.size());
  order.insert(order.end(), chosen.begin(), chosen.end());
  const Tensor moved = ops::transpose(x, order);
  int64_t n = 1;
  for (int axis : chosen) n = x.dim(axis) < 0 ? -1 : n * x.dim(axis);
  if (n < 0) fail("quantile: the size of the axes must be known, got shape ", x.shape());
  return ops::reshape(moved, moved.shape().slice(0, kept).concat({n}));
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
    const Tensor nearest = ops::round(position);
    return {nearest, nearest, ops::zeros_like(low)};
  }
  if (method == "midpoint") return {low, high, ops::full(low.shape(), 0.5, low.dtype())};
  if (method == "linear") return {low, high, position - low};
  const std::vector<std::string> known{"linear", "lower", "higher", "midpoint", "nearest"};
  fail("quantile: unknown method '", method, "'", did_you_mean(method, known));
}

/// Returns the values at `position` (..., count) in sorted rows (..., n), by the interpolation
/// method of this name.
Tensor interpolate_sorted(const Tensor& sorted, const Tensor& position, const std::string& method) {
  const QuantilePosition bracket = quantile_position(position, method);
  const auto at = [&](const Tensor& index) {
    return ops::gather_along_axis(sorted, ops::cast(index, DType::int32), -1);
  };
  const Tensor low = at(bracket.low), high = at(bracket.high);
  // If `low` and `high` are equal infinities, their difference is NaN and must not be used. Equal
  // finite elements are interpolated nevertheless, so that both get their share of the gradient.
  const Tensor infinite =
      ops::logical_and(ops::equal(ops::abs(low), kInfinity), ops::equal(low, high));
  const Tensor same = ops::logical_or(ops::equal(bracket.weight, 0), infinite);
  return low + ops::where(same, 0.0, (high - low) * bracket.weight);
}

Tensor quantile_of(const Tensor& given, const Tensor& q, const Axes& axes,
                   const std::string& method, bool keepdims, bool ignore_nan) {
  const Tensor x = floating(given), given_rows = with_axes_last(x, axes);
  // the quantiles of no elements are NaN, as those of a NaN
  const Tensor rows = given_rows.dim(-1) > 0 ? given_rows : with_nan_column(given_rows);
  const int64_t n = rows.dim(-1);
  const Tensor nan = ops::isnan(rows);
  const Tensor sorted =
      ops::flip(ops::top_k(ops::where(nan, kInfinity, rows), n)[0], {rows.rank() - 1});
  const Tensor numbers = ops::sum(ops::cast(ops::logical_not(nan), rows.dtype()), {-1}, true);
  const Tensor count =
      ignore_nan ? ops::maximum(numbers, 1.0) : ops::full({1}, double(n), x.dtype());
  const Tensor each = ops::reshape(ops::cast(q, x.dtype()), {-1});
  Shape kept = rows.shape().slice(0, rows.rank() - 1);
  const Tensor position = numbers * 0.0 + (count - 1.0) * each;
  const Tensor known = ignore_nan ? ops::greater(numbers, 0) : ops::equal(numbers, double(n));
  Tensor result = ops::where(known, interpolate_sorted(sorted, position, method),
                             std::numeric_limits<double>::quiet_NaN());
  std::vector<int> order{result.rank() - 1};
  for (int i = 0; i + 1 < result.rank(); ++i) order.push_back(i);
  result = ops::transpose(result, order);
  if (keepdims) {
    kept = x.shape();
    for (int axis : axes_of(x, axes)) kept.set(axis, 1);
  }
  return ops::reshape(result, q.shape().concat(kept));
}

template <bool IgnoreNan, int Whole>
Tensor quantile_of_fraction(const Tensor& x, const Operand& q, const Axes& axes,
                            const std::string& method, bool keepdims) {
  if (!q.tensor && !(q.number >= 0 && q.number <= Whole))
    fail("expected q from 0 to ", Whole, ", got ", q.number);
  const Tensor share = q.tensor ? floating(q.tensor) : Tensor::scalar(q.number);
  return quantile_of(x, share / static_cast<double>(Whole), axes, method, keepdims, IgnoreNan);
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
