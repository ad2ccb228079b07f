// The clock by which callbacks measure time.
#pragma once
#include <chrono>

namespace crescent {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace crescent
