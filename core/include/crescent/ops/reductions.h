// From many numbers to few along axes, beside those of ops.h. No axes are all of them; what is
// reduced goes, or stays as 1: keepdims.
#pragma once
#include <tuple>

#include "crescent/ops/ops.h"

namespace crescent::ops {

/// max and min with a first value to compare with, which is that of no elements as well.
CRESCENT_API Tensor max(const Tensor& x, const Axes& axes, bool keepdims, double initial);
CRESCENT_API Tensor min(const Tensor& x, const Axes& axes, bool keepdims, double initial);
inline Tensor amax(const Tensor& x, const Axes& axes = {}, bool keepdims = false) {
  return max(x, axes, keepdims);
}
inline Tensor amin(const Tensor& x, const Axes& axes = {}, bool keepdims = false) {
  return min(x, axes, keepdims);
}
/// The product in another dtype.
CRESCENT_API Tensor prod(const Tensor& x, const Axes& axes, bool keepdims, DType dtype);
inline Tensor var(const Tensor& x, const Axes& axes = {}, bool keepdims = false) {
  return variance(x, axes, keepdims);
}
CRESCENT_API Tensor ptp(const Tensor& x, const Axes& axes = {},
                        bool keepdims = false);  ///< max - min
/// The weighted mean; weights may have the averaged axes alone, none are equal ones.
CRESCENT_API Tensor average(const Tensor& x, const Axes& axes = {}, const Tensor& weights = {});
CRESCENT_API Tensor count_nonzero(const Tensor& x, const Axes& axes = {});  ///< int32
/// Mean and variance, those of half-width floats within float16.
CRESCENT_API std::tuple<Tensor, Tensor> moments(const Tensor& x, const Axes& axes = {},
                                                bool keepdims = false);

// -- quantiles
CRESCENT_API Tensor median(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
/// q (any shape) from 0 to 1 -> q's shape and the axes that are kept. The method between two
/// numbers is linear, lower, higher, midpoint or nearest.
CRESCENT_API Tensor quantile(const Tensor& x, const Operand& q, const Axes& axes = {},
                             const std::string& method = "linear", bool keepdims = false);
/// The same with q from 0 to 100.
CRESCENT_API Tensor percentile(const Tensor& x, const Operand& q, const Axes& axes = {},
                               const std::string& method = "linear", bool keepdims = false);

// -- without what is no number
CRESCENT_API Tensor nansum(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanprod(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanmean(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanvar(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanstd(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanmax(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanmin(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
/// int32, -1 where there is no number; of the flattened tensor without an axis.
CRESCENT_API Tensor nanargmax(const Tensor& x, std::optional<int64_t> axis = {},
                              bool keepdims = false);
CRESCENT_API Tensor nanargmin(const Tensor& x, std::optional<int64_t> axis = {},
                              bool keepdims = false);
CRESCENT_API Tensor nanmedian(const Tensor& x, const Axes& axes = {}, bool keepdims = false);
CRESCENT_API Tensor nanquantile(const Tensor& x, const Operand& q, const Axes& axes = {},
                                const std::string& method = "linear", bool keepdims = false);
CRESCENT_API Tensor nanpercentile(const Tensor& x, const Operand& q, const Axes& axes = {},
                                  const std::string& method = "linear", bool keepdims = false);

// -- running, in the dtype of x or another; of the flattened tensor without an axis
CRESCENT_API Tensor cumprod(const Tensor& x, std::optional<int64_t> axis = {},
                            std::optional<DType> dtype = {});
CRESCENT_API Tensor nancumsum(const Tensor& x, std::optional<int64_t> axis = {},
                              std::optional<DType> dtype = {});
CRESCENT_API Tensor nancumprod(const Tensor& x, std::optional<int64_t> axis = {},
                               std::optional<DType> dtype = {});
/// Differences of neighbours, n times: an element fewer each; of booleans whether they differ.
CRESCENT_API Tensor diff(const Tensor& x, int64_t n = 1, int axis = -1);
/// The integral of y over x, or over places dx apart.
CRESCENT_API Tensor trapezoid(const Tensor& y, const Tensor& x = {}, double dx = 1, int axis = -1);

}  // namespace crescent::ops
