// Functions that no formula of others gives, computed on the host: bits and divisors of whole
// numbers, special functions, the bytes of numbers.
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

#include "families.h"
#include "host.h"

namespace crescent::operations {
namespace {

// ---- two numbers to one

enum class Pairing : uint8_t {
  bit_and,
  bit_or,
  bit_xor,
  shift_left,
  shift_right,
  gcd,
  lcm,
  nextafter,
};
const char* const kPairingNames[] = {"bitwise_and", "bitwise_or", "bitwise_xor", "left_shift",
                                     "right_shift", "gcd",        "lcm",         "nextafter"};
std::string to_text(Pairing kind) { return kPairingNames[static_cast<size_t>(kind)]; }

/// Shifts by more than the width are what shifting bit by bit would give.
template <std::integral T>
T paired(Pairing kind, T a, T b) {
  constexpr int64_t kBits = sizeof(T) * 8;
  const auto width = static_cast<int64_t>(b);
  const bool beyond = width < 0 || width >= kBits;
  switch (kind) {
    case Pairing::bit_and:
      return static_cast<T>(a & b);
    case Pairing::bit_or:
      return static_cast<T>(a | b);
    case Pairing::bit_xor:
      return static_cast<T>(a ^ b);
    case Pairing::shift_left:
      return beyond ? T(0) : static_cast<T>(static_cast<uint64_t>(a) << width);
    case Pairing::shift_right:
      return beyond ? static_cast<T>(a < 0 ? -1 : 0) : static_cast<T>(a >> width);
    case Pairing::gcd:
    case Pairing::lcm: {
      // In unsigned numbers, where the least negative number has an opposite.
      const auto magnitude = [](T x) {
        return x < 0 ? uint64_t{0} - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
      };
      const uint64_t common = std::gcd(magnitude(a), magnitude(b));
      if (kind == Pairing::gcd) return static_cast<T>(common);
      return common == 0 ? T(0) : static_cast<T>(magnitude(a) / common * magnitude(b));
    }
    default:
      return a;
  }
}
template <std::floating_point T>
T paired(Pairing, T a, T b) {
  return std::nextafter(a, b);
}

/// (a, b) of one shape and dtype.
struct Paired final : OpOf<Paired> {
  static constexpr const char* kName = "paired";
  Pairing kind{};
  auto fields() const { return std::tie(kind); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    with_type(in[0].dtype(), [&]<class T>(T) {
      if constexpr (!std::is_same_v<T, bool>) {
        pair_all(in[0].data<T>(), in[1].data<T>(), in[0].size(), out[0].mutable_data<T>());
      }
    });
    return true;
  }

 private:
  /// What is done is decided once.
  template <class T>
  void pair_all(const T* a, const T* b, int64_t n, T* result) const {
    const auto loop = [&]<Pairing Kind>(std::integral_constant<Pairing, Kind>) {
      for (int64_t i = 0; i < n; ++i) result[i] = paired(Kind, a[i], b[i]);
    };
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
      default:
        for (int64_t i = 0; i < n; ++i) result[i] = paired(kind, a[i], b[i]);
    }
  }
};

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
  Paired op;
  op.kind = Kind;
  const Tensor result = apply1(op, {ops::broadcast_to(x, shape), ops::broadcast_to(y, shape)});
  return ops::cast(result, dtype);
}

Tensor bitwise_not(const Tensor& x) {
  if (x.dtype() == DType::boolean) return ops::logical_not(x);
  if (!is_integer(x.dtype())) fail("bitwise_not: expected whole numbers, got ", x.dtype());
  return ops::subtract(x.dtype() == DType::uint8 ? 255 : -1, x);
}

// ---- special functions

/// The inverse of erf: a first guess (Winitzki, 2008), then two steps of Halley. Near 0 and near 1
/// the error is taken from what is small there.
double inverse_erf(double y) {
  if (std::abs(y) >= 1) return std::abs(y) == 1 ? std::copysign(INFINITY, y) : NAN;
  const double a = 0.147, w = std::log1p(-y * y), b = 2 / (std::numbers::pi * a) + w / 2;
  double x = std::copysign(std::sqrt(-w / a / (std::sqrt(b * b - w / a) + b)), y);
  for (int i = 0; i < 2; ++i) {
    const double error = std::abs(y) < 0.5 ? std::erf(x) - y
                         : y > 0           ? (1 - y) - std::erfc(x)
                                           : std::erfc(-x) - (1 + y);
    const double step = error / (2 / std::sqrt(std::numbers::pi) * std::exp(-x * x));
    x -= step / (1 + x * step);
  }
  return x;
}

enum class Special : uint8_t { erfinv, i0, i1 };
std::string to_text(Special kind) {
  return kind == Special::erfinv ? "erfinv" : kind == Special::i0 ? "i0" : "i1";
}

double special(Special kind, double x) {
  if (std::isnan(x)) return x;
  if (kind == Special::erfinv) return inverse_erf(x);
  if (std::isinf(x)) return NAN;  // as Keras has it
  const double value = bessel_i(kind == Special::i0 ? 0 : 1, std::abs(x));
  return kind == Special::i1 ? std::copysign(value, x) : value;
}

struct SpecialFunction final : OpOf<SpecialFunction> {
  static constexpr const char* kName = "special";
  Special kind{};
  auto fields() const { return std::tie(kind); }
  TensorSpecs infer(std::span<const TensorSpec> in) const override { return {in[0]}; }
  bool compute(std::span<const Tensor> in, std::span<Tensor> out) const override {
    with_type(in[0].dtype(), [&]<class T>(T) {
      const T* x = in[0].data<T>();
      T* y = out[0].mutable_data<T>();
      for (int64_t i = 0; i < in[0].size(); ++i)
        y[i] = static_cast<T>(special(kind, static_cast<double>(x[i])));
    });
    return true;
  }
  Tensors vjp(const Vjp& v) const override;
};

Tensor apply_special(Special kind, const Tensor& given) {
  SpecialFunction op;
  op.kind = kind;
  const Tensor x = floating(given);
  const bool half = x.dtype() == DType::bfloat16 || x.dtype() == DType::float16;
  return ops::cast(apply1(op, {half ? ops::cast(x, DType::float32) : x}), x.dtype());
}

Tensors SpecialFunction::vjp(const Vjp& v) const {
  const Tensor &x = v.inputs[0], &y = v.outputs[0], &g = v.gradients[0];
  if (kind == Special::erfinv) return {g * ops::exp(y * y) * (std::sqrt(std::numbers::pi) / 2)};
  if (kind == Special::i0) return {g * apply_special(Special::i1, x)};
  // I1' = I0 - I1 / x, and 1/2 at 0.
  const Tensor zero = ops::equal(x, 0);
  const Tensor ratio = ops::where(zero, 0.5, y / ops::where(zero, 1.0, x));
  return {g * (apply_special(Special::i0, x) - ratio)};
}

Tensor erfinv(const Tensor& x) { return apply_special(Special::erfinv, x); }
Tensor i0(const Tensor& x) { return apply_special(Special::i0, wide_floating(x)); }

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

void add_special(Registry& registry) {
  Operations(registry, "keras.src.ops.numpy")
      .add("BitwiseAnd", "bitwise_and(x, y)", &pairs<Pairing::bit_and>)
      .add("BitwiseOr", "bitwise_or(x, y)", &pairs<Pairing::bit_or>)
      .add("BitwiseXor", "bitwise_xor(x, y)", &pairs<Pairing::bit_xor>)
      .add("BitwiseNot", "bitwise_not(x)", &bitwise_not)
      .add("BitwiseInvert", "bitwise_invert(x)", &bitwise_not)
      .add("BitwiseLeftShift", "bitwise_left_shift(x, y)", &pairs<Pairing::shift_left>)
      .add("LeftShift", "left_shift(x, y)", &pairs<Pairing::shift_left>)
      .add("BitwiseRightShift", "bitwise_right_shift(x, y)", &pairs<Pairing::shift_right>)
      .add("RightShift", "right_shift(x, y)", &pairs<Pairing::shift_right>)
      .add("Gcd", "gcd(x1, x2)", &pairs<Pairing::gcd>, "The greatest common divisor.")
      .add("Lcm", "lcm(x1, x2)", &pairs<Pairing::lcm>, "The least common multiple.")
      .add("Nextafter", "nextafter(x1, x2)", &pairs<Pairing::nextafter>,
           "The next number after x1 towards x2.")
      .add("I0", "i0(x)", &i0, "The modified Bessel function of order 0.")
      .add("View", "view(x, dtype=None)", &view, "The same bytes as another dtype.");
  Operations(registry, "keras.src.ops.math")
      .add("Erfinv", "erfinv(x)", &erfinv, "The inverse of erf.");
  Operations(registry, "keras.src.ops.core")
      .add("SaturateCast", "saturate_cast(x, dtype)", &saturate_cast,
           "Cast, with what does not fit as the nearest that does.");
}

}  // namespace crescent::operations
