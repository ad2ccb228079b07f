#include "kernels.h"

#include <cmath>
#include <limits>

namespace crescent::far {
namespace {

struct BFloat16 {
  uint16_t bits;
};
struct Float16 {
  uint16_t bits;
};

template <class T>
double number(T x) {
  return static_cast<double>(x);
}
double number(BFloat16 x) { return bfloat16_to_float(x.bits); }
double number(Float16 x) { return float16_to_float(x.bits); }

template <class T>
T element(double x, T*) {
  if constexpr (std::is_same_v<T, bool>) {
    return x != 0;
  } else if constexpr (std::is_integral_v<T>) {
    if (std::isnan(x)) return 0;
    constexpr double low = static_cast<double>(std::numeric_limits<int64_t>::min());
    const int64_t whole = x <= low    ? std::numeric_limits<int64_t>::min()
                          : x >= -low ? std::numeric_limits<int64_t>::max()
                                      : static_cast<int64_t>(x);
    return static_cast<T>(whole);
  } else {
    return static_cast<T>(x);
  }
}
BFloat16 element(double x, BFloat16*) { return {float_to_bfloat16(static_cast<float>(x))}; }
Float16 element(double x, Float16*) { return {float_to_float16(static_cast<float>(x))}; }

template <class T>
double real(const std::byte* from, int64_t i) {
  return number(reinterpret_cast<const T*>(from)[i]);
}
template <class T>
void set_real(std::byte* to, int64_t i, double x) {
  reinterpret_cast<T*>(to)[i] = element(x, static_cast<T*>(nullptr));
}
template <class T>
int64_t whole(const std::byte* from, int64_t i) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<int64_t>(reinterpret_cast<const T*>(from)[i]);
  else
    return element(real<T>(from, i), static_cast<int64_t*>(nullptr));
}
template <class T>
void set_whole(std::byte* to, int64_t i, int64_t x) {
  if constexpr (std::is_integral_v<T>)
    reinterpret_cast<T*>(to)[i] = static_cast<T>(x);
  else
    set_real<T>(to, i, static_cast<double>(x));
}

template <class T>
void set_accessors(Elements& elements) {
  elements.bytes = sizeof(T);
  elements.real = real<T>, elements.set_real = set_real<T>;
  elements.whole = whole<T>, elements.set_whole = set_whole<T>;
}

}  // namespace

Elements::Elements(DType dtype) : floating(is_floating(dtype)) {
  switch (dtype) {
    case DType::float32:
      set_accessors<float>(*this);
      break;
    case DType::float64:
      set_accessors<double>(*this);
      break;
    case DType::bfloat16:
      set_accessors<BFloat16>(*this);
      break;
    case DType::float16:
      set_accessors<Float16>(*this);
      break;
    case DType::int32:
      set_accessors<int32_t>(*this);
      break;
    case DType::int64:
      set_accessors<int64_t>(*this);
      break;
    case DType::uint8:
      set_accessors<uint8_t>(*this);
      break;
    case DType::int8:
      set_accessors<int8_t>(*this);
      break;
    case DType::int16:
      set_accessors<int16_t>(*this);
      break;
    case DType::complex64:
    case DType::string:
      fail("far computes with numbers of one part, got ", dtype);
    case DType::boolean:
      set_accessors<bool>(*this);
      break;
  }
}

Strides strides_of(const Shape& shape, const Shape& to) {
  Strides strides{};
  int64_t step = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const int to_axis = axis + to.rank() - shape.rank();
    strides[static_cast<size_t>(to_axis)] = shape[axis] == 1 ? 0 : step;
    step *= shape[axis];
  }
  return strides;
}

Kernel make_kernel(const Request& request) {
  for (auto family :
       {elementwise_kernel, shape_kernel, index_kernel, reduce_kernel, product_kernel}) {
    if (Kernel kernel = family(request)) return kernel;
  }
  return {};
}

}  // namespace crescent::far
