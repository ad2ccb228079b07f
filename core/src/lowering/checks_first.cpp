// Checks of indices and labels: what a program is given is looked at before it does anything else,
// what it works out itself where it does.
#include <algorithm>

#include "lowering/lowering.h"

namespace crescent::lowering {
namespace {

class Values {
 public:
  explicit Values(const Program& program) : has_(program.values.size()) {}
  void add(int value) { has_[static_cast<size_t>(value)] = true; }
  void add(const std::vector<int>& values) {
    for (int value : values) add(value);
  }
  bool has_all(const std::vector<int>& values) const {
    return std::all_of(values.begin(), values.end(),
                       [this](int v) { return has_[static_cast<size_t>(v)]; });
  }
  bool has_any(const std::vector<int>& values) const {
    return std::any_of(values.begin(), values.end(),
                       [this](int v) { return has_[static_cast<size_t>(v)]; });
  }

 private:
  std::vector<bool> has_;
};

}  // namespace

void put_checks_first(Program& program) {
  Values given(program), wanted(program);
  given.add(program.inputs);
  for (const Program::Constant& c : program.constants) given.add(c.value);

  std::vector<bool> goes_first(program.code.size());
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Program::Instruction& instruction = program.code[i];
    goes_first[i] = instruction.op->effect() <= Effect::check && given.has_all(instruction.inputs);
    if (goes_first[i]) given.add(instruction.outputs);
  }
  for (size_t i = program.code.size(); i-- > 0;) {
    const Program::Instruction& instruction = program.code[i];
    goes_first[i] = goes_first[i] && (instruction.op->effect() == Effect::check ||
                                      wanted.has_any(instruction.outputs));
    if (goes_first[i]) wanted.add(instruction.inputs);
  }
  std::vector<Program::Instruction> first, then;
  for (size_t i = 0; i < program.code.size(); ++i)
    (goes_first[i] ? first : then).push_back(std::move(program.code[i]));
  std::move(then.begin(), then.end(), std::back_inserter(first));
  program.code = std::move(first);
}

}  // namespace crescent::lowering
