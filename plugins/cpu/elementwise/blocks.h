// The sizes of the blocks of elements that an elementwise program processes at a time.
#pragma once
#include "elementwise/elementwise.h"

namespace crescent::cpu {

inline constexpr size_t kMaxRegisters = Elementwise::kMaxRegisters;
/// Bytes that all steps of a block touch together; the first-level cache has room for the next
/// block beside them.
inline constexpr size_t kBlockMemory = 8 << 10;
inline constexpr int64_t kSmallestBlock = 64, kLargestBlock = 2048;

}  // namespace crescent::cpu
