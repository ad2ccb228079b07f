// Algebra: elementwise identities that are exact, up to the sign of a zero.
//
//   %2 = multiply(%0, 1)               %4 = square(%0)
//   %3 = power(%2, 2)           ->
#include <cmath>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rules.h"

namespace crescent::passes {
namespace {

// ---- broadcast operands

/// Returns the operand of a broadcast; for a tensor filled with one number, a scalar with that
/// number; for other values, the value itself.
int before_broadcast(Rewriting& r, int value) {
  if (auto* producer = r.producer_as<BroadcastTo>(value)) return producer->inputs[0];
  if (r.shape(value).rank() == 0) return value;
  const auto number = r.uniform(value);
  return number ? r.add_scalar(*number, r.dtype(value)) : value;
}

/// Applies an elementwise op to the operands before their broadcast. If all operands were
/// broadcast, the smaller result is broadcast instead.
int broadcast_result(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  const TensorSpec wanted_spec = r.result(i);
  if (!wanted_spec.shape.is_known() || wanted_spec.shape.rank() == 0) return kKeep;
  std::vector<int> inputs;
  Shape shape;
  for (int value : i.inputs) {
    inputs.push_back(before_broadcast(r, value));
    shape = broadcast_shapes(shape, r.shape(inputs.back()), i.op->name());
  }
  if (inputs == i.inputs) return kKeep;
  const bool is_smaller = shape.is_known() && shape.size() < wanted_spec.shape.size();
  if (!(shape == wanted_spec.shape) && !is_smaller) return kKeep;
  return r.broadcast_value(r.add(i.op, std::move(inputs)), wanted_spec);
}

// ---- conditions

constexpr Condition kFloating{"of floats", [](const Rewriting& r, const Match& m) {
                                return is_floating(r.result(m.call()).dtype);
                              }};
constexpr Condition kNotBoolean{"not of booleans", [](const Rewriting& r, const Match& m) {
                                  return r.result(m.call()).dtype != DType::boolean;
                                }};
constexpr Condition kSigned{"of numbers with a sign", [](const Rewriting& r, const Match& m) {
                              return r.result(m.call()).dtype != DType::uint8;
                            }};

/// Multiplying by 1 / n is exact for a power of two in every floating dtype.
constexpr Condition kPowerOfTwo{
    "n is a power of two between 2^-14 and 2^12", [](const Rewriting&, const Match& m) {
      int exponent = 0;
      return std::abs(std::frexp(m.number('n'), &exponent)) == 0.5 && std::abs(exponent) < 14;
    }};

int multiply_by_reciprocal(Rewriting& r, const Match& m) {
  const int factor = r.add_scalar(1 / m.number('n'), r.result(m.call()).dtype);
  return r.broadcast_value(r.add_binary(BinaryKind::multiply, m['x'], factor), r.result(m.call()));
}

/// Whether the first operand is a single number and the second is not; the rule with this condition
/// swaps them.
constexpr Condition kNumberFirst{"x is a single number, y is not",
                                 [](const Rewriting& r, const Match& m) {
                                   return m.call().inputs[0] == m['x'] &&
                                          r.shape(m['x']).rank() == 0 && r.shape(m['y']).rank() > 0;
                                 }};

// ---- casts

/// The numbers that a dtype can represent: the binary digits without the sign, and for floats the
/// exponents of the smallest and the largest number.
struct Precision {
  int digits;
  bool is_signed;
  bool is_floating = false;
  int min_exponent = 0, max_exponent = 0;
};

std::optional<Precision> precision_of(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return Precision{1, false};
    case DType::uint8:
      return Precision{8, false};
    case DType::int8:
      return Precision{7, true};
    case DType::int16:
      return Precision{15, true};
    case DType::int32:
      return Precision{31, true};
    case DType::int64:
      return Precision{63, true};
    case DType::float16:
      return Precision{11, true, true, -24, 15};
    case DType::bfloat16:
      return Precision{8, true, true, -133, 127};
    case DType::float32:
      return Precision{24, true, true, -149, 127};
    case DType::float64:
      return Precision{53, true, true, -1074, 1023};
    default:
      return {};
  }
}

/// Whether every number of `from` is a number of `to`.
bool represents_all(DType from, DType to) {
  const auto a = precision_of(from), b = precision_of(to);
  if (from == to || !a || !b) return from == to;
  if (a->digits > b->digits || (a->is_signed && !b->is_signed)) return false;
  if (a->is_floating)
    return b->is_floating && a->min_exponent >= b->min_exponent &&
           a->max_exponent <= b->max_exponent;
  return !b->is_floating || a->digits <= b->max_exponent;
}

constexpr Condition kSameDType{"to the dtype of x", [](const Rewriting& r, const Match& m) {
                                 return r.dtype(m['x']) == r.result(m.call()).dtype;
                               }};
constexpr Condition kLossless{"the inner dtype has every number of x",
                              [](const Rewriting& r, const Match& m) {
                                return represents_all(r.dtype(m['x']), m.op<Cast>(1).dtype);
                              }};

int cast_once(Rewriting& r, const Match& m) {
  return r.dtype(m['x']) == m.op<Cast>().dtype ? m['x'] : r.add(m.call().op, {m['x']});
}

constexpr Condition kStretched{"an operand was stretched, and the result is no larger for it"};

constexpr RewriteRule kAlgebraRules[] = {
    {"unary(...)", "broadcast_to(unary(...))", kStretched, broadcast_result, Digits::rounded},
    {"binary(...)", "broadcast_to(binary(...))", kStretched, broadcast_result, Digits::rounded},
    {"select(...)", "broadcast_to(select(...))", kStretched, broadcast_result},
    {"cast(...)", "broadcast_to(cast(...))", kStretched, broadcast_result},

    {"negative(negative(x))", "x"},
    {"logical_not(logical_not(x))", "x"},
    {"abs(abs(x))", "abs(x)"},
    {"relu(relu(x))", "relu(x)"},
    {"sign(sign(x))", "sign(x)"},
    {"floor(floor(x))", "floor(x)"},
    {"ceil(ceil(x))", "ceil(x)"},
    {"round(round(x))", "round(x)"},
    {"square(negative(x))", "square(x)"},
    {"abs(negative(x))", "abs(x)", kSigned},
    {"negative(subtract(x, y))", "subtract(y, x)"},

    {"add(x, 0)", "x"},
    {"add(x, negative(y))", "subtract(x, y)"},
    {"subtract(x, 0)", "x"},
    {"subtract(0, x)", "negative(x)"},
    {"subtract(x, negative(y))", "add(x, y)"},
    {"multiply(x, 1)", "x"},
    {"multiply(x, -1)", "negative(x)"},
    {"divide(x, 1)", "x"},
    {"divide(x, n)", "multiply(x, 1 / n)", kPowerOfTwo, multiply_by_reciprocal},
    {"divide(1, x)", "reciprocal(x)"},
    {"power(x, 1)", "x"},
    {"power(x, 2)", "square(x)", {}, nullptr, Digits::rounded},
    {"power(x, -1)", "reciprocal(x)", kFloating, nullptr, Digits::rounded},
    {"maximum(x, 0)", "relu(x)", kNotBoolean},
    {"maximum(x, y)", "maximum(y, x)", kNumberFirst},
    {"minimum(x, y)", "minimum(y, x)", kNumberFirst},

    {"logical_and(x, x)", "x"},
    {"logical_and(x, 1)", "x"},
    {"logical_or(x, x)", "x"},
    {"logical_or(x, 0)", "x"},
    {"select(1, x, y)", "x"},
    {"select(0, x, y)", "y"},
    {"select(c, x, x)", "x"},
    {"select(logical_not(c), x, y)", "select(c, y, x)"},

    {"cast(x)", "x", kSameDType},
    {"cast(cast(x))", "cast(x)", kLossless, cast_once},
    {"stop_gradient(x)", "x"},
};

}  // namespace

const RuleTable& algebra_rules() {
  static const RuleTable table("algebra", kAlgebraRules);
  return table;
}

bool algebra(Program& program) { return algebra_rules().rewrite(program); }

}  // namespace crescent::passes
