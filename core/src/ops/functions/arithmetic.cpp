// Arithmetic functions of one and two arguments.
#include "crescent/ops/elementwise.h"

#include <cmath>
#include <numbers>

#include "ops/functions/array_ops.h"

namespace crescent {

double largest_finite(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return std::numeric_limits<double>::max();
    case DType::float16:
      return 65504;
    case DType::bfloat16:
      return 3.3895313892515355e38;
    default:
      return static_cast<double>(std::numeric_limits<float>::max());
  }
}

namespace ops {
namespace {

constexpr double kHugeArgument = 1e10;  // the square of a larger number may be infinite
constexpr double kPi = std::numbers::pi, kLn2 = std::numbers::ln2, kLn10 = std::numbers::ln10;

Tensor is_sign_bit_set(const Tensor& x) {
  // The sign bit of -0 is found by the reciprocal: 1 / -0 is negative.
  const Tensor is_zero = ops::equal(x, 0);
  return ops::logical_or(ops::less(x, 0),
                         ops::logical_and(is_zero, ops::less(ops::reciprocal(x), 0)));
}

/// The maximum or minimum of two values; if one of them is NaN, the result is the other one.
template <Tensor (*Extreme)(const Operand&, const Operand&)>
Tensor extreme_ignoring_nan(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  if (!is_floating(x.dtype())) return Extreme(x, y);
  return ops::where(ops::isnan(x), y, ops::where(ops::isnan(y), x, Extreme(x, y)));
}

/// The larger and the smaller value of each pair. For equal values the first counts as the larger
/// one, so that the gradient of each result reaches one of the operands only.
std::pair<Tensor, Tensor> larger_and_smaller(const Tensor& x, const Tensor& y) {
  const Tensor is_in_order = ops::greater_equal(x, y);
  return {ops::where(is_in_order, x, y), ops::where(is_in_order, y, x)};
}

/// Returns log(base^a + base^b) / log(base), without overflow of the powers; `log_base` is
/// log(base).
Tensor log_of_sum(const Operand& a, const Operand& b, double log_base) {
  auto [x, y] = promoted(a, b);
  x = floating(x), y = floating(y);
  const auto [large, small] = larger_and_smaller(x, y);
  const Tensor are_both_infinite =
      ops::logical_and(ops::equal(x, y), ops::logical_not(ops::isfinite(x)));
  const Tensor difference = ops::where(are_both_infinite, 0.0, small - large);
  return large + ops::log1p(ops::exp(difference * log_base)) / log_base;
}

}  // namespace

Tensor fabs(const Tensor& x) { return ops::abs(floating(x)); }
Tensor signbit(const Tensor& x) {
  return is_floating(x.dtype()) ? is_sign_bit_set(x) : ops::less(x, 0);
}
Tensor exp2(const Tensor& x) { return ops::exp(floating(x) * kLn2); }
Tensor log2(const Tensor& x) { return ops::log(floating(x)) / kLn2; }
Tensor log10(const Tensor& x) { return ops::log(floating(x)) / kLn10; }
Tensor deg2rad(const Tensor& x) { return wide_floating(x) * (kPi / 180); }
Tensor rad2deg(const Tensor& x) { return wide_floating(x) * (180 / kPi); }

Tensor cbrt(const Tensor& input) {
  const Tensor x = wide_floating(input);
  return ops::sign(x) * ops::power(ops::abs(x), 1.0 / 3.0);
}

Tensor arcsinh(const Tensor& input) {
  // arcsinh is computed from |x| and gets the sign of x at the end, because log(x + sqrt(x^2 + 1))
  // is inaccurate for large negative x. Near 0, log1p is more accurate than log.
  const Tensor x = floating(input), a = ops::abs(x);
  const Tensor limited_x = ops::minimum(a, kHugeArgument), square = limited_x * limited_x;
  const Tensor value_near_zero = ops::log1p(limited_x + square / (ops::sqrt(square + 1.0) + 1.0));
  const Tensor value_for_large = ops::log(ops::maximum(a, kHugeArgument)) + kLn2;
  const Tensor result =
      ops::sign(x) * ops::where(ops::greater(a, kHugeArgument), value_for_large, value_near_zero);
  // At 0, where sign and abs have no gradient, the result is x itself.
  return ops::where(ops::equal(x, 0), x, result);
}

Tensor arccosh(const Tensor& input) {
  const Tensor x = floating(input), limited_x = ops::minimum(x, kHugeArgument);
  const Tensor value =
      ops::log(limited_x + ops::sqrt(limited_x - 1.0) * ops::sqrt(limited_x + 1.0));
  const Tensor value_for_large = ops::log(ops::maximum(x, kHugeArgument)) + kLn2;
  return ops::where(ops::greater(x, kHugeArgument), value_for_large, value);
}

Tensor arctanh(const Tensor& input) {
  const Tensor x = floating(input);
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
  const Tensor rounded_x =
      decimals > 0 ? ops::round(y * scale) / scale : ops::round(y / scale) * scale;
  return ops::cast(rounded_x, x.dtype());
}

Tensor sinc(const Tensor& input) {
  const Tensor x = floating(input) * kPi;
  const Tensor is_zero = ops::equal(x, 0);
  return ops::where(is_zero, 1.0, ops::sin(x) / ops::where(is_zero, 1.0, x));
}

Tensor nan_to_num(const Tensor& x, double nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  if (!is_floating(x.dtype())) return x;
  const double largest_number = largest_finite(x.dtype());
  const Tensor finite_or_nan =
      ops::where(ops::logical_or(ops::isfinite(x), ops::isnan(x)), x,
                 ops::where(ops::greater(x, 0), number_like(x, posinf.value_or(largest_number)),
                            neginf.value_or(-largest_number)));
  return ops::where(ops::isnan(x), nan, finite_or_nan);
}

Tensor divide_no_nan(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  const Tensor is_zero = ops::equal(y, 0);
  return ops::where(is_zero, 0, ops::divide(x, ops::where(is_zero, 1, y)));
}

/// Returns the remainder with the sign of the dividend; mod() returns it with the sign of the
/// divisor.
Tensor fmod(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  const Tensor sign = 1 - ops::cast(ops::less(x, 0), x.dtype()) * 2;
  return ops::mod(x * sign, ops::abs(y)) * sign;
}

/// Returns sqrt(a^2 + b^2); infinite if a or b is infinite, even if the other is NaN.
Tensor hypot(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  x = ops::abs(wide_floating(x)), y = ops::abs(wide_floating(y));
  const Tensor is_infinite = ops::logical_or(ops::equal(x, kInfinity), ops::equal(y, kInfinity));
  const auto [large, small] = larger_and_smaller(x, y);
  const Tensor ratio = small / ops::where(ops::equal(large, 0), 1.0, large);
  return ops::where(is_infinite, kInfinity, large * ops::sqrt(ratio * ratio + 1.0));
}

Tensor heaviside(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  if (x.dtype() == DType::boolean) return ops::logical_or(x, y);
  x = wide_floating(x), y = wide_floating(y);
  const Tensor step_value = ops::where(ops::less(x, 0), 0.0, ops::where(ops::equal(x, 0), y, 1.0));
  return ops::where(ops::isnan(x), x, step_value);
}

/// Returns a * 2^b in the common dtype of both. The factor 2^b is computed in float32 or a wider
/// dtype.
Tensor ldexp(const Operand& a, const Operand& b) {
  const auto [x, y] = promoted(a, b);
  const Tensor result = floating(x);
  return ops::cast(result * ops::exp(floating(tensor_of(b)) * kLn2), result.dtype());
}

Tensor fmax(const Operand& a, const Operand& b) { return extreme_ignoring_nan<ops::maximum>(a, b); }
Tensor fmin(const Operand& a, const Operand& b) { return extreme_ignoring_nan<ops::minimum>(a, b); }
Tensor logaddexp(const Operand& a, const Operand& b) { return log_of_sum(a, b, 1); }
Tensor logaddexp2(const Operand& a, const Operand& b) { return log_of_sum(a, b, kLn2); }
Tensor squared_difference(const Tensor& x1, const Tensor& x2) {
  return ops::square(ops::subtract(x1, x2));
}

}  // namespace ops
}  // namespace crescent
