// Functions that write elementwise ops, reductions and softmax as ONNX nodes.
#include <array>

#include "op_emitters.h"

namespace crescent::onnx {
namespace {

/// An elementwise op and the sequence of nodes that computes it.
struct UnaryRow {
  UnaryKind kind;
  std::array<const char*, 2> node_types;
};
constexpr UnaryRow kUnaryNodes[] = {
    {UnaryKind::negative, {"Neg"}},
    {UnaryKind::abs, {"Abs"}},
    {UnaryKind::sign, {"Sign"}},
    {UnaryKind::sqrt, {"Sqrt"}},
    {UnaryKind::rsqrt, {"Sqrt", "Reciprocal"}},
    {UnaryKind::reciprocal, {"Reciprocal"}},
    {UnaryKind::exp, {"Exp"}},
    {UnaryKind::log, {"Log"}},
    {UnaryKind::sin, {"Sin"}},
    {UnaryKind::cos, {"Cos"}},
    {UnaryKind::tan, {"Tan"}},
    {UnaryKind::arcsin, {"Asin"}},
    {UnaryKind::arccos, {"Acos"}},
    {UnaryKind::arctan, {"Atan"}},
    {UnaryKind::sinh, {"Sinh"}},
    {UnaryKind::cosh, {"Cosh"}},
    {UnaryKind::tanh, {"Tanh"}},
    {UnaryKind::sigmoid, {"Sigmoid"}},
    {UnaryKind::relu, {"Relu"}},
    {UnaryKind::softplus, {"Softplus"}},
    {UnaryKind::erf, {"Erf"}},
    {UnaryKind::floor, {"Floor"}},
    {UnaryKind::ceil, {"Ceil"}},
    {UnaryKind::round, {"Round"}},
    {UnaryKind::logical_not, {"Not"}},
    {UnaryKind::isnan, {"IsNaN"}},
};

std::string unary_node(Emitter& e, UnaryKind kind, const std::string& x) {
  for (const UnaryRow& row : kUnaryNodes) {
    if (row.kind != kind) continue;
    const std::string y = e.add_node(row.node_types[0], {x});
    return row.node_types[1] ? e.add_node(row.node_types[1], {y}) : y;
  }
  const DType dtype = e.spec().dtype;
  if (kind == UnaryKind::square) return e.add_node("Mul", {x, x});
  if (kind == UnaryKind::expm1)
    return e.add_node("Sub", {e.add_node("Exp", {x}), e.add_number(1, dtype)});
  if (kind == UnaryKind::log1p)
    return e.add_node("Log", {e.add_node("Add", {x, e.add_number(1, dtype)})});
  if (kind == UnaryKind::isfinite)
    return e.add_node("Not",
                      {e.add_node("Or", {e.add_node("IsNaN", {x}), e.add_node("IsInf", {x})})});
  e.refuse("it has no form in ONNX");
}

void write_unary(Emitter& e, const Unary& op) {
  const auto [x, is_channels_first] = e.inputs_in_one_layout();
  e.set_result(unary_node(e, op.kind, x[0]), is_channels_first);
}

struct BinaryRow {
  BinaryKind kind;
  const char* type;
};
constexpr BinaryRow kBinaryNodes[] = {
    {BinaryKind::add, "Add"},         {BinaryKind::subtract, "Sub"},
    {BinaryKind::multiply, "Mul"},    {BinaryKind::divide, "Div"},
    {BinaryKind::power, "Pow"},       {BinaryKind::maximum, "Max"},
    {BinaryKind::minimum, "Min"},     {BinaryKind::equal, "Equal"},
    {BinaryKind::less, "Less"},       {BinaryKind::less_equal, "LessOrEqual"},
    {BinaryKind::greater, "Greater"}, {BinaryKind::greater_equal, "GreaterOrEqual"},
    {BinaryKind::logical_and, "And"}, {BinaryKind::logical_or, "Or"},
};

std::string binary_node(Emitter& e, BinaryKind kind, const Names& x) {
  for (const BinaryRow& row : kBinaryNodes)
    if (row.kind == kind) return e.add_node(row.type, x);
  const bool is_float = is_floating(e.spec().dtype);
  auto add_floor_quotient = [&] { return e.add_node("Floor", {e.add_node("Div", x)}); };
  if (kind == BinaryKind::not_equal) return e.add_node("Not", {e.add_node("Equal", x)});
  if (kind == BinaryKind::floor_divide && is_float) return add_floor_quotient();
  if (kind == BinaryKind::mod && is_float)
    return e.add_node("Sub", {x[0], e.add_node("Mul", {add_floor_quotient(), x[1]})});
  if (kind == BinaryKind::mod) return e.add_node("Mod", x);
  e.refuse("it has no form in ONNX for these types");
}

void write_binary(Emitter& e, const Binary& op) {
  const auto [x, is_channels_first] = e.inputs_in_one_layout();
  e.set_result(binary_node(e, op.kind, x), is_channels_first);
}

void write_select(Emitter& e, const Select&) {
  const auto [x, is_channels_first] = e.inputs_in_one_layout();
  e.set_result(e.add_node("Where", x), is_channels_first);
}

std::string cast(Emitter& e, const std::string& x, DType dtype) {
  return e.add_node("Cast", {x}, {{"to", number_of(dtype)}});
}

void write_cast(Emitter& e, const Cast& op) {
  const auto [x, is_channels_first] = e.inputs_in_one_layout();
  e.set_result(cast(e, x[0], op.dtype), is_channels_first);
}

/// The result is the input: no node is needed for the check, because the runtime of ONNX checks
/// indices.
void write_check(Emitter& e, const CheckIndices&) {
  const DType dtype = e.result_spec().dtype;
  e.set_output(dtype == e.spec().dtype ? e.input(0) : cast(e, e.input(0), dtype));
}

/// Reductions of booleans are computed on integers.
void write_reduce(Emitter& e, const Reduce& op) {
  const bool is_logical = op.kind == ReduceKind::any || op.kind == ReduceKind::all;
  if (op.axes.empty())
    return e.set_output(is_logical ? cast(e, e.input(0), DType::boolean) : e.input(0));
  const std::vector<int64_t> axes(op.axes.begin(), op.axes.end());
  const Attribute keepdims = int64_t{op.keepdims};
  const std::string x =
      is_logical ? cast(e, cast(e, e.input(0), DType::boolean), DType::int32) : e.input(0);
  if (op.kind == ReduceKind::sum)
    return e.set_output(
        e.add_node("ReduceSum", {x, e.add_integers(axes)}, {{"keepdims", keepdims}}));
  const char* type = op.kind == ReduceKind::mean                                ? "ReduceMean"
                     : op.kind == ReduceKind::prod                              ? "ReduceProd"
                     : op.kind == ReduceKind::max || op.kind == ReduceKind::any ? "ReduceMax"
                                                                                : "ReduceMin";
  const std::string y = e.add_node(type, {x}, {{"axes", axes}, {"keepdims", keepdims}});
  e.set_output(is_logical ? cast(e, y, DType::boolean) : y);
}

void write_arg(Emitter& e, const ArgReduce& op) {
  const int64_t axis = e.spec().shape.axis(op.axis);
  e.set_output(e.add_node(op.max ? "ArgMax" : "ArgMin", {e.input(0)},
                          {{"axis", axis}, {"keepdims", int64_t{0}}}));
}

void write_cumulative(Emitter& e, const Cumulative& op) {
  const std::string axis = e.add_number(e.spec().shape.axis(op.axis), DType::int64);
  e.set_output(e.add_node("CumSum", {e.input(0), axis}, {{"reverse", int64_t{op.reverse}}}));
}

void write_top_k(Emitter& e, const TopK&) {
  const Names y = e.add_nodes("TopK", {e.input(0), e.shape({e.result_sizes().back()})}, 2,
                              {{"axis", int64_t{-1}}});
  e.set_output(y[0]);
  e.set_output(cast(e, y[1], DType::int32), 1);
}

void write_softmax(Emitter& e, const Softmax& op) {
  const int64_t axis = e.spec().shape.axis(op.axis);
  e.set_output(e.add_node(op.log ? "LogSoftmax" : "Softmax", {e.input(0)}, {{"axis", axis}}));
}

constexpr OpEmitter kElementwiseEmitters[] = {
    emitter_of<Unary, write_unary>(),        emitter_of<Binary, write_binary>(),
    emitter_of<Select, write_select>(),      emitter_of<Cast, write_cast>(),
    emitter_of<CheckIndices, write_check>(), emitter_of<Reduce, write_reduce>(),
    emitter_of<ArgReduce, write_arg>(),      emitter_of<Cumulative, write_cumulative>(),
    emitter_of<TopK, write_top_k>(),         emitter_of<Softmax, write_softmax>(),
};

}  // namespace

std::span<const OpEmitter> elementwise_emitters() { return kElementwiseEmitters; }

}  // namespace crescent::onnx
