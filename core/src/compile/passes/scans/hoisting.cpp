// Hoisting: computations in the body of a scan that depend on nothing that changes are moved before
// the scan. A check of values, which may fail, is moved only if the scan is known to have at least
// one step. Products of a step's input with an unchanging matrix are computed for all steps at
// once, as one large product.
//
//   body: %4 = matmul(step, w)                %8 = matmul(sequence (t * b, k), w)
//         %5 = matmul(state, u)        ->     body: %5 = matmul(state, u)
//         %6 = add(%4, %5)                          %6 = add(step of %8, %5)
#include <algorithm>
#include <utility>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rewriting.h"

namespace crescent::passes {
namespace {

class Hoisting {
 public:
  /// Instructions that move out of the body of `loop` are appended to `code`; their results are new
  /// values of `program`.
  Hoisting(Program& program, Instruction& loop, std::vector<Instruction>& code)
      : program_(program),
        loop_(loop),
        code_(code),
        scan_(op_of<Scan>(loop)),
        body_(*scan_.body),
        outer_values_(body_.values.size()) {
    const size_t first_sequence = static_cast<size_t>(scan_.states),
                 first_captured = first_sequence + static_cast<size_t>(scan_.sequences);
    for (size_t i = first_sequence; i < body_.inputs.size(); ++i) {
      (i < first_captured ? at(body_.inputs[i]).sequence : at(body_.inputs[i]).invariant_value) =
          loop.inputs[i];
    }
    for (const Program::Constant& c : body_.constants) {
      program.constants.push_back({program.add_value(c.tensor.spec()), c.tensor});
      at(c.value).invariant_value = program.constants.back().value;
      at(c.value).is_constant = true;
    }
  }

  bool run() {
    const size_t old_size = body_.code.size();
    std::erase_if(body_.code, [this](const Instruction& i) { return hoist(i); });
    if (body_.code.size() == old_size) return false;
    for (const Instruction& i : body_.code) add_inputs_for(i.inputs);
    add_inputs_for(body_.outputs);
    replace_loop();
    return true;
  }

 private:
  /// The value or values of the program that correspond to a value of the body, if there are any.
  struct OuterValue {
    /// The value of the program, if the value of the body is equal in all steps; else -1.
    int invariant_value = -1;
    /// The value of the program with the stacked values of all steps; -1: none.
    int sequence = -1;
    bool is_constant = false;  ///< whether the body's value is one of the body's constants
    bool is_hoisted = false;
  };
  OuterValue& at(int value) { return outer_values_[value]; }
  const Shape& shape(int value) const { return body_.values[value].shape; }

  int add(OpPtr op, std::vector<int> inputs) {
    code_.push_back(new_instruction(program_, std::move(op), std::move(inputs), loop_.scope));
    return code_.back().outputs[0];
  }
  template <class T>
  int add(T op, std::vector<int> inputs) {
    return add(OpPtr(std::make_shared<const T>(std::move(op))), std::move(inputs));
  }

  bool hoist(const Instruction& i) {
    const Effect strongest_effect = has_steps() ? Effect::check : Effect::none;
    if (i.outputs.size() != 1 || i.op->effect() > strongest_effect || as<Scan>(*i.op)) return false;
    OuterValue& output_value = at(i.outputs[0]);
    if (is_invariant(i))
      output_value.invariant_value = add(i.op, values_outside(i.inputs));
    else if (as<Cast>(*i.op) && at(i.inputs[0]).sequence >= 0)
      output_value.sequence = add(i.op, {at(i.inputs[0]).sequence});
    else if (is_projection(i))
      output_value.sequence = hoist_projection(i);
    else
      return false;
    return output_value.is_hoisted = true;
  }

  /// Whether the scan is known to have at least one step.
  bool has_steps() const {
    return scan_.sequences > 0 && program_.values[loop_.inputs[scan_.states]].shape[0] > 0;
  }

  /// Whether all inputs of the instruction are equal in all steps. Instructions on constants alone
  /// stay in the body, where constant folding removes them.
  bool is_invariant(const Instruction& i) {
    return std::all_of(i.inputs.begin(), i.inputs.end(),
                       [this](int value) { return at(value).invariant_value >= 0; }) &&
           std::any_of(i.inputs.begin(), i.inputs.end(),
                       [this](int value) { return !at(value).is_constant; });
  }
  std::vector<int> values_outside(std::vector<int> values) {
    for (int& value : values) value = at(value).invariant_value;
    return values;
  }

  bool is_projection(const Instruction& i) {
    auto* product = as<Matmul>(*i.op);
    if (!product || product->transpose_a) return false;
    const int step = i.inputs[0], matrix = i.inputs[1];
    return at(step).sequence >= 0 && at(matrix).invariant_value >= 0 && shape(step).rank() == 2 &&
           shape(matrix).rank() == 2 && program_.values[at(step).sequence].shape.is_known();
  }

  int hoist_projection(const Instruction& i) {
    const Shape sequence_shape = program_.values[at(i.inputs[0]).sequence].shape;
    Reshape as_rows, as_steps;
    as_rows.shape = {sequence_shape[0] * sequence_shape[1], sequence_shape[2]};
    as_steps.shape = {sequence_shape[0], sequence_shape[1], shape(i.outputs[0])[1]};
    return add(
        as_steps,
        {add(i.op, {add(as_rows, {at(i.inputs[0]).sequence}), at(i.inputs[1]).invariant_value})});
  }

  /// Adds an input to the body for each of `values` that was hoisted, because the body still reads
  /// it.
  void add_inputs_for(const std::vector<int>& values) {
    for (int value : values) {
      if (at(value).is_hoisted) new_inputs_.push_back(value), at(value).is_hoisted = false;
    }
  }

  void replace_loop() {
    Scan scan = scan_;
    for (int value : new_inputs_) {
      const bool is_sequence = at(value).sequence >= 0;
      const auto position =
          is_sequence ? scan.states + scan.sequences++ : static_cast<int>(body_.inputs.size());
      body_.inputs.insert(body_.inputs.begin() + position, value);
      loop_.inputs.insert(loop_.inputs.begin() + position,
                          is_sequence ? at(value).sequence : at(value).invariant_value);
    }
    scan.body = std::make_shared<const Program>(std::move(body_));
    loop_.op = std::make_shared<const Scan>(std::move(scan));
  }

  Program& program_;
  Instruction& loop_;
  std::vector<Instruction>& code_;
  const Scan scan_;  ///< the scan as it was before this pass
  Program body_;
  std::vector<OuterValue> outer_values_;  ///< indexed by value of the body
  std::vector<int> new_inputs_;
};

}  // namespace

bool hoisting(Program& program) {
  bool changed = false;
  std::vector<Instruction> code;
  for (Instruction& i : std::exchange(program.code, {})) {
    if (as<Scan>(*i.op)) changed |= Hoisting(program, i, code).run();
    code.push_back(std::move(i));
  }
  program.code = std::move(code);
  return changed;
}

}  // namespace crescent::passes
