// The C++ type of a dtype, for what computes on values by itself.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Calls f(T()) with the C++ type of a dtype that C++ has; fails for others.
template <class F>
void with_type(DType dtype, F f) {
  switch (dtype) {
    case DType::float32:
      return f(float());
    case DType::float64:
      return f(double());
    case DType::int32:
      return f(int32_t());
    case DType::int64:
      return f(int64_t());
    case DType::uint8:
      return f(uint8_t());
    case DType::int8:
      return f(int8_t());
    case DType::int16:
      return f(int16_t());
    case DType::boolean:
      return f(bool());
    default:
      fail("expected a dtype that the host computes in, got ", dtype);
  }
}

}  // namespace crescent
