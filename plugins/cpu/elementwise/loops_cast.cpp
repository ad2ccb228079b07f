#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elementwise/loops_cast.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <array>
#include <bit>
#include <utility>

#include "kernel/loops.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

// The types in which dtypes are stored, in the order of DType. Conversions are plain integer code,
// which the compiler vectorises.
struct BFloat16 {
  uint16_t bits;
};
struct Float16 {
  uint16_t bits;
};
struct Boolean {
  uint8_t value;
};

HWY_INLINE float widen(BFloat16 x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}

HWY_INLINE BFloat16 narrow_bfloat16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1)) >> 16;  // round to nearest even
  return {
      static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? (bits >> 16) | 0x40u : rounded)};
}

/// Converts float16 to float32. A multiplication corrects the bias of the exponent; it also
/// normalizes subnormal numbers.
HWY_INLINE float widen(Float16 x) {
  const uint32_t sign = static_cast<uint32_t>(x.bits & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(x.bits & 0x7fffu) << 13;
  const float scaled = std::bit_cast<float>(magnitude) * 0x1p112f;
  const uint32_t infinite_exponent =
      // Infinity and NaN keep the largest exponent.
      magnitude >= 0x0f800000u ? 0x7f800000u : 0u;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | infinite_exponent | sign);
}

HWY_INLINE Float16 narrow_float16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x), sign = (bits >> 16) & 0x8000u,
                 magnitude = bits & 0x7fffffffu;
  const uint32_t normal = (magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1)) >> 13;
  // The addition of 0.5 rounds a result that is subnormal in half precision.
  const float half = std::bit_cast<float>(magnitude) + 0.5f;
  const uint32_t subnormal = std::bit_cast<uint32_t>(half) - 0x3f000000u;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;  // 65520 and more become infinity
  result = magnitude > 0x7f800000u ? 0x7e00u : result;
  return {static_cast<uint16_t>(result | sign)};
}

template <class T>
HWY_INLINE T number_of(T x) {
  return x;
}
HWY_INLINE float number_of(BFloat16 x) { return widen(x); }
HWY_INLINE float number_of(Float16 x) { return widen(x); }
HWY_INLINE uint8_t number_of(Boolean x) { return x.value; }

template <class To, class From>
HWY_INLINE To convert(From x) {
  if constexpr (std::is_same_v<To, BFloat16>)
    return narrow_bfloat16(static_cast<float>(x));
  else if constexpr (std::is_same_v<To, Float16>)
    return narrow_float16(static_cast<float>(x));
  else if constexpr (std::is_same_v<To, Boolean>)
    return {static_cast<uint8_t>(x != 0)};
  else if constexpr (std::is_floating_point_v<From> && sizeof(To) == 1)
    return static_cast<To>(static_cast<int32_t>(x));
  else
    return static_cast<To>(x);
}

template <class From, class To>
void cast(const void* x, void* y, size_t n) {
  const From* in = static_cast<const From*>(x);
  To* out = static_cast<To*>(y);
  for (size_t i = 0; i < n; ++i) out[i] = convert<To>(number_of(in[i]));
}

/// The number of common dtypes, which come first in DType. The other ones are rare and have no fast
/// loops.
constexpr size_t kCommonDtypes = 8;
constexpr bool is_rare(DType dtype) { return static_cast<size_t>(dtype) >= kCommonDtypes; }

template <class From>
UnaryLoop find_from(DType to) {
  static constexpr std::array<UnaryLoop, kCommonDtypes> loops = {
      cast<From, float>,   cast<From, double>,  cast<From, BFloat16>, cast<From, Float16>,
      cast<From, int32_t>, cast<From, int64_t>, cast<From, uint8_t>,  cast<From, Boolean>};
  return loops[static_cast<size_t>(to)];
}

UnaryLoop find_cast(DType from, DType to) {
  if (is_rare(from) || is_rare(to)) return rare_cast_loop(from, to);
  static constexpr std::array<UnaryLoop (*)(DType), kCommonDtypes> finders = {
      find_from<float>,   find_from<double>,  find_from<BFloat16>, find_from<Float16>,
      find_from<int32_t>, find_from<int64_t>, find_from<uint8_t>,  find_from<Boolean>};
  return finders[static_cast<size_t>(from)](to);
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_cast);

UnaryLoop cast_loop(DType from, DType to) { return HWY_DYNAMIC_DISPATCH(find_cast)(from, to); }

}  // namespace crescent::cpu
#endif
