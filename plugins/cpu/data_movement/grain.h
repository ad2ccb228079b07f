// The amount of work that one task of a parallel loop gets in kernels that only move data.
#pragma once
#include <cstdint>

namespace crescent::cpu {

inline constexpr int64_t kMinTaskElements = 16384;  ///< fewest elements per task

}  // namespace crescent::cpu
