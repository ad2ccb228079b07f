// Elementwise functions of one and of two tensors.
#include "crescent/ops/elementwise.h"

#include "crescent/registry/registration.h"
#include "shared/shared.h"

namespace crescent::operations {
namespace {

/// Limits are numbers or tensors.
Tensor clip(const Tensor& x, const Value& low, const Value& high) {
  const auto limit = [](const Value& value) {
    if (!value.is_number() && !value.is_list() && !value.is_object())
      fail("clip: expected limits that are numbers or tensors, got ", value);
    return Operand(Codec<NumberOrTensor>::decode(value));
  };
  return ops::clip(x, limit(low), limit(high));
}

}  // namespace

CRESCENT_REGISTER(arithmetic) {
  Operations math(registry, "keras.src.ops.math");
  math.add("Erf", "erf(x)", &ops::erf, "The error function.")
      .add("Rsqrt", "rsqrt(x)", &ops::rsqrt, "1 / sqrt(x).");
  Operations(registry, "keras.src.ops.numpy")
      .add("Absolute", "absolute|abs(x)", &ops::abs, "x without its sign.")
      .add("Fabs", "fabs(x)", &ops::fabs, "x without its sign, as a floating number.")
      .add("Negative", "negative(x)", &ops::negative, "-x.")
      .add("Sign", "sign(x)", &ops::sign, "-1, 0 or 1.")
      .add("Signbit", "signbit(x)", &ops::signbit, "Whether a number is negative, minus zero too.")
      .add("Square", "square(x)", &ops::square, "x * x.")
      .add("Sqrt", "sqrt(x)", &ops::sqrt, "The square root.")
      .add("Cbrt", "cbrt(x)", &ops::cbrt, "The third root.")
      .add("Reciprocal", "reciprocal(x)", &ops::reciprocal, "1 / x.")
      .add("Exp", "exp(x)", &ops::exp, "e to the power of x.")
      .add("Exp2", "exp2(x)", &ops::exp2, "2 to the power of x.")
      .add("Expm1", "expm1(x)", &ops::expm1, "exp(x) - 1")
      .add("Log", "log(x)", &ops::log, "The natural logarithm.")
      .add("Log1p", "log1p(x)", &ops::log1p, "log(1 + x)")
      .add("Log2", "log2(x)", &ops::log2, "The logarithm to base 2.")
      .add("Log10", "log10(x)", &ops::log10, "The logarithm to base 10.")
      .add("Sin", "sin(x)", &ops::sin, "The sine of x in radians.")
      .add("Cos", "cos(x)", &ops::cos, "The cosine of x in radians.")
      .add("Tan", "tan(x)", &ops::tan, "The tangent of x in radians.")
      .add("Arcsin", "arcsin(x)", &ops::arcsin, "The angle in radians with sine x.")
      .add("Arccos", "arccos(x)", &ops::arccos, "The angle in radians with cosine x.")
      .add("Arctan", "arctan(x)", &ops::arctan, "The angle in radians with tangent x.")
      .add("Sinh", "sinh(x)", &ops::sinh, "The hyperbolic sine.")
      .add("Cosh", "cosh(x)", &ops::cosh, "The hyperbolic cosine.")
      .add("Tanh", "tanh(x)", &ops::tanh, "The hyperbolic tangent.")
      .add("Arcsinh", "arcsinh(x)", &ops::arcsinh, "The inverse of sinh.")
      .add("Arccosh", "arccosh(x)", &ops::arccosh, "The inverse of cosh.")
      .add("Arctanh", "arctanh(x)", &ops::arctanh, "The inverse of tanh.")
      .add("Sinc", "sinc(x)", &ops::sinc, "sin(pi x) / (pi x)")
      .add("Deg2rad", "deg2rad(x)", &ops::deg2rad, "Degrees as radians.")
      .add("Rad2deg", "rad2deg(x)", &ops::rad2deg, "Radians as degrees.")
      .add("Floor", "floor(x)", &ops::floor, "The largest whole number that is not above x.")
      .add("Ceil", "ceil(x)", &ops::ceil, "The smallest whole number that is not below x.")
      .add(
          "Round", "round(x, decimals=0)",
          [](const Tensor& x, int64_t decimals) { return ops::round(x, decimals); },
          "Half to even.")
      .add("Trunc", "trunc(x)", &ops::trunc, "Towards zero.")
      .add("NanToNum", "nan_to_num(x, nan=0.0, posinf=None, neginf=None)", &ops::nan_to_num,
           "Finite numbers in place of others.")
      .add("Clip", "clip(x, x_min, x_max)", &clip, "x within x_min and x_max.")
      .add("Add", "add(x1, x2)", &ops::add,
           "x1 + x2, element by element; sizes of 1 are broadcast.")
      .add("Subtract", "subtract(x1, x2)", &ops::subtract,
           "x1 - x2, element by element; sizes of 1 are broadcast.")
      .add("Multiply", "multiply(x1, x2)", &ops::multiply,
           "x1 * x2, element by element; sizes of 1 are broadcast.")
      .add("Divide", "divide(x1, x2)", &ops::divide,
           "x1 / x2 as floating numbers, element by element.")
      .add("TrueDivide", "true_divide(x1, x2)", &ops::true_divide, "The same as divide.")
      .add("DivideNoNan", "divide_no_nan(x1, x2)", &ops::divide_no_nan, "0 where x2 is 0.")
      .add("FloorDivide", "floor_divide(x1, x2)", &ops::floor_divide,
           "The largest whole number that is not above x1 / x2.")
      .add("Mod", "mod(x1, x2)", &ops::mod, "The rest, with the sign of x2.")
      .add("Fmod", "fmod(x1, x2)", &ops::fmod, "The rest, with the sign of x1.")
      .add("Power", "power(x1, x2)", &ops::power, "x1 to the power of x2.")
      .add("Maximum", "maximum(x1, x2)", &ops::maximum,
           "The larger of x1 and x2, element by element.")
      .add("Minimum", "minimum(x1, x2)", &ops::minimum,
           "The smaller of x1 and x2, element by element.")
      .add("Fmax", "fmax(x1, x2)", &ops::fmax, "The one that is a number.")
      .add("Fmin", "fmin(x1, x2)", &ops::fmin, "The one that is a number.")
      .add("Arctan2", "arctan2(x1, x2)", &ops::arctan2,
           "The angle in radians of the point (x2, x1).")
      .add("Hypot", "hypot(x1, x2)", &ops::hypot, "sqrt(x1^2 + x2^2)")
      .add("Heaviside", "heaviside(x1, x2)", &ops::heaviside,
           "0, x2 or 1, as x1 is below, at, above 0.")
      .add("Ldexp", "ldexp(x1, x2)", &ops::ldexp, "x1 * 2^x2")
      .add("Logaddexp", "logaddexp(x1, x2)", &ops::logaddexp, "log(exp(x1) + exp(x2))")
      .add("Logaddexp2", "logaddexp2(x1, x2)", &ops::logaddexp2, "log2(2^x1 + 2^x2)");
}

}  // namespace crescent::operations
