// Shrinking: finds fewer and smaller choices whose program still differs.
#pragma once
#include <functional>

#include "random/choices.h"

namespace crescent::random_programs {

struct Shrunk {
  std::vector<uint32_t> choices;
  int tried = 0;
};

/// `differs` says whether the program of these choices still gives wrong results. Ends when nothing
/// simpler does, or after `seconds`.
Shrunk shrink(std::vector<uint32_t> choices,
              const std::function<bool(const std::vector<uint32_t>&)>& differs, double seconds);

}  // namespace crescent::random_programs
