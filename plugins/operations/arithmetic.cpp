// Elementwise functions of one and of two tensors.
#include "crescent/ops/elementwise.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

/// The limits `low` and `high` are numbers or tensors.
Tensor clip(const Tensor& x, const Value& low, const Value& high) {
  const auto limit_tensor = [](const Value& value) {
    if (!value.is_number() && !value.is_list() && !value.is_object())
      fail("clip: expected limits that are numbers or tensors, got ", value);
    return Operand(Codec<NumberOrTensor>::decode(value));
  };
  return ops::clip(x, limit_tensor(low), limit_tensor(high));
}

}  // namespace

CRESCENT_REGISTER(arithmetic) {
  Operations math(registry, "keras.src.ops.math");
  math.add("Erf", "erf(x)", &ops::erf, "The Gauss error function.")
      .add("Rsqrt", "rsqrt(x)", &ops::rsqrt, "1 / sqrt(x).");
  Operations(registry, "keras.src.ops.numpy")
      .add("Absolute", "absolute|abs(x)", &ops::abs, "The absolute value, element by element.")
      .add("Fabs", "fabs(x)", &ops::fabs, "The absolute value as a floating-point number.")
      .add("Negative", "negative(x)", &ops::negative, "-x, element by element.")
      .add("Sign", "sign(x)", &ops::sign,
           "-1 for negative, 0 for zero and 1 for positive elements.")
      .add("Signbit", "signbit(x)", &ops::signbit,
           "Whether the sign bit is set: negative numbers and minus zero.")
      .add("Square", "square(x)", &ops::square, "x * x, element by element.")
      .add("Sqrt", "sqrt(x)", &ops::sqrt, "The square root, element by element.")
      .add("Cbrt", "cbrt(x)", &ops::cbrt, "The cube root.")
      .add("Reciprocal", "reciprocal(x)", &ops::reciprocal, "1 / x.")
      .add("Exp", "exp(x)", &ops::exp, "e to the power of x, element by element.")
      .add("Exp2", "exp2(x)", &ops::exp2, "2 to the power of x, element by element.")
      .add("Expm1", "expm1(x)", &ops::expm1, "exp(x) - 1, accurate for small x.")
      .add("Log", "log(x)", &ops::log, "The natural logarithm.")
      .add("Log1p", "log1p(x)", &ops::log1p, "log(1 + x), accurate for small x.")
      .add("Log2", "log2(x)", &ops::log2, "The logarithm to base 2.")
      .add("Log10", "log10(x)", &ops::log10, "The logarithm to base 10.")
      .add("Sin", "sin(x)", &ops::sin, "The sine of angles in radians.")
      .add("Cos", "cos(x)", &ops::cos, "The cosine of angles in radians.")
      .add("Tan", "tan(x)", &ops::tan, "The tangent of angles in radians.")
      .add("Arcsin", "arcsin(x)", &ops::arcsin, "The inverse sine, in radians.")
      .add("Arccos", "arccos(x)", &ops::arccos, "The inverse cosine, in radians.")
      .add("Arctan", "arctan(x)", &ops::arctan, "The inverse tangent, in radians.")
      .add("Sinh", "sinh(x)", &ops::sinh, "The hyperbolic sine.")
      .add("Cosh", "cosh(x)", &ops::cosh, "The hyperbolic cosine.")
      .add("Tanh", "tanh(x)", &ops::tanh, "The hyperbolic tangent.")
      .add("Arcsinh", "arcsinh(x)", &ops::arcsinh, "The inverse hyperbolic sine.")
      .add("Arccosh", "arccosh(x)", &ops::arccosh, "The inverse hyperbolic cosine.")
      .add("Arctanh", "arctanh(x)", &ops::arctanh, "The inverse hyperbolic tangent.")
      .add("Sinc", "sinc(x)", &ops::sinc, "sin(pi x) / (pi x)")
      .add("Deg2rad", "deg2rad(x)", &ops::deg2rad, "Degrees converted to radians.")
      .add("Rad2deg", "rad2deg(x)", &ops::rad2deg, "Radians converted to degrees.")
      .add("Floor", "floor(x)", &ops::floor,
           "The largest integer that is at most x, as a floating-point number.")
      .add("Ceil", "ceil(x)", &ops::ceil,
           "The smallest integer that is at least x, as a floating-point number.")
      .add(
          "Round", "round(x, decimals=0)",
          [](const Tensor& x, int64_t decimals) { return ops::round(x, decimals); },
          "Rounds to decimals; halves go to the even neighbour.")
      .add("Trunc", "trunc(x)", &ops::trunc, "Rounds towards zero.")
      .add("NanToNum", "nan_to_num(x, nan=0.0, posinf=None, neginf=None)", &ops::nan_to_num,
           "Replaces NaN and infinities by finite numbers.")
      .add("Clip", "clip(x, x_min, x_max)", &clip, "x limited to the range from x_min to x_max.")
      .add("Add", "add(x1, x2)", &ops::add,
           "x1 + x2, element by element; sizes of 1 are broadcast.")
      .add("Subtract", "subtract(x1, x2)", &ops::subtract,
           "x1 - x2, element by element; sizes of 1 are broadcast.")
      .add("Multiply", "multiply(x1, x2)", &ops::multiply,
           "x1 * x2, element by element; sizes of 1 are broadcast.")
      .add("Divide", "divide(x1, x2)", &ops::divide,
           "x1 / x2 in floating point, element by element.")
      .add("TrueDivide", "true_divide(x1, x2)", &ops::true_divide, "The same as divide.")
      .add("DivideNoNan", "divide_no_nan(x1, x2)", &ops::divide_no_nan,
           "x1 / x2, and 0 where x2 is 0.")
      .add("FloorDivide", "floor_divide(x1, x2)", &ops::floor_divide,
           "The largest integer that is at most x1 / x2.")
      .add("Mod", "mod(x1, x2)", &ops::mod, "The remainder of x1 / x2 with the sign of x2.")
      .add("Fmod", "fmod(x1, x2)", &ops::fmod, "The remainder of x1 / x2 with the sign of x1.")
      .add("Power", "power(x1, x2)", &ops::power, "x1 to the power of x2, element by element.")
      .add("Maximum", "maximum(x1, x2)", &ops::maximum,
           "The larger of x1 and x2, element by element.")
      .add("Minimum", "minimum(x1, x2)", &ops::minimum,
           "The smaller of x1 and x2, element by element.")
      .add("Fmax", "fmax(x1, x2)", &ops::fmax,
           "The larger (fmax) or smaller (fmin) number, ignoring NaN.")
      .add("Fmin", "fmin(x1, x2)", &ops::fmin,
           "The larger (fmax) or smaller (fmin) number, ignoring NaN.")
      .add("Arctan2", "arctan2(x1, x2)", &ops::arctan2,
           "The angle of the point (x2, x1) in radians, from -pi to pi.")
      .add("Hypot", "hypot(x1, x2)", &ops::hypot,
           "sqrt(x1^2 + x2^2), the length of the hypotenuse.")
      .add("Heaviside", "heaviside(x1, x2)", &ops::heaviside,
           "The Heaviside step function: 0 for x1 < 0, x2 for x1 = 0, 1 for x1 > 0.")
      .add("Ldexp", "ldexp(x1, x2)", &ops::ldexp, "x1 * 2^x2, element by element.")
      .add("Logaddexp", "logaddexp(x1, x2)", &ops::logaddexp,
           "log(exp(x1) + exp(x2)) without overflow.")
      .add("Logaddexp2", "logaddexp2(x1, x2)", &ops::logaddexp2,
           "log2(2^x1 + 2^x2) without overflow.");
}

}  // namespace crescent::operations
