// Elementwise functions of two numbers that cannot be composed of other ops: bit operations, common
// divisors and multiples, nextafter.
#include <bit>
#include <numeric>

#include "crescent/program/array_op_types.h"
#include "crescent/registry/registration.h"
#include "crescent/tensor/with_type.h"
#include "each_number.h"

namespace crescent::operations {
namespace {

/// The absolute value as an unsigned number, which can also represent that of the most negative
/// number.
template <class T>
uint64_t magnitude(T x) {
  return x < 0 ? uint64_t{0} - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
}

/// Computes a function of two integers. A shift by more than the number of bits gives the result of
/// as many shifts by one bit.
template <Pairing kind, std::integral T>
T pair_of(T a, T b) {
  const bool exceeds_bits = b < 0 || b >= static_cast<T>(sizeof(T) * 8);
  const T width = exceeds_bits ? T(0) : b;
  if constexpr (kind == Pairing::bit_and) return static_cast<T>(a & b);
  if constexpr (kind == Pairing::bit_or) return static_cast<T>(a | b);
  if constexpr (kind == Pairing::bit_xor) return static_cast<T>(a ^ b);
  if constexpr (kind == Pairing::shift_left)
    return exceeds_bits ? T(0) : static_cast<T>(static_cast<std::make_unsigned_t<T>>(a) << width);
  if constexpr (kind == Pairing::shift_right)
    return exceeds_bits ? static_cast<T>(a < 0 ? -1 : 0) : static_cast<T>(a >> width);
  if constexpr (kind == Pairing::gcd) return static_cast<T>(std::gcd(magnitude(a), magnitude(b)));
  if constexpr (kind == Pairing::lcm) {
    const uint64_t divisor = std::gcd(magnitude(a), magnitude(b));
    return divisor == 0 ? T(0) : static_cast<T>(magnitude(a) / divisor * magnitude(b));
  }
  return a;
}

/// The next floating-point number after a in the direction of b, found by incrementing or
/// decrementing the bits; infinity has no next number.
template <Pairing kind, std::floating_point T>
T pair_of(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  constexpr Bits kSign = std::numeric_limits<Bits>::min();
  constexpr Bits kInfinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  const Bits x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
  const Bits x_rank = x < 0 ? kSign - x : x, y_rank = y < 0 ? kSign - y : y;
  const Bits adjacent = x + ((x_rank < y_rank) == (x > 0) ? 1 : -1), least = (y & kSign) | 1;
  const Bits neighbour = x_rank == 0 ? least : adjacent, result = x_rank == y_rank ? y : neighbour;
  const bool is_number =
      x_rank >= -kInfinity && x_rank <= kInfinity && y_rank >= -kInfinity && y_rank <= kInfinity;
  return std::bit_cast<T>(is_number ? result : kInfinity + 1);
}

/// The loop for the function `kind` of two numbers.
struct PairsLoop {
  Pairing kind;
  explicit PairsLoop(const Pairs& op) : kind(op.kind) {}
  void compute_range(DType dtype, const std::byte* const* in, std::byte* out, int64_t begin,
                     int64_t end) const {
    with_type(dtype, [&]<class T>(T) {
      if constexpr (!std::is_same_v<T, bool>) {
        compute_pairs(reinterpret_cast<const T*>(in[0]), reinterpret_cast<const T*>(in[1]),
                      reinterpret_cast<T*>(out), begin, end);
      }
    });
  }

 private:
  /// Computes a range; the function is chosen once per range.
  template <class T>
  void compute_pairs(const T* a, const T* b, T* result, int64_t begin, int64_t end) const {
    const auto loop = [&]<Pairing Kind>(std::integral_constant<Pairing, Kind>) {
      for (int64_t i = begin; i < end; ++i) result[i] = pair_of<Kind>(a[i], b[i]);
    };
    if constexpr (std::is_floating_point_v<T>) {
      loop(std::integral_constant<Pairing, Pairing::nextafter>());
    } else {
      switch (kind) {
        case Pairing::bit_and:
          return loop(std::integral_constant<Pairing, Pairing::bit_and>());
        case Pairing::bit_or:
          return loop(std::integral_constant<Pairing, Pairing::bit_or>());
        case Pairing::bit_xor:
          return loop(std::integral_constant<Pairing, Pairing::bit_xor>());
        case Pairing::shift_left:
          return loop(std::integral_constant<Pairing, Pairing::shift_left>());
        case Pairing::shift_right:
          return loop(std::integral_constant<Pairing, Pairing::shift_right>());
        case Pairing::gcd:
          return loop(std::integral_constant<Pairing, Pairing::gcd>());
        default:
          return loop(std::integral_constant<Pairing, Pairing::lcm>());
      }
    }
  }
};

}  // namespace

CRESCENT_REGISTER(pairs_kernel) { registry.add<EachNumberKernel<Pairs, PairsLoop>>(Pairs::kName); }

}  // namespace crescent::operations
