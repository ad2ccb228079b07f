// Elementwise ops. A monotone function maps the ends of an input's interval to those of its result.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "program/recording/rematerialization.h"
#include "validation/rules/rules.h"

namespace crescent::validation {
namespace {

/// The error of transcendental functions in units of the last place, including a safety margin.
constexpr double kFunctionUlps = 8;

double unary_value(UnaryKind kind, double x) {
  using enum UnaryKind;
  switch (kind) {
    case negative:
      return -x;
    case abs:
      return std::abs(x);
    case sign:
      return x > 0 ? 1 : x < 0 ? -1 : x;
    case square:
      return x * x;
    case sqrt:
      return std::sqrt(x);
    case rsqrt:
      return 1 / std::sqrt(x);
    case reciprocal:
      return 1 / x;
    case exp:
      return std::exp(x);
    case expm1:
      return std::expm1(x);
    case log:
      return std::log(x);
    case log1p:
      return std::log1p(x);
    case sin:
      return std::sin(x);
    case cos:
      return std::cos(x);
    case tan:
      return std::tan(x);
    case arcsin:
      return std::asin(x);
    case arccos:
      return std::acos(x);
    case arctan:
      return std::atan(x);
    case sinh:
      return std::sinh(x);
    case cosh:
      return std::cosh(x);
    case tanh:
      return std::tanh(x);
    case sigmoid:
      return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
    case relu:
      return x > 0 || std::isnan(x) ? x : 0;
    case softplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case erf:
      return std::erf(x);
    case floor:
      return std::floor(x);
    case ceil:
      return std::ceil(x);
    case round:
      return std::nearbyint(x);
    case isnan:
      return std::isnan(x);
    case isfinite:
      return std::isfinite(x);
    case logical_not:
      return x == 0;
  }
  return NAN;
}

/// The size of the range of a function's values, which bounds its error; kUndecided if it is
/// infinite.
double range_of(UnaryKind kind) {
  using enum UnaryKind;
  switch (kind) {
    case sigmoid:
      return 1;
    case sin:
    case cos:
    case tanh:
    case erf:
    case sign:
      return 2;
    case arctan:
      return std::numbers::pi;
    default:
      return kUndecided;
  }
}

/// The error of f(x) when x has an error of at most e > 0.
double unary_error(UnaryKind kind, double x, double y, double e) {
  using enum UnaryKind;
  const double range_size = range_of(kind);
  if (is_undecided(e)) return kUndecided;
  switch (kind) {
    case abs:
      return e;
    case square:
      return (2 * std::abs(x) + e) * e;
    case sin:
    case cos:
      return std::min(e, range_size);
    case tan: {
      const double c = std::abs(std::cos(x));
      return c > 2 * e ? e / ((c - e) * (c - e)) : kUndecided;
    }
    case reciprocal:
    case rsqrt:
      if (std::abs(x) <= e) return kUndecided;
      break;
    default:
      break;
  }
  const double low = unary_value(kind, x - e), high = unary_value(kind, x + e);
  const double error = std::max(std::abs(low - y), std::abs(high - y));
  return std::isfinite(error) ? std::min(error, range_size) : range_size;
}

/// The rounding error of the function itself for an exact x, as a multiple of the unit roundoff.
double unary_roundings(UnaryKind kind, double x, double y) {
  using enum UnaryKind;
  switch (kind) {
    case negative:
    case abs:
    case sign:
    case relu:
    case floor:
    case ceil:
    case round:
      return 0;
    case square:
    case sqrt:
      return std::abs(y);
    case sin:
    case cos:
    case tan:
      return kFunctionUlps * (std::abs(y) + std::abs(x) * (kind == tan ? 1 + y * y : 1));
    // Kernels of recurrent layers compute sigmoid from tanh and the reverse, so the rounding error
    // does not get smaller near 0.
    case sigmoid:
    case tanh:
    case arccos:
      return kFunctionUlps * (std::abs(y) + 1);
    default:
      return kFunctionUlps * std::abs(y);
  }
}

std::vector<Bounded> unary_rule(const RuleInput& r) {
  const UnaryKind kind = r.as<Unary>().kind;
  const Bounded& x = r.input(0);
  Bounded y = Bounded::zeros(r.outputs[0]);
  const double u = r.roundoff(), tiny = r.tiny();
  for (size_t i = 0; i < y.size(); ++i) {
    const double e = x.error(i), x_i = x.number(i), y_i = unary_value(kind, x_i);
    if (y.is_whole()) {
      y.whole[i] = x.is_real() ? static_cast<int64_t>(y_i)
                   : kind == UnaryKind::square
                       ? wrap_around(x.whole[i] * x.whole[i], r.outputs[0].dtype)
                       : wrap_around(static_cast<int64_t>(y_i), r.outputs[0].dtype);
      if (e > 0 && (x.is_whole() || is_undecided(e))) y.widen(i, kUndecided);
      continue;
    }
    y.real[i] = y_i;
    if (e > 0) y.widen(i, unary_error(kind, x_i, y_i, e));
    if (const double ulps = unary_roundings(kind, x_i, y_i); ulps > 0) y.widen(i, u * ulps + tiny);
  }
  return {std::move(y)};
}

// ---- two operands

double floor_quotient(double a, double b) { return std::floor(a / b); }

double remainder_of(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double binary_value(BinaryKind kind, double a, double b) {
  using enum BinaryKind;
  switch (kind) {
    case add:
      return a + b;
    case subtract:
      return a - b;
    case multiply:
      return a * b;
    case divide:
      return a / b;
    case power:
      return std::pow(a, b);
    case maximum:
      return std::isnan(a) ? a : std::isnan(b) || b > a ? b : a;
    case minimum:
      return std::isnan(a) ? a : std::isnan(b) || b < a ? b : a;
    case floor_divide:
      return floor_quotient(a, b);
    case mod:
      return remainder_of(a, b);
    case arctan2:
      return std::atan2(a, b);
    default:
      return NAN;
  }
}

double power_error(double a, double b, double y, double ea, double eb) {
  const bool has_integer_exponent = eb == 0 && b == std::floor(b);
  if (a - ea <= 0 && !(has_integer_exponent && b >= 0)) return kUndecided;
  double error = 0;
  for (double base : {a - ea, a + ea})
    for (double exponent : {b - eb, b + eb})
      error = std::max(error, std::abs(std::pow(base, exponent) - y));
  if (has_integer_exponent && std::abs(a) <= ea) error = std::max(error, std::abs(y));
  return error;
}

/// The error of the result that the errors of the operands cause.
double binary_error(BinaryKind kind, double a, double b, double y, double ea, double eb) {
  using enum BinaryKind;
  if (is_undecided(ea + eb)) return kUndecided;
  switch (kind) {
    case add:
    case subtract:
      return ea + eb;
    case multiply:
      return std::abs(a) * eb + std::abs(b) * ea + ea * eb;
    case divide:
      return std::abs(b) > eb ? (ea + std::abs(y) * eb) / (std::abs(b) - eb) : kUndecided;
    case power:
      return power_error(a, b, y, ea, eb);
    case maximum:
    case minimum:
      if (std::abs(a - b) > ea + eb) return (kind == maximum) == (a > b) ? ea : eb;
      return std::max(ea, eb);
    case arctan2: {
      const double radius = std::hypot(a, b), e = ea + eb;
      if (radius <= 2 * e || (b <= eb && std::abs(a) <= ea)) return 2 * std::numbers::pi;
      return e / (radius - e);
    }
    default:
      return kUndecided;
  }
}

double binary_roundings(BinaryKind kind, double a, double b, double y) {
  using enum BinaryKind;
  switch (kind) {
    case maximum:
    case minimum:
      return 0;
    case power:
      return y == 0 ? 0
                    : kFunctionUlps * std::abs(y) *
                          (1 + (a != 0 ? std::abs(b * std::log(std::abs(a))) : 0));
    case arctan2:
      return kFunctionUlps * std::abs(y);
    default:
      return 2 * std::abs(y);
  }
}

/// Widens the bound of a floor division or a remainder, because a quotient near an integer may be
/// floored to either side of it.
void widen_floored_quotient(const RuleInput& r, BinaryKind kind, double a, double b, double e,
                            Bounded& y, size_t i) {
  const double q = a / b, error = 4 * r.roundoff() * std::abs(q) + e;
  const bool may_jump =
      std::floor(q - error) != std::floor(q + error) && !(e == 0 && q == std::floor(q));
  if (kind == BinaryKind::floor_divide)
    y.widen(i, may_jump ? std::floor(q + error) - std::floor(q - error) : 0);
  else
    y.widen(i, may_jump ? std::abs(b) + error * std::abs(b)
                        : 2 * r.roundoff() * std::abs(b) + error * std::abs(b));
}

bool compare(BinaryKind kind, double a, double b) {
  using enum BinaryKind;
  switch (kind) {
    case equal:
      return a == b;
    case not_equal:
      return a != b;
    case less:
      return a < b;
    case less_equal:
      return a <= b;
    case greater:
      return a > b;
    default:
      return a >= b;
  }
}

bool compare(BinaryKind kind, int64_t a, int64_t b) {
  return compare(kind, a < b ? -1.0 : a > b ? 1.0 : 0.0, 0.0);
}

int64_t whole_value(BinaryKind kind, int64_t a, int64_t b) {
  using enum BinaryKind;
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  switch (kind) {
    case add:
      return static_cast<int64_t>(x + y);
    case subtract:
      return static_cast<int64_t>(x - y);
    case multiply:
      return static_cast<int64_t>(x * y);
    case maximum:
      return std::max(a, b);
    case minimum:
      return std::min(a, b);
    case logical_and:
      return a && b;
    default:
      return a || b;
  }
}

bool is_comparison(BinaryKind kind) {
  return kind >= BinaryKind::equal && kind <= BinaryKind::greater_equal;
}

/// Whether the comparison is certain: the numbers differ by more than their errors, or they are
/// equal and thus assumed to be results of the same computation, with equal errors.
bool is_certain(double a, double b, double e) { return e == 0 || a == b || std::abs(a - b) > e; }

/// Whether one operand without error determines the result of a logical op, whatever the other
/// operand is.
bool is_certain_by_one_operand(BinaryKind kind, int64_t a, double ea, int64_t b, double eb) {
  if (kind == BinaryKind::logical_and) return (ea == 0 && !a) || (eb == 0 && !b);
  if (kind == BinaryKind::logical_or) return (ea == 0 && a) || (eb == 0 && b);
  return false;
}

/// Whether the results of the op for integers with errors are undecided. For exact integers, the
/// evaluator runs the op instead of a rule.
bool is_undecided_for_integers(BinaryKind kind) {
  return kind == BinaryKind::power || kind == BinaryKind::floor_divide || kind == BinaryKind::mod;
}

std::vector<Bounded> binary_rule(const RuleInput& r) {
  const BinaryKind kind = r.as<Binary>().kind;
  const Bounded &a = r.input(0), &b = r.input(1);
  if (a.is_whole() && is_undecided_for_integers(kind)) return {Bounded::undecided(r.outputs[0])};
  const Shape& shape = r.outputs[0].shape;
  const std::vector<size_t> a_offsets = broadcast_offsets(a.spec.shape, shape),
                            b_offsets = broadcast_offsets(b.spec.shape, shape);
  Bounded y = Bounded::zeros(r.outputs[0]);
  const double u = r.roundoff(), tiny = r.tiny();
  for (size_t i = 0; i < y.size(); ++i) {
    const size_t j = a_offsets[i], k = b_offsets[i];
    const double ea = a.error(j), eb = b.error(k);
    if (is_comparison(kind) && a.is_real()) {
      y.whole[i] = compare(kind, a.real[j], b.real[k]);
      if (is_undecided(ea + eb) || !is_certain(a.real[j], b.real[k], ea + eb))
        y.widen(i, kUndecided);
    } else if (y.is_whole()) {
      y.whole[i] = is_comparison(kind)
                       ? compare(kind, a.whole[j], b.whole[k])
                       : wrap_around(whole_value(kind, a.whole[j], b.whole[k]), r.outputs[0].dtype);
      if (ea + eb > 0 && !is_certain_by_one_operand(kind, a.whole[j], ea, b.whole[k], eb))
        y.widen(i, kUndecided);
    } else {
      const double p = a.real[j], q = b.real[k], y_value = binary_value(kind, p, q);
      y.real[i] = y_value;
      if (kind == BinaryKind::floor_divide || kind == BinaryKind::mod) {
        const double e = ea + eb > 0 ? binary_error(BinaryKind::divide, p, q, p / q, ea, eb) : 0;
        widen_floored_quotient(r, kind, p, q, e, y, i);
        if (kind == BinaryKind::mod) y.widen(i, ea + std::abs(std::floor(p / q)) * eb);
        continue;
      }
      if (ea + eb > 0) y.widen(i, binary_error(kind, p, q, y_value, ea, eb));
      // A sum gets the error of subnormal numbers only where it may be subnormal.
      const bool is_sum = kind == BinaryKind::add || kind == BinaryKind::subtract;
      if (const double ulps = binary_roundings(kind, p, q, y_value); ulps > 0)
        y.widen(i, u * ulps + (is_sum && std::abs(y_value) - y.error(i) > tiny ? 0 : tiny));
    }
  }
  return {std::move(y)};
}

// ---- select, cast

std::vector<Bounded> select_rule(const RuleInput& r) {
  const Bounded &condition = r.input(0), &a = r.input(1), &b = r.input(2);
  const Shape& shape = r.outputs[0].shape;
  const std::vector<size_t> c_offsets = broadcast_offsets(condition.spec.shape, shape),
                            a_offsets = broadcast_offsets(a.spec.shape, shape),
                            b_offsets = broadcast_offsets(b.spec.shape, shape);
  Bounded y = Bounded::zeros(r.outputs[0]);
  for (size_t i = 0; i < y.size(); ++i) {
    const bool is_a_chosen = condition.whole[c_offsets[i]] != 0,
               is_uncertain = condition.error(c_offsets[i]) > 0;
    const Bounded &chosen_operand = is_a_chosen ? a : b, &other_operand = is_a_chosen ? b : a;
    const size_t chosen_index = is_a_chosen ? a_offsets[i] : b_offsets[i],
                 other_index = is_a_chosen ? b_offsets[i] : a_offsets[i];
    if (y.is_real())
      y.real[i] = chosen_operand.real[chosen_index];
    else
      y.whole[i] = chosen_operand.whole[chosen_index];
    y.widen(i, chosen_operand.error(chosen_index));
    if (!is_uncertain) continue;
    const double gap =
        std::abs(chosen_operand.number(chosen_index) - other_operand.number(other_index));
    if (y.is_real())
      y.widen(i, gap + other_operand.error(other_index));
    else if (gap != 0 || other_operand.error(other_index) > 0)
      y.widen(i, kUndecided);
  }
  return {std::move(y)};
}

int64_t truncated(double x, DType dtype) {
  return std::abs(x) < 0x1p62 ? wrap_around(static_cast<int64_t>(x), dtype) : 0;
}

/// Whether the dtype can represent the number; otherwise the result of a cast is undefined.
bool is_in_range(double x, DType dtype) {
  if (dtype == DType::uint8) return x > -1 && x < 256;
  const double half = std::ldexp(1.0, 8 * static_cast<int>(size_of(dtype)) - 1);
  return x > -half - 1 && x < half;
}

void cast_to_whole(const Bounded& x, size_t i, Bounded& y) {
  const double number = x.real[i], e = x.error(i);
  const DType dtype = y.spec.dtype;
  if (dtype == DType::boolean) {
    y.whole[i] = number != 0;
    if (e > 0 && number != 0 && std::abs(number) <= e) y.widen(i, kUndecided);
    return;
  }
  y.whole[i] = truncated(number, dtype);
  if (!is_in_range(number, dtype) || is_undecided(e) ||
      truncated(number - e, dtype) != y.whole[i] || truncated(number + e, dtype) != y.whole[i])
    y.widen(i, kUndecided);
}

std::vector<Bounded> cast_rule(const RuleInput& r) {
  const Bounded& x = r.input(0);
  Bounded y = Bounded::zeros(r.outputs[0]);
  const double u = r.roundoff();
  const bool is_rounded = x.is_real() && r.rounding == Rounding::own &&
                          (size_of(y.spec.dtype) < size_of(x.spec.dtype) ||
                           (size_of(y.spec.dtype) == 2 && y.spec.dtype != x.spec.dtype));
  for (size_t i = 0; i < y.size(); ++i) {
    if (x.is_real() && y.is_whole()) {
      cast_to_whole(x, i, y);
    } else if (y.is_whole()) {
      y.whole[i] = wrap_around(x.whole[i], y.spec.dtype);
      y.widen(i, x.error(i));
    } else if (x.is_real()) {
      y.real[i] = x.real[i];
      y.widen(i, x.error(i) + (is_rounded ? u * std::abs(x.real[i]) + r.tiny() : 0));
    } else {
      y.real[i] = static_cast<double>(x.whole[i]);
      if (x.error(i) > 0) y.widen(i, x.spec.dtype == DType::boolean ? 1 : kUndecided);
      if (r.rounding == Rounding::own)
        y.widen(i, std::abs(rounded_to(y.real[i], y.spec.dtype) - y.real[i]));
    }
  }
  return {std::move(y)};
}

std::vector<Bounded> identity_rule(const RuleInput& r) {
  Bounded y = r.input(0);
  y.spec = r.outputs[0];
  return {std::move(y)};
}

/// CheckIndices leaves integers unchanged and casts floating numbers to integers.
std::vector<Bounded> check_rule(const RuleInput& r) {
  return r.input(0).is_real() ? cast_rule(r) : identity_rule(r);
}

constexpr OpRule kElementwiseRules[] = {
    {Unary::kName, unary_rule},           {Binary::kName, binary_rule},
    {Select::kName, select_rule},         {Cast::kName, cast_rule},
    {StopGradient::kName, identity_rule}, {Rematerialized::kName, identity_rule},
    {Reshape::kName, identity_rule},      {CheckIndices::kName, check_rule},
};

}  // namespace

std::span<const OpRule> elementwise_rules() { return kElementwiseRules; }

}  // namespace crescent::validation
