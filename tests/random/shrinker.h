// Shrinking: finds fewer and smaller choices whose program still fails.
#pragma once
#include <functional>

#include "random/choices.h"

namespace crescent::random_programs {

struct ShrinkResult {
  std::vector<uint32_t> choices;
  int try_count = 0;
};

/// `differs` says whether the program made from some choices fails. The search ends when no simpler
/// choices fail, or after a number of seconds.
ShrinkResult shrink(std::vector<uint32_t> choices,
                    const std::function<bool(const std::vector<uint32_t>&)>& differs,
                    double seconds);

}  // namespace crescent::random_programs
