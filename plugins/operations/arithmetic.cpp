// Functions of one number and of two.
#include <cmath>
#include <numbers>

#include "crescent/registry/registration.h"
#include "families.h"

namespace crescent::operations {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kPi = std::numbers::pi, kLn2 = std::numbers::ln2, kLn10 = std::numbers::ln10;

/// Of a floating tensor, whatever the argument is.
template <Tensor (*F)(const Tensor&)>
Tensor of_floats(const Tensor& x) {
  return F(floating(x));
}

Tensor sign_of_zero_too(const Tensor& x) {
  // 1 / -0 is negative.
  const Tensor zero = ops::equal(x, 0);
  return ops::logical_or(ops::less(x, 0), ops::logical_and(zero, ops::less(ops::reciprocal(x), 0)));
}

Tensor cbrt(const Tensor& given) {
  const Tensor x = wide_floating(given);
  return ops::sign(x) * ops::power(ops::abs(x), 1.0 / 3.0);
}

Tensor arcsinh(const Tensor& given) {
  // log1p keeps the digits of small numbers, the sign those of large negative ones.
  constexpr double kHuge = 1e10;
  const Tensor x = floating(given), a = ops::abs(x);
  const Tensor small = ops::minimum(a, kHuge), square = small * small;
  const Tensor near = ops::log1p(small + square / (ops::sqrt(square + 1.0) + 1.0));
  const Tensor far = ops::log(ops::maximum(a, kHuge)) + kLn2;
  const Tensor result = ops::sign(x) * ops::where(ops::greater(a, kHuge), far, near);
  return ops::where(ops::equal(x, 0), x, result);  // where sign and abs have no slope
}

Tensor arccosh(const Tensor& given) {
  const Tensor x = floating(given);
  return ops::log(x + ops::sqrt(x - 1.0) * ops::sqrt(x + 1.0));
}

Tensor arctanh(const Tensor& given) {
  const Tensor x = floating(given);
  return (ops::log1p(x) - ops::log1p(-x)) * 0.5;
}

Tensor trunc(const Tensor& x) {
  if (!is_floating(x.dtype())) return x;
  return ops::where(ops::less(x, 0), ops::ceil(x), ops::floor(x));
}

Tensor round(const Tensor& x, int64_t decimals) {
  if (decimals == 0)
    return x.dtype() == DType::boolean ? ops::cast(x, DType::int32) : ops::round(x);
  const double scale = std::pow(10.0, static_cast<double>(std::abs(decimals)));
  const Tensor y = floating(x);
  const Tensor rounded =
      decimals > 0 ? ops::round(y * scale) / scale : ops::round(y / scale) * scale;
  return ops::cast(rounded, x.dtype());
}

Tensor sinc(const Tensor& given) {
  const Tensor x = floating(given) * kPi;
  const Tensor zero = ops::equal(x, 0);
  return ops::where(zero, 1.0, ops::sin(x) / ops::where(zero, 1.0, x));
}

Tensor nan_to_num(const Tensor& x, double nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (!is_floating(x.dtype())) return x;
  const double largest = x.dtype() == DType::float64   ? std::numeric_limits<double>::max()
                         : x.dtype() == DType::float16 ? 65504.0
                         : x.dtype() == DType::bfloat16
                             ? 3.3895313892515355e38
                             : static_cast<double>(std::numeric_limits<float>::max());
  const Tensor finite_or_nan =
      ops::where(ops::logical_or(ops::isfinite(x), ops::isnan(x)), x,
                 ops::where(ops::greater(x, 0), number_like(x, posinf.value_or(largest)),
                            neginf.value_or(-largest)));
  return ops::where(ops::isnan(x), nan, finite_or_nan);
}

Tensor divide_no_nan(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  const Tensor zero = ops::equal(y, 0);
  return ops::where(zero, 0, ops::divide(x, ops::where(zero, 1, y)));
}

/// The sign of the dividend, where mod has that of the divisor.
Tensor fmod(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  const Tensor sign = 1 - ops::cast(ops::less(x, 0), x.dtype()) * 2;
  return ops::mod(x * sign, ops::abs(y)) * sign;
}

/// Of booleans the function of logic that is the same, which gives booleans.
template <Tensor (*F)(const Operand&, const Operand&),
          Tensor (*Logical)(const Operand&, const Operand&)>
Tensor of_booleans_too(const Operand& a, const Operand& b) {
  const auto boolean = [](const Operand& x) {
    return x.tensor && x.tensor.dtype() == DType::boolean;
  };
  return boolean(a) && boolean(b) ? Logical(a, b) : F(a, b);
}
/// Of booleans themselves.
template <Tensor (*F)(const Tensor&)>
Tensor of_numbers(const Tensor& x) {
  return x.dtype() == DType::boolean ? x : F(x);
}

/// Limits are numbers or tensors; the upper one counts where they cross.
Tensor clip(const Tensor& given, const Value& low, const Value& high) {
  const auto limit = [](const Value& value) {
    if (!value.is_number() && !value.is_list() && !value.is_object())
      fail("clip: expected limits that are numbers or tensors, got ", value);
    return Operand(Codec<NumberOrTensor>::decode(value));
  };
  const Tensor x = given.dtype() == DType::boolean ? ops::cast(given, DType::int32) : given;
  const Operand least = limit(low), most = limit(high);
  if (!least.tensor && !most.tensor && least.number <= most.number)
    return ops::clip(x, least, most);
  return ops::minimum(ops::maximum(x, least), most);
}

/// What the other is where one is no number.
template <Tensor (*Extreme)(const Operand&, const Operand&)>
Tensor ignoring_nan(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  if (!is_floating(x.dtype())) return Extreme(x, y);
  return ops::where(ops::isnan(x), y, ops::where(ops::isnan(y), x, Extreme(x, y)));
}

/// The larger and the smaller of each two. Of equals the first is the larger, so that each of them
/// gets its own gradient.
std::pair<Tensor, Tensor> ordered(const Tensor& x, const Tensor& y) {
  const Tensor first = ops::greater_equal(x, y);
  return {ops::where(first, x, y), ops::where(first, y, x)};
}

/// Infinite where one of them is, whatever the other.
Tensor hypot(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  x = ops::abs(wide_floating(x)), y = ops::abs(wide_floating(y));
  const Tensor infinite = ops::logical_or(ops::equal(x, kInfinity), ops::equal(y, kInfinity));
  const auto [large, small] = ordered(x, y);
  const Tensor ratio = small / ops::where(ops::equal(large, 0), 1.0, large);
  return ops::where(infinite, kInfinity, large * ops::sqrt(ratio * ratio + 1.0));
}

/// log(base^a + base^b) / log(base)
Tensor log_of_sum(const Operand& a, const Operand& b, double log_base) {
  auto [x, y] = promoted(a, b);
  x = floating(x), y = floating(y);
  const auto [large, small] = ordered(x, y);
  const Tensor both_infinite =
      ops::logical_and(ops::equal(x, y), ops::logical_not(ops::isfinite(x)));
  const Tensor difference = ops::where(both_infinite, 0.0, small - large);
  return large + ops::log1p(ops::exp(difference * log_base)) / log_base;
}

Tensor heaviside(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  if (x.dtype() == DType::boolean) return ops::logical_or(x, y);
  x = wide_floating(x), y = wide_floating(y);
  const Tensor step = ops::where(ops::less(x, 0), 0.0, ops::where(ops::equal(x, 0), y, 1.0));
  return ops::where(ops::isnan(x), x, step);
}

/// In the dtype of both, the factor in float32 at least.
Tensor ldexp(const Operand& a, const Operand& b) {
  const auto [x, y] = promoted(a, b);
  const Tensor result = floating(x);
  return ops::cast(result * ops::exp(floating(tensor_of(b)) * kLn2), result.dtype());
}

/// No whole part of infinity.
Tensor floor_divide(const Operand& a, const Operand& b) {
  const Tensor result = ops::floor_divide(a, b);
  if (!is_floating(result.dtype())) return result;
  const Tensor x = ops::cast(tensor_of(a), result.dtype());
  const Tensor infinite = ops::logical_not(ops::logical_or(ops::isfinite(x), ops::isnan(x)));
  return ops::where(infinite, std::numeric_limits<double>::quiet_NaN(), result);
}

}  // namespace

CRESCENT_REGISTER(arithmetic) {
  Operations math(registry, "keras.src.ops.math");
  math.add("Erf", "erf(x)", &of_floats<ops::erf>, "The error function.")
      .add("Rsqrt", "rsqrt(x)", &of_floats<ops::rsqrt>, "1 / sqrt(x).");
  Operations(registry, "keras.src.ops.numpy")
      .add("Absolute", "absolute|abs(x)", &of_numbers<ops::abs>, "x without its sign.")
      .add("Fabs", "fabs(x)", &of_floats<ops::abs>, "x without its sign, as a floating number.")
      .add("Negative", "negative(x)", &ops::negative, "-x.")
      .add("Sign", "sign(x)", &of_numbers<ops::sign>, "-1, 0 or 1.")
      .add(
          "Signbit", "signbit(x)",
          [](const Tensor& x) {
            return is_floating(x.dtype()) ? sign_of_zero_too(x) : ops::less(x, 0);
          },
          "Whether a number is negative, minus zero too.")
      .add(
          "Square", "square(x)",
          [](const Tensor& x) {
            return ops::square(x.dtype() == DType::boolean ? ops::cast(x, DType::int32) : x);
          },
          "x * x.")
      .add("Sqrt", "sqrt(x)", &of_floats<ops::sqrt>, "The square root.")
      .add("Cbrt", "cbrt(x)", &cbrt, "The third root.")
      .add("Reciprocal", "reciprocal(x)", &of_floats<ops::reciprocal>, "1 / x.")
      .add("Exp", "exp(x)", &of_floats<ops::exp>, "e to the power of x.")
      .add(
          "Exp2", "exp2(x)", [](const Tensor& x) { return ops::exp(floating(x) * kLn2); },
          "2 to the power of x.")
      .add("Expm1", "expm1(x)", &of_floats<ops::expm1>, "exp(x) - 1")
      .add("Log", "log(x)", &of_floats<ops::log>, "The natural logarithm.")
      .add("Log1p", "log1p(x)", &of_floats<ops::log1p>, "log(1 + x)")
      .add(
          "Log2", "log2(x)", [](const Tensor& x) { return ops::log(floating(x)) / kLn2; },
          "The logarithm to base 2.")
      .add(
          "Log10", "log10(x)", [](const Tensor& x) { return ops::log(floating(x)) / kLn10; },
          "The logarithm to base 10.")
      .add("Sin", "sin(x)", &of_floats<ops::sin>, "The sine of x in radians.")
      .add("Cos", "cos(x)", &of_floats<ops::cos>, "The cosine of x in radians.")
      .add("Tan", "tan(x)", &of_floats<ops::tan>, "The tangent of x in radians.")
      .add("Arcsin", "arcsin(x)", &of_floats<ops::arcsin>, "The angle in radians with sine x.")
      .add("Arccos", "arccos(x)", &of_floats<ops::arccos>, "The angle in radians with cosine x.")
      .add("Arctan", "arctan(x)", &of_floats<ops::arctan>, "The angle in radians with tangent x.")
      .add("Sinh", "sinh(x)", &of_floats<ops::sinh>, "The hyperbolic sine.")
      .add("Cosh", "cosh(x)", &of_floats<ops::cosh>, "The hyperbolic cosine.")
      .add("Tanh", "tanh(x)", &of_floats<ops::tanh>, "The hyperbolic tangent.")
      .add("Arcsinh", "arcsinh(x)", &arcsinh, "The inverse of sinh.")
      .add("Arccosh", "arccosh(x)", &arccosh, "The inverse of cosh.")
      .add("Arctanh", "arctanh(x)", &arctanh, "The inverse of tanh.")
      .add("Sinc", "sinc(x)", &sinc, "sin(pi x) / (pi x)")
      .add(
          "Deg2rad", "deg2rad(x)", [](const Tensor& x) { return wide_floating(x) * (kPi / 180); },
          "Degrees as radians.")
      .add(
          "Rad2deg", "rad2deg(x)", [](const Tensor& x) { return wide_floating(x) * (180 / kPi); },
          "Radians as degrees.")
      .add("Floor", "floor(x)", &of_floats<ops::floor>,
           "The largest whole number that is not above x.")
      .add("Ceil", "ceil(x)", &of_floats<ops::ceil>,
           "The smallest whole number that is not below x.")
      .add("Round", "round(x, decimals=0)", &round, "Half to even.")
      .add("Trunc", "trunc(x)", &trunc, "Towards zero.")
      .add("NanToNum", "nan_to_num(x, nan=0.0, posinf=None, neginf=None)", &nan_to_num,
           "Finite numbers in place of others.")
      .add("Clip", "clip(x, x_min, x_max)", &clip, "x within x_min and x_max.")
      .add("Add", "add(x1, x2)", &of_booleans_too<ops::add, ops::logical_or>,
           "x1 + x2, element by element; sizes of 1 are broadcast.")
      .add("Subtract", "subtract(x1, x2)", &ops::subtract,
           "x1 - x2, element by element; sizes of 1 are broadcast.")
      .add("Multiply", "multiply(x1, x2)", &of_booleans_too<ops::multiply, ops::logical_and>,
           "x1 * x2, element by element; sizes of 1 are broadcast.")
      .add("Divide", "divide(x1, x2)", &ops::divide,
           "x1 / x2 as floating numbers, element by element.")
      .add("TrueDivide", "true_divide(x1, x2)", &ops::divide, "The same as divide.")
      .add("DivideNoNan", "divide_no_nan(x1, x2)", &divide_no_nan, "0 where x2 is 0.")
      .add("FloorDivide", "floor_divide(x1, x2)", &floor_divide,
           "The largest whole number that is not above x1 / x2.")
      .add("Mod", "mod(x1, x2)", &ops::mod, "The rest, with the sign of x2.")
      .add("Fmod", "fmod(x1, x2)", &fmod, "The rest, with the sign of x1.")
      .add("Power", "power(x1, x2)", &ops::power, "x1 to the power of x2.")
      .add("Maximum", "maximum(x1, x2)", &ops::maximum,
           "The larger of x1 and x2, element by element.")
      .add("Minimum", "minimum(x1, x2)", &ops::minimum,
           "The smaller of x1 and x2, element by element.")
      .add("Fmax", "fmax(x1, x2)", &ignoring_nan<ops::maximum>, "The one that is a number.")
      .add("Fmin", "fmin(x1, x2)", &ignoring_nan<ops::minimum>, "The one that is a number.")
      .add("Arctan2", "arctan2(x1, x2)", &ops::arctan2,
           "The angle in radians of the point (x2, x1).")
      .add("Hypot", "hypot(x1, x2)", &hypot, "sqrt(x1^2 + x2^2)")
      .add("Heaviside", "heaviside(x1, x2)", &heaviside, "0, x2 or 1, as x1 is below, at, above 0.")
      .add("Ldexp", "ldexp(x1, x2)", &ldexp, "x1 * 2^x2")
      .add(
          "Logaddexp", "logaddexp(x1, x2)",
          [](const Operand& a, const Operand& b) { return log_of_sum(a, b, 1); },
          "log(exp(x1) + exp(x2))")
      .add(
          "Logaddexp2", "logaddexp2(x1, x2)",
          [](const Operand& a, const Operand& b) { return log_of_sum(a, b, kLn2); },
          "log2(2^x1 + 2^x2)");
}

}  // namespace crescent::operations
