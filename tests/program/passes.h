// Helpers that compare programs before and after a pass: the results must be equal, while the
// instructions differ.
#pragma once
#include <catch2/catch.hpp>
#include <cmath>

#include "compile/passes/passes.h"
#include "crescent/device/lowered_ops.h"
#include "crescent/device/lowering.h"
#include "crescent/ops/ops.h"
#include "distance.h"

namespace crescent::passes {

/// Pseudo-random numbers from -1 to 1 (for booleans both values; for integers from -8 to 8).
inline Tensor numbers(const TensorSpec& spec, uint32_t seed = 1) {
  Tensor t(Shape(spec.shape), DType::float64);
  double* values = t.mutable_data<double>();
  uint32_t state = seed * 2654435761u + 12345;
  for (int64_t i = 0; i < t.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = static_cast<double>(state >> 8) / (1 << 23) - 1;
    if (is_integer(spec.dtype)) values[i] = std::floor(values[i] * 8);
    if (spec.dtype == DType::boolean) values[i] = values[i] > 0;
  }
  return ops::cast(t, spec.dtype);
}

/// Runs the program; returns the outputs, followed by the values of the variables after the run.
inline Tensors run(const Program& program) {
  auto executable = compile(program);
  Tensors inputs, variables, outputs;
  for (int value : program.inputs)
    inputs.push_back(numbers(program.values[static_cast<size_t>(value)],
                             static_cast<uint32_t>(inputs.size()) + 1));
  for (const Program::Binding& b : program.variables)
    variables.push_back(b.variable.value().clone());
  for (int value : program.outputs)
    outputs.push_back(Tensor(program.values[static_cast<size_t>(value)]));
  executable->run(inputs, variables, outputs);
  for (size_t i = 0; i < variables.size(); ++i) {
    const Program::Binding& b = program.variables[i];
    if (b.result >= 0 && b.result != b.value) outputs.push_back(variables[i]);
  }
  return outputs;
}

inline void check_same(const Tensors& a, const Tensors& b, double tolerance) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    REQUIRE(a[i].spec() == b[i].spec());
    const auto x = a[i].to_vector(), y = b[i].to_vector();
    for (size_t e = 0; e < x.size(); ++e) {
      INFO("result " << i << " element " << e << ": " << x[e] << " and " << y[e]);
      const double difference = absolute_difference(y[e], x[e]);
      REQUIRE((difference == 0 ||
               (std::isfinite(difference) && difference <= tolerance * (1 + std::abs(x[e])))));
    }
  }
}

using Pass = bool (*)(Program&);

/// Applies a pass and removes dead code; checks that the program is valid and computes the same as
/// before.
inline Program rewritten(Program program, Pass pass, double tolerance = 1e-6) {
  INFO("before:\n" << program.text());
  validate(program);
  const Tensors old_outputs = run(program);
  while (pass(program)) dead_code(program);
  dead_code(program);
  INFO("after:\n" << program.text());
  validate(program);
  check_same(old_outputs, run(program), tolerance);
  return program;
}

inline Program traced(const std::function<Tensors(const Tensors&)>& f, const TensorSpecs& inputs) {
  return trace(f, inputs);
}

/// The names of the instructions as a list; elementwise instructions have the names of their
/// functions, and epilogues are appended: "square, multiply, matmul+bias".
inline std::string names(const Program& program) {
  std::string names_text;
  for (const auto& i : program.code) {
    std::string name(i.op->name());
    if (auto* unary = dynamic_cast<const Unary*>(i.op.get())) name = name_of(unary->kind);
    if (auto* binary = dynamic_cast<const Binary*>(i.op.get())) name = name_of(binary->kind);
    if (auto* op_with_post_ops = dynamic_cast<const WithPostOps*>(i.op.get())) {
      name = op_with_post_ops->op->name();
      for (PostOp post : op_with_post_ops->post) name += std::string("+") + name_of(post);
    }
    names_text += (names_text.empty() ? "" : ", ") + name;
  }
  return names_text;
}

template <class T>
const T& op(const Program& program, size_t instruction) {
  return dynamic_cast<const T&>(*program.code.at(instruction).op);
}

inline TensorSpec f32(const Shape& shape) { return {DType::float32, shape}; }

/// Adds an instruction to a program built by hand; tracing would fold constants.
template <class T>
int add(Program& program, T op, std::vector<int> inputs) {
  auto shared_op = std::make_shared<const T>(std::move(op));
  const int result = program.add_value(shared_op->infer(program.specs_of(inputs))[0]);
  program.code.push_back({shared_op, std::move(inputs), {result}, 0});
  return result;
}

inline Fill fill_op(const Shape& shape, double value, DType dtype = DType::float32) {
  Fill op;
  op.shape = shape, op.dtype = dtype, op.value = value;
  return op;
}
inline Binary binary_op(BinaryKind kind) {
  Binary op;
  op.kind = kind;
  return op;
}
inline Reduce reduce_op(ReduceKind kind, std::vector<int> axes) {
  Reduce op;
  op.kind = kind, op.axes = std::move(axes);
  return op;
}

}  // namespace crescent::passes
