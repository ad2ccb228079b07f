// The elementwise ops as tables. The enums UnaryKind and BinaryKind, the names, the functions of
// ops.h and the dtype checks are generated from these rows. The kernel of each kind is a line of
// plugins/cpu/elementwise, its gradient a line of core/src/ops/elementwise.cpp.
#pragma once
#include <cstdint>

namespace crescent {

/// ROW(name, dtype rule). `floating`: integers and bool are cast to float first; `numbers`: bool is
/// cast to a number; `boolean`: numbers are cast to bool; `test`: the result is bool.
#define CRESCENT_UNARY_OPS(ROW)          \
  ROW(negative, numbers)                 \
  ROW(abs, numbers)                      \
  ROW(sign, numbers)                     \
  ROW(square, numbers)                   \
  ROW(sqrt, floating)                    \
  ROW(rsqrt, floating)                   \
  ROW(reciprocal, floating)              \
  ROW(exp, floating)                     \
  ROW(expm1, floating)                   \
  ROW(log, floating)                     \
  ROW(log1p, floating)                   \
  ROW(sin, floating)                     \
  ROW(cos, floating)                     \
  ROW(tan, floating)                     \
  ROW(arcsin, floating)                  \
  ROW(arccos, floating)                  \
  ROW(arctan, floating)                  \
  ROW(sinh, floating)                    \
  ROW(cosh, floating)                    \
  ROW(tanh, floating)                    \
  ROW(sigmoid, floating)                 \
  ROW(relu, numbers)                     \
  ROW(softplus, floating)                \
  ROW(erf, floating)                     \
  ROW(floor, numbers)                    \
  ROW(ceil, numbers)                     \
  ROW(round, numbers) /* half to even */ \
  ROW(logical_not, boolean)              \
  ROW(isnan, test)                       \
  ROW(isfinite, test)

/// ROW(name, dtype rule). `arithmetic`: on numbers; `floating`: integers and bool are cast to float
/// first; `extreme`: on numbers or bool; `comparison`: the result is bool; `logical`: on bool.
#define CRESCENT_BINARY_OPS(ROW)                 \
  ROW(add, arithmetic)                           \
  ROW(subtract, arithmetic)                      \
  ROW(multiply, arithmetic)                      \
  ROW(divide, floating)                          \
  ROW(power, arithmetic)                         \
  ROW(maximum, extreme)                          \
  ROW(minimum, extreme)                          \
  ROW(floor_divide, arithmetic)                  \
  ROW(mod, arithmetic) /* sign of the divisor */ \
  ROW(arctan2, floating)                         \
  ROW(equal, comparison)                         \
  ROW(not_equal, comparison)                     \
  ROW(less, comparison)                          \
  ROW(less_equal, comparison)                    \
  ROW(greater, comparison)                       \
  ROW(greater_equal, comparison)                 \
  ROW(logical_and, logical)                      \
  ROW(logical_or, logical)

#define CRESCENT_KIND(name, ...) name,
enum class UnaryKind : uint8_t { CRESCENT_UNARY_OPS(CRESCENT_KIND) };
enum class BinaryKind : uint8_t { CRESCENT_BINARY_OPS(CRESCENT_KIND) };
#undef CRESCENT_KIND

#define CRESCENT_ONE(...) +1
inline constexpr int kUnaryCount = CRESCENT_UNARY_OPS(CRESCENT_ONE);
inline constexpr int kBinaryCount = CRESCENT_BINARY_OPS(CRESCENT_ONE);
#undef CRESCENT_ONE

}  // namespace crescent
