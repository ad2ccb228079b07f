// renumber() makes the values of a program consecutive; validate() checks order and specs.
#include "compile/passes/passes.h"
#include "program/recording/divided.h"

namespace crescent::passes {
namespace {

class Numbering {
 public:
  explicit Numbering(Program& program)
      : old_specs_(std::move(program.values)),
        new_number_(old_specs_.size(), -1),
        values_(program.values) {
    values_.clear();
  }
  void operator()(int& value) {
    int& number = new_number_[value];
    if (number < 0) {
      number = static_cast<int>(values_.size());
      values_.push_back(old_specs_[value]);
    }
    value = number;
  }
  void operator()(std::vector<int>& values) {
    for (int& value : values) (*this)(value);
  }

 private:
  TensorSpecs old_specs_;
  std::vector<int> new_number_;  // indexed by old value: its new number
  TensorSpecs& values_;
};

class ProgramCheck {
 public:
  explicit ProgramCheck(const Program& program)
      : program_(program), is_computed_(program.values.size()) {}

  void run() {
    for (int value : program_.inputs) mark_computed(value, "an input");
    for (const Program::Constant& c : program_.constants)
      mark_computed_as(c.value, c.tensor.spec(), "a constant");
    for (const Program::Binding& b : program_.variables)
      mark_computed_as(b.value, stored_spec(b.variable), "a variable");
    for (const Program::Instruction& i : program_.code) check(i);
    for (int value : program_.outputs) read(value, "the outputs");
    for (const Program::Binding& b : program_.variables) {
      if (b.result < 0) continue;
      read(b.result, "a variable");
      expect_spec(b.result, stored_spec(b.variable), "a variable's new value");
    }
  }

 private:
  void expect_in_range(int value) const {
    if (value < 0 || static_cast<size_t>(value) >= is_computed_.size())
      fail("program: there is no value %", value);
  }
  void mark_computed(int value, std::string_view what) {
    expect_in_range(value);
    if (is_computed_[value]) fail("program: %", value, " is made twice, again by ", what);
    is_computed_[value] = true;
  }
  void mark_computed_as(int value, const TensorSpec& spec, std::string_view what) {
    mark_computed(value, what);
    expect_spec(value, spec, what);
  }
  void read(int value, std::string_view reader_text) const {
    expect_in_range(value);
    if (!is_computed_[value])
      fail("program: %", value, " is read by ", reader_text, " before it is made");
  }
  void expect_spec(int value, const TensorSpec& spec, std::string_view what) const {
    const TensorSpec& recorded_spec = program_.values[value];
    if (!(recorded_spec == spec))
      fail("program: %", value, " is stated as ", recorded_spec, ", ", what, " has ", spec);
  }
  void check(const Program::Instruction& i) {
    TensorSpecs input_specs;
    for (int value : i.inputs) {
      read(value, i.op->text());
      input_specs.push_back(program_.values[value]);
    }
    const TensorSpecs output_specs = i.op->infer(input_specs);
    if (output_specs.size() != i.outputs.size())
      fail("program: ", i.op->text(), " has ", output_specs.size(), " results, ", i.outputs.size(),
           " are stated");
    for (size_t o = 0; o < output_specs.size(); ++o)
      mark_computed_as(i.outputs[o], output_specs[o], i.op->text());
    if (i.scope < 0 || static_cast<size_t>(i.scope) >= program_.scopes.size())
      fail("program: there is no scope ", i.scope);
  }

  const Program& program_;
  std::vector<bool> is_computed_;  // indexed by value: whether it was computed
};

}  // namespace

void renumber(Program& program) {
  Numbering number(program);
  number(program.inputs);
  for (Program::Constant& c : program.constants) number(c.value);
  for (Program::Binding& b : program.variables) number(b.value);
  for (Program::Instruction& i : program.code) {
    number(i.inputs);
    number(i.outputs);
  }
  number(program.outputs);
  for (Program::Binding& b : program.variables) {
    if (b.result >= 0) number(b.result);
  }
}

void validate(const Program& program) { ProgramCheck(program).run(); }

}  // namespace crescent::passes
