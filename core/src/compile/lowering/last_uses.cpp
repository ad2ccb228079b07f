// Liveness: the instruction after which the memory of each value is free.
#include <algorithm>
#include <numeric>

#include "crescent/device/lowering.h"
#include "crescent/program/op_types.h"

namespace crescent {

std::vector<int> last_uses(const Program& program) {
  // for each value, the value that owns its memory: the input of a Reshape for its result, else the
  // value itself
  std::vector<int> memory_owner(program.values.size());
  std::iota(memory_owner.begin(), memory_owner.end(), 0);
  std::vector<int> last_use_of_owner(program.values.size(), -1);
  auto note_use = [&](int value, int instruction_index) {
    int& last_use = last_use_of_owner[memory_owner[value]];
    last_use = std::max(last_use, instruction_index);
  };
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Program::Instruction& instruction = program.code[i];
    if (instruction.op->name() == Reshape::kName) {
      memory_owner[instruction.outputs[0]] = memory_owner[instruction.inputs[0]];
    } else {
      for (int value : instruction.inputs) note_use(value, static_cast<int>(i));
    }
  }
  const int end = static_cast<int>(program.code.size());
  for (int value : program.outputs) note_use(value, end);
  for (const Program::Binding& b : program.variables) {
    if (b.result >= 0) note_use(b.result, end);
  }
  for (size_t v = 0; v < last_use_of_owner.size(); ++v)
    last_use_of_owner[v] = last_use_of_owner[memory_owner[v]];
  return last_use_of_owner;
}

}  // namespace crescent
