// Liveness: the instruction after which the memory of each value is free.
#include <algorithm>
#include <numeric>

#include "crescent/device/lowering.h"
#include "crescent/program/op_types.h"

namespace crescent {

std::vector<int> last_uses(const Program& program) {
  // for each value, the value that owns its memory: the input of a Reshape for its result, else the
  // value itself
  std::vector<int> source(program.values.size());
  std::iota(source.begin(), source.end(), 0);
  std::vector<int> last_readers(program.values.size(), -1);
  auto use = [&](int value, int when) {
    int& last_use = last_readers[source[value]];
    last_use = std::max(last_use, when);
  };
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Program::Instruction& instruction = program.code[i];
    if (instruction.op->name() == Reshape::kName) {
      source[instruction.outputs[0]] = source[instruction.inputs[0]];
    } else {
      for (int value : instruction.inputs) use(value, static_cast<int>(i));
    }
  }
  const int end = static_cast<int>(program.code.size());
  for (int value : program.outputs) use(value, end);
  for (const Program::Binding& b : program.variables) {
    if (b.result >= 0) use(b.result, end);
  }
  for (size_t v = 0; v < last_readers.size(); ++v) last_readers[v] = last_readers[source[v]];
  return last_readers;
}

}  // namespace crescent
