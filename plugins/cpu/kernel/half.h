// bfloat16 as loops see it: so in memory, float32 in registers.
#pragma once
#include <cstdint>
#include <type_traits>

namespace crescent::cpu {

struct BFloat16 {
  uint16_t bits;
};

/// What values of the type are computed as.
template <class T>
using Computed = std::conditional_t<std::is_same_v<T, BFloat16>, float, T>;

}  // namespace crescent::cpu
