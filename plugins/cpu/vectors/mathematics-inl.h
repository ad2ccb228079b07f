// Included once a SIMD target (Highway): functions of vectors with IEEE's answers at 0, infinity
// and NaN, where Highway's polynomials promise nothing. Errors are at most 4 units in the last
// place.
#include <cmath>

#include "vectors/vector-inl.h"

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

/// Coefficients from the highest power down.
template <class D, class V, class... Rest>
HWY_INLINE V horner(D d, V x, double highest, Rest... rest) {
  V y = constant(d, highest);
  ((y = hn::MulAdd(y, x, constant(d, rest))), ...);
  return y;
}

/// Above this e^x is infinite.
template <class D>
constexpr double kExpLimit = sizeof(hn::TFromD<D>) == 4 ? 88.72283935546875 : 709.782712893384;

template <class D, class V>
HWY_INLINE V exponential(D d, V x) {
  const V limit = constant(d, kExpLimit<D>);
  const V y = hn::Exp(d, hn::Min(limit, hn::Max(x, hn::Neg(limit + limit))));
  return keep_nan(x, hn::IfThenElse(hn::Gt(x, limit), constant(d, INFINITY), y));
}

/// e^x for x <= 0, as after the largest of a row has been taken away; a third of the instructions
/// of `exponential`. 0 where the result would be too small for a normal number. Polynomial:
/// relative error 2e-9 in [-log(2)/2, log(2)/2], 1 at 0.
template <class D, class V>
HWY_INLINE V exponential_of_negative(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return exponential(d, x);
  } else {
    // A number this large has room for a whole one in its lowest bits: there the power of two, with
    // the bias of exponents.
    const V whole = constant(d, 12582912 + 127);
    const V power = hn::MulAdd(x, constant(d, 1.4426950408889634), whole),
            n = hn::Sub(power, whole);
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

/// The logarithm's answers outside (0, infinity), where `y` is right.
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

/// log(1 + e^x) without overflow.
template <class D, class V>
HWY_INLINE V softplus(D d, V x) {
  const V tail = hn::Log1p(d, hn::Exp(d, hn::Neg(hn::Abs(x))));
  return keep_nan(x, hn::Add(hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Zero(d)), tail));
}

/// f of every lane, for what has no polynomial here.
template <class D, class V, class F>
HWY_INLINE V by_lane(D d, V x, F&& f) {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = f(lanes[i]);
  return hn::Load(d, lanes);
}

/// Arguments for which Highway's sine and cosine hold.
template <class D, class V>
HWY_INLINE bool small_angles(D d, V x) {
  return hn::AllTrue(d, hn::Lt(hn::Abs(x), constant(d, 39000)));
}

/// Chebyshev fits of erf(x)/x over x^2 in [0, 1] and of log(erfc(x)) over [1, 4]; relative error
/// 1e-7.
template <class D, class V>
HWY_INLINE V error_function(D d, V x) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return by_lane(d, x, [](double lane) { return std::erf(lane); });
  } else {
    const V a = hn::Min(hn::Abs(x), constant(d, 4));
    const V near =
        hn::Mul(a, horner(d, hn::Mul(a, a), 7.882497104105823e-05, -0.0008018854991185265,
                          0.005189311942516817, -0.026854328795967497, 0.11283597463484307,
                          -0.37612626903579677, 1.128379165881502));
    const V complement =
        hn::Exp(d, horner(d, a, -1.3309390388217212e-05, 0.0003175720345742609,
                          -0.0034368675976851194, 0.02262198592438533, -0.10331898003424997,
                          -0.6390933195004312, -1.1259259493238303, -0.0007569686252933191));
    const V y =
        hn::IfThenElse(hn::Lt(a, constant(d, 1)), near, hn::Sub(constant(d, 1), complement));
    return keep_nan(x, hn::CopySign(y, x));
  }
}

}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
