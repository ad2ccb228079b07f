// Conversion of single elements of any dtype to and from numbers.
#pragma once
#include <cmath>

#include "crescent/tensor/strings.h"

namespace crescent {

struct BFloat16 {
  uint16_t bits;
};
struct Float16 {
  uint16_t bits;
};
struct Complex {
  float real, imaginary;
};

/// Calls f(static_cast<T*>(nullptr)) with the element type of `dtype`.
template <class F>
decltype(auto) with_element_type(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float32:
      return f(static_cast<float*>(nullptr));
    case DType::float64:
      return f(static_cast<double*>(nullptr));
    case DType::bfloat16:
      return f(static_cast<BFloat16*>(nullptr));
    case DType::float16:
      return f(static_cast<Float16*>(nullptr));
    case DType::int32:
      return f(static_cast<int32_t*>(nullptr));
    case DType::int64:
      return f(static_cast<int64_t*>(nullptr));
    case DType::uint8:
      return f(static_cast<uint8_t*>(nullptr));
    case DType::int8:
      return f(static_cast<int8_t*>(nullptr));
    case DType::int16:
      return f(static_cast<int16_t*>(nullptr));
    case DType::complex64:
      return f(static_cast<Complex*>(nullptr));
    case DType::string:
      return f(static_cast<StringId*>(nullptr));
    case DType::boolean:
      break;
  }
  return f(static_cast<bool*>(nullptr));
}

template <class T>
double number_of(const T& element) {
  return static_cast<double>(element);
}
inline double number_of(BFloat16 element) { return bfloat16_to_float(element.bits); }
inline double number_of(Float16 element) { return float16_to_float(element.bits); }
inline double number_of(Complex) {
  fail("a complex number is no single number: real, imag and view_as_real give its parts");
}
inline double number_of(StringId) { fail("a string is no number"); }

/// Converts a number to an element. For integers, it is the nearest representable value, without
/// undefined behaviour; NaN becomes 0.
template <class T>
T element_of(double x, T*) {
  if constexpr (std::is_same_v<T, bool>) {
    return x != 0;
  } else if constexpr (std::is_integral_v<T>) {
    if (std::isnan(x)) return 0;
    constexpr double low = static_cast<double>(std::numeric_limits<T>::min());
    constexpr double high = static_cast<double>(std::numeric_limits<T>::max());
    return x <= low    ? std::numeric_limits<T>::min()
           : x >= high ? std::numeric_limits<T>::max()
                       : static_cast<T>(x);
  } else {
    return static_cast<T>(x);
  }
}
inline BFloat16 element_of(double x, BFloat16*) {
  return {float_to_bfloat16(static_cast<float>(x))};
}
inline Float16 element_of(double x, Float16*) { return {float_to_float16(static_cast<float>(x))}; }
inline Complex element_of(double x, Complex*) { return {static_cast<float>(x), 0}; }
inline StringId element_of(double x, StringId*) {
  if (x != 0) fail("expected strings, got the number ", x);
  return {};
}

}  // namespace crescent
