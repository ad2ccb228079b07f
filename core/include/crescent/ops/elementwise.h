// Unary and binary elementwise functions that ops.h does not have. Operands broadcast and are cast
// to a common dtype; functions that have no integer version cast integers to float32 first.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

// -- unary functions
CRESCENT_API Tensor fabs(const Tensor& x);     ///< |x|, as a floating tensor
CRESCENT_API Tensor signbit(const Tensor& x);  ///< bool: whether the sign bit is set, also for -0
CRESCENT_API Tensor cbrt(const Tensor& x);     ///< the cube root
CRESCENT_API Tensor exp2(const Tensor& x);
CRESCENT_API Tensor log2(const Tensor& x);
CRESCENT_API Tensor log10(const Tensor& x);
CRESCENT_API Tensor arcsinh(const Tensor& x);
CRESCENT_API Tensor arccosh(const Tensor& x);
CRESCENT_API Tensor arctanh(const Tensor& x);
CRESCENT_API Tensor sinc(const Tensor& x);  ///< sin(pi x) / (pi x)
CRESCENT_API Tensor deg2rad(const Tensor& x);
CRESCENT_API Tensor rad2deg(const Tensor& x);
/// Rounds to this number of decimal digits; a negative number rounds to a power of ten. Halves are
/// rounded to even. The dtype stays.
CRESCENT_API Tensor round(const Tensor& x, int64_t decimals);
CRESCENT_API Tensor trunc(const Tensor& x);  ///< rounds towards zero; integers are unchanged
/// Replaces NaN and infinities; by default, infinities become the largest finite numbers of the
/// dtype.
CRESCENT_API Tensor nan_to_num(const Tensor& x, double nan = 0, std::optional<double> posinf = {},
                               std::optional<double> neginf = {});
CRESCENT_API Tensor erfinv(const Tensor& x);  ///< the inverse of erf
CRESCENT_API Tensor erfc(const Tensor& x);    ///< 1 - erf(x), accurate also for large x
CRESCENT_API Tensor i0(const Tensor& x);      ///< the modified Bessel function of order 0
/// Reinterprets the bytes of the last axis as another dtype; fails if its size in bytes is not
/// divisible by the size of the new dtype.
CRESCENT_API Tensor view(const Tensor& x, std::optional<DType> dtype = {});
/// Clips x to the range of the new dtype and casts it.
CRESCENT_API Tensor saturate_cast(const Tensor& x, DType dtype);

// -- binary functions
inline Tensor true_divide(const Operand& x1, const Operand& x2) { return divide(x1, x2); }
CRESCENT_API Tensor divide_no_nan(const Operand& x1, const Operand& x2);  ///< x1 / x2; 0 if x2 is 0
CRESCENT_API Tensor fmod(const Operand& x1, const Operand& x2);  ///< remainder with the sign of x1
CRESCENT_API Tensor fmax(const Operand& x1, const Operand& x2);  ///< the maximum, ignoring NaN
CRESCENT_API Tensor fmin(const Operand& x1, const Operand& x2);
CRESCENT_API Tensor hypot(const Operand& x1, const Operand& x2);  ///< sqrt(x1^2 + x2^2)
/// 0 where x1 is negative, x2 where it is zero, 1 where it is positive.
CRESCENT_API Tensor heaviside(const Operand& x1, const Operand& x2);
CRESCENT_API Tensor ldexp(const Operand& x1, const Operand& x2);      ///< x1 * 2^x2
CRESCENT_API Tensor logaddexp(const Operand& x1, const Operand& x2);  ///< log(exp(x1) + exp(x2))
CRESCENT_API Tensor logaddexp2(const Operand& x1, const Operand& x2);
/// The floating-point number next to x1 in the direction of x2.
CRESCENT_API Tensor nextafter(const Operand& x1, const Operand& x2);
CRESCENT_API Tensor squared_difference(const Tensor& x1, const Tensor& x2);

// -- bitwise functions, common divisors and common multiples of integers; they fail for floating
// dtypes
CRESCENT_API Tensor bitwise_and(const Operand& x, const Operand& y);
CRESCENT_API Tensor bitwise_or(const Operand& x, const Operand& y);
CRESCENT_API Tensor bitwise_xor(const Operand& x, const Operand& y);
CRESCENT_API Tensor bitwise_not(const Tensor& x);
CRESCENT_API Tensor bitwise_left_shift(const Operand& x, const Operand& y);
CRESCENT_API Tensor bitwise_right_shift(const Operand& x, const Operand& y);
inline Tensor bitwise_invert(const Tensor& x) { return bitwise_not(x); }
inline Tensor left_shift(const Operand& x, const Operand& y) { return bitwise_left_shift(x, y); }
inline Tensor right_shift(const Operand& x, const Operand& y) { return bitwise_right_shift(x, y); }
CRESCENT_API Tensor gcd(const Operand& x1, const Operand& x2);
CRESCENT_API Tensor lcm(const Operand& x1, const Operand& x2);

// -- boolean results
CRESCENT_API Tensor isinf(const Tensor& x);
CRESCENT_API Tensor isposinf(const Tensor& x);
CRESCENT_API Tensor isneginf(const Tensor& x);
/// Whether |x1 - x2| <= atol + rtol |x2|, for each element.
CRESCENT_API Tensor isclose(const Operand& x1, const Operand& x2, double rtol = 1e-5,
                            double atol = 1e-8, bool equal_nan = false);
/// Whether isclose() holds for all elements: a bool scalar.
CRESCENT_API Tensor allclose(const Operand& x1, const Operand& x2, double rtol = 1e-5,
                             double atol = 1e-8, bool equal_nan = false);
/// For each element of x1, whether x2, of any shape, contains it; with `invert`, whether it does
/// not.
CRESCENT_API Tensor isin(const Tensor& x1, const Tensor& x2, bool invert = false);
CRESCENT_API Tensor logical_xor(const Operand& x1, const Operand& x2);
/// For each element, the choice of the first condition that is true, else `otherwise`; fails for
/// different numbers of conditions and choices.
CRESCENT_API Tensor select(std::span<const Tensor> conditions, std::span<const Tensor> choices,
                           const Operand& otherwise = 0);

// -- complex numbers
CRESCENT_API Tensor real(const Tensor& x);   ///< real x is returned unchanged
CRESCENT_API Tensor imag(const Tensor& x);   ///< 0 for real x
CRESCENT_API Tensor conj(const Tensor& x);   ///< real x is returned unchanged
CRESCENT_API Tensor angle(const Tensor& x);  ///< the phase, which is pi for negative real numbers
CRESCENT_API Tensor isreal(const Tensor& x);
inline Tensor conjugate(const Tensor& x) { return conj(x); }
/// The complex64 number with this absolute value and phase.
CRESCENT_API Tensor polar(const Tensor& length, const Tensor& angle);

}  // namespace crescent::ops
