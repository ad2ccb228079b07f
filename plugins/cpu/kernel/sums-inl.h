// Sums of rows of floats, included once per SIMD target (Highway). All functions add in the same
// order, so that a sum has the same bits whichever loop computes the elements.
#include "kernel/vector-inl.h"

#if defined(CRESCENT_CPU_SUMS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CRESCENT_CPU_SUMS_INL_H
#undef CRESCENT_CPU_SUMS_INL_H
#else
#define CRESCENT_CPU_SUMS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The lanes of x as one vector of doubles; of a vector of floats, which has twice as many lanes,
/// the sum of both halves.
template <class V>
HWY_INLINE V folded_lanes(hn::ScalableTag<double>, V x) {
  return x;
}
template <class V>
HWY_INLINE hn::Vec<hn::ScalableTag<double>> folded_lanes([[maybe_unused]] hn::ScalableTag<float> d,
                                                         V x) {
  const hn::ScalableTag<double> double_tag;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(double_tag, static_cast<double>(hn::GetLane(x)));
#else
  const hn::Half<decltype(d)> half;
  return hn::Add(hn::PromoteTo(double_tag, hn::LowerHalf(half, x)),
                 hn::PromoteTo(double_tag, hn::UpperHalf(half, x)));
#endif
}

/// Adds the whole vectors of a row of n elements in the dtype of the elements, in four vectors of
/// sums, so that each sum has few terms; returns the sums in one vector of doubles. vector_at(i) is
/// the vector that begins at element i. `i` becomes the index of the first element that is left.
template <class D, class F>
HWY_INLINE hn::Vec<hn::ScalableTag<double>> sum_vectors(D d, int64_t n, int64_t& i, F&& vector_at) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto a0 = hn::Zero(d), a1 = a0, a2 = a0, a3 = a0;
  for (i = 0; i + 4 * lanes <= n; i += 4 * lanes) {
    a0 = hn::Add(a0, vector_at(i)), a1 = hn::Add(a1, vector_at(i + lanes));
    a2 = hn::Add(a2, vector_at(i + 2 * lanes)), a3 = hn::Add(a3, vector_at(i + 3 * lanes));
  }
  for (; i + lanes <= n; i += lanes) a0 = hn::Add(a0, vector_at(i));
  return folded_lanes(d, hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)));
}

/// The sum of the lanes of a vector of doubles: neighbours are added until one sum is left.
HWY_INLINE double sum_of_lanes(hn::Vec<hn::ScalableTag<double>> x) {
  const hn::ScalableTag<double> d;
  HWY_ALIGN double sums[hn::MaxLanes(d)];
  hn::Store(x, d, sums);
  for (size_t count = hn::Lanes(d) / 2; count > 0; count /= 2)
    for (size_t k = 0; k < count; ++k) sums[k] = sums[2 * k] + sums[2 * k + 1];
  return sums[0];
}

}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
