// The C++ type of a dtype, for code that computes on elements directly.
#pragma once
#include "crescent/tensor/tensor.h"

namespace crescent {

/// Calls f(T()) with the C++ type T of the dtype; fails for a dtype without one.
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
