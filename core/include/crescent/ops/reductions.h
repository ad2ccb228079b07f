// Reductions that ops.h does not have. Without axes, all axes are reduced; with keepdims, reduced
// axes stay with size 1.
#pragma once
#include <tuple>

#include "crescent/ops/ops.h"

namespace crescent::ops {

/// The maximum or minimum of the elements and of `initial`; without elements, the result is
/// `initial`.
CRESCENT_API Tensor max(const Tensor& x, const Axes& axes, bool keepdims, double initial);
CRESCENT_API Tensor min(const Tensor& x, const Axes& axes, bool keepdims, double initial);
inline Tensor amax(const Tensor& x, const Axes& axes = {}, bool keepdims = false) {
  return max(x, axes, keepdims);
}
inline Tensor amin(const Tensor& x, const Axes& axes = {}, bool keepdims = false) {
  return min(x, axes, keepdims);
}
/// The product, computed in `dtype`.
CRESCENT_API Tensor prod(const Tensor& x, const Axes& axes, bool keepdims, DType dtype);
inline Tensor var(const Tensor& x, const Axes& axes = {}, bool keepdims = false) {
  return variance(x, axes, keepdims);
}
/// The maximum minus the minimum.
CRESCENT_API Tensor ptp(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
/// The weighted mean; `weights` has the shape of x or of the reduced axes. Without weights, the
/// plain mean.
CRESCENT_API Tensor average(const Tensor& x, const Axes& axes = {}, const Tensor& weights = {});
CRESCENT_API Tensor count_nonzero(const Tensor& x, const Axes& axes = {});  ///< int32
/// Mean and variance; for float16 they are computed in float32 and clipped to the range of float16.
CRESCENT_API std::tuple<Tensor, Tensor> moments(const Tensor& x, const Axes& axes = {},
                                                bool keepdims = false);

// -- quantiles
CRESCENT_API Tensor median(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
/// The quantiles of x: q (any shape) in [0, 1] -> the shape of q followed by the kept axes. The
/// interpolation method is linear, lower, higher, midpoint or nearest.
CRESCENT_API Tensor quantile(const Tensor& x, const Operand& q, const Axes& axes = {},
                             const std::string& method = "linear", bool keepdims = false);
/// As quantile(), with q in [0, 100].
CRESCENT_API Tensor percentile(const Tensor& x, const Operand& q, const Axes& axes = {},
                               const std::string& method = "linear", bool keepdims = false);

// -- reductions that ignore NaN
CRESCENT_API Tensor nansum(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanprod(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanmean(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanvar(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanstd(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanmax(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanmin(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
/// The index of the maximum that is not NaN, int32; -1 if all elements are NaN. Without an axis, x
/// is flattened.
CRESCENT_API Tensor nanargmax(const Tensor& x, std::optional<int64_t> axis = {},
                              bool keepdims = false);
CRESCENT_API Tensor nanargmin(const Tensor& x, std::optional<int64_t> axis = {},
                              bool keepdims = false);
CRESCENT_API Tensor nanmedian(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanquantile(const Tensor& x, const Operand& q, const Axes& axes = {},
                                const std::string& method = "linear", bool keepdims = false);
CRESCENT_API Tensor nanpercentile(const Tensor& x, const Operand& q, const Axes& axes = {},
                                  const std::string& method = "linear", bool keepdims = false);

// -- cumulative sums and products, in the dtype of x unless given; without an axis, of the
// flattened tensor
CRESCENT_API Tensor cumprod(const Tensor& x, std::optional<int64_t> axis = {},
                            std::optional<DType> dtype = {});
CRESCENT_API Tensor nancumsum(const Tensor& x, std::optional<int64_t> axis = {},
                              std::optional<DType> dtype = {});
CRESCENT_API Tensor nancumprod(const Tensor& x, std::optional<int64_t> axis = {},
                               std::optional<DType> dtype = {});
/// n-th differences of neighbouring elements; the axis gets n elements shorter. For booleans:
/// whether neighbours differ.
CRESCENT_API Tensor diff(const Tensor& x, int64_t n = 1, int axis = -1);
/// The integral of y over x, or over points with spacing dx, by the trapezoidal rule.
CRESCENT_API Tensor trapezoid(const Tensor& y, const Tensor& x = {}, double dx = 1, int axis = -1);

}  // namespace crescent::ops
