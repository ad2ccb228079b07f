// Reductions along axes; without axes, over all of them.
#include "crescent/ops/reductions.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "crescent/system/interrupt.h"
#include "ops/functions/array_ops.h"

namespace crescent::ops {
namespace {

/// Whether one of the reduced axes has size 0.
bool has_empty_reduced_axis(const Tensor& x, const Axes& axes) {
  const std::vector<int> positive_axes = axes_of(x, axes);
  return std::any_of(positive_axes.begin(), positive_axes.end(),
                     [&](int axis) { return x.dim(axis) == 0; });
}

/// A maximum or minimum over elements and an initial value. If the elements and the initial value
/// are integers, they are compared as integers, because floats would round large integers.
template <Tensor (*F)(const Tensor&, const Axes&, bool),
          Tensor (*Extreme)(const Operand&, const Operand&)>
Tensor extreme(const Tensor& x, const Axes& axes, bool keepdims, double initial) {
  if (has_empty_reduced_axis(x, axes))
    return ops::cast(ops::sum(x, axes, keepdims) + initial, x.dtype());
  const Tensor result = F(x, axes, keepdims);
  const bool is_integral = std::trunc(initial) == initial && std::abs(initial) < 0x1p63;
  if (!is_integer(x.dtype()) || !is_integral) return ops::cast(Extreme(result, initial), x.dtype());
  const Tensor initial_tensor = Tensor::scalar(initial, DType::int64);
  return ops::cast(Extreme(ops::cast(result, DType::int64), initial_tensor), x.dtype());
}

Tensor with_nan_replaced(const Tensor& x, double value) {
  return is_floating(x.dtype()) ? ops::where(ops::isnan(x), value, x) : x;
}

Tensor count_numbers(const Tensor& x, const Axes& axes, bool keepdims) {
  const Tensor y = floating(x);
  return ops::sum(ops::cast(ops::logical_not(ops::isnan(y)), y.dtype()), axes, keepdims);
}

template <Tensor (*F)(const Tensor&, const Axes&, bool), bool IsMaximum>
Tensor nan_extreme(const Tensor& x, const Axes& axes, bool keepdims) {
  if (!is_floating(x.dtype())) return F(x, axes, keepdims);
  const Tensor result = F(with_nan_replaced(x, IsMaximum ? -kInfinity : kInfinity), axes, keepdims);
  const Tensor has_no_numbers = ops::equal(count_numbers(x, axes, keepdims), 0);
  return ops::where(has_no_numbers, std::numeric_limits<double>::quiet_NaN(), result);
}

template <Tensor (*F)(const Tensor&, std::optional<int64_t>, bool), bool IsMaximum>
Tensor nan_arg_extreme(const Tensor& x, std::optional<int64_t> axis, bool keepdims) {
  const Tensor extreme_index =
      F(with_nan_replaced(x, IsMaximum ? -kInfinity : kInfinity), axis, keepdims);
  const Axes axes = axis ? Axes{axis_of(x, *axis)} : Axes{};
  return ops::where(ops::equal(count_numbers(x, axes, keepdims), 0), -1, extreme_index);
}

}  // namespace

Tensor max(const Tensor& x, const Axes& axes, bool keepdims, double initial) {
  return extreme<ops::max, ops::maximum>(x, axes, keepdims, initial);
}
Tensor min(const Tensor& x, const Axes& axes, bool keepdims, double initial) {
  return extreme<ops::min, ops::minimum>(x, axes, keepdims, initial);
}

Tensor prod(const Tensor& x, const Axes& axes, bool keepdims, DType dtype) {
  return ops::cast(ops::prod(ops::cast(x, dtype), axes, keepdims), dtype);
}

std::tuple<Tensor, Tensor> moments(const Tensor& x, const Axes& axes, bool keepdims) {
  // Values beyond float16 are clipped to its largest number, as in Keras.
  constexpr double kMaxFloat16 = 65504;
  const auto moment = [&](auto statistic) {
    return in_wide(x, [&](const Tensor& wide_x) {
      const Tensor result = statistic(wide_x, axes, keepdims);
      return x.dtype() == DType::float16 ? ops::clip(result, -kMaxFloat16, kMaxFloat16) : result;
    });
  };
  return {moment(ops::mean), moment(ops::variance)};
}

/// A weighted average. `weights` has the shape of x, or only the sizes of the averaged axes.
Tensor average(const Tensor& x, const Axes& axis_option, const Tensor& weights) {
  const Axes axes = axes_of(x, axis_option);
  if (!weights) return ops::mean(x, axes);
  Tensor w = weights;
  if (w.rank() == static_cast<int>(axes.size()) && w.rank() < x.rank()) {
    Shape shape(std::vector<int64_t>(x.rank(), 1));
    Axes order(axes.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return axes[a] < axes[b]; });
    for (int i = 0; i < w.rank(); ++i) shape.set(axes[i], w.dim(i));
    w = ops::reshape(ops::transpose(w, order), shape);
  }
  if (w.rank() != x.rank())
    fail("average: expected weights of the shape of x, ", x.shape(),
         ", or of the averaged axes alone, got shape ", weights.shape());
  const Tensor values = floating(ops::cast(x, promote(x.dtype(), w.dtype())));
  return in_wide(values, [&](const Tensor& wide_x) {
    const Tensor broadcast_weights =
        ops::broadcast_to(ops::cast(w, wide_x.dtype()), wide_x.shape());
    return ops::sum(wide_x * broadcast_weights, axes) / ops::sum(broadcast_weights, axes);
  });
}

Tensor count_nonzero(const Tensor& x, const Axes& axes) {
  return ops::sum(ops::cast(ops::not_equal(x, 0), DType::int32), axes);
}

Tensor ptp(const Tensor& x, const Axes& axes, bool keepdims) {
  return ops::cast(ops::max(x, axes, keepdims) - ops::min(x, axes, keepdims), x.dtype());
}

Tensor nansum(const Tensor& x, const Axes& axes, bool keepdims) {
  return ops::sum(with_nan_replaced(x, 0), axes, keepdims);
}
Tensor nanprod(const Tensor& x, const Axes& axes, bool keepdims) {
  return ops::prod(with_nan_replaced(x, 1), axes, keepdims);
}
Tensor nanmean(const Tensor& input, const Axes& axes, bool keepdims) {
  return in_wide(input, [&](const Tensor& x) {
    return nansum(x, axes, keepdims) / count_numbers(x, axes, keepdims);
  });
}
Tensor nanvar(const Tensor& input, const Axes& axes, bool keepdims) {
  return in_wide(input, [&](const Tensor& x) {
    const Tensor centered =
        ops::where(ops::isnan(x), 0.0, with_nan_replaced(x, 0) - nanmean(x, axes, true));
    return ops::sum(ops::square(centered), axes, keepdims) / count_numbers(x, axes, keepdims);
  });
}
/// The standard deviation of the elements that are not NaN; where it is 0, its gradient is 0 too.
Tensor nanstd(const Tensor& input, const Axes& axes, bool keepdims) {
  return in_wide(input, [&](const Tensor& x) {
    const Tensor variance = nanvar(x, axes, keepdims), is_zero = ops::equal(variance, 0);
    return ops::where(is_zero, 0.0, ops::sqrt(ops::where(is_zero, 1.0, variance)));
  });
}

Tensor nanmax(const Tensor& x, const Axes& axes, bool keepdims) {
  return nan_extreme<ops::max, true>(x, axes, keepdims);
}
Tensor nanmin(const Tensor& x, const Axes& axes, bool keepdims) {
  return nan_extreme<ops::min, false>(x, axes, keepdims);
}
Tensor nanargmax(const Tensor& x, std::optional<int64_t> axis, bool keepdims) {
  return nan_arg_extreme<ops::argmax, true>(x, axis, keepdims);
}
Tensor nanargmin(const Tensor& x, std::optional<int64_t> axis, bool keepdims) {
  return nan_arg_extreme<ops::argmin, false>(x, axis, keepdims);
}

/// Takes the differences of neighbours n times; the result is empty if n is at least the number of
/// elements.
Tensor diff(const Tensor& x, int64_t n, int axis) {
  Tensor a = x;
  axis = axis_of(a, axis);
  if (n < 0) fail("diff: expected an order of at least 0, got ", n);
  if (a.dim(axis) >= 0) n = std::min(n, a.dim(axis));
  for (int64_t i = 0; i < n; ++i) {
    heed_interruption("differences were taken");
    const int64_t size = a.dim(axis);
    if (size != 0 && a.dtype() != DType::boolean && a.dtype() != DType::complex64) {
      Diff op;
      op.axis = axis;
      a = apply1(op, {a});
      continue;
    }
    const int64_t offset = size == 0 ? 0 : 1;
    const Tensor later_elements = ops::slice_axis(a, axis, offset, size);
    const Tensor earlier_elements = ops::slice_axis(a, axis, 0, size - offset);
    a = a.dtype() == DType::boolean ? ops::not_equal(later_elements, earlier_elements)
                                    : later_elements - earlier_elements;
  }
  return a;
}

Tensor trapezoid(const Tensor& input, const Tensor& x, double dx, int axis) {
  const Tensor y = floating(input);
  axis = axis_of(y, axis);
  const int64_t n = y.dim(axis);
  const Tensor means = (ops::slice_axis(y, axis, 1, n) + ops::slice_axis(y, axis, 0, n - 1)) * 0.5;
  if (!x) return ops::sum(means * dx, {axis});
  Tensor widths = diff(floating(x), 1, -1);
  if (x.rank() == 1) {
    Shape shape(std::vector<int64_t>(y.rank(), 1));
    shape.set(axis, widths.dim(0));
    widths = ops::reshape(widths, shape);
  } else {
    widths = diff(floating(x), 1, axis);
  }
  return ops::sum(means * widths, {axis});
}

}  // namespace crescent::ops
