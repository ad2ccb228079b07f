// Dead code: drops instructions whose results are not needed, from the end of the program to its
// start. Instructions with Effect::ordered stay.
//
//   %2 = exp(%0)                       %3 = tanh(%0)
//   %3 = tanh(%0)               ->     outputs %3
//   outputs %3
#include <algorithm>

#include "compile/passes/passes.h"

namespace crescent::passes {
namespace {

using Instruction = Program::Instruction;

/// For each value, whether it is read by an output, by the new value of a variable or by an
/// instruction that is needed.
class LiveValues {
 public:
  explicit LiveValues(const Program& program) : is_live_(program.values.size()) {
    mark(program.outputs);
    for (const Program::Binding& b : program.variables) {
      if (is_written(b)) mark({b.result});
    }
    for (auto i = program.code.rbegin(); i != program.code.rend(); ++i) {
      if (is_needed(*i)) mark(i->inputs);
    }
  }
  bool operator()(int value) const { return is_live_[value]; }
  bool is_needed(const Instruction& i) const {
    return i.op->effect() == Effect::ordered ||
           std::any_of(i.outputs.begin(), i.outputs.end(),
                       [this](int value) { return (*this)(value); });
  }
  static bool is_written(const Program::Binding& b) { return b.result >= 0 && b.result != b.value; }

 private:
  void mark(const std::vector<int>& values) {
    for (int value : values) is_live_[value] = true;
  }
  std::vector<bool> is_live_;
};

}  // namespace

bool dead_code(Program& program) {
  const LiveValues live_values(program);
  for (Program::Binding& b : program.variables) {
    if (!LiveValues::is_written(b)) b.result = -1;
  }
  const size_t removed_count =
      std::erase_if(program.code, [&](const Instruction& i) { return !live_values.is_needed(i); }) +
      std::erase_if(program.constants,
                    [&](const Program::Constant& c) { return !live_values(c.value); }) +
      std::erase_if(program.variables, [&](const Program::Binding& b) {
        return b.result < 0 && !live_values(b.value);
      });
  return removed_count > 0;
}

}  // namespace crescent::passes
