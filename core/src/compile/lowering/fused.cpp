// Fused: an op that computes a chain of elementwise steps, which read and write registers.
#include "crescent/device/lowered_ops.h"
#include "program/support.h"

namespace crescent {

namespace {

constexpr size_t kMaxLabelSteps = 4;

const char* name_of(const FusedStep& step) {
  switch (step.kind) {
    case FusedStep::Kind::unary:
      return name_of(step.unary);
    case FusedStep::Kind::binary:
      return name_of(step.binary);
    case FusedStep::Kind::select:
      return "select";
    case FusedStep::Kind::scatter:
      return "scatter";
    case FusedStep::Kind::cast:
      break;
  }
  return "cast";
}

}  // namespace

std::string to_text(const FusedStep& step) {
  using Kind = FusedStep::Kind;
  const int operand_count = step.kind == Kind::select                                 ? 3
                            : step.kind == Kind::binary || step.kind == Kind::scatter ? 2
                                                                                      : 1;
  std::string text = name_of(step);
  for (int i = 0; i < operand_count; ++i) text += concat(" r", step.args[i]);
  return step.kind == Kind::cast ? concat(text, " ", step.dtype) : text;
}

/// The name of the op in profiles. A long chain is labelled with its number of steps instead of
/// their names.
std::string Fused::label() const {
  const bool shows_all_steps = steps.size() <= kMaxLabelSteps;
  std::string text = shows_all_steps ? kName : concat(kName, " ", steps.size(), ":");
  for (size_t i = 0; i < std::min(steps.size(), kMaxLabelSteps); ++i)
    text += concat(" ", name_of(steps[i]));
  return shows_all_steps ? text : text + " ...";
}

TensorSpecs Fused::infer(std::span<const TensorSpec> in) const {
  TensorSpecs output_specs;
  for (int r : outputs) {
    const size_t register_index = r;
    output_specs.push_back({register_index < in.size() ? in[register_index].dtype
                                                       : steps[register_index - in.size()].dtype,
                            shape});
  }
  return output_specs;
}

namespace {

Tensor run_step(const FusedStep& step, const Tensors& registers, const Shape& shape) {
  auto arg = [&](size_t i) { return registers[step.args[i]]; };
  switch (step.kind) {
    case FusedStep::Kind::unary: {
      Unary op;
      op.kind = step.unary;
      return apply1(op, {arg(0)});
    }
    case FusedStep::Kind::binary: {
      Binary op;
      op.kind = step.binary;
      return apply1(op, {arg(0), arg(1)});
    }
    case FusedStep::Kind::select:
      return apply1(Select{}, {arg(0), arg(1), arg(2)});
    case FusedStep::Kind::scatter: {
      ScatterAdd op;
      op.size = shape[0];
      return apply1(op, {arg(0), arg(1)});
    }
    case FusedStep::Kind::cast:
      break;
  }
  return ops::cast(arg(0), step.dtype);
}

}  // namespace

Tensors Fused::decompose(std::span<const Tensor> inputs) const {
  Tensors registers(inputs.begin(), inputs.end());
  for (const FusedStep& step : steps) registers.push_back(run_step(step, registers, shape));
  Tensors results;
  for (int r : outputs) results.push_back(ops::broadcast_to(registers[r], shape));
  return results;
}

}  // namespace crescent
