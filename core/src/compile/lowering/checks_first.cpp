// Orders ops that may fail, such as checks of indices and labels: checks of the program's inputs
// run before everything else, other ops that may fail run before variables are written.
#include <algorithm>

#include "compile/lowering/lowering.h"
#include "compile/passes/rewriting/rewriting.h"

namespace crescent::lowering {
namespace {

class ValueSet {
 public:
  explicit ValueSet(const Program& program) : is_in_set_(program.values.size()) {}
  void add(int value) { is_in_set_[value] = true; }
  void add(const std::vector<int>& values) {
    for (int value : values) add(value);
  }
  bool has_all(const std::vector<int>& values) const {
    return std::all_of(values.begin(), values.end(), [this](int v) { return is_in_set_[v]; });
  }
  bool has_any(const std::vector<int>& values) const {
    return std::any_of(values.begin(), values.end(), [this](int v) { return is_in_set_[v]; });
  }

 private:
  std::vector<bool> is_in_set_;
};

/// Moves the chosen instructions to the front of the program; the chosen ones and the others each
/// keep their order.
void move_to_front(Program& program, const std::vector<bool>& goes_first) {
  std::vector<Program::Instruction> first_instructions, other_instructions;
  for (size_t i = 0; i < program.code.size(); ++i)
    (goes_first[i] ? first_instructions : other_instructions).push_back(std::move(program.code[i]));
  std::move(other_instructions.begin(), other_instructions.end(),
            std::back_inserter(first_instructions));
  program.code = std::move(first_instructions);
}

}  // namespace

void put_checks_first(Program& program) {
  ValueSet computed_values(program), needed_values(program);
  computed_values.add(program.inputs);
  for (const Program::Constant& c : program.constants) computed_values.add(c.value);

  std::vector<bool> goes_first(program.code.size());
  for (size_t i = 0; i < program.code.size(); ++i) {
    const Program::Instruction& instruction = program.code[i];
    goes_first[i] =
        instruction.op->effect() <= Effect::check && computed_values.has_all(instruction.inputs);
    if (goes_first[i]) computed_values.add(instruction.outputs);
  }
  for (size_t i = program.code.size(); i-- > 0;) {
    const Program::Instruction& instruction = program.code[i];
    goes_first[i] = goes_first[i] && (instruction.op->effect() == Effect::check ||
                                      needed_values.has_any(instruction.outputs));
    if (goes_first[i]) needed_values.add(instruction.inputs);
  }
  move_to_front(program, goes_first);
}

/// Moves ops that may fail before the writes of variables; leaves the program unchanged if they
/// already precede the writes.
void put_failures_before_writes(Program& program) {
  ValueSet written_values(program);
  for (const Program::Binding& b : program.variables)
    if (b.result >= 0) written_values.add(b.result);
  const auto computes_variable = [&](const Program::Instruction& i) {
    return written_values.has_any(i.outputs);
  };
  const auto has_op_that_may_fail = [](const Program::Instruction& i) { return may_fail(*i.op); };
  const auto first_write =
      std::find_if(program.code.begin(), program.code.end(), computes_variable);
  if (std::none_of(first_write, program.code.end(), has_op_that_may_fail)) return;
  ValueSet needed_values(program);
  std::vector<bool> goes_first(program.code.size());
  for (size_t i = program.code.size(); i-- > 0;) {
    const Program::Instruction& instruction = program.code[i];
    goes_first[i] = has_op_that_may_fail(instruction) || needed_values.has_any(instruction.outputs);
    if (goes_first[i]) needed_values.add(instruction.inputs);
  }
  move_to_front(program, goes_first);
}

}  // namespace crescent::lowering

namespace crescent {

bool may_fail(const Op& op) {
  if (op.effect() == Effect::check || op.effect() == Effect::ordered) return true;
  if (op.name() == HostCall::kName) return true;
  const auto* scan = passes::as<Scan>(op);
  return scan && std::any_of(scan->body->code.begin(), scan->body->code.end(),
                             [](const Program::Instruction& i) { return may_fail(*i.op); });
}

}  // namespace crescent
