// Loops for dtypes that are rarely used: small signed integers, complex numbers, strings.
#include <array>
#include <utility>

#include "elementwise/scalars.h"
#include "kernel/loops.h"

namespace crescent::cpu {
namespace {

template <UnaryKind kind, class T>
void apply_unary(const void* x, void* y, size_t n) {
  using Y = std::conditional_t<gives_bool(kind), uint8_t, T>;
  const T* in = static_cast<const T*>(x);
  Y* out = static_cast<Y*>(y);
  for (size_t i = 0; i < n; ++i) out[i] = static_cast<Y>(evaluate_integer<kind, T>(in[i]));
}

template <UnaryKind kind, class T>
constexpr UnaryLoop make_unary_loop() {
  if constexpr (is_for_integers(kind))
    return apply_unary<kind, T>;
  else
    return nullptr;
}

template <class T, size_t... i>
UnaryLoop find_unary_loop(UnaryKind kind, std::index_sequence<i...>) {
  static constexpr std::array loops = {make_unary_loop<static_cast<UnaryKind>(i), T>()...};
  return loops[static_cast<size_t>(kind)];
}

template <BinaryKind kind, class T>
void apply_binary(const void* pa, const void* pb, void* py, size_t n) {
  using Y = std::conditional_t<gives_bool(kind), uint8_t, T>;
  const T *a = static_cast<const T*>(pa), *b = static_cast<const T*>(pb);
  Y* y = static_cast<Y*>(py);
  for (size_t i = 0; i < n; ++i) y[i] = static_cast<Y>(evaluate_scalars<kind, T>(a[i], b[i]));
}

template <class T, size_t... i>
BinaryLoops find_binary_loops(BinaryKind kind, std::index_sequence<i...>) {
  static constexpr std::array<BinaryLoops, sizeof...(i)> loops = {
      BinaryLoops{apply_binary<static_cast<BinaryKind>(i), T>}...};
  return loops[static_cast<size_t>(kind)];
}

struct BFloat16 {
  uint16_t bits;
};
struct Float16 {
  uint16_t bits;
};
struct Boolean {
  uint8_t value;
};
struct Complex {
  float real, imaginary;
};
struct Text {
  uint64_t id;
};

template <class T>
T number_of(T x) {
  return x;
}
float number_of(BFloat16 x) { return bfloat16_to_float(x.bits); }
float number_of(Float16 x) { return float16_to_float(x.bits); }
uint8_t number_of(Boolean x) { return x.value; }

template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, BFloat16>)
    return {float_to_bfloat16(static_cast<float>(x))};
  else if constexpr (std::is_same_v<To, Float16>)
    return {float_to_float16(static_cast<float>(x))};
  else if constexpr (std::is_same_v<To, Boolean>)
    return {static_cast<uint8_t>(x != 0)};
  else if constexpr (std::is_same_v<To, Complex>)
    return {static_cast<float>(x), 0};
  else if constexpr (std::is_same_v<To, Text>)
    return {static_cast<uint64_t>(x)};
  else if constexpr (std::is_floating_point_v<From> && sizeof(To) < sizeof(int32_t))
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

template <class From>
UnaryLoop cast_to_rare(DType to) {
  switch (to) {
    case DType::int8:
      return cast<From, int8_t>;
    case DType::int16:
      return cast<From, int16_t>;
    case DType::complex64:
      return cast<From, Complex>;
    case DType::string:
      return std::is_same_v<From, double> ? cast<double, Text> : nullptr;
    default:
      return nullptr;
  }
}

template <class From>
UnaryLoop cast_from_rare(DType to) {
  switch (to) {
    case DType::float32:
      return cast<From, float>;
    case DType::float64:
      return cast<From, double>;
    case DType::bfloat16:
      return cast<From, BFloat16>;
    case DType::float16:
      return cast<From, Float16>;
    case DType::int32:
      return cast<From, int32_t>;
    case DType::int64:
      return cast<From, int64_t>;
    case DType::uint8:
      return cast<From, uint8_t>;
    case DType::boolean:
      return cast<From, Boolean>;
    default:
      return cast_to_rare<From>(to);
  }
}

}  // namespace

UnaryLoop rare_unary_loop(UnaryKind kind, DType dtype) {
  constexpr auto kinds = std::make_index_sequence<kUnaryCount>();
  return dtype == DType::int8    ? find_unary_loop<int8_t>(kind, kinds)
         : dtype == DType::int16 ? find_unary_loop<int16_t>(kind, kinds)
                                 : nullptr;
}

BinaryLoops rare_binary_loops(BinaryKind kind, DType dtype) {
  constexpr auto kinds = std::make_index_sequence<kBinaryCount>();
  return dtype == DType::int8    ? find_binary_loops<int8_t>(kind, kinds)
         : dtype == DType::int16 ? find_binary_loops<int16_t>(kind, kinds)
                                 : BinaryLoops{};
}

UnaryLoop rare_cast_loop(DType from, DType to) {
  switch (from) {
    case DType::float32:
      return cast_to_rare<float>(to);
    case DType::float64:
      return cast_to_rare<double>(to);
    case DType::bfloat16:
      return cast_to_rare<BFloat16>(to);
    case DType::float16:
      return cast_to_rare<Float16>(to);
    case DType::int32:
      return cast_to_rare<int32_t>(to);
    case DType::int64:
      return cast_to_rare<int64_t>(to);
    case DType::uint8:
      return cast_to_rare<uint8_t>(to);
    case DType::boolean:
      return cast_to_rare<Boolean>(to);
    case DType::int8:
      return cast_from_rare<int8_t>(to);
    case DType::int16:
      return cast_from_rare<int16_t>(to);
    default:
      return nullptr;
  }
}

}  // namespace crescent::cpu
