// Gathering: a divided variable is gathered where it is read, and again where it is read later, so
// that a whole weight does not stay in memory from the forward to the backward pass. What is made
// of it by a cast or another shape alone is made again with it.
//
//   %1 = all_gather(%0)                %1 = all_gather(%0)
//   %3 = matmul(%2, %1)                %3 = matmul(%2, %1)
//   ... all_reduce ...          ->     ... all_reduce ...
//   %9 = matmul(%8, %1)                %10 = all_gather(%0)
//                                      %9 = matmul(%8, %10)
//
// Processes that compute shares of a batch have programs with equal sequences of ordered
// instructions, between which the others may differ. Hence a copy is read until the next ordered
// instruction that is not in its own making, in all processes alike.
#include <utility>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rewriting.h"
#include "crescent/program/division.h"

namespace crescent::passes {
namespace {

class Gathering {
 public:
  explicit Gathering(Program& program) : program_(program), made_(program.values.size()) {}

  bool run() {
    const std::vector<Instruction> code = std::exchange(program_.code, {});
    for (const Instruction& i : code) {
      if (is_making(i)) {
        gathers_ = true;
        made_[i.outputs[0]].maker = &i;
        continue;
      }
      Instruction reader = i;
      for (int& value : reader.inputs) value = copy_of(value, i.scope);
      if (i.op->effect() == Effect::ordered) ++ordered_;
      program_.code.push_back(std::move(reader));
    }
    for (int& value : program_.outputs) value = copy_of(value, 0);
    for (Program::Binding& b : program_.variables)
      if (b.result >= 0) b.result = copy_of(b.result, 0);
    return gathers_;
  }

 private:
  struct Made {
    const Instruction* maker = nullptr;  ///< null if the value is not gathered
    int copy = -1;                       ///< the value that was made last
    int64_t at = -1;  ///< the number of ordered instructions before it, its own among them
  };

  /// Whether the instruction gathers a variable, or only casts or reshapes what is gathered.
  bool is_making(const Instruction& i) const {
    if (as<AllGather>(*i.op)) return true;
    const bool is_form = as<Cast>(*i.op) || as<Reshape>(*i.op) || as<Transpose>(*i.op);
    return is_form && made_[i.inputs[0]].maker;
  }

  int copy_of(int value, int scope) {
    if (!made_[value].maker) return value;
    if (made_[value].at == ordered_) return made_[value].copy;
    Instruction again = *made_[value].maker;
    again.scope = scope;
    again.inputs[0] = copy_of(again.inputs[0], scope);
    if (as<AllGather>(*again.op)) ++ordered_;
    if (made_[value].copy >= 0) {
      again.outputs[0] = program_.add_value(TensorSpec(program_.values[value]));
      made_.emplace_back();
    }
    made_[value].copy = again.outputs[0];
    made_[value].at = ordered_;
    program_.code.push_back(std::move(again));
    return made_[value].copy;
  }

  Program& program_;
  std::vector<Made> made_;  ///< indexed by value
  int64_t ordered_ = 0;     ///< number of ordered instructions so far
  bool gathers_ = false;    ///< whether the program gathers anything
};

}  // namespace

bool gathering(Program& program) { return Gathering(program).run(); }

}  // namespace crescent::passes
