// Constant folding: small values that depend neither on inputs nor on variables are computed at
// compile time, by the kernels of the device, so they have the same bits as when the program
// computes them.
//
//   %1 = constant 0.9                  %1 = constant 0.9
//   %3 = subtract(1, %1)        ->     %3 = constant 0.1
#include <algorithm>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rewriting.h"
#include "crescent/program/gradient.h"

namespace crescent::passes {
namespace {

constexpr int64_t kMaxResultBytes = 64 << 10, kMaxOperandBytes = 1 << 20;

class Folding {
 public:
  explicit Folding(Program& program)
      : program_(program), constant_of_value_(program.values.size()) {
    for (const Program::Constant& c : program.constants) constant(c.value) = c.tensor;
  }
  bool run() {
    return std::erase_if(program_.code,
                         [this](const Instruction& i) { return is_foldable(i) && fold(i); }) > 0;
  }

 private:
  Tensor& constant(int value) { return constant_of_value_[value]; }

  int64_t bytes(const std::vector<int>& values) const {
    int64_t total_bytes = 0;
    for (int value : values) {
      const TensorSpec& spec = program_.values[value];
      total_bytes += spec.shape.is_known()
                         ? spec.shape.size() * static_cast<int64_t>(size_of(spec.dtype))
                         : kMaxOperandBytes + 1;
    }
    return total_bytes;
  }

  bool is_foldable(const Instruction& i) {
    return std::all_of(i.inputs.begin(), i.inputs.end(),
                       [this](int value) { return static_cast<bool>(constant(value)); }) &&
           bytes(i.outputs) <= kMaxResultBytes && bytes(i.inputs) <= kMaxOperandBytes &&
           i.op->effect() <= Effect::check && !as<Scan>(*i.op);
  }

  /// Computes the results of the instruction as constants. Returns false if the op fails on these
  /// inputs; the program then raises the error when it runs the op.
  bool fold(const Instruction& i) {
    NoTrace no_trace;
    NoGradient no_gradient;
    Tensors inputs, outputs;
    for (int value : i.inputs) inputs.push_back(constant(value));
    try {
      outputs = crescent::apply(i.op, inputs);
    } catch (const Error&) {
      return false;
    }
    for (size_t o = 0; o < outputs.size(); ++o) {
      constant(i.outputs[o]) = outputs[o];
      program_.constants.push_back({i.outputs[o], outputs[o]});
    }
    return true;
  }

  Program& program_;
  Tensors constant_of_value_;  // for each value, its constant or an empty Tensor
};

}  // namespace

bool constants(Program& program) { return Folding(program).run(); }

}  // namespace crescent::passes
