// BFloat16, an element type of loops: bfloat16 in memory, float32 in registers.
#pragma once
#include <cstdint>
#include <type_traits>

namespace crescent::cpu {

struct BFloat16 {
  uint16_t bits;
};

/// The type of the registers in which loops compute on elements of type T.
template <class T>
using ComputeType = std::conditional_t<std::is_same_v<T, BFloat16>, float, T>;

}  // namespace crescent::cpu
