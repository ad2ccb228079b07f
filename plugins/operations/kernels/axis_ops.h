// Ops along an axis or two that kernels compute in a single pass.
#pragma once
#include "../shared/shared.h"

namespace crescent::operations {

/// x with the elements along an axis moved on by `shift` places, the last ones to the front.
Tensor rolled(const Tensor& x, int axis, int64_t shift);
/// x turned by a quarter: the axis `to`, backwards, takes the place of `from`, and `from` that of
/// `to`.
Tensor apply_rot90(const Tensor& x, int from, int to);
/// Of elements from those before them along an axis, one fewer. Not of booleans.
Tensor apply_diff(const Tensor& x, int axis);
/// Each element times all before it along an axis. Not of booleans.
Tensor apply_cumprod(const Tensor& x, int axis);

}  // namespace crescent::operations
