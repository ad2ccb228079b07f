// Shrinking: choices that still make a program which differs, fewer and smaller ones.
#pragma once
#include <functional>

#include "random/choices.h"

namespace crescent::random_programs {

struct Shrunk {
  std::vector<uint32_t> choices;
  int tried = 0;
};

/// `differs` says of choices whether what they make is still wrong. Ends when nothing simpler is,
/// or after so many seconds.
Shrunk shrink(std::vector<uint32_t> choices,
              const std::function<bool(const std::vector<uint32_t>&)>& differs, double seconds);

}  // namespace crescent::random_programs
