// Elementwise ops: a table of unary functions, a table of binary functions, select and cast.
#include <cmath>
#include <numbers>

#include "ops/complex.h"
#include "program/run_compiled.h"

namespace crescent {
namespace {

enum class Domain : uint8_t { floating, numbers, boolean, test };

struct UnaryInfo {
  const char* name;
  Domain domain;
};
#define CRESCENT_ROW(name, domain) {#name, Domain::domain},
constexpr UnaryInfo kUnaryInfos[] = {CRESCENT_UNARY_OPS(CRESCENT_ROW)};
#undef CRESCENT_ROW

struct BinaryInfo {
  const char* name;
  enum class Class : uint8_t { arithmetic, floating, extreme, comparison, logical } kind;
};
using BinaryClass = BinaryInfo::Class;
#define CRESCENT_ROW(name, kind) {#name, BinaryClass::kind},
constexpr BinaryInfo kBinaryInfos[] = {CRESCENT_BINARY_OPS(CRESCENT_ROW)};
#undef CRESCENT_ROW

const UnaryInfo& info_of(UnaryKind kind) { return kUnaryInfos[static_cast<size_t>(kind)]; }
const BinaryInfo& info_of(BinaryKind kind) { return kBinaryInfos[static_cast<size_t>(kind)]; }

DType unary_dtype(UnaryKind kind, DType x) {
  const UnaryInfo& info = info_of(kind);
  if (info.domain == Domain::floating) expect_floating(info.name, x);
  const bool wants_bool = info.domain == Domain::boolean;
  if (wants_bool != (x == DType::boolean))
    fail(info.name, ": expected ", wants_bool ? "bool" : "a number", ", got ", x);
  return info.domain == Domain::test ? DType::boolean : x;
}

DType binary_dtype(BinaryKind kind, DType a, DType b) {
  const BinaryInfo& info = info_of(kind);
  if (a != b) fail(info.name, ": dtypes ", a, " and ", b, " differ");
  if (info.kind == BinaryClass::floating) expect_floating(info.name, a);
  if (info.kind == BinaryClass::arithmetic && a == DType::boolean)
    fail(info.name, ": expected numbers, got bool");
  if (info.kind == BinaryClass::logical && a != DType::boolean)
    fail(info.name, ": expected bool, got ", a);
  return info.kind == BinaryClass::comparison ? DType::boolean : a;
}

void refuse_strings(const char* name, DType dtype) {
  if (dtype == DType::string) fail(name, " takes no strings");
}

Tensor unary(UnaryKind kind, const Tensor& x) {
  refuse_strings(info_of(kind).name, x.dtype());
  if (x.dtype() == DType::complex64)
    if (Tensor result = complex_unary(kind, x)) return result;
  Unary op;
  op.kind = kind;
  const Domain domain = info_of(kind).domain;
  const bool keeps_booleans = kind == UnaryKind::abs || kind == UnaryKind::sign;
  if (keeps_booleans && x.dtype() == DType::boolean) return x;
  const bool is_rounding = kind == UnaryKind::floor || kind == UnaryKind::ceil;
  if (domain == Domain::floating || domain == Domain::test || is_rounding)
    return apply1(op, {as_floating(x)});
  if (domain == Domain::boolean) return apply1(op, {ops::cast(x, DType::boolean)});
  return apply1(op, {x.dtype() == DType::boolean ? ops::cast(x, DType::int32) : x});
}

/// The smallest and the largest value of an integer dtype.
std::pair<double, double> limits_of(DType dtype) {
  const double half_range = std::ldexp(1.0, 8 * static_cast<int>(size_of(dtype)) - 1);
  return dtype == DType::uint8 ? std::pair{0.0, 255.0} : std::pair{-half_range, half_range - 1};
}

bool can_represent(DType dtype, double number) {
  const auto [low, high] = limits_of(dtype);
  return low <= number && number <= high;
}

/// Returns the integer dtype, or a wider one if `number` does not fit into it.
DType widened_dtype(DType dtype, double number) {
  if (can_represent(dtype, number)) return dtype;
  return can_represent(DType::int32, number) ? promote(dtype, DType::int32) : DType::int64;
}

/// Converts both operands to tensors of their common dtype.
std::pair<Tensor, Tensor> promoted_operands(const ops::Operand& a, const ops::Operand& b) {
  const DType dtype = ops::result_dtype(a, b);
  auto as_tensor = [&](const ops::Operand& x) {
    return x.tensor ? ops::cast(x.tensor, dtype) : Tensor::scalar(x.number, dtype);
  };
  return {as_tensor(a), as_tensor(b)};
}

/// Returns the logical op that replaces addition (or) and multiplication (and) for booleans; other
/// kinds are returned unchanged.
BinaryKind logical_kind(BinaryKind kind) {
  if (kind == BinaryKind::add) return BinaryKind::logical_or;
  return kind == BinaryKind::multiply ? BinaryKind::logical_and : kind;
}

/// Replaces the results of a floor division by NaN where the dividend x is infinite.
Tensor without_infinite_dividends(const Tensor& quotient, const Tensor& x) {
  const Tensor is_infinite = ops::logical_not(ops::logical_or(ops::isfinite(x), ops::isnan(x)));
  return ops::where(is_infinite, std::numeric_limits<double>::quiet_NaN(), quotient);
}

Tensor binary(BinaryKind kind, const ops::Operand& a, const ops::Operand& b) {
  auto [x, y] = promoted_operands(a, b);
  Binary op;
  op.kind = kind;
  if (x.dtype() == DType::boolean) op.kind = logical_kind(kind);
  if (!op.supports_dtype(x.dtype())) refuse_strings(info_of(kind).name, x.dtype());
  if (x.dtype() == DType::complex64)
    if (Tensor result = complex_binary(kind, x, y)) return result;
  const BinaryClass binary_class = info_of(op.kind).kind;
  auto cast_operands = [&](DType dtype) { x = ops::cast(x, dtype), y = ops::cast(y, dtype); };
  if (binary_class == BinaryClass::floating && !is_floating(x.dtype()) &&
      x.dtype() != DType::complex64)
    cast_operands(floatx());
  if (binary_class == BinaryClass::arithmetic && x.dtype() == DType::boolean)
    cast_operands(DType::int32);
  if (binary_class == BinaryClass::logical) cast_operands(DType::boolean);
  const Tensor result = apply1(op, {x, y});
  if (kind != BinaryKind::floor_divide || !is_floating(result.dtype())) return result;
  return without_infinite_dividends(result, x);
}

Tensor zero_where_not(const Tensor& condition, const Tensor& g) {
  return ops::where(condition, g, 0.0);
}

/// The gradient dy/dx * g of a unary op; an empty Tensor if it is zero everywhere.
Tensor unary_gradient(UnaryKind kind, const Tensor& x, const Tensor& y, const Tensor& g) {
  using namespace ops;
  using enum UnaryKind;
  switch (kind) {
    case negative:
      return ops::negative(g);
    case abs:
      return g * ops::sign(x);
    case square:
      return g * x * 2;
    case sqrt:
      return g * 0.5 / y;
    case rsqrt:
      return g * -0.5 * y / x;
    case reciprocal:
      return -(g * y * y);
    case exp:
      return g * y;
    case expm1:
      return g * (y + 1);
    case log:
      return g / x;
    case log1p:
      return g / (x + 1);
    case sin:
      return g * ops::cos(x);
    case cos:
      return -(g * ops::sin(x));
    case tan:
      return g * (y * y + 1);
    case arcsin:
      return g * ops::rsqrt(1.0 - x * x);
    case arccos:
      return -(g * ops::rsqrt(1.0 - x * x));
    case arctan:
      return g / (x * x + 1);
    case sinh:
      return g * ops::cosh(x);
    case cosh:
      return g * ops::sinh(x);
    case tanh:
      return g * (1.0 - y * y);
    case sigmoid:
      return g * y * (1.0 - y);
    case relu:
      return zero_where_not(greater(y, 0.0), g);
    case softplus:
      return g * ops::sigmoid(x);
    case erf:
      return g * ops::exp(-(x * x)) * (2 / std::sqrt(std::numbers::pi));
    default:
      return {};  // step functions and predicates have no gradient
  }
}

bool is_constant(const Tensor& t, double value) {
  return !t.is_abstract() && t.rank() == 0 && t.item() == value;
}

/// The gradient of a^b with respect to a; exact for a = 0 and b = 0.
Tensor power_gradient_base(const Tensor& a, const Tensor& b, const Tensor& g) {
  using namespace ops;
  if (is_constant(b, 2)) return g * a * 2;
  if (!b.is_abstract() && b.rank() == 0 && b.item() != 0) return g * b * power(a, b - 1);
  return where(equal(b, 0.0), 0.0, g * b * power(a, where(equal(b, 0.0), 1.0, b - 1)));
}

Tensor power_gradient_exponent(const Tensor& a, const Tensor& y, const Tensor& g) {
  using namespace ops;
  const Tensor is_positive = greater(a, 0.0);
  return zero_where_not(is_positive, g * y * log(where(is_positive, a, 1.0)));
}

/// The gradients with respect to both operands, in the shape of the result, before they are summed
/// over broadcast axes.
std::pair<Tensor, Tensor> binary_gradients(BinaryKind kind, const Vjp& v) {
  using namespace ops;
  const Tensor &a = v.inputs[0], &b = v.inputs[1], &y = v.outputs[0], &g = v.gradients[0];
  auto gradient_if_wanted = [&](size_t i, auto compute_gradient) {
    return v.wanted[i] ? compute_gradient() : Tensor();
  };
  auto gradient_pair = [&](auto gradient_of_a, auto gradient_of_b) {
    return std::pair{gradient_if_wanted(0, gradient_of_a), gradient_if_wanted(1, gradient_of_b)};
  };
  using enum BinaryKind;
  switch (kind) {
    case add:
      return gradient_pair([&] { return g; }, [&] { return g; });
    case subtract:
      return gradient_pair([&] { return g; }, [&] { return -g; });
    case multiply:
      return gradient_pair([&] { return g * b; }, [&] { return g * a; });
    case divide:
      return gradient_pair([&] { return g / b; }, [&] { return -(g / b * y); });
    case power:
      return gradient_pair([&] { return power_gradient_base(a, b, g); },
                           [&] { return power_gradient_exponent(a, y, g); });
    case maximum:
      return gradient_pair([&] { return zero_where_not(ops::greater_equal(a, b), g); },
                           [&] { return zero_where_not(ops::less(a, b), g); });
    case minimum:
      return gradient_pair([&] { return zero_where_not(ops::less_equal(a, b), g); },
                           [&] { return zero_where_not(ops::greater(a, b), g); });
    case mod:
      return gradient_pair([&] { return g; }, [&] { return -(g * floor(a / b)); });
    case arctan2:
      return gradient_pair([&] { return g * b / (a * a + b * b); },
                           [&] { return -(g * a / (a * a + b * b)); });
    default:
      return {};  // step functions, comparisons and logical ops have no gradient
  }
}

}  // namespace

const char* name_of(UnaryKind kind) { return info_of(kind).name; }
const char* name_of(BinaryKind kind) { return info_of(kind).name; }

std::string Unary::label() const { return name_of(kind); }
std::string Binary::label() const { return name_of(kind); }

bool Binary::supports_dtype(DType dtype) const {
  return dtype == DType::string && (kind == BinaryKind::equal || kind == BinaryKind::not_equal);
}

TensorSpecs Unary::infer(std::span<const TensorSpec> in) const {
  return {{unary_dtype(kind, in[0].dtype), in[0].shape}};
}

Tensors Unary::vjp(const Vjp& v) const {
  return {unary_gradient(kind, v.inputs[0], v.outputs[0], v.gradients[0])};
}

TensorSpecs Binary::infer(std::span<const TensorSpec> in) const {
  const Shape shape = broadcast_shapes(in[0].shape, in[1].shape, name_of(kind));
  return {{binary_dtype(kind, in[0].dtype, in[1].dtype), shape}};
}

Tensors Binary::vjp(const Vjp& v) const {
  auto [a, b] = binary_gradients(kind, v);
  if (a) a = sum_to(a, v.inputs[0].shape());
  if (b) b = sum_to(b, v.inputs[1].shape());
  return {a, b};
}

TensorSpecs Select::infer(std::span<const TensorSpec> in) const {
  if (in[0].dtype != DType::boolean) fail("where: expected a bool condition, got ", in[0].dtype);
  if (in[1].dtype != in[2].dtype)
    fail("where: dtypes ", in[1].dtype, " and ", in[2].dtype, " differ");
  const Shape value_shape = broadcast_shapes(in[1].shape, in[2].shape, "where");
  return {{in[1].dtype, broadcast_shapes(in[0].shape, value_shape, "where")}};
}

Tensors Select::vjp(const Vjp& v) const {
  const Tensor &condition = v.inputs[0], &g = v.gradients[0];
  Tensors result(3);
  if (v.wanted[1]) result[1] = sum_to(ops::where(condition, g, 0.0), v.inputs[1].shape());
  if (v.wanted[2]) result[2] = sum_to(ops::where(condition, 0.0, g), v.inputs[2].shape());
  return result;
}

TensorSpecs Cast::infer(std::span<const TensorSpec> in) const {
  if (dtype == DType::string) fail("cast: ", in[0].dtype, " does not become strings");
  if (in[0].dtype == DType::complex64 && dtype != DType::complex64)
    fail("cast: complex numbers do not become ", dtype, "; real, imag and abs give numbers");
  return {{dtype, in[0].shape}};
}

Tensors Cast::vjp(const Vjp& v) const {
  const Tensor& g = v.gradients[0];
  if (dtype == DType::complex64) return {ops::cast(real_part(g), v.inputs[0].dtype())};
  return {is_floating(dtype) ? ops::cast(g, v.inputs[0].dtype()) : Tensor()};
}

TensorSpecs StopGradient::infer(std::span<const TensorSpec> in) const { return {in[0]}; }
Tensors StopGradient::vjp(const Vjp&) const { return {Tensor()}; }

namespace ops {

DType result_dtype(const Operand& a, const Operand& b) {
  if (a.tensor && b.tensor) return promote(a.tensor.dtype(), b.tensor.dtype());
  if (!a.tensor && !b.tensor)
    return a.whole && b.whole ? widened_dtype(widened_dtype(DType::int32, a.number), b.number)
                              : floatx();
  const DType dtype = (a.tensor ? a : b).tensor.dtype();
  const Operand& other_operand = a.tensor ? b : a;
  if (dtype == DType::string)
    fail("strings meet strings only, not the number ", other_operand.number);
  if (!is_integer(dtype) && dtype != DType::boolean) return dtype;
  if (!other_operand.whole) return floatx();
  return widened_dtype(dtype == DType::boolean ? DType::int32 : dtype, other_operand.number);
}

#define CRESCENT_UNARY(f, ...) \
  Tensor f(const Tensor& x) { return unary(UnaryKind::f, x); }
CRESCENT_UNARY_OPS(CRESCENT_UNARY)
#undef CRESCENT_UNARY
#define CRESCENT_BINARY(f, ...) \
  Tensor f(const Operand& a, const Operand& b) { return binary(BinaryKind::f, a, b); }
CRESCENT_BINARY_OPS(CRESCENT_BINARY)
#undef CRESCENT_BINARY

Tensor where(const Tensor& condition, const Operand& a, const Operand& b) {
  auto [x, y] = promoted_operands(a, b);
  return apply1(Select{}, {cast(condition, DType::boolean), x, y});
}

Tensor clip(const Tensor& input, const Operand& low, const Operand& high) {
  const Tensor x = input.dtype() == DType::boolean ? cast(input, DType::int32) : input;
  const bool are_number_limits = !low.tensor && !high.tensor;
  if (!are_number_limits || !is_floating(x.dtype())) return minimum(maximum(x, low), high);
  // The limits are inputs of the program and not constants in it, because each call may have other
  // limits.
  return run_compiled(
      "clip", {},
      {x, Tensor::scalar(low.number, x.dtype()), Tensor::scalar(high.number, x.dtype())},
      [](const Tensors& in) { return minimum(maximum(in[0], in[1]), in[2]); });
}

/// For equal operands, maximum() and minimum() give the whole gradient to the first one. The limits
/// are therefore their first operands, so that the gradient at the limits is 0.
Tensor hard_tanh(const Tensor& x, double low, double high) {
  if (!is_floating(x.dtype())) {
    const bool has_integer_bounds = low == std::floor(low) && high == std::floor(high);
    return has_integer_bounds ? clip(x, static_cast<int64_t>(low), static_cast<int64_t>(high))
                              : clip(x, low, high);
  }
  return run_compiled("hard_tanh", {},
                      {x, Tensor::scalar(low, x.dtype()), Tensor::scalar(high, x.dtype())},
                      [](const Tensors& in) { return minimum(in[2], maximum(in[1], in[0])); });
}

Tensor cast(const Tensor& x, DType dtype) {
  if (x.dtype() == dtype) return x;
  Cast op;
  op.dtype = dtype;
  return apply1(op, {x});
}

Tensor stop_gradient(const Tensor& x) { return apply1(StopGradient{}, {x}); }

Tensor add_n(std::span<const Tensor> tensors) {
  if (tensors.empty()) return Tensor(0.0f);
  Tensor sum = tensors[0];
  for (const Tensor& t : tensors.subspan(1)) {
    if (!t.shape().compatible(sum.shape()))
      fail("add_n: shapes ", sum.shape(), " and ", t.shape(), " differ");
    sum = add(sum, t);
  }
  return sum;
}

Tensor leaky_relu(const Tensor& x, double slope) {
  return run_compiled("leaky_relu", {slope}, {x}, [&](const Tensors& in) {
    return where(greater(in[0], 0.0), in[0], multiply(in[0], slope));
  });
}

Tensor elu(const Tensor& x, double alpha) {
  return run_compiled("elu", {alpha}, {x}, [&](const Tensors& in) {
    return where(greater(in[0], 0.0), in[0], multiply(expm1(minimum(in[0], 0.0)), alpha));
  });
}

Tensor gelu(const Tensor& input, bool approximate) {
  return run_compiled("gelu", {approximate ? 1.0 : 0.0}, {input}, [&](const Tensors& in) {
    const Tensor& x = in[0];
    const Tensor tanh_or_erf =
        approximate ? tanh((x + x * x * x * 0.044715) * std::sqrt(2 / std::numbers::pi))
                    : erf(x * std::numbers::sqrt2 * 0.5);
    return x * 0.5 * (tanh_or_erf + 1);
  });
}

Tensor silu(const Tensor& x) {
  return run_compiled("silu", {}, {x}, [](const Tensors& in) { return in[0] * sigmoid(in[0]); });
}

}  // namespace ops
}  // namespace crescent
