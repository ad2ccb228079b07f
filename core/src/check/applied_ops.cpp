#include "check/applied_ops.h"

#include <algorithm>

#include "crescent/program/gradient.h"
#include "crescent/program/program.h"

namespace crescent::check {

std::vector<AppliedOp> applied_ops(const TensorFunction& f, const Tensors& inputs) try {
  TensorSpecs input_specs;
  for (const Tensor& input : inputs) input_specs.push_back(input.spec());
  const Program program = trace(f, input_specs);
  const auto specs_of = [&](const std::vector<int>& values) {
    TensorSpecs specs;
    for (const int value : values) specs.push_back(program.values[static_cast<size_t>(value)]);
    return specs;
  };
  std::vector<AppliedOp> ops;
  for (const Program::Instruction& i : program.code)
    ops.push_back({i.op, specs_of(i.inputs), specs_of(i.outputs)});
  return ops;
} catch (const Interrupted&) {
  throw;
} catch (const Error&) {
  return {};
}

void collect_applied_ops(std::vector<AppliedOp>& collected_ops, const TensorFunction& f,
                         const Tensors& inputs, const Variables& variables) {
  for (AppliedOp& applied : applied_ops(with_gradients(f, variables), inputs)) {
    const auto is_same = [&](const AppliedOp& other) {
      return applied.op->equals(*other.op) && applied.input_specs == other.input_specs;
    };
    if (std::none_of(collected_ops.begin(), collected_ops.end(), is_same))
      collected_ops.push_back(std::move(applied));
  }
}

TensorFunction with_gradients(const TensorFunction& f, const Variables& variables) {
  return [f, variables](const Tensors& inputs) {
    GradientTape tape;
    for (const Tensor& input : inputs)
      if (is_floating(input.dtype())) tape.watch(input);
    Tensors results = f(inputs), targets;
    for (const Tensor& y : results)
      if (is_floating(y.dtype())) targets.push_back(y);
    tape.stop();
    for (const Tensor& gradient : tape.gradient(targets, inputs, Tensors(targets.size())))
      if (gradient) results.push_back(gradient);
    for (const Tensor& y : targets)
      for (const Tensor& gradient : tape.gradient(y, std::span<const Variable>(variables)))
        if (gradient) results.push_back(gradient);
    return results;
  };
}

}  // namespace crescent::check
