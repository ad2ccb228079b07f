#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elementwise/loops_binary.cpp"
#include <hwy/foreach_target.h>

#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "elementwise/evaluate-inl.h"
#include "elementwise/scalars.h"
#include "kernel/loops.h"

HWY_BEFORE_NAMESPACE();
namespace crescent::cpu::HWY_NAMESPACE {
namespace {

using K = BinaryKind;

template <K kind, class T, bool first_is_scalar, bool second_is_scalar>
void vector_loop(const void* pa, const void* pb, void* py, size_t n) {
  const T *a = static_cast<const T*>(pa), *b = static_cast<const T*>(pb);
  T* y = static_cast<T*>(py);
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  const auto a0 = hn::Set(d, a[0]), b0 = hn::Set(d, b[0]);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto va = first_is_scalar ? a0 : hn::LoadU(d, a + i);
    const auto vb = second_is_scalar ? b0 : hn::LoadU(d, b + i);
    hn::StoreU(evaluate<kind>(va, vb), d, y + i);
  }
  if (i == n) return;
  HWY_ALIGN T tail_a[hn::MaxLanes(d)] = {}, tail_b[hn::MaxLanes(d)] = {};
  std::memcpy(tail_a, first_is_scalar ? a : a + i, (first_is_scalar ? 1 : n - i) * sizeof(T));
  std::memcpy(tail_b, second_is_scalar ? b : b + i, (second_is_scalar ? 1 : n - i) * sizeof(T));
  vector_loop<kind, T, first_is_scalar, second_is_scalar>(tail_a, tail_b, tail_a, lanes);
  std::memcpy(y + i, tail_a, (n - i) * sizeof(T));
}

/// A loop on bfloat16 arrays; an operand that is a scalar is float32.
template <K kind, bool first_is_scalar, bool second_is_scalar>
void half_loop(const void* a, const void* b, void* y, size_t n) {
  const hn::ScalableTag<float> d;
  const auto a0 = hn::Set(d, first_is_scalar ? *static_cast<const float*>(a) : 0);
  const auto b0 = hn::Set(d, second_is_scalar ? *static_cast<const float*>(b) : 0);
  for_vectors(d, static_cast<int64_t>(n), [&](auto load, auto store) HWY_ATTR {
    const auto left =
        first_is_scalar ? a0 : load(static_cast<const BFloat16*>(first_is_scalar ? b : a));
    const auto right =
        second_is_scalar ? b0 : load(static_cast<const BFloat16*>(second_is_scalar ? a : b));
    store(evaluate<kind>(left, right), static_cast<BFloat16*>(y));
  });
}

template <K kind, class T>
void plain_loop(const void* pa, const void* pb, void* py, size_t n) {
  const T *a = static_cast<const T*>(pa), *b = static_cast<const T*>(pb);
  using Y = std::conditional_t<gives_bool(kind), uint8_t, T>;
  Y* y = static_cast<Y*>(py);
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<Y>(evaluate_scalars<kind, T>(a[i], b[i]));
}

/// Whether all lanes of a and b are in the range in which the vector form of `kind` is valid.
template <K kind, class D, class V>
HWY_INLINE bool has_vector_form(D d, V a, V b) {
  if constexpr (kind == K::mod)
    return HWY_NATIVE_FMA && all_quotients_small(d, a, b);
  else
    return all_finite_and_not_zero(d, a) && all_finite_and_not_zero(d, b);
}

template <K kind, class T>
void mixed_loop(const void* pa, const void* pb, void* py, size_t n) {
  const T *a = static_cast<const T*>(pa), *b = static_cast<const T*>(pb);
  T* y = static_cast<T*>(py);
  const hn::ScalableTag<T> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto va = hn::LoadU(d, a + i), vb = hn::LoadU(d, b + i);
    if (HWY_UNLIKELY(!has_vector_form<kind>(d, va, vb)))
      plain_loop<kind, T>(a + i, b + i, y + i, lanes);
    else if constexpr (kind == K::mod)
      hn::StoreU(remainder_of(d, va, vb), d, y + i);
    else
      hn::StoreU(angle_of(d, va, vb), d, y + i);
  }
  if (i == n) return;
  HWY_ALIGN T tail_a[hn::MaxLanes(d)], tail_b[hn::MaxLanes(d)];
  for (size_t lane = 0; lane < lanes; ++lane) tail_a[lane] = tail_b[lane] = T{1};
  std::memcpy(tail_a, a + i, (n - i) * sizeof(T));
  std::memcpy(tail_b, b + i, (n - i) * sizeof(T));
  mixed_loop<kind, T>(tail_a, tail_b, tail_a, lanes);
  std::memcpy(y + i, tail_a, (n - i) * sizeof(T));
}

/// The loop of floor_divide and mod of integers, with the results of integer_quotient and remainder
/// in scalars.h. There is no vector instruction for integer division, so the loop divides in
/// float64, where quotients of int32 are never rounded to an integer.
template <K kind>
void integer_division_loop(const void* pa, const void* pb, void* py, size_t n) {
  const auto *a = static_cast<const int32_t*>(pa), *b = static_cast<const int32_t*>(pb);
  auto* y = static_cast<int32_t*>(py);
  const hn::ScalableTag<double> double_tag;
  const hn::Rebind<int32_t, decltype(double_tag)> d;
  const size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d), one = hn::Set(d, 1);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto va = hn::LoadU(d, a + i), vb = hn::LoadU(d, b + i);
    const auto is_zero = hn::Eq(vb, zero), is_minus_one = hn::Eq(vb, hn::Set(d, -1));
    const auto divisor = hn::IfThenElse(hn::Or(is_zero, is_minus_one), one, vb);
    const auto quotient =
        hn::DemoteTo(d, hn::Div(hn::PromoteTo(double_tag, va), hn::PromoteTo(double_tag, divisor)));
    const auto remainder = hn::Sub(va, hn::Mul(quotient, divisor));
    const auto has_other_sign =
        hn::And(hn::Ne(remainder, zero), hn::Lt(hn::Xor(remainder, vb), zero));
    if constexpr (kind == K::mod) {
      hn::StoreU(hn::Add(remainder, hn::IfThenElseZero(has_other_sign, vb)), d, y + i);
    } else {
      const auto floored = hn::Sub(quotient, hn::IfThenElseZero(has_other_sign, one));
      const auto result = hn::IfThenElse(is_minus_one, hn::Neg(va), floored);
      hn::StoreU(hn::IfThenZeroElse(is_zero, result), d, y + i);
    }
  }
  if (i < n) plain_loop<kind, int32_t>(a + i, b + i, y + i, n - i);
}

/// Powers of float32. They are computed from logarithms in float64, except if a lane has a negative
/// base, a power of 0 with an exponent <= 0, or a value that is not finite.
template <bool second_is_scalar>
void power_loop(const void* pa, const void* pb, void* py, size_t n) {
  const auto *a = static_cast<const float*>(pa), *b = static_cast<const float*>(pb);
  auto* y = static_cast<float*>(py);
  const hn::ScalableTag<double> double_tag;
  const hn::Rebind<float, decltype(double_tag)> d;
  const size_t lanes = hn::Lanes(d);
  const auto zero = hn::Zero(d), infinity = hn::Set(d, INFINITY), b0 = hn::Set(d, *b);
  const auto max_exponent = hn::Set(double_tag, 300.0);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto base = hn::LoadU(d, a + i), exponent = second_is_scalar ? b0 : hn::LoadU(d, b + i);
    const auto is_zero = hn::Eq(base, zero);
    const auto are_finite = hn::And(hn::Lt(base, infinity), hn::Lt(hn::Abs(exponent), infinity));
    const auto is_defined = hn::Or(hn::Gt(base, zero), hn::And(is_zero, hn::Gt(exponent, zero)));
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::And(are_finite, is_defined)))) {
      for (size_t k = i; k < i + lanes; ++k) y[k] = std::pow(a[k], b[second_is_scalar ? 0 : k]);
      continue;
    }
    const auto logarithm = binary_logarithm(double_tag, hn::PromoteTo(double_tag, base));
    const auto x = hn::Mul(hn::PromoteTo(double_tag, exponent), logarithm);
    const auto power =
        power_of_2(double_tag, hn::Min(hn::Max(x, hn::Neg(max_exponent)), max_exponent));
    hn::StoreU(hn::IfThenZeroElse(is_zero, hn::DemoteTo(d, power)), d, y + i);
  }
  for (; i < n; ++i) y[i] = std::pow(a[i], b[second_is_scalar ? 0 : i]);
}

/// Powers with a scalar exponent; some exponents are computed by multiplication or division.
template <class T>
void power_by_scalar(const void* a, const void* b, void* y, size_t n) {
  const T exponent = *static_cast<const T*>(b), one = 1;
  if (exponent == 2) return vector_loop<K::multiply, T, false, false>(a, a, y, n);
  if (exponent == -1) return vector_loop<K::divide, T, true, false>(&one, a, y, n);
  if constexpr (std::is_same_v<T, float>) {
    if (exponent != 3) return power_loop<true>(a, b, y, n);
  }
  const T* x = static_cast<const T*>(a);
  T* to = static_cast<T*>(y);
  for (size_t i = 0; i < n; ++i)
    to[i] = exponent == 3 ? x[i] * x[i] * x[i] : evaluate_scalars<K::power, T>(x[i], exponent);
}

template <K kind, class T>
constexpr BinaryLoops make_loops() {
  constexpr bool is_float = std::is_floating_point_v<T>;
  if constexpr (is_float && has_vector_instruction(kind)) {
    return {vector_loop<kind, T, false, false>, vector_loop<kind, T, true, false>,
            vector_loop<kind, T, false, true>};
  } else if constexpr (is_float && (kind == K::mod || kind == K::arctan2)) {
    return {mixed_loop<kind, T>};
  } else if constexpr (std::is_same_v<T, int32_t> && (kind == K::mod || kind == K::floor_divide)) {
    return {integer_division_loop<kind>};
  } else if constexpr (is_float && kind == K::power) {
    constexpr bool uses_vectors = std::is_same_v<T, float>;
    return {uses_vectors ? power_loop<false> : plain_loop<kind, T>, nullptr, power_by_scalar<T>};
  } else {
    return {plain_loop<kind, T>};
  }
}

template <class T, size_t... i>
BinaryLoops find_loops(BinaryKind kind, std::index_sequence<i...>) {
  static constexpr std::array<BinaryLoops, sizeof...(i)> loops = {
      make_loops<static_cast<K>(i), T>()...};
  return loops[static_cast<size_t>(kind)];
}

/// Comparisons of bfloat16.
template <K kind, bool first_is_scalar, bool second_is_scalar>
void half_compare(const void* pa, const void* pb, void* py, size_t n) {
  const auto as_float = [](uint16_t bits) {
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  };
  const auto *a = static_cast<const uint16_t*>(pa), *b = static_cast<const uint16_t*>(pb);
  const float a0 = first_is_scalar ? *static_cast<const float*>(pa) : 0,
              b0 = second_is_scalar ? *static_cast<const float*>(pb) : 0;
  auto* y = static_cast<uint8_t*>(py);
  for (size_t i = 0; i < n; ++i) {
    const float left = first_is_scalar ? a0 : as_float(a[i]),
                right = second_is_scalar ? b0 : as_float(b[i]);
    y[i] = static_cast<uint8_t>(evaluate_scalars<kind, float>(left, right));
  }
}

template <K kind>
constexpr BinaryLoops half_loops() {
  return {half_loop<kind, false, false>, half_loop<kind, true, false>,
          half_loop<kind, false, true>};
}
template <K kind>
constexpr BinaryLoops comparison_loops() {
  return {half_compare<kind, false, false>, half_compare<kind, true, false>,
          half_compare<kind, false, true>};
}
BinaryLoops find_half(BinaryKind kind) {
  switch (kind) {
    case K::add:
      return half_loops<K::add>();
    case K::subtract:
      return half_loops<K::subtract>();
    case K::multiply:
      return half_loops<K::multiply>();
    case K::maximum:
      return half_loops<K::maximum>();
    case K::minimum:
      return half_loops<K::minimum>();
    case K::greater:
      return comparison_loops<K::greater>();
    case K::greater_equal:
      return comparison_loops<K::greater_equal>();
    case K::less:
      return comparison_loops<K::less>();
    case K::less_equal:
      return comparison_loops<K::less_equal>();
    default:
      return {};
  }
}

BinaryLoops find_binary(BinaryKind kind, DType dtype) {
  constexpr auto kinds = std::make_index_sequence<kBinaryCount>();
  switch (dtype) {
    case DType::float32:
      return find_loops<float>(kind, kinds);
    case DType::float64:
      return find_loops<double>(kind, kinds);
    case DType::bfloat16:
      return find_half(kind);
    case DType::int32:
      return find_loops<int32_t>(kind, kinds);
    case DType::int64:
      return find_loops<int64_t>(kind, kinds);
    case DType::uint8:
    case DType::boolean:
      return find_loops<uint8_t>(kind, kinds);
    case DType::string:
      return find_loops<int64_t>(kind, kinds);
    default:
      return rare_binary_loops(kind, dtype);
  }
}

template <class T>
void select(const void* condition, const void* a, const void* b, void* y, size_t n) {
  const uint8_t* c = static_cast<const uint8_t*>(condition);
  const T *pa = static_cast<const T*>(a), *pb = static_cast<const T*>(b);
  T* out = static_cast<T*>(y);
  for (size_t i = 0; i < n; ++i) {
    const T va = pa[i], vb = pb[i];
    out[i] = c[i] ? va : vb;
  }
}

template <class T>
void fill(const void* x, void* y, size_t n) {
  const T value = *static_cast<const T*>(x);
  T* out = static_cast<T*>(y);
  for (size_t i = 0; i < n; ++i) out[i] = value;
}

SelectLoop find_select(size_t bytes) {
  return bytes == 1   ? select<uint8_t>
         : bytes == 2 ? select<uint16_t>
         : bytes == 4 ? select<uint32_t>
                      : select<uint64_t>;
}
UnaryLoop find_fill(size_t bytes) {
  return bytes == 1   ? fill<uint8_t>
         : bytes == 2 ? fill<uint16_t>
         : bytes == 4 ? fill<uint32_t>
                      : fill<uint64_t>;
}

}  // namespace
}  // namespace crescent::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crescent::cpu {

HWY_EXPORT(find_binary);
HWY_EXPORT(find_select);
HWY_EXPORT(find_fill);

BinaryLoops binary_loops(BinaryKind kind, DType dtype) {
  return HWY_DYNAMIC_DISPATCH(find_binary)(kind, dtype);
}
SelectLoop select_loop(size_t bytes) { return HWY_DYNAMIC_DISPATCH(find_select)(bytes); }
UnaryLoop fill_loop(size_t bytes) { return HWY_DYNAMIC_DISPATCH(find_fill)(bytes); }

int cost_of(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::divide:
      return 3;
    case BinaryKind::power:
    case BinaryKind::arctan2:
    case BinaryKind::mod:
      return 50;
    default:
      return 1;
  }
}

}  // namespace crescent::cpu
#endif
