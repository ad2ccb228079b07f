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

/// c[0] + c[1] x + ...
template <size_t n>
double polynomial(const double (&c)[n], double x) {
  double sum = c[n - 1];
  for (size_t i = n - 1; i-- > 0;) sum = sum * x + c[i];
  return sum;
}

/// The inverse of erf, by the quantiles of the normal distribution (Wichura, Algorithm AS 241,
/// 1988): three quotients of polynomials, for the middle, the flanks and the ends.
double inverse_erf(double y) {
  const double size = std::abs(y);
  if (size >= 1) return size == 1 ? std::copysign(INFINITY, y) : NAN;
  if (size <= 0.85) {
    static constexpr double kAbove[] = {3.3871328727963666080e0, 1.3314166789178437745e2,
                                        1.9715909503065514427e3, 1.3731693765509461125e4,
                                        4.5921953931549871457e4, 6.7265770927008700853e4,
                                        3.3430575583588128105e4, 2.5090809287301226727e3};
    static constexpr double kBelow[] = {1.0,
                                        4.2313330701600911252e1,
                                        6.8718700749205790830e2,
                                        5.3941960214247511077e3,
                                        2.1213794301586595867e4,
                                        3.9307895800092710610e4,
                                        2.8729085735721942674e4,
                                        5.2264952788528545610e3};
    const double q = y / 2, r = 0.180625 - q * q;
    return q * polynomial(kAbove, r) / polynomial(kBelow, r) / std::numbers::sqrt2;
  }
  static constexpr double kFlankAbove[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                           5.76949722146069140550e0,  3.64784832476320460504e0,
                                           1.27045825245236838258e0,  2.41780725177450611770e-1,
                                           2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kFlankBelow[] = {1.0,
                                           2.05319162663775882187e0,
                                           1.67638483018380384940e0,
                                           6.89767334985100004550e-1,
                                           1.48103976427480074590e-1,
                                           1.51986665636164571966e-2,
                                           5.47593808499534494600e-4,
                                           1.05075007164441684324e-9};
  static constexpr double kEndAbove[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                         1.78482653991729133580e0,  2.96560571828504891230e-1,
                                         2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                         2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kEndBelow[] = {1.0,
                                         5.99832206555887937690e-1,
                                         1.36929880922735805310e-1,
                                         1.48753612908506148525e-2,
                                         7.86869131145613259100e-4,
                                         1.84631831751005468180e-5,
                                         1.42151175831644588870e-7,
                                         2.04426310338993978564e-15};
  const double r = std::sqrt(-std::log((1 - size) / 2));
  const double quantile = r <= 5
                              ? polynomial(kFlankAbove, r - 1.6) / polynomial(kFlankBelow, r - 1.6)
                              : polynomial(kEndAbove, r - 5) / polynomial(kEndBelow, r - 5);
  return std::copysign(quantile / std::numbers::sqrt2, y);
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
