// evaluate(): one elementwise operation on vectors of floats, included once per SIMD target
// (Highway).
#include "kernel/mathematics-inl.h"

#if defined(CRESCENT_CPU_EVALUATE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CRESCENT_CPU_EVALUATE_INL_H
#undef CRESCENT_CPU_EVALUATE_INL_H
#else
#define CRESCENT_CPU_EVALUATE_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Computes an operation on a vector. The compilation fails for a kind that has no line in this
/// function.
template <UnaryKind kind, class D, class V>
HWY_INLINE auto evaluate(D d, V x) {
  using K = UnaryKind;
  using T = hn::TFromD<D>;
  const V zero = hn::Zero(d), one = constant(d, 1);
  if constexpr (kind == K::negative) return hn::Neg(x);
  if constexpr (kind == K::abs) return hn::Abs(x);
  if constexpr (kind == K::sign) {
    const V magnitude = hn::IfThenElse(hn::Eq(x, zero), zero, one);
    return keep_nan(x, hn::IfThenElse(hn::Lt(x, zero), hn::Neg(magnitude), magnitude));
  }
  if constexpr (kind == K::square) return hn::Mul(x, x);
  if constexpr (kind == K::sqrt) return hn::Sqrt(x);
  if constexpr (kind == K::rsqrt) return hn::Div(one, hn::Sqrt(x));
  if constexpr (kind == K::reciprocal) return hn::Div(one, x);
  if constexpr (kind == K::exp) return exponential(d, x);
  if constexpr (kind == K::expm1) return exponential_minus_1(d, x);
  if constexpr (kind == K::log) return logarithm(d, x);
  if constexpr (kind == K::log1p) return logarithm_of_1_plus(d, x);
  if constexpr (kind == K::sin) {
    if (HWY_LIKELY(all_angles_small(d, x))) return hn::Sin(d, x);
    return apply_to_lanes(d, x, [](T lane) { return std::sin(lane); });
  }
  if constexpr (kind == K::cos) {
    if (HWY_LIKELY(all_angles_small(d, x))) return hn::Cos(d, x);
    return apply_to_lanes(d, x, [](T lane) { return std::cos(lane); });
  }
  if constexpr (kind == K::tan) {
    if (HWY_LIKELY(all_angles_small(d, x))) return hn::Div(hn::Sin(d, x), hn::Cos(d, x));
    return apply_to_lanes(d, x, [](T lane) { return std::tan(lane); });
  }
  if constexpr (kind == K::arcsin) {
    if (HWY_LIKELY(all_below(d, x, 1))) return hn::Asin(d, x);
    return apply_to_lanes(d, x, [](T lane) { return std::asin(lane); });
  }
  if constexpr (kind == K::arccos) {
    if (HWY_LIKELY(all_below(d, x, 1))) return hn::Acos(d, x);
    return apply_to_lanes(d, x, [](T lane) { return std::acos(lane); });
  }
  if constexpr (kind == K::arctan) return keep_nan(x, hn::Atan(d, x));
  if constexpr (kind == K::sinh) {
    if (HWY_LIKELY(all_exponents_small(d, x))) return hn::Sinh(d, x);
    return apply_to_lanes(d, x, [](T lane) { return std::sinh(lane); });
  }
  if constexpr (kind == K::cosh) {
    if (HWY_LIKELY(all_exponents_small(d, x))) return hyperbolic_cosine(d, x);
    return apply_to_lanes(d, x, [](T lane) { return std::cosh(lane); });
  }
  if constexpr (kind == K::tanh) return hyperbolic_tangent(d, x);
  if constexpr (kind == K::sigmoid) return sigmoid(d, x);
  if constexpr (kind == K::relu) return hn::IfThenElse(hn::Lt(x, zero), zero, x);
  if constexpr (kind == K::softplus) return softplus(d, x);
  if constexpr (kind == K::erf) return error_function(d, x);
  if constexpr (kind == K::floor) return hn::Floor(x);
  if constexpr (kind == K::ceil) return hn::Ceil(x);
  if constexpr (kind == K::round) return hn::Round(x);
  // The result of isnan is read as a mask: all bits of a lane are set, or none.
  if constexpr (kind == K::isnan) return hn::VecFromMask(d, hn::IsNaN(x));
}

/// True for kinds that have a vector form for floats.
constexpr bool has_vector_instruction(BinaryKind kind) {
  using K = BinaryKind;
  return kind == K::add || kind == K::subtract || kind == K::multiply || kind == K::divide ||
         kind == K::maximum || kind == K::minimum;
}

template <BinaryKind kind, class V>
HWY_INLINE V evaluate(V a, V b) {
  using K = BinaryKind;
  if constexpr (kind == K::add) return hn::Add(a, b);
  if constexpr (kind == K::subtract) return hn::Sub(a, b);
  if constexpr (kind == K::multiply) return hn::Mul(a, b);
  if constexpr (kind == K::divide) return hn::Div(a, b);
  if constexpr (kind == K::maximum)
    // a NaN in either operand gives NaN
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  if constexpr (kind == K::minimum) return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
  // as the condition of a select in a chain, comparisons give a vector of all or no bits
  const hn::DFromV<V> d;
  if constexpr (kind == K::greater) return hn::VecFromMask(d, hn::Gt(a, b));
  if constexpr (kind == K::less) return hn::VecFromMask(d, hn::Lt(a, b));
  if constexpr (kind == K::less_equal) return hn::VecFromMask(d, hn::Le(a, b));
  return a;
}

}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
