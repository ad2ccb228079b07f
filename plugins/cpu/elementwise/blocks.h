// How much the steps of an elementwise program work on at a time.
#pragma once
#include "elementwise/elementwise.h"

namespace crescent::cpu {

inline constexpr size_t kMaxRegisters = Elementwise::kMaxRegisters;
/// All that the steps of a block touch: the next block has room beside it.
inline constexpr size_t kBlockMemory = 8 << 10;
inline constexpr int64_t kSmallestBlock = 64, kLargestBlock = 2048;

}  // namespace crescent::cpu
