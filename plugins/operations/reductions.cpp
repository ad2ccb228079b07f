// From many numbers to few: along axes, all of them when none are given.
#include "crescent/ops/reductions.h"

#include "families.h"
#include "given_axes.h"
#include "kernels/axis_ops.h"

namespace crescent::operations {
namespace {

using ops::Axes;

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

/// max, min: with a first value to compare with, or without.
template <Tensor (*F)(const Tensor&, const Axes&, bool),
          Tensor (*From)(const Tensor&, const Axes&, bool, double)>
Tensor extreme(const Tensor& x, const Axes& axes, bool keepdims, std::optional<double> initial) {
  return initial ? From(x, axes, keepdims, *initial) : F(x, axes, keepdims);
}

Tensor prod(const Tensor& x, const Axes& axes, bool keepdims, std::optional<DType> dtype) {
  return dtype ? ops::prod(x, axes, keepdims, *dtype) : ops::prod(x, axes, keepdims);
}

/// Over no axes each element is by itself.
std::tuple<Tensor, Tensor> moments(const Tensor& x, const GivenAxes& axes, bool keepdims,
                                   bool synchronized) {
  if (synchronized) fail("moments: synchronized=True is not supported");
  const bool none = axes.list && axes.list->empty();
  if (!none) return ops::moments(x, axes.list.value_or(Axes()), keepdims);
  return ops::moments(ops::expand_dims(x, -1), {-1}, false);
}

Tensor cumsum(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return ops::cumsum(x, axis, dtype);
}

}  // namespace

void add_reductions(Registry& registry) {
  add_axis_kernels(registry);
  Operations(registry, "keras.src.ops.math")
      .add("Logsumexp", "logsumexp(x, axis=None, keepdims=False)", over<&ops::logsumexp>);
  Operations(registry, "keras.src.ops.nn")
      .add("Moments", "moments(x, axes, keepdims=False, synchronized=False)", &moments,
           "Mean and variance.");
  Operations(registry, "keras.src.ops.numpy")
      .add("Sum", "sum(x, axis=None, keepdims=False)", over<&ops::sum>)
      .add("Mean", "mean(x, axis=None, keepdims=False)", over<&ops::mean>)
      .add("Max", "max(x, axis=None, keepdims=False, initial=None)",
           over<&extreme<ops::max, ops::max>>)
      .add("Min", "min(x, axis=None, keepdims=False, initial=None)",
           over<&extreme<ops::min, ops::min>>)
      .add("Amax", "amax(x, axis=None, keepdims=False)", over<&ops::amax>)
      .add("Amin", "amin(x, axis=None, keepdims=False)", over<&ops::amin>)
      .add("Prod", "prod(x, axis=None, keepdims=False, dtype=None)", over<&prod>)
      .add("Any", "any(x, axis=None, keepdims=False)", over<&ops::any>)
      .add("All", "all(x, axis=None, keepdims=False)", over<&ops::all>)
      .add("Var", "var(x, axis=None, keepdims=False)", over<&ops::var>, "The variance.")
      .add("Std", "std(x, axis=None, keepdims=False)", over<&ops::std>)
      .add("Ptp", "ptp(x, axis=None, keepdims=False)", over<&ops::ptp>, "max - min")
      .add("Argmax", "argmax(x, axis=None, keepdims=False)", &ops::argmax)
      .add("Argmin", "argmin(x, axis=None, keepdims=False)", &ops::argmin)
      .add("Average", "average(x, axis=None, weights=None)", over<&ops::average>,
           "The weighted mean.")
      .add("CountNonzero", "count_nonzero(x, axis=None)", over<&ops::count_nonzero>)
      .add("Median", "median(x, axis=None, keepdims=False)", over<&ops::median>)
      .add("Quantile", "quantile(x, q, axis=None, method='linear', keepdims=False)", &ops::quantile)
      .add("Percentile", "percentile(x, q, axis=None, method='linear', keepdims=False)",
           &ops::percentile)
      .add("Nansum", "nansum(x, axis=None, keepdims=False)", over<&ops::nansum>)
      .add("Nanprod", "nanprod(x, axis=None, keepdims=False)", over<&ops::nanprod>)
      .add("Nanmean", "nanmean(x, axis=None, keepdims=False)", over<&ops::nanmean>)
      .add("Nanvar", "nanvar(x, axis=None, keepdims=False)", over<&ops::nanvar>)
      .add("Nanstd", "nanstd(x, axis=None, keepdims=False)", over<&ops::nanstd>)
      .add("Nanmax", "nanmax(x, axis=None, keepdims=False)", over<&ops::nanmax>)
      .add("Nanmin", "nanmin(x, axis=None, keepdims=False)", over<&ops::nanmin>)
      .add("Nanargmax", "nanargmax(x, axis=None, keepdims=False)", &ops::nanargmax)
      .add("Nanargmin", "nanargmin(x, axis=None, keepdims=False)", &ops::nanargmin)
      .add("Nanmedian", "nanmedian(x, axis=None, keepdims=False)", over<&ops::nanmedian>)
      .add("Nanquantile", "nanquantile(x, q, axis=None, method='linear', keepdims=False)",
           &ops::nanquantile)
      .add("Nanpercentile", "nanpercentile(x, q, axis=None, method='linear', keepdims=False)",
           &ops::nanpercentile)
      .add("Cumsum", "cumsum(x, axis=None, dtype=None)", &cumsum)
      .add("Cumprod", "cumprod(x, axis=None, dtype=None)", &ops::cumprod)
      .add("Nancumsum", "nancumsum(x, axis=None, dtype=None)", &ops::nancumsum)
      .add("Nancumprod", "nancumprod(x, axis=None, dtype=None)", &ops::nancumprod)
      .add("Diff", "diff(a, n=1, axis=-1)", &ops::diff, "Differences of neighbours, n times.")
      .add("Trapezoid", "trapezoid(y, x=None, dx=1.0, axis=-1)", &ops::trapezoid);
}

}  // namespace crescent::operations
