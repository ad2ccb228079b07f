// Shrinking: finds fewer and smaller choices that still make a program which differs.
#pragma once
#include <functional>

#include "random/choices.h"

namespace crescent::random_programs {

struct Shrunk {
  std::vector<uint32_t> choices;
  int tried = 0;
};

/// `differs` says whether the program of the given choices is still wrong. Ends when no simpler one
/// is, or after this many seconds.
Shrunk shrink(std::vector<uint32_t> choices,
              const std::function<bool(const std::vector<uint32_t>&)>& differs, double seconds);

}  // namespace crescent::random_programs
