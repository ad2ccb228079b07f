// The work per part of kernels that only move data.
#pragma once
#include <cstdint>

namespace crescent::cpu {

inline constexpr int64_t kGrain = 16384;  ///< fewest elements per part of a thread

}  // namespace crescent::cpu
