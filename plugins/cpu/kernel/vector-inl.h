// Activations, and loads and stores of less than a full vector; included once per SIMD target
// (Highway).
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>
#include <type_traits>

#include "kernel/half.h"
#include "kernel/post_ops.h"

#if defined(CRESCENT_CPU_VECTOR_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CRESCENT_CPU_VECTOR_INL_H
#undef CRESCENT_CPU_VECTOR_INL_H
#else
#define CRESCENT_CPU_VECTOR_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns y, but NaN where x is NaN, because Highway's exponential functions do not preserve NaN.
template <class V>
HWY_INLINE V keep_nan(V x, V y) {
  return hn::IfThenElse(hn::Eq(x, x), y, x);
}

template <class D, class V>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, hn::TFromD<D>{1});
  // This exp cannot overflow, because its argument is at most 0.
  const V e = hn::Exp(d, hn::Neg(hn::Abs(x)));
  const V y = hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one), hn::Add(one, e));
  return keep_nan(x, y);
}

template <class D, class V>
HWY_INLINE V hyperbolic_tangent(D d, V x) {
  return keep_nan(
      x, hn::Tanh(d, hn::Clamp(x, hn::Set(d, hn::TFromD<D>{-20}), hn::Set(d, hn::TFromD<D>{20}))));
}

template <class D, class V>
HWY_INLINE V activate(D d, V x, ActivationKind activation) {
  switch (activation) {
    case ActivationKind::none:
      return x;
    case ActivationKind::relu:
      // The result is x, not 0, where x is NaN.
      return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);
    case ActivationKind::sigmoid:
      return sigmoid(d, x);
    case ActivationKind::tanh:
      return hyperbolic_tangent(d, x);
  }
  return x;
}

/// Loads and stores full vectors. bfloat16 is converted to float32 on load and rounded to nearest
/// even on store; bytes are converted to and from floats.
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hn::TFromD<D>* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const BFloat16* from) {
  const hn::Rebind<uint16_t, D> uint16_tag;
  const hn::RebindToUnsigned<D> bits;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(bits, hn::LoadU(uint16_tag, &from->bits))));
}
template <class D>
HWY_INLINE void store(hn::Vec<D> x, D d, hn::TFromD<D>* to) {
  hn::StoreU(x, d, to);
}
template <class D>
HWY_INLINE void store(hn::Vec<D> x, D, BFloat16* to) {
  const hn::Rebind<uint16_t, D> uint16_tag;
  const hn::RebindToUnsigned<D> bits;
  const hn::RebindToSigned<D> integers;
  const auto b = hn::BitCast(bits, x), high = hn::ShiftRight<16>(b);
  const auto rounded = hn::ShiftRight<16>(b + hn::Set(bits, 0x7fff) + (high & hn::Set(bits, 1)));
  // A NaN gets this bit, so that it is still NaN after rounding.
  const auto quiet = high | hn::Set(bits, 0x40);
  const auto result = hn::IfThenElse(hn::RebindMask(bits, hn::IsNaN(x)), quiet, rounded);
  hn::StoreU(hn::DemoteTo(uint16_tag, hn::BitCast(integers, result)), uint16_tag, &to->bits);
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const uint8_t* from) {
  const hn::Rebind<int32_t, D> int32_tag;
  const auto x = hn::PromoteTo(int32_tag, hn::LoadU(hn::Rebind<uint8_t, D>(), from));
  if constexpr (sizeof(hn::TFromD<D>) == 8)
    return hn::PromoteTo(d, x);
  else
    return hn::ConvertTo(d, x);
}
template <class D>
HWY_INLINE void store(hn::Vec<D> x, D, uint8_t* to) {
  const hn::Rebind<int32_t, D> int32_tag;
  const hn::Rebind<uint8_t, D> bytes;
  if constexpr (sizeof(hn::TFromD<D>) == 8)
    hn::StoreU(hn::DemoteTo(bytes, hn::DemoteTo(int32_tag, x)), bytes, to);
  else
    hn::StoreU(hn::DemoteTo(bytes, hn::ConvertTo(int32_tag, x)), bytes, to);
}

/// Loads `count` <= Lanes values and sets the other lanes to zero, without reading memory behind
/// the values. Elements of another type than the vector's are first copied to a buffer.
template <class D, class T>
requires(!std::is_same_v<T, hn::TFromD<D>>) HWY_INLINE hn::Vec<D> load_part(D d, const T* from,
                                                                            int64_t count) {
  T buffer[hn::MaxLanes(d)] = {};
  for (int64_t i = 0; i < count; ++i) buffer[i] = from[i];
  return load(d, buffer);
}
template <class D, class T>
requires(!std::is_same_v<T, hn::TFromD<D>>) HWY_INLINE
    void store_part(hn::Vec<D> x, D d, T* to, int64_t count) {
  T buffer[hn::MaxLanes(d)];
  store(x, d, buffer);
  for (int64_t i = 0; i < count; ++i) to[i] = buffer[i];
}
template <class D>
HWY_INLINE hn::Vec<D> load_part(D d, const hn::TFromD<D>* from, int64_t count) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, count), d, from);
#else
  HWY_ALIGN hn::TFromD<D> buffer[hn::MaxLanes(d)] = {};
  for (int64_t i = 0; i < count; ++i) buffer[i] = from[i];
  return hn::Load(d, buffer);
#endif
}
template <class D>
HWY_INLINE void store_part(hn::Vec<D> x, D d, hn::TFromD<D>* to, int64_t count) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(x, hn::FirstN(d, count), d, to);
#else
  HWY_ALIGN hn::TFromD<D> buffer[hn::MaxLanes(d)];
  hn::Store(x, d, buffer);
  for (int64_t i = 0; i < count; ++i) to[i] = buffer[i];
#endif
}

/// Prefetches elements that a loop over memory will read soon; without prefetching, a core waits
/// for memory half of the time.
template <class T>
HWY_INLINE void fetch_ahead(const T* p) {
  constexpr int64_t kPrefetchAhead = 4096 / sizeof(T);
  __builtin_prefetch(p + kPrefetchAhead);
}

/// Calls f(load, store) for the elements [0, count): for full vectors first, then for the remaining
/// elements with load_part and store_part. Both load and store take a pointer to the first element
/// of an array of d's type, bfloat16 or bytes.
template <class D, class F>
HWY_INLINE void for_vectors(D d, int64_t count, F&& f) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    f([d, i](const auto* p) { return load(d, p + i); },
      [d, i](hn::Vec<D> x, auto* p) { store(x, d, p + i); });
  }
  if (const int64_t remaining_count = count - i; remaining_count > 0) {
    f([d, i, remaining_count](const auto* p) { return load_part(d, p + i, remaining_count); },
      [d, i, remaining_count](hn::Vec<D> x, auto* p) { store_part(x, d, p + i, remaining_count); });
  }
}

}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
