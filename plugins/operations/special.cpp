// Functions that cannot be composed of other operations: bits and divisors of integers, special
// functions, the bytes of numbers.
#include "crescent/ops/elementwise.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {

CRESCENT_REGISTER(special) {
  Operations(registry, "keras.src.ops.numpy")
      .add("BitwiseAnd", "bitwise_and(x, y)", &ops::bitwise_and, "The bitwise and of integers.")
      .add("BitwiseOr", "bitwise_or(x, y)", &ops::bitwise_or, "The bitwise or of integers.")
      .add("BitwiseXor", "bitwise_xor(x, y)", &ops::bitwise_xor,
           "The bitwise exclusive or of integers.")
      .add("BitwiseNot", "bitwise_not(x)", &ops::bitwise_not, "The bitwise complement of integers.")
      .add("BitwiseInvert", "bitwise_invert(x)", &ops::bitwise_invert, "The same as bitwise_not.")
      .add("BitwiseLeftShift", "bitwise_left_shift(x, y)", &ops::bitwise_left_shift,
           "The bits of x shifted left by y.")
      .add("LeftShift", "left_shift(x, y)", &ops::left_shift, "The same as bitwise_left_shift.")
      .add("BitwiseRightShift", "bitwise_right_shift(x, y)", &ops::bitwise_right_shift,
           "The bits of x shifted right by y.")
      .add("RightShift", "right_shift(x, y)", &ops::right_shift, "The same as bitwise_right_shift.")
      .add("Gcd", "gcd(x1, x2)", &ops::gcd, "The greatest common divisor.")
      .add("Lcm", "lcm(x1, x2)", &ops::lcm, "The least common multiple of integers.")
      .add("Nextafter", "nextafter(x1, x2)", &ops::nextafter,
           "The next representable number after x1 in the direction of x2.")
      .add("I0", "i0(x)", &ops::i0, "The modified Bessel function of the first kind of order 0.")
      .add("View", "view(x, dtype=None)", &ops::view,
           "The same bytes interpreted as another dtype.");
  Operations(registry, "keras.src.ops.math")
      .add("Erfinv", "erfinv(x)", &ops::erfinv, "The inverse of the error function.")
      .add("Erfc", "erfc(x)", &ops::erfc, "1 - erf(x), accurate also where erf(x) is close to 1.");
  Operations(registry, "keras.src.ops.core")
      .add("SaturateCast", "saturate_cast(x, dtype)", &ops::saturate_cast,
           "Converts to another dtype, limiting values to its range.");
}

}  // namespace crescent::operations
