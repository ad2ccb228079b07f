// How much of what only moves is worth another thread.
#pragma once
#include <cstdint>

namespace crescent::cpu {

inline constexpr int64_t kGrain = 16384;  ///< elements

}  // namespace crescent::cpu
