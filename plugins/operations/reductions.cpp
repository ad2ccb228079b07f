// Reductions along axes, or along all axes when none are given.
#include "crescent/ops/reductions.h"

#include "crescent/registry/registration.h"
#include "given_axes.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

using ops::Axes;

/// Calls the reduction F with the axes of a call. For F an empty list means all axes, while in a
/// call it means that nothing is reduced. In this case a new axis of size 1 is reduced, so that the
/// result of each element is the element itself.
template <auto F>
struct AxesAdapter;
template <class... Rest, Tensor (*F)(const Tensor&, const Axes&, Rest...)>
struct AxesAdapter<F> {
  static Tensor call(const Tensor& x, const GivenAxes& axes, Rest... rest) {
    const bool has_no_axes = axes.list && axes.list->empty();
    if (!has_no_axes) return F(x, axes.list.value_or(Axes()), rest...);
    const Tensor result = F(ops::expand_dims(x, -1), {-1}, rest...);
    return result.rank() > x.rank() ? ops::squeeze(result, -1) : result;
  }
};
template <auto F>
constexpr auto along_axes = &AxesAdapter<F>::call;

/// Maximum or minimum, with or without an initial value.
template <Tensor (*F)(const Tensor&, const Axes&, bool),
          Tensor (*From)(const Tensor&, const Axes&, bool, double)>
Tensor extreme(const Tensor& x, const Axes& axes, bool keepdims, std::optional<double> initial) {
  return initial ? From(x, axes, keepdims, *initial) : F(x, axes, keepdims);
}

Tensor prod(const Tensor& x, const Axes& axes, bool keepdims, std::optional<DType> dtype) {
  return dtype ? ops::prod(x, axes, keepdims, *dtype) : ops::prod(x, axes, keepdims);
}

/// Mean and variance. With an empty list of axes, each element is its own mean.
std::tuple<Tensor, Tensor> moments(const Tensor& x, const GivenAxes& axes, bool keepdims,
                                   bool synchronized) {
  if (synchronized) fail("moments: synchronized=True is not supported");
  const bool has_no_axes = axes.list && axes.list->empty();
  if (!has_no_axes) return ops::moments(x, axes.list.value_or(Axes()), keepdims);
  return ops::moments(ops::expand_dims(x, -1), {-1}, false);
}

Tensor cumsum(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
  return ops::cumsum(x, axis, dtype);
}

}  // namespace

CRESCENT_REGISTER(reductions) {
  Operations(registry, "keras.src.ops.math")
      .add("Logsumexp", "logsumexp(x, axis=None, keepdims=False)", along_axes<&ops::logsumexp>,
           "The logarithm of the sum of exponentials, along axes or of the whole tensor.");
  Operations(registry, "keras.src.ops.nn")
      .add("Moments", "moments(x, axes, keepdims=False, synchronized=False)", &moments,
           "The mean and variance along axes.");
  Operations(registry, "keras.src.ops.numpy")
      .add("Sum", "sum(x, axis=None, keepdims=False)", along_axes<&ops::sum>,
           "The sum along axes, or of the whole tensor.")
      .add("Mean", "mean(x, axis=None, keepdims=False)", along_axes<&ops::mean>,
           "The mean along axes, or of the whole tensor.")
      .add("Max", "max(x, axis=None, keepdims=False, initial=None)",
           along_axes<&extreme<ops::max, ops::max>>,
           "The maximum along axes, or of the whole tensor.")
      .add("Min", "min(x, axis=None, keepdims=False, initial=None)",
           along_axes<&extreme<ops::min, ops::min>>,
           "The minimum along axes, or of the whole tensor.")
      .add("Amax", "amax(x, axis=None, keepdims=False)", along_axes<&ops::amax>, "The same as max.")
      .add("Amin", "amin(x, axis=None, keepdims=False)", along_axes<&ops::amin>, "The same as min.")
      .add("Prod", "prod(x, axis=None, keepdims=False, dtype=None)", along_axes<&prod>,
           "The product along axes, or of the whole tensor.")
      .add("Any", "any(x, axis=None, keepdims=False)", along_axes<&ops::any>,
           "Whether any element is true, along axes or of the whole tensor.")
      .add("All", "all(x, axis=None, keepdims=False)", along_axes<&ops::all>,
           "Whether all elements are true, along axes or of the whole tensor.")
      .add("Var", "var(x, axis=None, keepdims=False)", along_axes<&ops::var>,
           "The variance along axes, or of the whole tensor.")
      .add("Std", "std(x, axis=None, keepdims=False)", along_axes<&ops::std>,
           "The standard deviation along axes, or of the whole tensor.")
      .add("Ptp", "ptp(x, axis=None, keepdims=False)", along_axes<&ops::ptp>,
           "The maximum minus the minimum along axes.")
      .add("Argmax", "argmax(x, axis=None, keepdims=False)", &ops::argmax,
           "The index of the maximum, from 0, along an axis or in the flattened tensor.")
      .add("Argmin", "argmin(x, axis=None, keepdims=False)", &ops::argmin,
           "The index of the minimum, from 0, along an axis or in the flattened tensor.")
      .add("Average", "average(x, axis=None, weights=None)", along_axes<&ops::average>,
           "The weighted mean along axes.")
      .add("CountNonzero", "count_nonzero(x, axis=None)", along_axes<&ops::count_nonzero>,
           "The number of elements that are not 0, along axes or of the whole tensor.")
      .add("Median", "median(x, axis=None, keepdims=False)", along_axes<&ops::median>,
           "The median along axes, or of the whole tensor.")
      .add("Quantile", "quantile(x, q, axis=None, method='linear', keepdims=False)", &ops::quantile,
           "The q-quantile along axes: the value below which a fraction q of the elements lies.")
      .add("Percentile", "percentile(x, q, axis=None, method='linear', keepdims=False)",
           &ops::percentile,
           "The q-th percentile along axes: the value below which q percent of the elements lie.")
      .add("Nansum", "nansum(x, axis=None, keepdims=False)", along_axes<&ops::nansum>,
           "The sum along axes, ignoring NaN.")
      .add("Nanprod", "nanprod(x, axis=None, keepdims=False)", along_axes<&ops::nanprod>,
           "The product along axes, ignoring NaN.")
      .add("Nanmean", "nanmean(x, axis=None, keepdims=False)", along_axes<&ops::nanmean>,
           "The mean along axes, ignoring NaN.")
      .add("Nanvar", "nanvar(x, axis=None, keepdims=False)", along_axes<&ops::nanvar>,
           "The variance along axes, ignoring NaN.")
      .add("Nanstd", "nanstd(x, axis=None, keepdims=False)", along_axes<&ops::nanstd>,
           "The standard deviation along axes, ignoring NaN.")
      .add("Nanmax", "nanmax(x, axis=None, keepdims=False)", along_axes<&ops::nanmax>,
           "The maximum along axes, ignoring NaN.")
      .add("Nanmin", "nanmin(x, axis=None, keepdims=False)", along_axes<&ops::nanmin>,
           "The minimum along axes, ignoring NaN.")
      .add("Nanargmax", "nanargmax(x, axis=None, keepdims=False)", &ops::nanargmax,
           "The index of the maximum along an axis, from 0, ignoring NaN.")
      .add("Nanargmin", "nanargmin(x, axis=None, keepdims=False)", &ops::nanargmin,
           "The index of the minimum along an axis, from 0, ignoring NaN.")
      .add("Nanmedian", "nanmedian(x, axis=None, keepdims=False)", along_axes<&ops::nanmedian>,
           "The median along axes, ignoring NaN.")
      .add("Nanquantile", "nanquantile(x, q, axis=None, method='linear', keepdims=False)",
           &ops::nanquantile, "The q-quantile along axes, ignoring NaN.")
      .add("Nanpercentile", "nanpercentile(x, q, axis=None, method='linear', keepdims=False)",
           &ops::nanpercentile, "The q-th percentile along axes, ignoring NaN.")
      .add("Cumsum", "cumsum(x, axis=None, dtype=None)", &cumsum,
           "The cumulative sum along an axis.")
      .add("Cumprod", "cumprod(x, axis=None, dtype=None)", &ops::cumprod,
           "The cumulative product along an axis.")
      .add("Nancumsum", "nancumsum(x, axis=None, dtype=None)", &ops::nancumsum,
           "The cumulative sum, counting NaN as 0.")
      .add("Nancumprod", "nancumprod(x, axis=None, dtype=None)", &ops::nancumprod,
           "The cumulative product, counting NaN as 1.")
      .add("Diff", "diff(a, n=1, axis=-1)", &ops::diff,
           "The n-th difference of neighbours along an axis.")
      .add("Trapezoid", "trapezoid(y, x=None, dx=1.0, axis=-1)", &ops::trapezoid,
           "The integral along an axis by the trapezoidal rule.");
}

}  // namespace crescent::operations
