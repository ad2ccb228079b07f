// Mathematical functions on vectors, included once per SIMD target (Highway). At 0, infinity and
// NaN the functions follow IEEE 754, which Highway's functions do not guarantee; errors are at most
// 4 units in the last place.
#include <cmath>

#include "kernel/vector-inl.h"

#if defined(CRESCENT_CPU_MATHEMATICS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CRESCENT_CPU_MATHEMATICS_INL_H
#undef CRESCENT_CPU_MATHEMATICS_INL_H
#else
#define CRESCENT_CPU_MATHEMATICS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> constant(D d, double x) {
  return hn::Set(d, static_cast<hn::TFromD<D>>(x));
}

/// Evaluates a polynomial whose coefficients are given from the highest power down.
template <class D, class V, class... Coefficients>
HWY_INLINE V horner(D d, V x, double highest_coefficient, Coefficients... lower_coefficients) {
  V y = constant(d, highest_coefficient);
  ((y = hn::MulAdd(y, x, constant(d, lower_coefficients))), ...);
  return y;
}

/// The largest x for which e^x is finite.
template <class D>
constexpr double kExpLimit = sizeof(hn::TFromD<D>) == 4 ? 88.72283935546875 : 709.782712893384;

template <class D, class V>
HWY_INLINE V exponential(D d, V x) {
  const V limit = constant(d, kExpLimit<D>);
  const V y = hn::Exp(d, hn::Min(limit, hn::Max(x, hn::Neg(limit + limit))));
  return keep_nan(x, hn::IfThenElse(hn::Gt(x, limit), constant(d, INFINITY), y));
}

/// e^x for x <= 0, as a softmax needs it after subtracting the maximum, in a third of the
/// instructions of `exponential`. Results that would be subnormal are 0. The polynomial has a
/// relative error of 2e-9 in [-log(2)/2, log(2)/2] and is 1 at 0.
template <class D, class V>
HWY_INLINE V exponential_of_negative(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return exponential(d, x);
  } else {
    // Adding a number this large rounds the exponent to an integer, which is then in the lowest
    // bits, with the bias of a float's exponent field.
    const V rounding_offset = constant(d, 12582912 + 127);
    const V power = hn::MulAdd(x, constant(d, 1.4426950408889634), rounding_offset),
            n = hn::Sub(power, rounding_offset);
    const V r = hn::NegMulAdd(n, constant(d, -2.12194440e-4),
                              hn::NegMulAdd(n, constant(d, 0.693359375), x));
    const V y = horner(d, r, 1.384360336e-3, 8.374197402e-3, 4.166800489e-2, 1.666643078e-1,
                       4.999999419e-1, 1, 1);
    const V two_to_n =
        hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(hn::RebindToUnsigned<D>(), power)));
    return hn::IfThenZeroElse(hn::Lt(x, constant(d, -87.33654)), hn::Mul(y, two_to_n));
  }
}

template <class D, class V>
HWY_INLINE V exponential_minus_1(D d, V x) {
  const V limit = constant(d, kExpLimit<D>);
  const V y = hn::Expm1(d, hn::Min(limit, hn::Max(x, hn::Neg(limit))));
  return keep_nan(x, hn::IfThenElse(hn::Gt(x, limit), constant(d, INFINITY), y));
}

/// Replaces y, the logarithm of x, by the correct result for x outside of (0, infinity).
template <class D, class V>
HWY_INLINE V logarithm_edges(D d, V x, V y) {
  const V infinity = constant(d, INFINITY);
  y = hn::IfThenElse(hn::Eq(x, infinity), infinity, y);
  y = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), y);
  return keep_nan(x, hn::IfThenElse(hn::Lt(x, hn::Zero(d)), constant(d, NAN), y));
}

template <class D, class V>
HWY_INLINE V logarithm(D d, V x) {
  return logarithm_edges(d, x, hn::Log(d, x));
}

template <class D, class V>
HWY_INLINE V logarithm_of_1_plus(D d, V x) {
  return logarithm_edges(d, hn::Add(x, constant(d, 1)), hn::Log1p(d, x));
}

/// log(1 + e^x), computed without overflow.
template <class D, class V>
HWY_INLINE V softplus(D d, V x) {
  const V tail = hn::Log1p(d, hn::Exp(d, hn::Neg(hn::Abs(x))));
  return keep_nan(x, hn::Add(hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Zero(d)), tail));
}

/// Applies the scalar function f to each lane; for functions that are not implemented on vectors.
template <class D, class V, class F>
HWY_INLINE V apply_to_lanes(D d, V x, F&& f) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = f(lanes[i]);
  return hn::Load(d, lanes);
}

/// True when no lane is NaN or has a magnitude of at least `limit`.
template <class D, class V>
HWY_INLINE bool all_below(D d, V x, double limit) {
  return hn::AllTrue(d, hn::Lt(hn::Abs(x), constant(d, limit)));
}

/// True when all angles are in the range in which Highway's sine and cosine are accurate.
template <class D, class V>
HWY_INLINE bool all_angles_small(D d, V x) {
  return all_below(d, x, 39000);
}

/// True when e^x and e^x / 2 are normal numbers in all lanes.
template <class D, class V>
HWY_INLINE bool all_exponents_small(D d, V x) {
  return all_below(d, x, kExpLimit<D> - 2);
}

template <class D, class V>
HWY_INLINE V hyperbolic_cosine(D d, V x) {
  const V half = constant(d, 0.5), e = hn::Exp(d, hn::Abs(x));
  return hn::MulAdd(half, e, hn::Div(half, e));
}

/// atan2(y, x) for finite numbers that are not zero.
template <class D, class V>
HWY_INLINE V angle_of(D d, V y, V x) {
  const V acute = hn::Atan(d, hn::Div(hn::Abs(y), hn::Abs(x)));
  const V angle = hn::IfThenElse(hn::Lt(x, hn::Zero(d)),
                                 hn::Sub(constant(d, 3.14159265358979323846), acute), acute);
  return hn::CopySign(angle, y);
}

template <class D, class V>
HWY_INLINE bool all_finite_and_not_zero(D d, V x) {
  const V a = hn::Abs(x);
  return hn::AllTrue(d, hn::And(hn::Gt(a, hn::Zero(d)), hn::Lt(a, constant(d, INFINITY))));
}

/// True when |a / b| is so small in all lanes that its computed integer part is wrong by at most
/// one.
template <class D, class V>
HWY_INLINE bool all_quotients_small(D d, V a, V b) {
  constexpr double kMaxQuotient = sizeof(hn::TFromD<D>) == 4 ? 0x1p22 : 0x1p51;
  return all_finite_and_not_zero(d, b) && all_below(d, hn::Div(a, b), kMaxQuotient);
}

/// a - floor(a / b) b for small quotients; exact, because a fused multiply-add rounds only once.
template <class D, class V>
HWY_INLINE V remainder_of(D d, V a, V b) {
  const V zero = hn::Zero(d), x = hn::Abs(a), y = hn::Abs(b);
  V r = hn::NegMulAdd(hn::Floor(hn::Div(x, y)), y, x);
  r = hn::IfThenElse(hn::Lt(r, zero), hn::Add(r, y), r);
  r = hn::CopySign(hn::IfThenElse(hn::Ge(r, y), hn::Sub(r, y), r), a);
  const auto have_different_signs =
      hn::And(hn::Ne(r, zero), hn::Xor(hn::Lt(r, zero), hn::Lt(b, zero)));
  return hn::IfThenElse(have_different_signs, hn::Add(r, b), r);
}

/// log2(x) for positive normal float64, to 1e-12. The mantissa, between sqrt(1/2) and sqrt(2), goes
/// through the series of 2 artanh((m - 1) / (m + 1)).
template <class D, class V>
HWY_INLINE V binary_logarithm(D d, V x) {
  const hn::RebindToSigned<D> integers;
  const auto bits = hn::BitCast(integers, x);
  const auto exponent = hn::ShiftRight<52>(hn::Sub(bits, hn::Set(integers, 0x3FE6A09E667F3BCD)));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<52>(exponent))), one = constant(d, 1);
  const V s = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const V series = horner(d, hn::Mul(s, s), 1. / 13, 1. / 11, 1. / 9, 1. / 7, 1. / 5, 1. / 3, 1);
  return hn::MulAdd(hn::Mul(s, constant(d, 2.885390081777927)), series, hn::ConvertTo(d, exponent));
}

/// 2^x for float64 with |x| <= 1000, to 2e-10.
template <class D, class V>
HWY_INLINE V power_of_2(D d, V x) {
  // Adding a number this large rounds the exponent to an integer, which is then in the lowest bits,
  // with the bias of a double's exponent field.
  const V rounding_offset = constant(d, 0x1.8p52 + 1023), shifted = hn::Add(x, rounding_offset);
  const V r = hn::Sub(x, hn::Sub(shifted, rounding_offset));
  const V y = horner(d, r, 1.3215486790144307e-6, 1.5252733804059838e-5, 1.5403530393381608e-4,
                     1.3333558146428441e-3, 9.618129107628477e-3, 5.5504108664821576e-2,
                     2.4022650695910072e-1, 6.931471805599453e-1, 1);
  const hn::RebindToUnsigned<D> bits;
  return hn::Mul(y, hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(bits, shifted))));
}

/// erf(x), from a polynomial for erf(x)/x - 1 in x^2 and a polynomial for the fourth root of
/// erfc(x) in [1.25, 3.92], both fitted so that the error of the result is small: at most 1.6 units
/// in the last place.
template <class D, class V>
HWY_INLINE V error_function(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return apply_to_lanes(d, x, [](double lane) { return std::erf(lane); });
  } else {
    const V a = hn::Min(hn::Abs(x), constant(d, 3.92));  // erf rounds to 1 beyond this limit
    const V series = horner(d, hn::Mul(a, a), -7.5729622e-06, 0.000103938759, -0.000833956985,
                            0.00520901631, -0.0268602475, 0.11283675, -0.3761263, 0.128379166);
    const V root = horner(d, a, -0.000195100126, 0.00345655141, -0.0235452787, 0.0704705709,
                          -0.0588423626, -0.0539482126, -0.314650214, 1.00702788);
    const V square = hn::Mul(root, root);
    const V near = hn::MulAdd(a, series, a), far = hn::NegMulAdd(square, square, constant(d, 1));
    const V y = hn::IfThenElse(hn::Lt(a, constant(d, 1.25)), near, far);
    return keep_nan(x, hn::CopySign(y, x));
  }
}

}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
