// Recomputation: a value that is one or two cheap ops away from a value in memory is not stored for
// the backward pass; each reader recomputes it. Reading x is as fast as reading 0.5 * x, and the
// write is saved. The fusion pass then fuses each copy with its readers.
//
//   %2 = multiply(%0, 0.5)             %2 = multiply(%0, 0.5)
//   %3 = multiply(%2, %1)       ->     %3 = multiply(%2, %1)
//   ...                                ...
//   %9 = multiply(%2, %8)              %10 = multiply(%0, 0.5)
//                                      %9 = multiply(%10, %8)
#include <utility>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rewriting.h"

namespace crescent::passes {
namespace {

constexpr int kMaxRepeatedOps = 3;

bool is_cheap(const Op& op) {
  if (auto* unary = as<Unary>(op)) {
    return unary->kind == UnaryKind::negative || unary->kind == UnaryKind::abs ||
           unary->kind == UnaryKind::square || unary->kind == UnaryKind::relu;
  }
  if (auto* binary = as<Binary>(op)) {
    return binary->kind == BinaryKind::add || binary->kind == BinaryKind::subtract ||
           binary->kind == BinaryKind::multiply || binary->kind == BinaryKind::maximum ||
           binary->kind == BinaryKind::minimum;
  }
  return as<Cast>(op) != nullptr;
}

class Recomputation {
 public:
  explicit Recomputation(Program& program) : program_(program), values_(program.values.size()) {
    for (const Instruction& i : program.code) count_reads(i);
    auto keep_in_memory = [this](int value) { at(value).is_in_memory = true; };
    for (int value : program.outputs) keep_in_memory(value);
    for (const Program::Binding& b : program.variables) {
      if (b.result >= 0) keep_in_memory(b.result);
    }
  }

  bool run() {
    const std::vector<Instruction> code = std::exchange(program_.code, {});
    for (const Instruction& i : code) record_producer(i);
    for (Instruction i : code) {
      if (is_elementwise(*i.op)) use_copies(i, 2);
      program_.code.push_back(std::move(i));
    }
    return program_.code.size() > code.size();
  }

 private:
  struct ValueInfo {
    /// the instruction that computes the value; null if the value is never recomputed
    const Instruction* producer = nullptr;
    int read_count = 0;
    /// number of ops that compute the value from a value in memory; 0: never recomputed
    int op_count = 0;
    bool is_in_memory = true;  ///< whether the value stays in memory when its readers are fused
  };
  ValueInfo& at(int value) { return values_[value]; }
  const TensorSpec& spec(int value) const { return program_.values[value]; }

  /// Counts the reads of values. An elementwise result is stored in memory only if an instruction
  /// that cannot be fused with it reads it.
  void count_reads(const Instruction& i) {
    const bool is_fusible = is_elementwise(*i.op);
    if (is_fusible) at(i.outputs[0]).is_in_memory = false;
    for (int value : i.inputs) {
      ++at(value).read_count;
      if (!is_fusible || !(spec(value).shape == spec(i.outputs[0]).shape))
        at(value).is_in_memory = true;
    }
  }

  /// Returns the operand that is not a scalar; -1 if there is none or several different ones.
  int only_nonscalar_operand(const Instruction& i) const {
    int operand = -1;
    for (int value : i.inputs) {
      if (spec(value).shape.rank() == 0) continue;
      if (operand >= 0 && operand != value) return -1;
      operand = value;
    }
    return operand;
  }

  void record_producer(const Instruction& i) {
    if (!is_cheap(*i.op)) return;
    ValueInfo& output_info = at(i.outputs[0]);
    const int operand = only_nonscalar_operand(i);
    if (output_info.is_in_memory || operand < 0) return;
    const TensorSpec &source_spec = spec(operand), &result_spec = spec(i.outputs[0]);
    const bool reads_no_more_bytes = source_spec.shape == result_spec.shape &&
                                     size_of(source_spec.dtype) <= size_of(result_spec.dtype);
    const int op_count = at(operand).op_count + 1;
    if (!reads_no_more_bytes || op_count > kMaxRepeatedOps ||
        !(at(operand).is_in_memory || at(operand).op_count > 0))
      return;
    output_info.producer = &i;
    output_info.op_count = op_count;
  }

  /// Replaces operands that are read at least `min_reads` times by recomputed copies. A value with
  /// a single reader needs no copy, because the fusion pass fuses it with its reader.
  void use_copies(Instruction& i, int min_reads) {
    for (int& value : i.inputs) {
      if (at(value).op_count > 0 && at(value).read_count >= min_reads)
        value = recomputed_copy(value, i.scope);
    }
  }

  int recomputed_copy(int value, int scope) {
    Instruction instruction_copy = *at(value).producer;
    instruction_copy.scope = scope;
    use_copies(instruction_copy, 1);
    instruction_copy.outputs = {program_.add_value(TensorSpec(spec(value)))};
    values_.emplace_back();
    program_.code.push_back(instruction_copy);
    return instruction_copy.outputs[0];
  }

  Program& program_;
  std::vector<ValueInfo> values_;
};

}  // namespace

bool recomputation(Program& program) { return Recomputation(program).run(); }

}  // namespace crescent::passes
