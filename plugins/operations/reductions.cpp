// From many numbers to few: along axes, all of them when none are given.
#include <algorithm>
#include <limits>
#include <numeric>

#include "crescent/registry/registration.h"
#include "crescent/system/interrupt.h"
#include "families.h"
#include "given_axes.h"
#include "kernels/axis_ops.h"

namespace crescent::operations {
namespace {

using Axes = std::vector<int>;

/// F where the axes are a call's. Over none nothing is reduced, each element is by itself: as over
/// an axis of one element.
template <auto F>
struct AxesAdapter;
template <class... Rest, Tensor (*F)(const Tensor&, const Axes&, Rest...)>
struct AxesAdapter<F> {
  static Tensor call(const Tensor& x, const GivenAxes& axes, Rest... rest) {
    const bool none = axes.list && axes.list->empty();
    if (!none) return F(x, axes.list.value_or(Axes()), rest...);
    const Tensor result = F(ops::expand_dims(x, -1), {-1}, rest...);
    return result.rank() > x.rank() ? ops::squeeze(result, -1) : result;
  }
};
template <auto F>
constexpr auto over = &AxesAdapter<F>::call;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Whether an axis that is reduced has no elements.
bool sums_nothing(const Tensor& x, const Axes& axes) {
  const std::vector<int> all = axes_of(x, axes);
  return std::any_of(all.begin(), all.end(), [&](int axis) { return x.dim(axis) == 0; });
}

/// max, min: with a first value to compare with.
template <Tensor (*F)(const Tensor&, const Axes&, bool),
          Tensor (*Extreme)(const Operand&, const Operand&)>
Tensor extreme(const Tensor& x, const Axes& axes, bool keepdims, std::optional<double> initial) {
  if (initial && sums_nothing(x, axes)) return ops::sum(x, axes, keepdims) + *initial;
  const Tensor result = ops::cast(F(x, axes, keepdims), x.dtype());
  return initial ? ops::cast(Extreme(result, *initial), x.dtype()) : result;
}

template <Tensor (*F)(const Tensor&, const Axes&, bool)>
Tensor same_dtype(const Tensor& x, const Axes& axes, bool keepdims) {
  return ops::cast(F(x, axes, keepdims), x.dtype());
}

/// The place of an extreme as int32; of the flattened tensor without an axis.
template <Tensor (*F)(const Tensor&, int)>
Tensor place(const Tensor& given, std::optional<int64_t> axis, bool keepdims) {
  const auto [x, along] = flat_without(given, axis);
  const Tensor places = ops::cast(F(x, along), DType::int32);
  if (!keepdims) return places;
  return axis ? ops::expand_dims(places, along)
              : ops::reshape(places,
                             Shape(std::vector<int64_t>(static_cast<size_t>(given.rank()), 1)));
}

Tensor prod(const Tensor& x, const Axes& axes, bool keepdims, std::optional<DType> dtype) {
  if (!dtype) return ops::prod(x, axes, keepdims);
  return ops::cast(ops::prod(ops::cast(x, *dtype), axes, keepdims), *dtype);
}

/// Weights may have the averaged axes alone.
Tensor average(const Tensor& x, const Axes& given, const Tensor& weights) {
  const Axes axes = axes_of(x, given);
  if (!weights) return ops::mean(x, axes);
  Tensor w = weights;
  if (w.rank() == static_cast<int>(axes.size()) && w.rank() < x.rank()) {
    Shape shape(std::vector<int64_t>(static_cast<size_t>(x.rank()), 1));
    Axes order(axes.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return axes[a] < axes[b]; });
    for (int i = 0; i < w.rank(); ++i) shape.set(axes[i], w.dim(i));
    w = ops::reshape(ops::transpose(w, order), shape);
  }
  const Tensor values = floating(ops::cast(x, promote(x.dtype(), w.dtype())));
  return in_wide(values, [&](const Tensor& wide) {
    const Tensor spread = ops::broadcast_to(ops::cast(w, wide.dtype()), wide.shape());
    return ops::sum(wide * spread, axes) / ops::sum(spread, axes);
  });
}

Tensor count_nonzero(const Tensor& x, const Axes& axes) {
  return ops::sum(ops::cast(ops::not_equal(x, 0), DType::int32), axes);
}

Tensor ptp(const Tensor& x, const Axes& axes, bool keepdims) {
  return ops::cast(ops::max(x, axes, keepdims) - ops::min(x, axes, keepdims), x.dtype());
}

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keepdims) {
  if (sums_nothing(x, axes)) return ops::sum(floating(x), axes, keepdims) - kInfinity;
  return ops::logsumexp(x, axes, keepdims);
}

std::tuple<Tensor, Tensor> moments(const Tensor& x, const GivenAxes& axes, bool keepdims,
                                   bool synchronized) {
  if (synchronized) fail("moments: synchronized=True is not supported");
  // What is beyond float16 is its largest number, as Keras has it.
  constexpr double kLargest = 65504;
  const auto moment = [&](auto of) {
    return in_wide(x, [&](const Tensor& wide) {
      const Tensor result = of(wide, axes, keepdims);
      return x.dtype() == DType::float16 ? ops::clip(result, -kLargest, kLargest) : result;
    });
  };
  return {moment(over<&ops::mean>), moment(over<&ops::variance>)};
}

// ---- without what is no number

Tensor nan_to(const Tensor& x, double value) {
  return is_floating(x.dtype()) ? ops::where(ops::isnan(x), value, x) : x;
}

Tensor count_numbers(const Tensor& x, const Axes& axes, bool keepdims) {
  const Tensor y = floating(x);
  return ops::sum(ops::where(ops::isnan(y), ops::zeros_like(y), ops::ones_like(y)), axes, keepdims);
}

Tensor nansum(const Tensor& x, const Axes& axes, bool keepdims) {
  return ops::sum(nan_to(x, 0), axes, keepdims);
}
Tensor nanprod(const Tensor& x, const Axes& axes, bool keepdims) {
  return ops::prod(nan_to(x, 1), axes, keepdims);
}
Tensor nanmean(const Tensor& given, const Axes& axes, bool keepdims) {
  return in_wide(given, [&](const Tensor& x) {
    return nansum(x, axes, keepdims) / count_numbers(x, axes, keepdims);
  });
}
Tensor nanvar(const Tensor& given, const Axes& axes, bool keepdims) {
  return in_wide(given, [&](const Tensor& x) {
    const Tensor centered = ops::where(ops::isnan(x), 0.0, nan_to(x, 0) - nanmean(x, axes, true));
    return ops::sum(ops::square(centered), axes, keepdims) / count_numbers(x, axes, keepdims);
  });
}
/// Where numbers do not differ the gradient is 0, as that of std.
Tensor nanstd(const Tensor& given, const Axes& axes, bool keepdims) {
  return in_wide(given, [&](const Tensor& x) {
    const Tensor variance = nanvar(x, axes, keepdims), zero = ops::equal(variance, 0);
    return ops::where(zero, 0.0, ops::sqrt(ops::where(zero, 1.0, variance)));
  });
}

template <Tensor (*F)(const Tensor&, const Axes&, bool), bool Largest>
Tensor nan_extreme(const Tensor& x, const Axes& axes, bool keepdims) {
  if (!is_floating(x.dtype())) return same_dtype<F>(x, axes, keepdims);
  const Tensor result = F(nan_to(x, Largest ? -kInfinity : kInfinity), axes, keepdims);
  const Tensor none = ops::equal(count_numbers(x, axes, keepdims), 0);
  return ops::where(none, std::numeric_limits<double>::quiet_NaN(), result);
}

template <Tensor (*F)(const Tensor&, int), bool Largest>
Tensor nan_place(const Tensor& x, std::optional<int64_t> axis, bool keepdims) {
  const Tensor found = place<F>(nan_to(x, Largest ? -kInfinity : kInfinity), axis, keepdims);
  const Axes axes = axis ? Axes{axis_of(x, *axis)} : Axes{};
  return ops::where(ops::equal(count_numbers(x, axes, keepdims), 0), -1, found);
}

// ---- quantiles

/// The axes as one at the end: (kept..., n).
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

/// The rank of a quantile as places of the sorted numbers, and how far it is from the first to the
/// second.
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

/// Of sorted rows (kept..., n) at positions (kept..., count).
Tensor pick(const Tensor& sorted, const Tensor& position, const std::string& method) {
  const QuantilePosition place = quantile_position(position, method);
  const auto at = [&](const Tensor& index) {
    return ops::take_along_axis(sorted, ops::cast(index, DType::int32), -1);
  };
  const Tensor low = at(place.low), high = at(place.high);
  // Equal numbers are nothing special, as far as they have a difference: each has its share of the
  // gradient.
  const Tensor infinite =
      ops::logical_and(ops::equal(ops::abs(low), kInfinity), ops::equal(low, high));
  const Tensor same = ops::logical_or(ops::equal(place.weight, 0), infinite);
  return low + ops::where(same, 0.0, (high - low) * place.weight);
}

Tensor quantile_of(const Tensor& given, const Tensor& q, const Axes& axes,
                   const std::string& method, bool keepdims, bool ignore_nan) {
  const Tensor x = floating(given), rows = with_axes_last(x, axes);
  const int64_t n = rows.dim(-1);
  const Tensor nan = ops::isnan(rows);
  const Tensor sorted =
      ops::flip(ops::top_k(ops::where(nan, kInfinity, rows), n)[0], {rows.rank() - 1});
  const Tensor numbers =
      ops::sum(ops::where(nan, ops::zeros_like(rows), ops::ones_like(rows)), {-1}, true);
  const Tensor count =
      ignore_nan ? ops::maximum(numbers, 1.0) : ops::full({1}, double(n), x.dtype());
  const Tensor each = ops::reshape(ops::cast(q, x.dtype()), {-1});
  Shape kept = rows.shape().slice(0, rows.rank() - 1);
  const Tensor position = numbers * 0.0 + (count - 1.0) * each;
  const Tensor known = ignore_nan ? ops::greater(numbers, 0) : ops::equal(numbers, double(n));
  Tensor result =
      ops::where(known, pick(sorted, position, method), std::numeric_limits<double>::quiet_NaN());
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
Tensor quantile(const Tensor& x, const Operand& q, const Axes& axes, const std::string& method,
                bool keepdims) {
  const Tensor share = q.tensor ? floating(q.tensor) : Tensor::scalar(q.number);
  return quantile_of(x, share / static_cast<double>(Whole), axes, method, keepdims, IgnoreNan);
}

Tensor nanmedian(const Tensor& x, const Axes& axes, bool keepdims) {
  return quantile_of(x, Tensor::scalar(0.5), axes, "linear", keepdims, true);
}

}  // namespace

Tensor median(const Tensor& x, const std::vector<int>& axes, bool keepdims) {
  return quantile_of(x, Tensor::scalar(0.5), axes, "linear", keepdims, false);
}

namespace {

// ---- running

/// In the dtype of x; of booleans, and where they are asked for, whole numbers.
template <class F>
Tensor running(const Tensor& given, std::optional<DType> dtype, F f) {
  if (dtype == DType::boolean) dtype = DType::int32;
  const Tensor x = dtype ? ops::cast(given, *dtype) : given;
  const Tensor result = f(at_least_int32(x));
  return x.dtype() == DType::boolean ? result : ops::cast(result, x.dtype());
}

Tensor cumsum(const Tensor& given, std::optional<int64_t> axis, std::optional<DType> dtype) {
  const auto [x, along] = flat_without(given, axis);
  return running(x, dtype, [axis = along](const Tensor& y) { return ops::cumsum(y, axis); });
}

Tensor cumprod(const Tensor& given, std::optional<int64_t> axis, std::optional<DType> dtype) {
  const auto [x, along] = flat_without(given, axis);
  return running(x, dtype, [axis = along](const Tensor& y) { return apply_cumprod(y, axis); });
}

template <Tensor (*F)(const Tensor&, std::optional<int64_t>, std::optional<DType>), int Neutral>
Tensor running_numbers(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return F(nan_to(x, Neutral), axis, dtype);
}

/// After as many differences as there are elements nothing is left.
Tensor diff(Tensor a, int64_t n, int axis) {
  axis = axis_of(a, axis);
  if (n < 0) fail("diff: expected an order of at least 0, got ", n);
  if (a.dim(axis) >= 0) n = std::min(n, a.dim(axis));
  for (int64_t i = 0; i < n; ++i) {
    heed_interruption("differences were taken");
    const int64_t size = a.dim(axis);
    if (size != 0 && a.dtype() != DType::boolean && a.dtype() != DType::complex64) {
      a = apply_diff(a, axis);
      continue;
    }
    const int64_t first = size == 0 ? 0 : 1;
    const Tensor after = ops::slice_axis(a, axis, first, size);
    const Tensor before = ops::slice_axis(a, axis, 0, size - first);
    a = a.dtype() == DType::boolean ? ops::not_equal(after, before) : after - before;
  }
  return a;
}

Tensor trapezoid(const Tensor& given, const Tensor& x, double dx, int axis) {
  const Tensor y = floating(given);
  axis = axis_of(y, axis);
  const int64_t n = y.dim(axis);
  const Tensor means = (ops::slice_axis(y, axis, 1, n) + ops::slice_axis(y, axis, 0, n - 1)) * 0.5;
  if (!x) return ops::sum(means * dx, {axis});
  Tensor widths = diff(floating(x), 1, -1);
  if (x.rank() == 1) {
    Shape shape(std::vector<int64_t>(static_cast<size_t>(y.rank()), 1));
    shape.set(axis, widths.dim(0));
    widths = ops::reshape(widths, shape);
  } else {
    widths = diff(floating(x), 1, axis);
  }
  return ops::sum(means * widths, {axis});
}

}  // namespace

CRESCENT_REGISTER(reductions) {
  Operations(registry, "keras.src.ops.math")
      .add("Logsumexp", "logsumexp(x, axis=None, keepdims=False)", over<&logsumexp>,
           "The logarithm of the sum of exponentials along axes, of all without one.");
  Operations(registry, "keras.src.ops.nn")
      .add("Moments", "moments(x, axes, keepdims=False, synchronized=False)", &moments,
           "Mean and variance.");
  Operations(registry, "keras.src.ops.numpy")
      .add("Sum", "sum(x, axis=None, keepdims=False)", over<&ops::sum>,
           "The sum along axes, of all without one.")
      .add("Mean", "mean(x, axis=None, keepdims=False)", over<&ops::mean>,
           "The mean along axes, of all without one.")
      .add("Max", "max(x, axis=None, keepdims=False, initial=None)",
           over<&extreme<ops::max, ops::maximum>>,
           "The largest number along axes, of all without one.")
      .add("Min", "min(x, axis=None, keepdims=False, initial=None)",
           over<&extreme<ops::min, ops::minimum>>,
           "The smallest number along axes, of all without one.")
      .add("Amax", "amax(x, axis=None, keepdims=False)", over<&same_dtype<ops::max>>,
           "The same as max.")
      .add("Amin", "amin(x, axis=None, keepdims=False)", over<&same_dtype<ops::min>>,
           "The same as min.")
      .add("Prod", "prod(x, axis=None, keepdims=False, dtype=None)", over<&prod>,
           "The product along axes, of all without one.")
      .add("Any", "any(x, axis=None, keepdims=False)", over<&ops::any>,
           "Whether one is true along axes, of all without one.")
      .add("All", "all(x, axis=None, keepdims=False)", over<&ops::all>,
           "Whether all are true along axes, of all without one.")
      .add("Var", "var(x, axis=None, keepdims=False)", over<&ops::variance>, "The variance.")
      .add("Std", "std(x, axis=None, keepdims=False)", over<&ops::std>,
           "The standard deviation along axes, of all without one.")
      .add("Ptp", "ptp(x, axis=None, keepdims=False)", over<&ptp>, "max - min")
      .add("Argmax", "argmax(x, axis=None, keepdims=False)", &place<ops::argmax>,
           "The index of the largest number along an axis, of all without one.")
      .add("Argmin", "argmin(x, axis=None, keepdims=False)", &place<ops::argmin>,
           "The index of the smallest number along an axis, of all without one.")
      .add("Average", "average(x, axis=None, weights=None)", over<&average>, "The weighted mean.")
      .add("CountNonzero", "count_nonzero(x, axis=None)", over<&count_nonzero>,
           "How many are not 0 along axes, of all without one.")
      .add("Median", "median(x, axis=None, keepdims=False)", over<&median>,
           "The median along axes, of all without one.")
      .add("Quantile", "quantile(x, q, axis=None, method='linear', keepdims=False)",
           &quantile<false, 1>, "What a share q of the numbers is below, along axes.")
      .add("Percentile", "percentile(x, q, axis=None, method='linear', keepdims=False)",
           &quantile<false, 100>, "What q of a hundred numbers are below, along axes.")
      .add("Nansum", "nansum(x, axis=None, keepdims=False)", over<&nansum>,
           "The sum along axes, without what is not a number.")
      .add("Nanprod", "nanprod(x, axis=None, keepdims=False)", over<&nanprod>,
           "The product along axes, without what is not a number.")
      .add("Nanmean", "nanmean(x, axis=None, keepdims=False)", over<&nanmean>,
           "The mean along axes, without what is not a number.")
      .add("Nanvar", "nanvar(x, axis=None, keepdims=False)", over<&nanvar>,
           "The variance along axes, without what is not a number.")
      .add("Nanstd", "nanstd(x, axis=None, keepdims=False)", over<&nanstd>,
           "The standard deviation along axes, without what is not a number.")
      .add("Nanmax", "nanmax(x, axis=None, keepdims=False)", over<&nan_extreme<ops::max, true>>,
           "The largest number along axes, without what is not a number.")
      .add("Nanmin", "nanmin(x, axis=None, keepdims=False)", over<&nan_extreme<ops::min, false>>,
           "The smallest number along axes, without what is not a number.")
      .add("Nanargmax", "nanargmax(x, axis=None, keepdims=False)", &nan_place<ops::argmax, true>,
           "The index of the largest number along an axis, without what is not a number.")
      .add("Nanargmin", "nanargmin(x, axis=None, keepdims=False)", &nan_place<ops::argmin, false>,
           "The index of the smallest number along an axis, without what is not a number.")
      .add("Nanmedian", "nanmedian(x, axis=None, keepdims=False)", over<&nanmedian>,
           "The median along axes, without what is not a number.")
      .add("Nanquantile", "nanquantile(x, q, axis=None, method='linear', keepdims=False)",
           &quantile<true, 1>,
           "What a share q of the numbers is below, without what is not a number.")
      .add("Nanpercentile", "nanpercentile(x, q, axis=None, method='linear', keepdims=False)",
           &quantile<true, 100>,
           "What q of a hundred numbers are below, without what is not a number.")
      .add("Cumsum", "cumsum(x, axis=None, dtype=None)", &cumsum,
           "The sums of all up to each element along an axis.")
      .add("Cumprod", "cumprod(x, axis=None, dtype=None)", &cumprod,
           "The products of all up to each element along an axis.")
      .add("Nancumsum", "nancumsum(x, axis=None, dtype=None)", &running_numbers<cumsum, 0>,
           "The sums of all up to each element, where what is not a number counts as 0.")
      .add("Nancumprod", "nancumprod(x, axis=None, dtype=None)", &running_numbers<cumprod, 1>,
           "The products of all up to each element, where what is not a number counts as 1.")
      .add("Diff", "diff(a, n=1, axis=-1)", &diff, "Differences of neighbours, n times.")
      .add("Trapezoid", "trapezoid(y, x=None, dx=1.0, axis=-1)", &trapezoid,
           "The integral along an axis by the trapezoidal rule.");
}

}  // namespace crescent::operations
