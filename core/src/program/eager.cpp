#include "program/eager.h"

#include <algorithm>

#include "crescent/device/lowering.h"
#include "crescent/program/op_types.h"
#include "program/op_program.h"
#include "program/program_cache.h"
#include "tensor/tensor_record.h"

namespace crescent {
namespace {

/// A single op, compiled for a device and input specs.
struct CompiledOp final : CachedProgram {
  CompiledOp(const Device& target_device, OpPtr source_op, const TensorSpecs& inputs,
             std::unique_ptr<Executable> compiled_executable)
      : device(&target_device),
        op(std::move(source_op)),
        input_specs(inputs),
        executable(std::move(compiled_executable)) {}
  size_t bytes() const override {
    constexpr size_t kOpBytes = 256;  // estimated bytes of the op and its attributes
    return sizeof *this + kOpBytes + input_specs.size() * sizeof(TensorSpec) + executable->bytes();
  }
  bool is_for(const Device& target_device, const Op& other_op, const TensorSpecs& inputs) const {
    return device == &target_device && input_specs == inputs && op->equals(other_op);
  }

  const Device* device;
  OpPtr op;
  TensorSpecs input_specs;
  std::unique_ptr<Executable> executable;
};

size_t hash_of(const Op& op, const TensorSpecs& input_specs) {
  size_t hash = op.hash();
  for (const TensorSpec& spec : input_specs) mix(hash, spec);
  return hash;
}

/// The table is never destroyed, because threads of the device that its programs need may have
/// ended when static objects are destroyed.
ProgramTable& table() {
  static auto* table = new ProgramTable;
  return *table;
}

std::shared_ptr<CompiledOp> compiled_op(Device& device, const OpPtr& op,
                                        const TensorSpecs& input_specs,
                                        const TensorSpecs& output_specs) {
  const size_t hash = hash_of(*op, input_specs);
  return table().find_or_make<CompiledOp>(
      hash, [&](const CompiledOp& program) { return program.is_for(device, *op, input_specs); },
      [&] {
        return std::make_shared<CompiledOp>(
            device, op, input_specs, compile(program_of_op(op, input_specs, output_specs), device));
      });
}

/// Returns a tensor of another spec that shares the memory of x. Fails if the values of x are in a
/// file.
Tensor with_spec(const Tensor& x, const TensorSpec& spec) {
  if (!x.in_memory()) x.raw();  // fails with a message that names the file
  return Tensor::on(x.storage(), x.offset(), spec);
}

/// Allocates the results. The result of CheckIndices shares the memory of its input if the dtypes
/// are equal.
Tensors allocate_results(const Op& op, std::span<const Tensor> inputs,
                         const TensorSpecs& input_specs, const TensorSpecs& output_specs,
                         Memory* memory) {
  if (op.name() == CheckIndices::kName && input_specs == output_specs && !memory &&
      !memory_of(inputs[0]))
    return {with_spec(inputs[0], output_specs[0])};
  Tensors results;
  results.reserve(output_specs.size());
  for (const TensorSpec& spec : output_specs)
    results.push_back(Tensor::uninitialized(spec, memory));
  return results;
}

}  // namespace

Tensors run_now(const OpPtr& op, std::span<const Tensor> inputs, const TensorSpecs& input_specs,
                const TensorSpecs& output_specs) {
  if (op->name() == Reshape::kName) return {with_spec(inputs[0], output_specs[0])};
  Device& device = crescent::device();
  Memory* const memory = device.memory();
  Tensors outputs = allocate_results(*op, inputs, input_specs, output_specs, memory);
  const bool is_needed = op->effect() == Effect::ordered ||
                         std::any_of(output_specs.begin(), output_specs.end(),
                                     [](const TensorSpec& s) { return s.shape.size() > 0; });
  if (!is_needed) return outputs;
  const auto program = compiled_op(device, op, input_specs, output_specs);
  if (!memory) return program->executable->run(inputs, {}, outputs), outputs;
  Tensors device_inputs;
  for (const Tensor& input : inputs) device_inputs.push_back(input.to(memory));
  program->executable->run(device_inputs, {}, outputs);
  return outputs;
}

}  // namespace crescent
