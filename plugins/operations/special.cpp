// Functions that no formula of others gives: bits and divisors of whole numbers, special functions,
// the bytes of numbers.
#include <cstring>

#include "crescent/data/data.h"
#include "crescent/registry/registration.h"
#include "families.h"
#include "kernels/pairs.h"
#include "kernels/special_functions.h"

namespace crescent::operations {
namespace {

// ---- two numbers to one

Tensor doubled(const Tensor& x) { return ops::cast(x, DType::float64); }

/// Numbers of two bytes go through float64, in which the next one is near.
template <Pairing Kind>
Tensor pairs(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  constexpr bool wants_floats = Kind == Pairing::nextafter;
  if (wants_floats) x = floating(x), y = floating(y);
  const DType dtype = x.dtype();
  if (wants_floats && size_of(dtype) == 2) x = doubled(x), y = doubled(y);
  const bool logical = x.dtype() == DType::boolean;
  if (!wants_floats && !is_integer(x.dtype()) && !logical)
    fail(to_text(Kind), ": expected whole numbers, got ", x.dtype());
  if (logical) x = ops::cast(x, DType::uint8), y = ops::cast(y, DType::uint8);
  const Shape shape = broadcast_shapes(x.shape(), y.shape(), to_text(Kind));
  const Tensor result = paired(Kind, ops::broadcast_to(x, shape), ops::broadcast_to(y, shape));
  return ops::cast(result, dtype);
}

Tensor bitwise_not(const Tensor& x) {
  if (x.dtype() == DType::boolean) return ops::logical_not(x);
  if (!is_integer(x.dtype())) fail("bitwise_not: expected whole numbers, got ", x.dtype());
  return ops::subtract(x.dtype() == DType::uint8 ? 255 : -1, x);
}

Tensor i0(const Tensor& x) { return bessel_i0(wide_floating(x)); }

// ---- the same bits, and the nearest number that fits

struct View final : OpOf<View> {
  static constexpr const char* kName = "view";
  DType dtype{};
  auto fields() const { return std::tie(dtype); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    Shape shape = in[0].shape;
    const auto from = static_cast<int64_t>(size_of(in[0].dtype)),
               to = static_cast<int64_t>(size_of(dtype));
    if (from != to) {
      const int64_t last = shape.rank() ? shape[-1] : 0;
      if (last < 1 || last * from % to != 0)
        fail("view: shape ", shape, " of ", in[0].dtype, " cannot be seen as ", dtype);
      shape.set(-1, last * from / to);
    }
    return {{dtype, shape}};
  }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    if (in[0].bytes()) std::memcpy(out[0].mutable_raw(), in[0].raw(), in[0].bytes());
    if (dtype == DType::boolean)
      normalize_booleans(static_cast<std::byte*>(out[0].mutable_raw()), out[0].bytes());
    return true;
  }
};

Tensor view(const Tensor& x, std::optional<DType> dtype) {
  if (!dtype || *dtype == x.dtype()) return x;
  View op;
  op.dtype = *dtype;
  return apply1(op, {x});
}

Tensor saturate_cast(const Tensor& x, DType dtype) {
  if (is_floating(dtype) || dtype == DType::complex64) return ops::cast(x, dtype);
  const bool fractions = is_floating(x.dtype());
  if (dtype == DType::int64) {
    if (!fractions) return ops::cast(x, dtype);
    return ops::cast(ops::clip(ops::cast(x, DType::float64), -0x1p63, 0x1p63 - 1024), dtype);
  }
  int64_t low = 0, high = dtype == DType::boolean ? 1 : 255;
  if (dtype == DType::int8) low = -(1 << 7), high = (1 << 7) - 1;
  if (dtype == DType::int16) low = -(1 << 15), high = (1 << 15) - 1;
  if (dtype == DType::int32) low = INT32_MIN, high = INT32_MAX;
  const Tensor wide = ops::cast(x, fractions ? DType::float64 : DType::int64);
  return ops::cast(ops::clip(wide, low, high), dtype);
}

}  // namespace

CRESCENT_REGISTER(special) {
  Operations(registry, "keras.src.ops.numpy")
      .add("BitwiseAnd", "bitwise_and(x, y)", &pairs<Pairing::bit_and>, "The bits that both have.")
      .add("BitwiseOr", "bitwise_or(x, y)", &pairs<Pairing::bit_or>,
           "The bits that one of them has.")
      .add("BitwiseXor", "bitwise_xor(x, y)", &pairs<Pairing::bit_xor>,
           "The bits that exactly one of them has.")
      .add("BitwiseNot", "bitwise_not(x)", &bitwise_not, "The bits that x lacks.")
      .add("BitwiseInvert", "bitwise_invert(x)", &bitwise_not, "The same as bitwise_not.")
      .add("BitwiseLeftShift", "bitwise_left_shift(x, y)", &pairs<Pairing::shift_left>,
           "The bits of x moved left by y.")
      .add("LeftShift", "left_shift(x, y)", &pairs<Pairing::shift_left>,
           "The same as bitwise_left_shift.")
      .add("BitwiseRightShift", "bitwise_right_shift(x, y)", &pairs<Pairing::shift_right>,
           "The bits of x moved right by y.")
      .add("RightShift", "right_shift(x, y)", &pairs<Pairing::shift_right>,
           "The same as bitwise_right_shift.")
      .add("Gcd", "gcd(x1, x2)", &pairs<Pairing::gcd>, "The greatest common divisor.")
      .add("Lcm", "lcm(x1, x2)", &pairs<Pairing::lcm>, "The least common multiple.")
      .add("Nextafter", "nextafter(x1, x2)", &pairs<Pairing::nextafter>,
           "The next number after x1 towards x2.")
      .add("I0", "i0(x)", &i0, "The modified Bessel function of order 0.")
      .add("View", "view(x, dtype=None)", &view, "The same bytes as another dtype.");
  Operations(registry, "keras.src.ops.math")
      .add("Erfinv", "erfinv(x)", &inverse_erf, "The inverse of erf.")
      .add("Erfc", "erfc(x)", &complement_of_erf, "1 - erf(x), accurate far out too.");
  Operations(registry, "keras.src.ops.core")
      .add("SaturateCast", "saturate_cast(x, dtype)", &saturate_cast,
           "Cast, with what does not fit as the nearest that does.");
}

}  // namespace crescent::operations
