#include "rules/dice.h"

#include <cmath>
#include <limits>

#include "tensor/elements.h"

namespace crescent::rules {
namespace {

double special_float(Dice& dice, DType dtype) {
  const double largest = dtype == DType::float16    ? 65504
                         : dtype == DType::bfloat16 ? 0x1.fep127
                         : dtype == DType::float32  ? double(std::numeric_limits<float>::max())
                                                    : std::numeric_limits<double>::max();
  return dice.one_of({0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1e-4, -1e4, 255.0, 2.5, -0.5, largest,
                      -largest, double(INFINITY), -double(INFINITY), double(NAN)});
}

template <class T>
T integer(Dice& dice, NumberRange numbers) {
  using Limits = std::numeric_limits<T>;
  if (numbers == NumberRange::special && dice.happens(30))
    return dice.one_of({Limits::min(), Limits::max(), T(0), T(1), T(-1), T(2)});
  return static_cast<T>(std::is_signed_v<T> ? dice.between(-5, 5) : dice.between(0, 9));
}

template <class T>
T element(Dice& dice, DType dtype, NumberRange numbers) {
  if constexpr (std::is_same_v<T, bool>) return dice.happens(50);
  if constexpr (std::is_integral_v<T>) return integer<T>(dice, numbers);
  if (numbers == NumberRange::special && dice.happens(40))
    return element_of(special_float(dice, dtype), static_cast<T*>(nullptr));
  const double number =
      dice.happens(10) ? 0 : static_cast<double>(dice.between(-4096, 4096)) / 2048;
  return element_of(number, static_cast<T*>(nullptr));
}

}  // namespace

Tensor draw_tensor(Dice& dice, const TensorSpec& spec, NumberRange numbers) {
  Tensor result(spec);
  with_element_type(spec.dtype, [&]<class T>(T*) {
    T* elements = static_cast<T*>(result.mutable_raw());
    for (int64_t i = 0; i < result.size(); ++i) elements[i] = element<T>(dice, spec.dtype, numbers);
  });
  return result;
}

}  // namespace crescent::rules
