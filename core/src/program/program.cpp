#include "crescent/program/program.h"

#include "program/op_program.h"
#include "program/recording/divided.h"

namespace crescent {
namespace {

std::string list_text(const std::vector<int>& values, const TensorSpecs& specs) {
  std::string text;
  for (int value : values) {
    text += concat(text.empty() ? "" : ", ", "%", value, " ", specs[value]);
  }
  return text;
}

std::string numbers_text(const std::vector<int>& values) {
  std::string text;
  for (int value : values) text += concat(text.empty() ? "%" : ", %", value);
  return text;
}

}  // namespace

TensorSpecs Program::specs_of(std::span<const int> value_numbers) const {
  TensorSpecs specs;
  for (const int value_number : value_numbers)
    specs.push_back(values[static_cast<size_t>(value_number)]);
  return specs;
}

std::string Program::text() const {
  std::string text = concat("inputs ", list_text(inputs, values), "\n");
  for (const Constant& c : constants) {
    text += concat("%", c.value, " = constant ", c.tensor.spec());
    if (c.tensor.size() == 1) text += concat(" ", c.tensor);
    text += "\n";
  }
  for (const Binding& b : variables)
    text +=
        concat("%", b.value, " = variable ", b.variable.path(), " ", stored_spec(b.variable), "\n");
  for (const Instruction& i : code) {
    text += concat(list_text(i.outputs, values), " = ", i.op->text(), " ", numbers_text(i.inputs));
    const std::string& scope = scopes[i.scope];
    text += scope.empty() ? "\n" : "  # " + scope + "\n";
  }
  for (const Binding& b : variables) {
    if (b.result >= 0) text += concat(b.variable.path(), " <- %", b.result, "\n");
  }
  return text + "outputs " + numbers_text(outputs) + "\n";
}

Program program_of_op(OpPtr op, const TensorSpecs& inputs, const TensorSpecs& outputs) {
  Program program;
  Program::Instruction instruction{std::move(op), {}, {}, 0};
  for (const TensorSpec& spec : inputs) instruction.inputs.push_back(program.add_value(spec));
  for (const TensorSpec& spec : outputs) instruction.outputs.push_back(program.add_value(spec));
  program.inputs = instruction.inputs;
  program.outputs = instruction.outputs;
  program.code.push_back(std::move(instruction));
  return program;
}

}  // namespace crescent
