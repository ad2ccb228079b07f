// Gathering: a divided variable, of which each process stores a part, is gathered again before its
// later readers, so that the whole weight does not stay in memory from the forward to the backward
// pass. A cast, reshape or transpose of a gathered weight is repeated together with the gathering.
//
//   %1 = all_gather(%0)                %1 = all_gather(%0)
//   %3 = matmul(%2, %1)                %3 = matmul(%2, %1)
//   ... all_reduce ...          ->     ... all_reduce ...
//   %9 = matmul(%8, %1)                %10 = all_gather(%0)
//                                      %9 = matmul(%8, %10)
//
// All processes must gather at the same points, or they would wait for each other forever.
// Processes that compute shares of a batch have equal sequences of instructions with
// Effect::ordered, but may have different other instructions between them. Hence readers share one
// copy of a gathered weight up to the next ordered instruction, and later readers get a new copy.
#include <utility>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rewriting.h"
#include "crescent/program/division.h"

namespace crescent::passes {
namespace {

class Gathering {
 public:
  explicit Gathering(Program& program)
      : program_(program), gathered_weights_(program.values.size()) {}

  bool run() {
    const std::vector<Instruction> code = std::exchange(program_.code, {});
    for (const Instruction& i : code) {
      if (is_part_of_gathering(i)) {
        has_gathered_weights_ = true;
        gathered_weights_[i.outputs[0]].producer = &i;
        continue;
      }
      Instruction reader = i;
      for (int& value : reader.inputs) value = copy_of(value, i.scope);
      if (i.op->effect() == Effect::ordered) ++ordered_count_;
      program_.code.push_back(std::move(reader));
    }
    for (int& value : program_.outputs) value = copy_of(value, 0);
    for (Program::Binding& b : program_.variables)
      if (b.result >= 0) b.result = copy_of(b.result, 0);
    return has_gathered_weights_;
  }

 private:
  struct GatheredWeight {
    /// the instruction that computes the value if it is a gathered weight, perhaps cast, reshaped
    /// or transposed; else null
    const Instruction* producer = nullptr;
    int copy = -1;  ///< the latest copy of the value; -1: none
    /// the value of ordered_count_ when the latest copy was made
    int64_t ordered_count_at_copy = -1;
  };

  /// Whether the instruction gathers a divided variable, or casts, reshapes or transposes a
  /// gathered weight.
  bool is_part_of_gathering(const Instruction& i) const {
    if (as<AllGather>(*i.op)) return true;
    const bool is_conversion = as<Cast>(*i.op) || as<Reshape>(*i.op) || as<Transpose>(*i.op);
    return is_conversion && gathered_weights_[i.inputs[0]].producer;
  }

  int copy_of(int value, int scope) {
    if (!gathered_weights_[value].producer) return value;
    if (gathered_weights_[value].ordered_count_at_copy == ordered_count_)
      return gathered_weights_[value].copy;
    Instruction instruction_copy = *gathered_weights_[value].producer;
    instruction_copy.scope = scope;
    instruction_copy.inputs[0] = copy_of(instruction_copy.inputs[0], scope);
    if (as<AllGather>(*instruction_copy.op)) ++ordered_count_;
    if (gathered_weights_[value].copy >= 0) {
      instruction_copy.outputs[0] = program_.add_value(TensorSpec(program_.values[value]));
      gathered_weights_.emplace_back();
    }
    gathered_weights_[value].copy = instruction_copy.outputs[0];
    gathered_weights_[value].ordered_count_at_copy = ordered_count_;
    program_.code.push_back(std::move(instruction_copy));
    return gathered_weights_[value].copy;
  }

  Program& program_;
  std::vector<GatheredWeight> gathered_weights_;  ///< indexed by value
  /// number of ordered instructions written so far, including AllGathers
  int64_t ordered_count_ = 0;
  bool has_gathered_weights_ = false;  ///< whether the program has gathered weights
};

}  // namespace

bool gathering(Program& program) { return Gathering(program).run(); }

}  // namespace crescent::passes
