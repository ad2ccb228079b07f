// The sizes of the blocks of elements that an elementwise program processes at a time.
#pragma once
#include "elementwise/elementwise.h"

namespace crescent::cpu {

inline constexpr size_t kMaxRegisters = Elementwise::kMaxRegisters;
/// The number of bytes that all steps of a program read and write for one block; the first-level
/// cache then has room for the next block, too.
inline constexpr size_t kBlockBytes = 8 << 10;
inline constexpr int64_t kMinBlockElements = 64, kMaxBlockElements = 2048;

}  // namespace crescent::cpu
