// The grain of kernels that only move data.
#pragma once
#include <cstdint>

namespace crescent::cpu {

inline constexpr int64_t kGrain = 16384;  ///< elements that repay another thread

}  // namespace crescent::cpu
