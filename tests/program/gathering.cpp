// Variables that are divided among processes: the op that gathers their parts, the pass
// `gathering`, which gathers a second time instead of keeping the gathered variable, and layouts.
#include <catch2/catch.hpp>

#include "compile/passes/passes.h"
#include "crescent/ops/ops.h"
#include "crescent/program/division.h"
#include "crescent/program/gradient.h"
#include "pair.h"
#include "program/recording/divided.h"

namespace crescent {
namespace {

AllGather gather_of(int axis, int64_t size, bool partial) {
  AllGather op;
  op.axis = axis, op.size = size, op.partial = partial;
  op.parts = op.processes = 2;
  op.part = communicator()->rank();
  return op;
}

Tensor numbered_elements(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(shape.size()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::from(values, shape);
}

/// Gathers parts of arrays of many shapes, and takes the gradients, in both processes.
void check_gathered_arrays() {
  const int rank = communicator()->rank();
  for (const Shape& shape :
       {Shape{1}, Shape{2}, Shape{7}, Shape{5, 3}, Shape{2, 3, 5}, Shape{3, 0}})
    for (int axis = 0; axis < shape.rank(); ++axis)
      for (bool partial : {false, true}) {
        const Tensor whole_tensor = numbered_elements(shape);
        const Tensor own_part_of_whole = own_part(whole_tensor, {axis, 2, 1, 2});
        GradientTape tape;
        tape.watch(own_part_of_whole);
        const Tensor gathered = apply1(gather_of(axis, shape[axis], partial), {own_part_of_whole});
        CHECK(gathered.to_vector() == whole_tensor.to_vector());
        const Tensor loss = ops::sum(gathered * whole_tensor) * (rank + 1.0);
        const Tensor gradient = tape.gradient(loss, Tensors{own_part_of_whole})[0];
        CHECK(gradient.to_vector() ==
              (own_part_of_whole * (partial ? 3.0 : rank + 1.0)).to_vector());
      }
}

/// Divides a variable, reads, assigns and trains it, in both processes.
void check_divided_variable() {
  const int rank = communicator()->rank();
  const Tensor whole_tensor = numbered_elements({5, 3});
  const Variable v(rank == 0 ? whole_tensor : ops::zeros({5, 3}));
  divide(v, {0, 2, 1, 2});
  CHECK(v.shape() == Shape{5, 3});
  CHECK(stored_spec(v).shape == Shape{rank == 0 ? 2 : 3, 3});
  CHECK(v.value().to_vector() == whole_tensor.to_vector());
  v.assign(whole_tensor * 2.0);
  CHECK(v.value().to_vector() == (whole_tensor * 2.0).to_vector());
  {
    const PartAccess part_access;
    CHECK(v.value().to_vector() == own_part(whole_tensor * 2.0, *division_of(v)).to_vector());
  }
  const Function step([&](const Tensors& in) {
    GradientTape tape;
    const Tensor loss = ops::sum(ops::square(ops::matmul(in[0], v)));
    const Tensor gradient = tape.gradient(loss, Variables{v})[0];
    const PartAccess part_access;
    v.assign_sub(gradient * 0.01);
    return Tensors{loss};
  });
  const Variable undivided_variable(whole_tensor * 2.0);
  const Tensor x = numbered_elements({4, 5}) * 0.1;
  step({x});
  GradientTape tape;
  const Tensor loss = ops::sum(ops::square(ops::matmul(x, undivided_variable)));
  undivided_variable.assign_sub(tape.gradient(loss, Variables{undivided_variable})[0] * 0.01);
  const std::vector<double> got = v.value().to_vector(),
                            expected = undivided_variable.value().to_vector();
  for (size_t i = 0; i < expected.size(); ++i) CHECK(got[i] == Approx(expected[i]));
  const NoCollectives no_collectives("the test");
  CHECK_THROWS_WITH(v.value(), Catch::Contains("the test reads 'variable' in this process alone"));
}

std::string names_of(const Program& program) {
  std::string names;
  for (const auto& i : program.code) names += concat(names.empty() ? "" : " ", i.op->name());
  return names;
}

}  // namespace

TEST_CASE("the second of two processes gathers", "[.][second_gathers]") {
  be_second_of_two();
  check_gathered_arrays();
  check_divided_variable();
}

TEST_CASE("two processes gather parts", "[gathering]") {
  const FirstOfTwo first("[second_gathers]");
  check_gathered_arrays();
  check_divided_variable();
}

TEST_CASE("a whole is gathered again behind another exchange", "[gathering]") {
  const auto recorded_program = [](bool has_exchange) {
    return trace(
        [&](const Tensors& in) {
          AllGather op;
          op.size = 3;
          const Tensor gathered = ops::cast(apply1(op, {in[0]}), DType::float64);
          const Tensor a = ops::exp(gathered), sum = has_exchange ? ops::all_reduce(a) : a;
          return Tensors{ops::sin(gathered) * sum};
        },
        TensorSpecs{{DType::float32, {3, 2}}});
  };
  Program with_exchange = recorded_program(true), without_exchange = recorded_program(false);
  CHECK(passes::gathering(with_exchange));
  passes::validate(with_exchange);
  CHECK(names_of(with_exchange) == "all_gather cast unary all_reduce all_gather cast unary binary");
  CHECK(passes::gathering(without_exchange));
  CHECK(names_of(without_exchange) == "all_gather cast unary unary binary");
}

TEST_CASE("a layout is found by the path or by one pattern", "[gathering]") {
  const Division no_division{1, 1, 1, 1};
  set_layouts(
      {{"dense.*kernel", 2, no_division}, {"dense_1/kernel", 1, std::nullopt}, {"kernel$", 2, {}}});
  CHECK_FALSE(division_for("dense_1/kernel", {3, 4}));
  CHECK_FALSE(division_for("embeddings", {3, 4}));
  CHECK_THROWS_WITH(division_for("dense_2/kernel", {3, 4}),
                    Catch::Contains("Path 'dense_2/kernel' matches multiple layout specification "
                                    "keys: 'dense.*kernel', 'kernel$'"));
  set_layouts({{"dense.*kernel", 2, no_division}});
  CHECK(division_for("dense_2/kernel", {3, 4}) == no_division);
  CHECK_THROWS_WITH(division_for("dense_2/kernel", {3}), Catch::Contains("has 2 axes"));
  CHECK_THROWS_WITH(set_layouts({{"(", 2, no_division}}),
                    Catch::Contains("expected a regular expression"));
  set_layouts({});
}

}  // namespace crescent
