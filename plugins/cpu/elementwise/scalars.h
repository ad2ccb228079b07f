// Elementwise operations on scalars.
#pragma once
#include <hwy/base.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "crescent/program/op_types.h"

namespace crescent::cpu {

/// The types of arguments that an operation takes, as listed in elementwise_ops.h.
enum class UnaryDomain : uint8_t { floating, numbers, boolean, test };
#define CRESCENT_DOMAIN(name, domain) UnaryDomain::domain,
inline constexpr UnaryDomain kUnaryDomains[] = {CRESCENT_UNARY_OPS(CRESCENT_DOMAIN)};
#undef CRESCENT_DOMAIN
constexpr UnaryDomain domain_of(UnaryKind kind) { return kUnaryDomains[static_cast<size_t>(kind)]; }

constexpr bool gives_bool(UnaryKind kind) {
  return domain_of(kind) == UnaryDomain::boolean || domain_of(kind) == UnaryDomain::test;
}
constexpr bool is_for_integers(UnaryKind kind) { return domain_of(kind) != UnaryDomain::floating; }

/// Operations on integers and bool, which wrap around on overflow.
template <UnaryKind kind, class T>
HWY_INLINE auto evaluate_integer(T v) {
  using K = UnaryKind;
  using U = std::make_unsigned_t<T>;
  if constexpr (kind == K::negative)
    return static_cast<T>(U{0} - static_cast<U>(v));
  else if constexpr (kind == K::abs)
    return v < 0 ? static_cast<T>(U{0} - static_cast<U>(v)) : v;
  else if constexpr (kind == K::sign)
    return static_cast<T>((v > 0) - (v < 0));
  else if constexpr (kind == K::square)
    return static_cast<T>(static_cast<uint64_t>(v) * static_cast<uint64_t>(v));
  else if constexpr (kind == K::relu)
    return v < 0 ? T{0} : v;
  else if constexpr (kind == K::logical_not)
    return v == 0;
  else if constexpr (kind == K::isnan)
    return false;
  else if constexpr (kind == K::isfinite)
    return true;
  else {
    static_assert(kind == K::floor || kind == K::ceil || kind == K::round, "no form for integers");
    return v;
  }
}

constexpr bool gives_bool(BinaryKind kind) { return kind >= BinaryKind::equal; }

template <class T>
HWY_INLINE T integer_power(T base, T exponent) {
  if (exponent < 0)
    return static_cast<T>(base == 1 ? 1 : base == T(-1) ? (exponent % 2 ? -1 : 1) : 0);
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (uint64_t e = static_cast<uint64_t>(exponent); e > 0; e >>= 1, square *= square) {
    if (e & 1) result *= square;
  }
  return static_cast<T>(result);
}

/// Division by 0 gives 0; the most negative number divided by -1 wraps around.
template <class T>
HWY_INLINE T integer_quotient(T a, T b, bool rounds_down) {
  if (b == 0) return 0;
  if (std::is_signed_v<T> && b == T(-1))
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
  T quotient = static_cast<T>(a / b);
  return rounds_down && a % b != 0 && (a < 0) != (b < 0) ? static_cast<T>(quotient - 1) : quotient;
}

template <class T>
HWY_INLINE T remainder(T a, T b) {
  T r;
  if constexpr (std::is_floating_point_v<T>) {
    r = std::fmod(a, b);
  } else {
    if (b == 0 || (std::is_signed_v<T> && b == T(-1))) return 0;
    r = static_cast<T>(a % b);
  }
  return r != 0 && (r < 0) != (b < 0) ? static_cast<T>(r + b) : r;
}

/// The largest whole number that is not above a / b. If the division rounds the quotient up to a
/// whole number, a - quotient b has another sign than b, and the result is one less.
template <std::floating_point T>
HWY_INLINE T floored_quotient(T a, T b) {
  const T quotient = std::floor(a / b), difference = std::fma(-quotient, b, a);
  return (b > 0 ? difference < 0 : difference > 0) ? quotient - 1 : quotient;
}

template <BinaryKind kind, class T>
HWY_INLINE auto evaluate_scalars(T a, T b) {
  constexpr bool is_floating = std::is_floating_point_v<T>;
  if constexpr (kind == BinaryKind::power && is_floating)
    return std::pow(a, b);
  else if constexpr (kind == BinaryKind::power)
    return integer_power(a, b);
  else if constexpr (kind == BinaryKind::floor_divide && is_floating)
    return floored_quotient(a, b);
  else if constexpr (kind == BinaryKind::floor_divide)
    return integer_quotient(a, b, true);
  else if constexpr (kind == BinaryKind::mod)
    return remainder(a, b);
  else if constexpr (kind == BinaryKind::arctan2)
    return static_cast<T>(std::atan2(a, b));
  else if constexpr (kind == BinaryKind::add)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else if constexpr (kind == BinaryKind::subtract)
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  else if constexpr (kind == BinaryKind::multiply)
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else if constexpr (kind == BinaryKind::divide)
    return integer_quotient(a, b, false);
  else if constexpr (kind == BinaryKind::maximum)
    return a > b ? a : b;
  else if constexpr (kind == BinaryKind::minimum)
    return a < b ? a : b;
  else if constexpr (kind == BinaryKind::equal)
    return a == b;
  else if constexpr (kind == BinaryKind::not_equal)
    return a != b;
  else if constexpr (kind == BinaryKind::less)
    return a < b;
  else if constexpr (kind == BinaryKind::less_equal)
    return a <= b;
  else if constexpr (kind == BinaryKind::greater)
    return a > b;
  else if constexpr (kind == BinaryKind::greater_equal)
    return a >= b;
  else if constexpr (kind == BinaryKind::logical_and)
    return static_cast<bool>((a != 0) & (b != 0));
  else
    return static_cast<bool>((a != 0) | (b != 0));
}

}  // namespace crescent::cpu
