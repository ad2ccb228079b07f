// lower(): rewrites a program so that it contains only what a device supports.
//
//   device without softmax:
//   %1 = softmax(%0)            ->     %2 = reduce_max(%0)
//                                      %3 = subtract(%0, %2)
//                                      ...
#include <algorithm>
#include <numeric>
#include <utility>

#include "compile/lowering/lowering.h"
#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rewriting.h"
#include "crescent/device/lowered_ops.h"
#include "program/op_blame.h"
#include "program/recording/rematerialization.h"

namespace crescent {
namespace {

using passes::as;
using Instruction = Program::Instruction;

/// The limit of nested decompositions; an op that decomposes into itself is a mistake of its
/// author.
constexpr int kMaxDecompositionDepth = 32;

/// Whether the op returns its input unchanged, with the same spec.
bool is_identity(const Op& op, const TensorSpecs& in, const TensorSpecs& out) {
  return (as<StopGradient>(op) || as<Rematerialized>(op) || as<Cast>(op) || as<BroadcastTo>(op) ||
          as<Reshape>(op)) &&
         in[0] == out[0];
}

bool is_empty(const TensorSpec& spec) { return spec.shape.size() == 0; }

bool has_empty_tensor(const TensorSpecs& specs) {
  return std::any_of(specs.begin(), specs.end(), is_empty);
}

class Lowering {
 public:
  Lowering(Program program, const Device& device)
      : program_(std::move(program)), device_(device), replacements_(program_.values.size()) {
    std::iota(replacements_.begin(), replacements_.end(), 0);
  }

  Program run() {
    for (Instruction& i : std::exchange(program_.code, {})) lower(std::move(i));
    replace_values(program_.outputs);
    for (Program::Binding& b : program_.variables) {
      if (b.result >= 0) b.result = replacement(b.result);
      if (b.result == b.value) b.result = -1;
    }
    lowering::put_checks_first(program_);
    lowering::put_failures_before_writes(program_);
    passes::renumber(program_);
    return std::move(program_);
  }

 private:
  int& replacement(int value) { return replacements_[value]; }
  void replace_values(std::vector<int>& values) {
    for (int& value : values) value = replacement(value);
  }
  int add_value(const TensorSpec& spec) {
    replacements_.push_back(program_.add_value(TensorSpec(spec)));
    return replacements_.back();
  }

  void lower(Instruction i) {
    replace_values(i.inputs);
    const TensorSpecs instruction_inputs = program_.specs_of(i.inputs),
                      instruction_outputs = program_.specs_of(i.outputs);
    if (is_identity(*i.op, instruction_inputs, instruction_outputs)) {
      replacement(i.outputs[0]) = i.inputs[0];
    } else if (as<Reshape>(*i.op) || as<HostCall>(*i.op)) {
      append(std::move(i));
    } else if (i.op->effect() != Effect::ordered &&
               std::all_of(instruction_outputs.begin(), instruction_outputs.end(), is_empty)) {
      replace_by_constants(i, instruction_outputs);
    } else if (has_empty_tensor(instruction_inputs) && !as<Fused>(*i.op) &&
               inline_decomposition(i, instruction_inputs)) {
      // inline_decomposition() above has replaced the op, so that no kernel has to handle empty
      // inputs, such as a reduction over an axis of size 0.
    } else if (lowering::is_supported(device_, *i.op, instruction_inputs, instruction_outputs)) {
      if (auto* scan = as<Scan>(*i.op)) i.op = with_lowered_body(*scan);
      append(std::move(i));
    } else if (!inline_decomposition(i, instruction_inputs)) {
      leave_to_host(std::move(i), instruction_inputs, instruction_outputs);
    }
  }

  void append(Instruction i) { program_.code.push_back(std::move(i)); }

  OpPtr with_lowered_body(const Scan& scan) const {
    auto lowered_scan = std::make_shared<Scan>(scan);
    lowered_scan->body = std::make_shared<const Program>(crescent::lower(*scan.body, device_));
    return lowered_scan;
  }

  /// Replaces the results of the instruction by constants.
  void replace_by_constants(const Instruction& i, const TensorSpecs& specs) {
    for (size_t o = 0; o < specs.size(); ++o)
      program_.constants.push_back({i.outputs[o], Tensor(specs[o])});
  }

  /// Replaces the instruction by its decomposition; returns false for an op without one.
  bool inline_decomposition(const Instruction& original, const TensorSpecs& in) {
    bool has_no_decomposition = false;
    Program decomposition = trace(
        [&](const Tensors& inputs) {
          Tensors outputs =
              blaming(*original.op, "decompose", [&] { return original.op->decompose(inputs); });
          has_no_decomposition = outputs.empty();
          for (size_t i = 0; i < outputs.size(); ++i)
            if (!outputs[i])
              fail(op_description(*original.op), ": decompose() gave no tensor as output ", i + 1,
                   " of ", outputs.size());
          return outputs;
        },
        in);
    if (has_no_decomposition) return false;
    check_results(decomposition, original);
    if (++depth_ > kMaxDecompositionDepth)
      fail(original.op->name(), ": it decomposes into ops that decompose without end");
    decomposition =
        passes::optimize_part(std::move(decomposition), *original.op, device_.capabilities());
    inline_program(decomposition, original);
    --depth_;
    return true;
  }

  /// Fails unless the decomposition has the result specs of the op.
  void check_results(const Program& decomposition, const Instruction& original) const {
    TensorSpecs output_specs;
    for (int value : decomposition.outputs) output_specs.push_back(decomposition.values[value]);
    const TensorSpecs expected_specs = program_.specs_of(original.outputs);
    if (output_specs != expected_specs)
      fail(op_description(*original.op), ": decompose() gave ", lowering::text_of(output_specs),
           ", expected ", lowering::text_of(expected_specs));
  }

  void inline_program(const Program& decomposition, const Instruction& original) {
    // maps values of `decomposition` to values of the program
    std::vector<int> value_in_program(decomposition.values.size(), -1);
    for (size_t i = 0; i < decomposition.inputs.size(); ++i)
      value_in_program[decomposition.inputs[i]] = original.inputs[i];
    for (size_t v = 0; v < value_in_program.size(); ++v) {
      if (value_in_program[v] < 0) value_in_program[v] = add_value(decomposition.values[v]);
    }
    auto with_new_indices = [&](std::vector<int> values) {
      for (int& value : values) value = value_in_program[value];
      return values;
    };
    for (const Program::Constant& c : decomposition.constants)
      program_.constants.push_back({value_in_program[c.value], c.tensor});
    for (const Instruction& i : decomposition.code)
      lower({i.op, with_new_indices(i.inputs), with_new_indices(i.outputs), original.scope});
    for (size_t o = 0; o < decomposition.outputs.size(); ++o)
      replacement(original.outputs[o]) = replacement(value_in_program[decomposition.outputs[o]]);
  }

  /// Replaces the op by a HostCall, which runs on the host. An op without inputs is computed during
  /// compilation.
  void leave_to_host(Instruction i, const TensorSpecs& in, const TensorSpecs& out) {
    i.op = lowering::leave_to_host(i.op, in, out, device_);
    if (!in.empty() || i.op->effect() != Effect::none) return append(std::move(i));
    Tensors results;
    for (const TensorSpec& spec : out) results.push_back(Tensor(spec));
    static_cast<const HostCall&>(*i.op).run({}, results);
    for (size_t o = 0; o < out.size(); ++o)
      program_.constants.push_back({i.outputs[o], results[o]});
  }

  Program program_;
  const Device& device_;
  std::vector<int> replacements_;  ///< for each value, the value that replaces it
  int depth_ = 0;                  ///< nesting depth of decompositions
};

#ifndef NDEBUG
/// Fails unless the device supports every instruction.
void check_supported(const Program& program, const Device& device) {
  for (const Instruction& i : program.code) {
    if (as<Reshape>(*i.op) || as<HostCall>(*i.op)) continue;
    if (!device.supports(*i.op, program.specs_of(i.inputs), program.specs_of(i.outputs)))
      fail("lowered to ", i.op->text(), ", which is not supported");
  }
}
#endif

}  // namespace

Program lower(Program program, const Device& device) {
  Program lowered_program = Lowering(std::move(program), device).run();
#ifndef NDEBUG
  passes::validate(lowered_program);
  check_supported(lowered_program, device);
#endif
  return lowered_program;
}

std::unique_ptr<Executable> compile(const Program& program, Device& device) {
  const Program lowered_program = lower(program, device);
  return lowering::keep_strings_alive(lowered_program,
                                      lowering::compile_lowered(lowered_program, device));
}

}  // namespace crescent
