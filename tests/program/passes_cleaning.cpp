// Passes that clean up programs: dead code, common subexpressions, constants, the order of
// instructions and the numbering of values.
#include "passes.h"

namespace crescent::passes {

using namespace ops;

TEST_CASE("dead code: what no result needs goes", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        Tensor unused_value = exp(in[0]);
        unused_value = unused_value * 2.0;
        return Tensors{tanh(in[0])};
      },
      {f32({3})});
  REQUIRE(p.code.size() == 3);
  Program q = rewritten(p, dead_code);
  CHECK(names(q) == "tanh");
  CHECK(q.constants.empty());
  CHECK_FALSE(dead_code(q));
}

TEST_CASE("dead code: variables stay when read or written", "[passes]") {
  Variable read_variable(Tensor::full({2}, 1)), written_variable(Tensor::full({2}, 2)),
      idle_variable(Tensor::full({2}, 3)), same(Tensor::full({2}, 4));
  Program p = traced(
      [&](const Tensors& in) {
        Tensor unused_value = exp(idle_variable.value());
        written_variable.assign(in[0]);
        same.assign(same.value());
        return Tensors{in[0] + read_variable.value()};
      },
      {f32({2})});
  REQUIRE(p.variables.size() == 4);
  Program q = rewritten(p, dead_code);
  REQUIRE(q.variables.size() == 2);
  for (const auto& b : q.variables)
    CHECK((b.variable == read_variable || b.variable == written_variable));
  CHECK(names(q) == "add");
}

TEST_CASE("common subexpressions: equal work is done once", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensor a = exp(in[0] + in[1]), b = exp(in[1] + in[0]), c = exp(in[0] - in[1]),
                     d = exp(in[1] - in[0]);
        return Tensors{a * b, c * d, sum(a, {0}), sum(b, {1})};
      },
      {f32({2, 3}), f32({2, 3})});
  CHECK(names(rewritten(p, common_subexpressions)) ==
        "add, exp, subtract, exp, subtract, exp, multiply, multiply, reduce, reduce");
}

TEST_CASE("common subexpressions: operands change places where that changes nothing", "[passes]") {
  for (int kind = 0; kind <= static_cast<int>(BinaryKind::logical_or); ++kind) {
    const Binary op = binary_op(static_cast<BinaryKind>(kind));
    INFO(name_of(op.kind));
    const bool is_logical = op.kind == BinaryKind::logical_and || op.kind == BinaryKind::logical_or;
    const TensorSpec spec{is_logical ? DType::boolean : DType::float32, {40}};
    const Program p = traced(
        [&](const Tensors& in) {
          return Tensors{apply1(op, {in[0], in[1]}), apply1(op, {in[1], in[0]})};
        },
        {spec, spec});
    rewritten(p, common_subexpressions);
  }
}

TEST_CASE("common subexpressions: results of several values, equal constants", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        const Tensors a = top_k(in[0], 2), b = top_k(in[0], 2);
        return Tensors{a[0] + b[0], a[1], b[1], in[0] * Tensor::full({1}, 3),
                       in[0] * Tensor::full({1}, 3)};
      },
      {f32({2, 3})});
  Program q = rewritten(p, common_subexpressions);
  CHECK(names(q) == "top_k, add, multiply");
  CHECK(q.constants.size() == 1);
}

TEST_CASE("common subexpressions: the same bytes of another dtype are another constant",
          "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        return Tensors{in[0] * Tensor::full({2}, 0),
                       in[1] * ops::cast(Tensor::full({2}, 0), DType::int32)};
      },
      {f32({2}), {DType::int32, {2}}});
  Program q = rewritten(p, common_subexpressions);
  CHECK(q.constants.size() == 2);
}

TEST_CASE("common subexpressions: draws are never merged", "[passes]") {
  Variable state(Tensor::from(std::vector<int64_t>{7, 0}, {2}));
  Random draw_op;
  draw_op.shape = {4};
  Program p = traced(
      [&](const Tensors&) {
        const Tensor s = state.value();
        return Tensors{apply1(draw_op, {s}), apply1(draw_op, {s})};
      },
      {});
  CHECK(names(rewritten(p, common_subexpressions)) == "random, random");
}

TEST_CASE("common subexpressions: a variable becomes what was computed before", "[passes]") {
  const Variable v(Tensor::full({3}, 1));
  const Program p = traced(
      [&](const Tensors& in) {
        const Tensor y = exp(in[0]);
        v.assign(exp(in[0]));
        return Tensors{y};
      },
      {f32({3})});
  CHECK(names(rewritten(p, common_subexpressions)) == "exp");
}

TEST_CASE("common subexpressions: a variable's old value and new value are two", "[passes]") {
  Variable v(Tensor::full({2}, 1));
  Program p = traced(
      [&](const Tensors& in) {
        const Tensor value_before = exp(v.value());
        v.assign(v.value() + in[0]);
        const Tensor value_after = exp(v.value());
        return Tensors{value_before, value_after};
      },
      {f32({2})});
  CHECK(names(rewritten(p, common_subexpressions)) == "exp, add, exp");
  CHECK(names(rewritten(p, fusion)) == "exp, fused");
}

TEST_CASE("constants are computed once, when they are small", "[passes]") {
  Program p;
  p.inputs = {p.add_value(f32({2, 3}))};
  Iota count;
  count.shape = {3}, count.dtype = DType::float32;
  const int scale =
      add(p, binary_op(BinaryKind::add), {add(p, fill_op({3}, 4), {}), add(p, count, {})});
  p.outputs = {add(p, binary_op(BinaryKind::multiply), {p.inputs[0], scale})};
  Program q = rewritten(p, constants);
  CHECK(names(q) == "multiply");
  REQUIRE(q.constants.size() == 1);
  CHECK(q.constants[0].tensor.to_vector() == std::vector<double>{4, 5, 6});
}

TEST_CASE("constants: nothing big is made, nothing depends on variables or draws", "[passes]") {
  Variable v(Tensor::full({}, 2));
  Random draw_op;
  draw_op.shape = {2};
  Program p = traced([&](const Tensors&) { return Tensors{v.value() * 2.0}; }, {});
  p.constants.push_back(
      {p.add_value({DType::int64, {2}}), Tensor::from(std::vector<int64_t>{1, 2}, {2})});
  p.outputs.push_back(add(p, draw_op, {p.constants.back().value}));
  p.outputs.push_back(add(p, fill_op({200, 100}, 1), {}));
  CHECK(names(rewritten(p, constants)) == "multiply, random, fill");
}

TEST_CASE("validate names what is wrong", "[passes]") {
  Program p =
      traced([](const Tensors& in) { return Tensors{exp(in[0]) + in[1]}; }, {f32({2}), f32({2})});
  CHECK_NOTHROW(validate(p));
  Program reordered_program = p;
  std::swap(reordered_program.code[0], reordered_program.code[1]);
  CHECK_THROWS_WITH(validate(reordered_program), Catch::Contains("before it is made"));
  Program misshapen_program = p;
  misshapen_program.values[2].shape = {3};
  CHECK_THROWS_WITH(validate(misshapen_program), Catch::Contains("is stated as"));
  Program program_with_value_made_twice = p;
  program_with_value_made_twice.code[1].outputs = program_with_value_made_twice.code[0].outputs;
  CHECK_THROWS_WITH(validate(program_with_value_made_twice), Catch::Contains("made twice"));
  Program unknown_output = p;
  unknown_output.outputs[0] = 99;
  CHECK_THROWS_WITH(validate(unknown_output), Catch::Contains("no value %99"));
}

TEST_CASE("renumber leaves no gaps", "[passes]") {
  Program p = traced(
      [](const Tensors& in) {
        Tensor unused_value = exp(in[0]);
        return Tensors{tanh(in[1])};
      },
      {f32({2}), f32({3})});
  dead_code(p);
  renumber(p);
  validate(p);
  CHECK(p.values.size() == 3);
  CHECK(p.inputs == std::vector<int>{0, 1});
  CHECK(p.outputs == std::vector<int>{2});
}

}  // namespace crescent::passes
