// Instructions whose results nobody reads go, and constants and variables that are no longer read.
#include <algorithm>

#include "program/passes/passes.h"

namespace crescent::passes {

bool dead_code(Program& program) {
  const size_t before = program.code.size() + program.constants.size() + program.variables.size();
  std::vector<bool> live(program.values.size(), false);
  auto mark = [&](int value) { live[static_cast<size_t>(value)] = true; };
  auto is_live = [&](int value) { return bool(live[static_cast<size_t>(value)]); };
  std::for_each(program.outputs.begin(), program.outputs.end(), mark);
  for (const Program::Binding& b : program.variables) {
    if (b.result >= 0 && b.result != b.value) mark(b.result);
  }
  for (size_t i = program.code.size(); i-- > 0;) {
    const Program::Instruction& instruction = program.code[i];
    if (std::any_of(instruction.outputs.begin(), instruction.outputs.end(), is_live)) {
      std::for_each(instruction.inputs.begin(), instruction.inputs.end(), mark);
    }
  }
  std::erase_if(program.code, [&](const Program::Instruction& instruction) {
    return std::none_of(instruction.outputs.begin(), instruction.outputs.end(), is_live);
  });
  std::erase_if(program.constants, [&](const Program::Constant& c) { return !is_live(c.value); });
  for (Program::Binding& b : program.variables) {
    if (b.result == b.value) b.result = -1;
  }
  std::erase_if(program.variables, [&](const Program::Binding& b) { return b.result < 0 && !is_live(b.value); });
  return program.code.size() + program.constants.size() + program.variables.size() != before;
}

}  // namespace crescent::passes
