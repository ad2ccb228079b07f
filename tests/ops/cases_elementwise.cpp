#include "ops/cases.h"

namespace crescent::test {
namespace {

using Unary = Tensor (*)(const Tensor&);
struct UnaryRow {
  const char* name;
  Unary f;
  In in;
  Dtypes dtypes = Dtypes::floats;
  bool has_gradient = true;
};

const Shape kShape{3, 7};
const UnaryRow kUnary[] = {
    {"negative", ops::negative, {kShape}, Dtypes::numbers},
    {"abs", ops::abs, {kShape}, Dtypes::numbers},
    {"sign", ops::sign, {kShape}, Dtypes::numbers},
    {"square", ops::square, {kShape}, Dtypes::numbers},
    {"sqrt", ops::sqrt, positive(kShape)},
    {"rsqrt", ops::rsqrt, positive(kShape)},
    {"reciprocal", ops::reciprocal, positive(kShape)},
    {"exp", ops::exp, {kShape}},
    {"expm1", ops::expm1, {kShape}},
    {"log", ops::log, positive(kShape)},
    {"log1p", ops::log1p, positive(kShape)},
    {"sin", ops::sin, {kShape}},
    {"cos", ops::cos, {kShape}},
    {"tan", ops::tan, unit(kShape)},
    {"arcsin", ops::arcsin, unit(kShape)},
    {"arccos", ops::arccos, unit(kShape)},
    {"arctan", ops::arctan, {kShape}},
    {"sinh", ops::sinh, {kShape}},
    {"cosh", ops::cosh, {kShape}},
    {"tanh", ops::tanh, {kShape}},
    {"sigmoid", ops::sigmoid, {kShape}},
    {"relu", ops::relu, {kShape}, Dtypes::numbers},
    {"softplus", ops::softplus, {kShape}},
    {"erf", ops::erf, {kShape}},
    {"floor", ops::floor, {kShape}, Dtypes::floats},
    {"ceil", ops::ceil, {kShape}, Dtypes::floats},
    {"round", ops::round, {kShape}, Dtypes::floats},
    {"silu", ops::silu, {kShape}},
    {"logical_not", ops::logical_not, booleans(kShape), Dtypes::one, false},
    {"isnan", ops::isnan, {kShape}, Dtypes::floats, false},
    {"isfinite", ops::isfinite, {kShape}, Dtypes::floats, false},
};

using Binary = Tensor (*)(const ops::Operand&, const ops::Operand&);
struct BinaryRow {
  const char* name;
  Binary f;
  bool is_positive = false;
  Dtypes dtypes = Dtypes::numbers;
  bool has_gradient = true;
};
const BinaryRow kBinary[] = {
    {"add", ops::add},
    {"subtract", ops::subtract},
    {"multiply", ops::multiply},
    {"divide", ops::divide, true},
    {"power", ops::power, true, Dtypes::floats},
    {"maximum", ops::maximum},
    {"minimum", ops::minimum},
    {"floor_divide", ops::floor_divide, true, Dtypes::wide},
    {"mod", ops::mod, true, Dtypes::wide},
    {"arctan2", ops::arctan2, true},
    {"equal", ops::equal, false, Dtypes::numbers, false},
    {"not_equal", ops::not_equal, false, Dtypes::numbers, false},
    {"less", ops::less, false, Dtypes::numbers, false},
    {"less_equal", ops::less_equal, false, Dtypes::numbers, false},
    {"greater", ops::greater, false, Dtypes::numbers, false},
    {"greater_equal", ops::greater_equal, false, Dtypes::numbers, false},
    {"logical_and", ops::logical_and, false, Dtypes::one, false},
    {"logical_or", ops::logical_or, false, Dtypes::one, false},
};

/// Two shapes that broadcast, and the name of the way in which they do.
struct BroadcastShapes {
  const char* name;
  Shape a, b;
};
const BroadcastShapes kBroadcastShapes[] = {
    {"same", {3, 5}, {3, 5}}, {"row", {3, 5}, {5}},      {"column", {3, 5}, {3, 1}},
    {"scalar", {}, {3, 5}},   {"outer", {4, 1}, {1, 6}}, {"deep", {2, 1, 3, 1}, {4, 1, 5}},
    {"empty", {0, 3}, {3}},   {"both_scalar", {}, {}},
};

void add_binary(std::vector<Case>& cases, const BinaryRow& row, const BroadcastShapes& m) {
  auto input = [&](const Shape& shape) {
    if (row.dtypes == Dtypes::one) return booleans(shape);
    return row.is_positive ? positive(shape) : In{shape};
  };
  Binary f = row.f;
  cases.push_back({std::string(row.name) + " " + m.name,
                   with_one_result([f](const Tensors& x) { return f(x[0], x[1]); }),
                   {input(m.a), input(m.b)},
                   row.dtypes,
                   row.has_gradient});
}

}  // namespace

std::vector<Case> elementwise_cases() {
  std::vector<Case> cases;
  for (const UnaryRow& row : kUnary) {
    Unary f = row.f;
    cases.push_back({row.name,
                     with_one_result([f](const Tensors& x) { return f(x[0]); }),
                     {row.in},
                     row.dtypes,
                     row.has_gradient});
  }
  for (const BinaryRow& row : kBinary) add_binary(cases, row, kBroadcastShapes[0]);
  for (const BroadcastShapes& shapes : kBroadcastShapes) {
    add_binary(cases, kBinary[2], shapes);
    add_binary(cases, kBinary[3], shapes);
    add_binary(cases, kBinary[12], shapes);
  }
  auto add = [&](std::string name, auto f, std::vector<In> in, Dtypes dtypes = Dtypes::floats,
                 bool has_gradient = true) {
    cases.push_back({std::move(name), with_one_result(f), std::move(in), dtypes, has_gradient});
  };
  add(
      "where same", [](const Tensors& x) { return ops::where(x[0], x[1], x[2]); },
      {booleans({3, 5}), {{3, 5}}, {{3, 5}}}, Dtypes::numbers);
  add("where broadcast", [](const Tensors& x) { return ops::where(x[0], x[1], x[2]); },
      {booleans({3, 1}), {{5}}, {{}}});
  add("where number", [](const Tensors& x) { return ops::where(x[0], x[1], 0.0); },
      {booleans({3, 5}), {{3, 5}}});
  add("clip", [](const Tensors& x) { return ops::clip(x[0], -0.7, 0.8); }, {{{4, 9}}});
  add("hard_tanh", [](const Tensors& x) { return ops::hard_tanh(x[0], -0.7, 0.8); }, {{{4, 9}}});
  add(
      "cast float32", [](const Tensors& x) { return ops::cast(x[0], DType::float32); }, {{{4, 5}}},
      Dtypes::numbers, false);
  add(
      "cast int32", [](const Tensors& x) { return ops::cast(x[0], DType::int32); }, {{{4, 5}}},
      Dtypes::numbers, false);
  add(
      "cast bool", [](const Tensors& x) { return ops::cast(x[0], DType::boolean); }, {{{4, 5}}},
      Dtypes::numbers, false);
  add("cast there and back",
      [](const Tensors& x) { return ops::cast(ops::cast(x[0], DType::float64), x[0].dtype()); },
      {{{4, 5}}});
  add(
      "stop_gradient", [](const Tensors& x) { return ops::stop_gradient(x[0]); }, {{{4, 5}}},
      Dtypes::numbers, false);
  add(
      "add_n", [](const Tensors& x) { return ops::add_n(x); }, {{{4, 5}}, {{4, 5}}, {{4, 5}}},
      Dtypes::numbers);
  add("leaky_relu", [](const Tensors& x) { return ops::leaky_relu(x[0], 0.2); }, {{{4, 5}}});
  add("elu", [](const Tensors& x) { return ops::elu(x[0], 0.7); }, {{{4, 5}}});
  add("gelu exact", [](const Tensors& x) { return ops::gelu(x[0], false); }, {{{4, 5}}});
  add("gelu approximate", [](const Tensors& x) { return ops::gelu(x[0], true); }, {{{4, 5}}});
  add("power square", [](const Tensors& x) { return ops::power(x[0], 2); }, {{{4, 5}}});
  add(
      "power of zero", [](const Tensors& x) { return ops::power(ops::relu(x[0]), 1.5); },
      {{{4, 5}}}, Dtypes::wide);
  add("numbers", [](const Tensors& x) { return 1.0 - x[0] * 2 / 3.0; }, {{{4, 5}}});
  add("fused chain",
      [](const Tensors& x) {
        return ops::where(ops::greater(x[0], x[1]), ops::tanh(x[0] * x[1]) + x[2], ops::exp(-x[0]));
      },
      {{{6, 5}}, {{5}}, {{6, 1}}});
  return cases;
}

}  // namespace crescent::test
