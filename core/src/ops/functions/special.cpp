// Functions that have kernels of their own and are not composed of other ops: bitwise functions,
// greatest common divisors, special functions, reinterpretation of bytes.
#include <cmath>
#include <cstring>
#include <numbers>

#include "crescent/data/data.h"
#include "crescent/ops/elementwise.h"
#include "ops/functions/array_ops.h"

namespace crescent {
namespace {

Tensor apply_special(Special kind, const Tensor& input) {
  SpecialFunction op;
  op.kind = kind;
  const Tensor x = ops::floating(input);
  return ops::cast(apply1(op, {without_halves(x)}), x.dtype());
}

}  // namespace

std::string to_text(Special kind) {
  constexpr const char* kNames[] = {"erfinv", "erfc", "i0", "i1"};
  return kNames[static_cast<size_t>(kind)];
}
double bessel_i(double order, double x) {
  constexpr double kMaxArgument = 713;  // the largest argument for which the result is finite
  return x > kMaxArgument ? INFINITY : std::cyl_bessel_i(order, x);
}

TensorSpecs SpecialFunction::infer(std::span<const TensorSpec> in) const { return {in[0]}; }
Tensors SpecialFunction::vjp(const Vjp& v) const {
  const Tensor &x = v.inputs[0], &y = v.outputs[0], &g = v.gradients[0];
  if (kind == Special::erfinv) return {g * ops::exp(y * y) * (std::sqrt(std::numbers::pi) / 2)};
  if (kind == Special::erfc) return {g * ops::exp(-(x * x)) * (-2 / std::sqrt(std::numbers::pi))};
  if (kind == Special::i0) return {g * apply_special(Special::i1, x)};
  // The derivative of the Bessel function I1 is I0(x) - I1(x) / x; at 0, where the quotient is 0 /
  // 0, its limit is 1/2.
  const Tensor is_zero = ops::equal(x, 0);
  const Tensor ratio = ops::where(is_zero, 0.5, y / ops::where(is_zero, 1.0, x));
  return {g * (apply_special(Special::i0, x) - ratio)};
}

namespace ops {
namespace {

Tensor as_float64(const Tensor& x) { return ops::cast(x, DType::float64); }

/// The next number after x1 towards x2. Its derivative is 1 with respect to x1 and 0 with respect
/// to x2.
struct NextAfter final : OpOf<NextAfter> {
  static constexpr const char* kName = "nextafter";
  auto fields() const { return std::tie(); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  Tensors decompose(std::span<const Tensor> in) const override {
    Pairs op;
    op.kind = Pairing::nextafter;
    return crescent::apply(std::make_shared<const Pairs>(op), in);
  }
  Tensors vjp(const Vjp& v) const override { return {v.gradients[0], Tensor()}; }
};

/// Applies the op to two tensors. For half-width floats, nextafter is computed in float64, which
/// has numbers between neighbouring half-width floats.
template <Pairing Kind>
Tensor apply_pairing(const Operand& a, const Operand& b) {
  auto [x, y] = promoted(a, b);
  constexpr bool wants_floats = Kind == Pairing::nextafter;
  if (wants_floats) x = floating(x), y = floating(y);
  const DType dtype = x.dtype();
  if (wants_floats && size_of(dtype) == 2) x = as_float64(x), y = as_float64(y);
  const bool is_logical = x.dtype() == DType::boolean;
  if (!wants_floats && !is_integer(x.dtype()) && !is_logical)
    fail(to_text(Kind), ": expected whole numbers, got ", x.dtype());
  if (is_logical) x = ops::cast(x, DType::uint8), y = ops::cast(y, DType::uint8);
  const Shape shape = broadcast_shapes(x.shape(), y.shape(), to_text(Kind));
  x = ops::broadcast_to(x, shape), y = ops::broadcast_to(y, shape);
  if constexpr (wants_floats) return ops::cast(apply1(NextAfter{}, {x, y}), dtype);
  Pairs op;
  op.kind = Kind;
  return ops::cast(apply1(op, {x, y}), dtype);
}

struct View final : OpOf<View> {
  static constexpr const char* kName = "view";
  DType dtype{};
  auto fields() const { return std::tie(dtype); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override {
    Shape shape = in[0].shape;
    const auto old_size = static_cast<int64_t>(size_of(in[0].dtype)),
               new_size = static_cast<int64_t>(size_of(dtype));
    if (old_size != new_size) {
      const int64_t last_dim = shape.rank() ? shape[-1] : 0;
      if (last_dim < 1 || last_dim * old_size % new_size != 0)
        fail("view: shape ", shape, " of ", in[0].dtype, " cannot be seen as ", dtype);
      shape.set(-1, last_dim * old_size / new_size);
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

}  // namespace

Tensor bitwise_and(const Operand& a, const Operand& b) {
  return apply_pairing<Pairing::bit_and>(a, b);
}
Tensor bitwise_or(const Operand& a, const Operand& b) {
  return apply_pairing<Pairing::bit_or>(a, b);
}
Tensor bitwise_xor(const Operand& a, const Operand& b) {
  return apply_pairing<Pairing::bit_xor>(a, b);
}
Tensor bitwise_left_shift(const Operand& a, const Operand& b) {
  return apply_pairing<Pairing::shift_left>(a, b);
}
Tensor bitwise_right_shift(const Operand& a, const Operand& b) {
  return apply_pairing<Pairing::shift_right>(a, b);
}
Tensor gcd(const Operand& a, const Operand& b) { return apply_pairing<Pairing::gcd>(a, b); }
Tensor lcm(const Operand& a, const Operand& b) { return apply_pairing<Pairing::lcm>(a, b); }
Tensor nextafter(const Operand& a, const Operand& b) {
  return apply_pairing<Pairing::nextafter>(a, b);
}

Tensor bitwise_not(const Tensor& x) {
  if (x.dtype() == DType::boolean) return ops::logical_not(x);
  if (!is_integer(x.dtype())) fail("bitwise_not: expected whole numbers, got ", x.dtype());
  return ops::subtract(x.dtype() == DType::uint8 ? 255 : -1, x);
}

Tensor i0(const Tensor& x) { return apply_special(Special::i0, wide_floating(x)); }
Tensor erfinv(const Tensor& x) { return apply_special(Special::erfinv, x); }
Tensor erfc(const Tensor& x) { return apply_special(Special::erfc, x); }

Tensor view(const Tensor& x, std::optional<DType> dtype) {
  if (!dtype || *dtype == x.dtype()) return x;
  View op;
  op.dtype = *dtype;
  return apply1(op, {x});
}

Tensor saturate_cast(const Tensor& x, DType dtype) {
  if (dtype == DType::complex64 || x.dtype() == DType::complex64) return ops::cast(x, dtype);
  const bool has_fractions = is_floating(x.dtype());
  if (is_floating(dtype) && has_fractions) {
    const double largest_number = std::min(largest_finite(x.dtype()), largest_finite(dtype));
    return ops::cast(ops::clip(x, -largest_number, largest_number), dtype);
  }
  if (dtype == DType::float16) {
    constexpr int64_t kMaxFloat16 = 65504;  // larger integers are beyond the range of float16
    return ops::cast(ops::clip(ops::cast(x, DType::int64), -kMaxFloat16, kMaxFloat16), dtype);
  }
  if (is_floating(dtype)) return ops::cast(x, dtype);
  if (dtype == DType::int64) {
    if (!has_fractions) return ops::cast(x, dtype);
    return ops::cast(ops::clip(ops::cast(x, DType::float64), -0x1p63, 0x1p63 - 1024), dtype);
  }
  int64_t low = 0, high = dtype == DType::boolean ? 1 : 255;
  if (dtype == DType::int8) low = -(1 << 7), high = (1 << 7) - 1;
  if (dtype == DType::int16) low = -(1 << 15), high = (1 << 15) - 1;
  if (dtype == DType::int32) low = INT32_MIN, high = INT32_MAX;
  const Tensor wide_x = ops::cast(x, has_fractions ? DType::float64 : DType::int64);
  return ops::cast(ops::clip(wide_x, low, high), dtype);
}

}  // namespace ops
}  // namespace crescent
