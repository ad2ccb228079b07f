#include "program/eager.h"

#include "program/program_cache.h"

namespace crescent {
namespace {

Program program_of(const OpPtr& op, const TensorSpecs& in, const TensorSpecs& out) {
  Program program;
  Program::Instruction instruction{op, {}, {}, 0};
  for (const TensorSpec& spec : in) instruction.inputs.push_back(program.add_value(spec));
  for (const TensorSpec& spec : out) instruction.outputs.push_back(program.add_value(spec));
  program.inputs = instruction.inputs;
  program.outputs = instruction.outputs;
  program.code.push_back(std::move(instruction));
  return program;
}

/// The compiled form of a single op.
struct CompiledOp final : CachedProgram {
  CompiledOp(OpPtr made_of, const TensorSpecs& inputs, const TensorSpecs& outputs)
      : op(std::move(made_of)),
        in(inputs),
        executable(device().compile(program_of(op, inputs, outputs))) {}
  size_t bytes() const override {
    constexpr size_t kOp = 256;  // of its attributes, say
    return sizeof *this + kOp + in.size() * sizeof(TensorSpec) + executable->bytes();
  }

  OpPtr op;
  TensorSpecs in;
  std::unique_ptr<Executable> executable;
};

size_t hash_of(const Op& op, const TensorSpecs& in) {
  size_t hash = op.hash();
  for (const TensorSpec& spec : in) mix(hash, spec);
  return hash;
}

/// Never destroyed: the device's threads may be gone when static objects are.
ProgramTable& table() {
  static auto* table = new ProgramTable;
  return *table;
}

std::shared_ptr<CompiledOp> compiled(const OpPtr& op, const TensorSpecs& in,
                                     const TensorSpecs& out) {
  const size_t hash = hash_of(*op, in);
  auto found = table().find<CompiledOp>(
      hash, [&](const CompiledOp& program) { return program.in == in && program.op->equals(*op); });
  if (!found) {
    found = std::make_shared<CompiledOp>(op, in, out);
    table().add(hash, found);
  }
  return found;
}

}  // namespace

Tensors run_now(const OpPtr& op, std::span<const Tensor> inputs, const TensorSpecs& in,
                const TensorSpecs& out) {
  Tensors outputs;
  outputs.reserve(out.size());
  bool empty = true;
  for (const TensorSpec& spec : out) {
    outputs.push_back(Tensor::uninitialized(spec));
    empty = empty && spec.shape.size() == 0;
  }
  if (!empty) compiled(op, in, out)->executable->run(inputs, {}, outputs);
  return outputs;
}

}  // namespace crescent
