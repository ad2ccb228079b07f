// Sums of products, beside those of ops.h.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

CRESCENT_API Tensor inner(const Operand& x1, const Operand& x2);  ///< over the last axes
CRESCENT_API Tensor outer(const Tensor& x1, const Tensor& x2);    ///< of the flattened tensors
CRESCENT_API Tensor vdot(const Tensor& x1, const Tensor& x2);     ///< of the flattened tensors
/// Over the last axes of one and the first of the other, so many; or over these of both.
CRESCENT_API Tensor tensordot(const Tensor& x1, const Tensor& x2, int64_t axes = 2);
CRESCENT_API Tensor tensordot(const Tensor& x1, const Tensor& x2, const Axes& axes1,
                              const Axes& axes2);
CRESCENT_API Tensor kron(const Tensor& x1, const Tensor& x2);
/// Of vectors of two or three numbers along axes; two of two give a number. `axis` stands for all.
CRESCENT_API Tensor cross(const Tensor& x1, const Tensor& x2, int axis1 = -1, int axis2 = -1,
                          int axis_of_result = -1, std::optional<int64_t> axis = {});
/// Of two sequences; the mode is "valid", "same" or "full".
CRESCENT_API Tensor correlate(const Tensor& x1, const Tensor& x2,
                              const std::string& mode = "valid");
CRESCENT_API Tensor corrcoef(const Tensor& x);  ///< (variables, samples) -> (variables, variables)
/// (..., n, d), (..., m, d) -> (..., n, m): distances of each row of x from each of y.
CRESCENT_API Tensor cdist(const Tensor& x, const Tensor& y);

}  // namespace crescent::ops
