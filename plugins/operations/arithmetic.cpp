// Functions of one number and of two.
#include "crescent/ops/elementwise.h"

#include "families.h"

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

void add_arithmetic(Registry& registry) {
  Operations math(registry, "keras.src.ops.math");
  math.add("Erf", "erf(x)", &ops::erf).add("Rsqrt", "rsqrt(x)", &ops::rsqrt);
  Operations(registry, "keras.src.ops.numpy")
      .add("Absolute", "absolute|abs(x)", &ops::abs)
      .add("Fabs", "fabs(x)", &ops::fabs)
      .add("Negative", "negative(x)", &ops::negative)
      .add("Sign", "sign(x)", &ops::sign, "-1, 0 or 1.")
      .add("Signbit", "signbit(x)", &ops::signbit, "Whether a number is negative, minus zero too.")
      .add("Square", "square(x)", &ops::square)
      .add("Sqrt", "sqrt(x)", &ops::sqrt)
      .add("Cbrt", "cbrt(x)", &ops::cbrt, "The third root.")
      .add("Reciprocal", "reciprocal(x)", &ops::reciprocal)
      .add("Exp", "exp(x)", &ops::exp)
      .add("Exp2", "exp2(x)", &ops::exp2)
      .add("Expm1", "expm1(x)", &ops::expm1, "exp(x) - 1")
      .add("Log", "log(x)", &ops::log)
      .add("Log1p", "log1p(x)", &ops::log1p, "log(1 + x)")
      .add("Log2", "log2(x)", &ops::log2)
      .add("Log10", "log10(x)", &ops::log10)
      .add("Sin", "sin(x)", &ops::sin)
      .add("Cos", "cos(x)", &ops::cos)
      .add("Tan", "tan(x)", &ops::tan)
      .add("Arcsin", "arcsin(x)", &ops::arcsin)
      .add("Arccos", "arccos(x)", &ops::arccos)
      .add("Arctan", "arctan(x)", &ops::arctan)
      .add("Sinh", "sinh(x)", &ops::sinh)
      .add("Cosh", "cosh(x)", &ops::cosh)
      .add("Tanh", "tanh(x)", &ops::tanh)
      .add("Arcsinh", "arcsinh(x)", &ops::arcsinh)
      .add("Arccosh", "arccosh(x)", &ops::arccosh)
      .add("Arctanh", "arctanh(x)", &ops::arctanh)
      .add("Sinc", "sinc(x)", &ops::sinc, "sin(pi x) / (pi x)")
      .add("Deg2rad", "deg2rad(x)", &ops::deg2rad)
      .add("Rad2deg", "rad2deg(x)", &ops::rad2deg)
      .add("Floor", "floor(x)", &ops::floor)
      .add("Ceil", "ceil(x)", &ops::ceil)
      .add(
          "Round", "round(x, decimals=0)",
          [](const Tensor& x, int64_t decimals) { return ops::round(x, decimals); },
          "Half to even.")
      .add("Trunc", "trunc(x)", &ops::trunc, "Towards zero.")
      .add("NanToNum", "nan_to_num(x, nan=0.0, posinf=None, neginf=None)", &ops::nan_to_num,
           "Finite numbers in place of others.")
      .add("Clip", "clip(x, x_min, x_max)", &clip)
      .add("Add", "add(x1, x2)", &ops::add)
      .add("Subtract", "subtract(x1, x2)", &ops::subtract)
      .add("Multiply", "multiply(x1, x2)", &ops::multiply)
      .add("Divide", "divide(x1, x2)", &ops::divide)
      .add("TrueDivide", "true_divide(x1, x2)", &ops::true_divide)
      .add("DivideNoNan", "divide_no_nan(x1, x2)", &ops::divide_no_nan, "0 where x2 is 0.")
      .add("FloorDivide", "floor_divide(x1, x2)", &ops::floor_divide)
      .add("Mod", "mod(x1, x2)", &ops::mod, "The rest, with the sign of x2.")
      .add("Fmod", "fmod(x1, x2)", &ops::fmod, "The rest, with the sign of x1.")
      .add("Power", "power(x1, x2)", &ops::power)
      .add("Maximum", "maximum(x1, x2)", &ops::maximum)
      .add("Minimum", "minimum(x1, x2)", &ops::minimum)
      .add("Fmax", "fmax(x1, x2)", &ops::fmax, "The one that is a number.")
      .add("Fmin", "fmin(x1, x2)", &ops::fmin, "The one that is a number.")
      .add("Arctan2", "arctan2(x1, x2)", &ops::arctan2)
      .add("Hypot", "hypot(x1, x2)", &ops::hypot, "sqrt(x1^2 + x2^2)")
      .add("Heaviside", "heaviside(x1, x2)", &ops::heaviside,
           "0, x2 or 1, as x1 is below, at, above 0.")
      .add("Ldexp", "ldexp(x1, x2)", &ops::ldexp, "x1 * 2^x2")
      .add("Logaddexp", "logaddexp(x1, x2)", &ops::logaddexp, "log(exp(x1) + exp(x2))")
      .add("Logaddexp2", "logaddexp2(x1, x2)", &ops::logaddexp2, "log2(2^x1 + 2^x2)");
}

}  // namespace crescent::operations
