// Arrays with a part of them exchanged.
#pragma once
#include "../shared/shared.h"

namespace crescent::operations {

/// x with `part`, of its dtype and as many axes, in place of what is there from `start` on.
Tensor with_part(const Tensor& x, const Tensor& part, const std::vector<int64_t>& start);

}  // namespace crescent::operations
