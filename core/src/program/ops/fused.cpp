// Fused: a chain of elementwise steps over registers, as one op.
#include "program/ops/support.h"

namespace crescent {

std::string to_text(const FusedStep& step) {
  using Kind = FusedStep::Kind;
  const auto& [a, b, c] = step.args;
  switch (step.kind) {
    case Kind::unary: return concat(name_of(step.unary), " r", a);
    case Kind::binary: return concat(name_of(step.binary), " r", a, " r", b);
    case Kind::select: return concat("select r", a, " r", b, " r", c);
    case Kind::cast: break;
  }
  return concat("cast r", a, " ", step.dtype);
}

TensorSpecs Fused::infer(std::span<const TensorSpec> in) const {
  TensorSpecs out;
  for (int r : outputs) {
    const size_t at = static_cast<size_t>(r);
    out.push_back({at < in.size() ? in[at].dtype : steps[at - in.size()].dtype, shape});
  }
  return out;
}

namespace {

Tensor run_step(const FusedStep& step, const Tensors& registers) {
  auto arg = [&](size_t i) { return registers[static_cast<size_t>(step.args[i])]; };
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
    case FusedStep::Kind::select: return apply1(Select{}, {arg(0), arg(1), arg(2)});
    case FusedStep::Kind::cast: break;
  }
  return ops::cast(arg(0), step.dtype);
}

}  // namespace

Tensors Fused::decompose(std::span<const Tensor> inputs) const {
  Tensors registers(inputs.begin(), inputs.end());
  for (const FusedStep& step : steps) registers.push_back(run_step(step, registers));
  Tensors results;
  for (int r : outputs) results.push_back(ops::broadcast_to(registers[static_cast<size_t>(r)], shape));
  return results;
}

}  // namespace crescent
