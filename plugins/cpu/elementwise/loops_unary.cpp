#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elementwise/loops_unary.cpp"
#include <hwy/foreach_target.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "elementwise/evaluate-inl.h"
#include "elementwise/scalars.h"
#include "kernel/loops.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

using K = UnaryKind;

/// Tests the bits of x, which GCC vectorises better than the comparison x != x.
template <class T>
HWY_INLINE bool is_nan(T x) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  return (std::bit_cast<Bits>(x) << 1) > (kInfinity << 1);
}

template <K kind, class T>
void float_loop(const void* x, void* y, size_t n) {
  const T* in = static_cast<const T*>(x);
  if constexpr (gives_bool(kind)) {
    uint8_t* out = static_cast<uint8_t*>(y);
    for (size_t i = 0; i < n; ++i) {
      if constexpr (kind == K::logical_not) out[i] = in[i] == 0;
      if constexpr (kind == K::isnan) out[i] = is_nan(in[i]);
      if constexpr (kind == K::isfinite) out[i] = in[i] - in[i] == 0;
    }
  } else {
    T* out = static_cast<T*>(y);
    const hn::ScalableTag<T> d;
    const size_t lanes = hn::Lanes(d);
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
      hn::StoreU(evaluate<kind>(d, hn::LoadU(d, in + i)), d, out + i);
    if (i == n) return;
    // The last elements are padded to a whole vector, so that this function can process them, too.
    HWY_ALIGN T tail[hn::MaxLanes(d)];
    std::memset(tail, 0, sizeof tail);
    std::memcpy(tail, in + i, (n - i) * sizeof(T));
    float_loop<kind, T>(tail, tail, lanes);
    std::memcpy(out + i, tail, (n - i) * sizeof(T));
  }
}

template <K kind>
void half_loop(const void* x, void* y, size_t n) {
  const hn::ScalableTag<float> d;
  for_vectors(d, static_cast<int64_t>(n), [&](auto load, auto store) HWY_ATTR {
    store(evaluate<kind>(d, load(static_cast<const BFloat16*>(x))), static_cast<BFloat16*>(y));
  });
}

UnaryLoop find_half(UnaryKind kind) {
  switch (kind) {
    case K::negative:
      return half_loop<K::negative>;
    case K::abs:
      return half_loop<K::abs>;
    case K::relu:
      return half_loop<K::relu>;
    default:
      return nullptr;
  }
}

/// The loop of a unary operation on integers or booleans.
template <K kind, class T>
void integer_loop(const void* x, void* y, size_t n) {
  const T* in = static_cast<const T*>(x);
  using Y = std::conditional_t<gives_bool(kind), uint8_t, T>;
  Y* out = static_cast<Y*>(y);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<Y>(evaluate_integer<kind, T>(in[i]));
}

template <K kind, class T>
constexpr UnaryLoop make_loop() {
  if constexpr (std::is_floating_point_v<T>)
    return float_loop<kind, T>;
  else if constexpr (is_for_integers(kind))
    return integer_loop<kind, T>;
  else
    return nullptr;
}

template <class T, size_t... i>
UnaryLoop find_loop(UnaryKind kind, std::index_sequence<i...>) {
  static constexpr std::array<UnaryLoop, sizeof...(i)> loops = {
      make_loop<static_cast<K>(i), T>()...};
  return loops[static_cast<size_t>(kind)];
}

UnaryLoop find_unary(UnaryKind kind, DType dtype) {
  constexpr auto kinds = std::make_index_sequence<kUnaryCount>();
  switch (dtype) {
    case DType::float32:
      return find_loop<float>(kind, kinds);
    case DType::float64:
      return find_loop<double>(kind, kinds);
    case DType::bfloat16:
      return find_half(kind);
    case DType::int32:
      return find_loop<int32_t>(kind, kinds);
    case DType::int64:
      return find_loop<int64_t>(kind, kinds);
    case DType::uint8:
    case DType::boolean:
      return find_loop<uint8_t>(kind, kinds);
    default:
      return rare_unary_loop(kind, dtype);
  }
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_unary);

UnaryLoop unary_loop(UnaryKind kind, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_unary)(kind, dtype);
}

int cost_of(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::sqrt:
    case UnaryKind::rsqrt:
    case UnaryKind::reciprocal:
      return 3;
    case UnaryKind::exp:
    case UnaryKind::expm1:
    case UnaryKind::log:
    case UnaryKind::log1p:
    case UnaryKind::sin:
    case UnaryKind::cos:
    case UnaryKind::tanh:
    case UnaryKind::sigmoid:
    case UnaryKind::softplus:
    case UnaryKind::erf:
      return 10;
    case UnaryKind::tan:
    case UnaryKind::arcsin:
    case UnaryKind::arccos:
    case UnaryKind::arctan:
    case UnaryKind::sinh:
    case UnaryKind::cosh:
      return 50;
    default:
      return 1;
  }
}

}  // namespace crescent::cpu
#endif
