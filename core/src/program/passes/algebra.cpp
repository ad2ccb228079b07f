// Algebra: elementwise identities. Only what gives the same numbers, up to the sign of a zero.
//
//   %2 = multiply(%0, 1)               %4 = square(%0)
//   %3 = power(%2, 2)           ->
#include <cmath>

#include "program/passes/passes.h"
#include "program/passes/rewriting.h"

namespace crescent::passes {
namespace {

using U = UnaryKind;
using B = BinaryKind;

bool is_unary(Rewriting& r, int value, U kind) {
  auto* op = r.op_that_made<Unary>(value);
  return op && op->kind == kind;
}
int operand(Rewriting& r, int value, size_t i = 0) { return r.maker(value)->inputs[i]; }

// ---- broadcast operands

/// The value before it was stretched; a scalar for a tensor of one number.
int unstretched(Rewriting& r, int value) {
  if (auto* made = r.made_by<BroadcastTo>(value)) return made->inputs[0];
  if (r.shape(value).rank() == 0) return value;
  const auto number = r.uniform(value);
  return number ? r.add_scalar(*number, r.dtype(value)) : value;
}

/// Operands need not be stretched for an elementwise op; when all were, the result is stretched
/// instead.
int before_stretching(Rewriting& r, const Instruction& i) {
  const TensorSpec wanted = r.result(i);
  if (!wanted.shape.is_known() || wanted.shape.rank() == 0) return kKeep;
  std::vector<int> inputs;
  Shape shape;
  for (int value : i.inputs) {
    inputs.push_back(unstretched(r, value));
    shape = broadcast_shapes(shape, r.shape(inputs.back()), i.op->name());
  }
  if (inputs == i.inputs) return kKeep;
  const bool is_smaller = shape.is_known() && shape.size() < wanted.shape.size();
  if (!(shape == wanted.shape) && !is_smaller) return kKeep;
  return r.stretched(r.add(i.op, std::move(inputs)), wanted);
}

// ---- unary

int simplify_unary(Rewriting& r, const Instruction& i) {
  const int x = i.inputs[0];
  const U kind = op_of<Unary>(i).kind;
  auto* inner = r.op_that_made<Unary>(x);
  if (inner && inner->kind == kind) {
    if (kind == U::negative || kind == U::logical_not) return operand(r, x);
    const bool settled = kind == U::abs || kind == U::relu || kind == U::sign || kind == U::floor ||
                         kind == U::ceil || kind == U::round;
    if (settled) return x;
  }
  if (inner && inner->kind == U::negative && (kind == U::square || kind == U::abs))
    return r.add_unary(kind, operand(r, x));
  if (kind == U::negative) {
    auto* difference = r.op_that_made<Binary>(x);
    if (difference && difference->kind == B::subtract)
      return r.add_binary(B::subtract, operand(r, x, 1), operand(r, x, 0));
  }
  return kKeep;
}

// ---- binary

struct Operands {
  int a, b;
  TensorSpec result;
};

int simplify_add(Rewriting& r, const Operands& o) {
  if (r.is_uniform(o.b, 0)) return r.stretched(o.a, o.result);
  if (r.is_uniform(o.a, 0)) return r.stretched(o.b, o.result);
  if (is_unary(r, o.b, U::negative)) return r.add_binary(B::subtract, o.a, operand(r, o.b));
  if (is_unary(r, o.a, U::negative)) return r.add_binary(B::subtract, o.b, operand(r, o.a));
  return kKeep;
}

int simplify_subtract(Rewriting& r, const Operands& o) {
  if (r.is_uniform(o.b, 0)) return r.stretched(o.a, o.result);
  if (r.is_uniform(o.a, 0) && r.spec(o.b) == o.result) return r.add_unary(U::negative, o.b);
  if (is_unary(r, o.b, U::negative)) return r.add_binary(B::add, o.a, operand(r, o.b));
  return kKeep;
}

int simplify_multiply(Rewriting& r, const Operands& o) {
  for (auto [x, factor] : {std::pair(o.a, o.b), std::pair(o.b, o.a)}) {
    if (r.is_uniform(factor, 1)) return r.stretched(x, o.result);
    if (r.is_uniform(factor, -1) && r.spec(x) == o.result) return r.add_unary(U::negative, x);
  }
  return kKeep;
}

/// 1 / number has the same digits.
bool is_power_of_two(double number) {
  int exponent = 0;
  return std::abs(std::frexp(number, &exponent)) == 0.5 && std::abs(exponent) < 14;
}

int simplify_divide(Rewriting& r, const Operands& o) {
  if (auto number = r.uniform(o.b)) {
    if (*number == 1) return r.stretched(o.a, o.result);
    if (is_power_of_two(*number))
      return r.add_binary(B::multiply, o.a, r.add_scalar(1 / *number, o.result.dtype));
  }
  if (r.is_uniform(o.a, 1) && r.spec(o.b) == o.result) return r.add_unary(U::reciprocal, o.b);
  return kKeep;
}

int simplify_power(Rewriting& r, const Operands& o) {
  const auto exponent = r.uniform(o.b);
  if (!exponent || !(r.spec(o.a) == o.result)) return kKeep;
  if (*exponent == 1) return o.a;
  if (*exponent == 2) return r.add_unary(U::square, o.a);
  if (*exponent == -1 && is_floating(o.result.dtype)) return r.add_unary(U::reciprocal, o.a);
  return kKeep;
}

/// A single number comes last beside others.
int number_last(Rewriting& r, const Operands& o, B kind) {
  const bool is_first = r.shape(o.a).rank() == 0 && r.shape(o.b).rank() > 0;
  return is_first ? r.add_binary(kind, o.b, o.a) : kKeep;
}

int simplify_maximum(Rewriting& r, const Operands& o) {
  for (auto [x, bound] : {std::pair(o.a, o.b), std::pair(o.b, o.a)}) {
    if (r.is_uniform(bound, 0) && r.spec(x) == o.result && o.result.dtype != DType::boolean)
      return r.add_unary(U::relu, x);
  }
  return number_last(r, o, B::maximum);
}

int simplify_logical(Rewriting& r, const Operands& o, bool neutral) {
  if (o.a == o.b || r.is_uniform(o.b, neutral)) return r.stretched(o.a, o.result);
  if (r.is_uniform(o.a, neutral)) return r.stretched(o.b, o.result);
  return kKeep;
}

int simplify_binary(Rewriting& r, const Instruction& i) {
  const Operands operands{i.inputs[0], i.inputs[1], r.result(i)};
  switch (op_of<Binary>(i).kind) {
    case B::add:
      return simplify_add(r, operands);
    case B::subtract:
      return simplify_subtract(r, operands);
    case B::multiply:
      return simplify_multiply(r, operands);
    case B::divide:
      return simplify_divide(r, operands);
    case B::power:
      return simplify_power(r, operands);
    case B::maximum:
      return simplify_maximum(r, operands);
    case B::minimum:
      return number_last(r, operands, B::minimum);
    case B::logical_and:
      return simplify_logical(r, operands, true);
    case B::logical_or:
      return simplify_logical(r, operands, false);
    default:
      return kKeep;
  }
}

// ---- select, cast, stop_gradient

int simplify_select(Rewriting& r, const Instruction& i) {
  const auto [condition, yes, no] = std::tuple(i.inputs[0], i.inputs[1], i.inputs[2]);
  if (auto known = r.uniform(condition)) return r.stretched(*known != 0 ? yes : no, r.result(i));
  if (yes == no) return r.stretched(yes, r.result(i));
  if (is_unary(r, condition, U::logical_not)) return r.add(i.op, {operand(r, condition), no, yes});
  return kKeep;
}

/// Every number of `from` is a number of `to`.
bool holds_all(DType from, DType to) {
  if (from == to || from == DType::boolean) return true;
  switch (from) {
    case DType::uint8:
      return to != DType::boolean;
    case DType::int32:
      return to == DType::int64 || to == DType::float64;
    case DType::float16:
    case DType::bfloat16:
      return to == DType::float32 || to == DType::float64;
    case DType::float32:
      return to == DType::float64;
    default:
      return false;
  }
}

int simplify_cast(Rewriting& r, const Instruction& i) {
  const int x = i.inputs[0];
  const DType to = op_of<Cast>(i).dtype;
  if (r.dtype(x) == to) return x;
  if (!r.made_by<Cast>(x) || !holds_all(r.dtype(operand(r, x)), r.dtype(x))) return kKeep;
  const int start = operand(r, x);
  return r.dtype(start) == to ? start : r.add(i.op, {start});
}

/// Gradients have been taken: from here on it is its input.
int simplify_stop_gradient(Rewriting&, const Instruction& i) { return i.inputs[0]; }

constexpr RuleRow kAlgebraRules[] = {
    {Unary::kName, before_stretching},
    {Binary::kName, before_stretching},
    {Select::kName, before_stretching},
    {Cast::kName, before_stretching},
    {Unary::kName, simplify_unary},
    {Binary::kName, simplify_binary},
    {Select::kName, simplify_select},
    {Cast::kName, simplify_cast},
    {StopGradient::kName, simplify_stop_gradient},
};

}  // namespace

bool algebra(Program& program) { return rewrite(program, kAlgebraRules); }

}  // namespace crescent::passes
