// Functions of one number and of two, beside those of ops.h. Operands broadcast and take a common
// dtype; where whole numbers have no place they become float32 first.
#pragma once
#include "crescent/ops/ops.h"

namespace crescent::ops {

// -- one number
CRESCENT_API Tensor fabs(const Tensor& x);     ///< the absolute value, floating
CRESCENT_API Tensor signbit(const Tensor& x);  ///< bool: whether it is negative, minus zero too
CRESCENT_API Tensor cbrt(const Tensor& x);     ///< the third root
CRESCENT_API Tensor exp2(const Tensor& x);
CRESCENT_API Tensor log2(const Tensor& x);
CRESCENT_API Tensor log10(const Tensor& x);
CRESCENT_API Tensor arcsinh(const Tensor& x);
CRESCENT_API Tensor arccosh(const Tensor& x);
CRESCENT_API Tensor arctanh(const Tensor& x);
CRESCENT_API Tensor sinc(const Tensor& x);  ///< sin(pi x) / (pi x)
CRESCENT_API Tensor deg2rad(const Tensor& x);
CRESCENT_API Tensor rad2deg(const Tensor& x);
/// To so many digits behind the point, or before it for negative ones; half to even, in x's dtype.
CRESCENT_API Tensor round(const Tensor& x, int64_t decimals);
CRESCENT_API Tensor trunc(const Tensor& x);  ///< towards zero; whole numbers as they are
/// Finite numbers in place of others; infinity is the largest of the dtype unless given.
CRESCENT_API Tensor nan_to_num(const Tensor& x, double nan = 0, std::optional<double> posinf = {},
                               std::optional<double> neginf = {});
CRESCENT_API Tensor erfinv(const Tensor& x);  ///< the inverse of erf
CRESCENT_API Tensor erfc(const Tensor& x);    ///< 1 - erf(x), accurate far out too
CRESCENT_API Tensor i0(const Tensor& x);      ///< the modified Bessel function of order 0
/// The same bytes as another dtype, of which the last axis has as many as fit; fails where they do
/// not fit.
CRESCENT_API Tensor view(const Tensor& x, std::optional<DType> dtype = {});
/// Cast, with what does not fit as the nearest that does.
CRESCENT_API Tensor saturate_cast(const Tensor& x, DType dtype);

// -- two numbers
inline Tensor true_divide(const Operand& x1, const Operand& x2) { return divide(x1, x2); }
CRESCENT_API Tensor divide_no_nan(const Operand& x1, const Operand& x2);  ///< 0 where x2 is 0
CRESCENT_API Tensor fmod(const Operand& x1, const Operand& x2);  ///< the rest with the sign of x1
CRESCENT_API Tensor fmax(const Operand& x1, const Operand& x2);  ///< the one that is a number
CRESCENT_API Tensor fmin(const Operand& x1, const Operand& x2);
CRESCENT_API Tensor hypot(const Operand& x1, const Operand& x2);      ///< sqrt(x1^2 + x2^2)
CRESCENT_API Tensor heaviside(const Operand& x1, const Operand& x2);  ///< 0, x2 or 1, by x1's sign
CRESCENT_API Tensor ldexp(const Operand& x1, const Operand& x2);      ///< x1 * 2^x2
CRESCENT_API Tensor logaddexp(const Operand& x1, const Operand& x2);  ///< log(exp(x1) + exp(x2))
CRESCENT_API Tensor logaddexp2(const Operand& x1, const Operand& x2);
CRESCENT_API Tensor nextafter(const Operand& x1, const Operand& x2);  ///< the next one towards x2
CRESCENT_API Tensor squared_difference(const Tensor& x1, const Tensor& x2);

// -- bits and divisors of whole numbers; fail for fractions
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

// -- truth values
CRESCENT_API Tensor isinf(const Tensor& x);
CRESCENT_API Tensor isposinf(const Tensor& x);
CRESCENT_API Tensor isneginf(const Tensor& x);
/// |x1 - x2| <= atol + rtol |x2|, element by element.
CRESCENT_API Tensor isclose(const Operand& x1, const Operand& x2, double rtol = 1e-5,
                            double atol = 1e-8, bool equal_nan = false);
/// The same of all elements: a bool of no axes.
CRESCENT_API Tensor allclose(const Operand& x1, const Operand& x2, double rtol = 1e-5,
                             double atol = 1e-8, bool equal_nan = false);
/// Which elements of x1 are among x2, of any shape; which are not: `invert`.
CRESCENT_API Tensor isin(const Tensor& x1, const Tensor& x2, bool invert = false);
CRESCENT_API Tensor logical_xor(const Operand& x1, const Operand& x2);
/// The choice of the first condition that holds; fails unless there are as many of both.
CRESCENT_API Tensor select(std::span<const Tensor> conditions, std::span<const Tensor> choices,
                           const Operand& otherwise = 0);

// -- complex numbers
CRESCENT_API Tensor real(const Tensor& x);   ///< real numbers as they are
CRESCENT_API Tensor imag(const Tensor& x);   ///< of real numbers 0
CRESCENT_API Tensor conj(const Tensor& x);   ///< real numbers as they are
CRESCENT_API Tensor angle(const Tensor& x);  ///< of real numbers 0, and pi for negative ones
CRESCENT_API Tensor isreal(const Tensor& x);
inline Tensor conjugate(const Tensor& x) { return conj(x); }
CRESCENT_API Tensor polar(const Tensor& length, const Tensor& angle);  ///< complex64

}  // namespace crescent::ops
