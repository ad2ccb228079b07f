// Sinking moves two kinds of computations from the steps of a scan behind the scan, where one large
// product does the work of all steps: products that are summed over the steps, and products with a
// matrix that does not change, if no step reads their results.
//
//   body: %6 = matmul'(h, dz)          ->     body: step output dz
//         next sum = add(sum, %6)             %9 = matmul'(all h (t * b, k), all dz (t * b, n))
//         step output matmul(dz, w)           last sum = add(first sum, %9)
//                                             all steps' output = matmul(all dz (t * b, n), w)
#include <algorithm>
#include <utility>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rewriting.h"

namespace crescent::passes {
namespace {

class Sinking {
 public:
  /// `is_read` says for each value of the program whether an instruction or a result reads it.
  Sinking(Program& program, const Instruction& loop, const std::vector<bool>& is_read)
      : program_(program),
        loop_(loop),
        scan_(op_of<Scan>(loop)),
        body_(without_dead_code(*scan_.body)),
        is_read_(is_read),
        body_values_(body_.values.size()),
        is_moved_(body_.outputs.size()) {
    for (const Instruction& i : body_.code) {
      for (int value : i.inputs) ++at(value).read_count;
      for (int value : i.outputs) at(value).producer = &i;
    }
    for (int value : body_.outputs) ++at(value).read_count;
    for (size_t s = 0; s < state_count(); ++s) {
      at(body_.inputs[s]).is_state = true;
      if (scan_.keep_states)
        at(body_.inputs[s]).stacked_value = loop.outputs[kept_states_output(s)];
    }
    for (size_t q = state_count(); q < first_captured(); ++q)
      at(body_.inputs[q]).stacked_value = loop.inputs[q];
    for (size_t c = first_captured(); c < body_.inputs.size(); ++c)
      at(body_.inputs[c]).invariant_value = loop.inputs[c];
    for (size_t o = state_count(); o < is_moved_.size(); ++o)
      at(body_.outputs[o]).stacked_value = loop.outputs[o];
  }

  /// Appends to `code` the loop and, after it, the instructions that were moved out of the body.
  bool run(std::vector<Instruction>& code) {
    if (step_count() > 0) {
      for (size_t o = state_count(); o < is_moved_.size(); ++o) is_moved_[o] = sink_output(o);
      for (size_t s = 0; s < state_count(); ++s) is_moved_[s] = sink_state(s);
    }
    code.push_back(remaining_loop());
    std::move(after_loop_.begin(), after_loop_.end(), std::back_inserter(code));
    return std::count(is_moved_.begin(), is_moved_.end(), true) > 0;
  }

 private:
  /// Properties of a value of the body.
  struct BodyValue {
    const Instruction* producer = nullptr;
    int read_count = 0;  ///< number of reads by instructions and by results of the body
    bool is_state = false;
    /// the corresponding value of the program, if it is equal in all steps; else -1
    int invariant_value = -1;
    int stacked_value = -1;  ///< the value of the program with the stacked values of all steps
  };
  static Program without_dead_code(Program body) {
    dead_code(body);
    return body;
  }
  BodyValue& at(int value) { return body_values_[value]; }
  const TensorSpec& spec(int value) const { return body_.values[value]; }
  const TensorSpec& outer_spec(int value) const { return program_.values[value]; }
  int rank(int value) const { return spec(value).shape.rank(); }
  size_t state_count() const { return static_cast<size_t>(scan_.states); }
  size_t first_captured() const { return state_count() + static_cast<size_t>(scan_.sequences); }
  /// The index of the output of the scan that stacks the values of this state before every step.
  size_t kept_states_output(size_t state) const { return is_moved_.size() + state; }
  int64_t step_count() const {
    return scan_.sequences > 0 ? outer_spec(loop_.inputs[state_count()]).shape[0] : 0;
  }

  /// Adds an instruction after the loop.
  int add(OpPtr op, std::vector<int> inputs) {
    after_loop_.push_back(new_instruction(program_, std::move(op), std::move(inputs), loop_.scope));
    return after_loop_.back().outputs[0];
  }
  template <class T>
  int add(T op, std::vector<int> inputs) {
    return add(OpPtr(std::make_shared<const T>(std::move(op))), std::move(inputs));
  }
  int reshaped(int value, const Shape& shape) {
    Reshape op;
    op.shape = shape;
    return add(op, {value});
  }
  /// Makes `value` the result of the instruction that was added last.
  void set_last_result(int value) { after_loop_.back().outputs = {value}; }

  // Whether the values of all steps may be stacked: the value of one step must not have more bytes
  // than the inputs of the step together.
  bool can_be_stacked(int value) {
    const BodyValue& v = at(value);
    if (v.stacked_value >= 0) return true;
    int64_t read_bytes = 0;
    for (size_t q = state_count(); q < first_captured(); ++q) read_bytes += bytes(body_.inputs[q]);
    return (v.producer || v.is_state) && rank(value) == 2 && bytes(value) <= read_bytes;
  }
  int64_t bytes(int value) const { return spec(value).bytes(); }
  /// Returns the stacked values of all steps (t, ...). If they are no output of the scan yet, makes
  /// them one.
  int stack_value(int value) {
    int& stacked_value = at(value).stacked_value;
    if (stacked_value >= 0) return stacked_value;
    stacked_value =
        program_.add_value({spec(value).dtype, Shape{step_count()}.concat(spec(value).shape)});
    body_.outputs.push_back(value), new_outputs_.push_back(stacked_value);
    return stacked_value;
  }
  /// `value` is a matrix in the body. Stacks the matrices of all steps to one matrix of shape
  /// (steps * rows, columns) and returns the value number of this matrix in the program.
  int stacked_rows(int value) {
    const Shape& shape = spec(value).shape;
    return reshaped(stack_value(value), {step_count() * shape[0], shape[1]});
  }

  enum class TermKind {
    sum,      ///< a sum of two terms
    moved,    ///< another term with its elements moved or repeated
    product,  ///< a matrix product with a transposed first operand
    reduced,  ///< sums over axes of another term
    unknown
  };
  TermKind term_kind_of(int value) {
    const Instruction* i = at(value).producer;
    if (!i) return TermKind::unknown;
    const int first_input = i->inputs.empty() ? -1 : i->inputs[0];
    if (auto* binary = as<Binary>(*i->op); binary && binary->kind == BinaryKind::add) {
      const bool has_equal_specs =
          spec(first_input) == spec(value) && spec(i->inputs[1]) == spec(value);
      return has_equal_specs ? TermKind::sum : TermKind::unknown;
    }
    auto* pad = as<Pad>(*i->op);
    if (as<Reshape>(*i->op) || as<Transpose>(*i->op) || (pad && pad->value == 0) ||
        (as<Cast>(*i->op) && is_widened(spec(first_input).dtype, spec(value).dtype)))
      return TermKind::moved;
    auto* product = as<Matmul>(*i->op);
    if (product && product->transpose_a && !product->transpose_b && rank(first_input) == 2 &&
        rank(i->inputs[1]) == 2)
      return TermKind::product;
    auto* reduce = as<Reduce>(*i->op);
    return reduce && reduce->kind == ReduceKind::sum ? TermKind::reduced : TermKind::unknown;
  }
  static bool is_widened(DType from, DType to) {
    return is_floating(from) && is_floating(to) && size_of(to) > size_of(from);
  }

  bool can_be_summed(int value) {
    const Instruction* i = at(value).producer;
    switch (term_kind_of(value)) {
      case TermKind::sum:
        return can_be_summed(i->inputs[0]) && can_be_summed(i->inputs[1]);
      case TermKind::moved:
        return can_be_summed(i->inputs[0]);
      case TermKind::product:
        return can_be_stacked(i->inputs[0]) && can_be_stacked(i->inputs[1]);
      case TermKind::reduced:
        return can_be_stacked(i->inputs[0]);
      case TermKind::unknown:
        break;
    }
    return false;
  }
  /// The sum of a value over all steps, computed after the scan.
  int sum_over_steps(int value) {
    const Instruction& i = *at(value).producer;
    switch (term_kind_of(value)) {
      case TermKind::sum: {
        const int summed_steps = sum_over_steps(i.inputs[0]);
        return add(i.op, {summed_steps, sum_over_steps(i.inputs[1])});
      }
      case TermKind::moved:
        return add(i.op, {sum_over_steps(i.inputs[0])});
      case TermKind::product: {
        const int left_rows = stacked_rows(i.inputs[0]);
        return add(i.op, {left_rows, stacked_rows(i.inputs[1])});
      }
      default: {
        Reduce sum = op_of<Reduce>(i);
        for (int& axis : sum.axes) ++axis;
        sum.axes.insert(sum.axes.begin(), 0), sum.keepdims = false;
        return reshaped(add(sum, {stack_value(i.inputs[0])}), spec(value).shape);
      }
    }
  }

  /// Moves the computation of a state to after the scan if every step only adds a term to the
  /// state.
  bool sink_state(size_t s) {
    const int state_input = body_.inputs[s], state_output = body_.outputs[s];
    const Instruction* i = at(state_output).producer;
    const bool are_states_read =
        scan_.keep_states && is_read_[loop_.outputs[kept_states_output(s)]];
    if (!i || are_states_read || at(state_input).read_count != 1 ||
        at(state_output).read_count != 1 || term_kind_of(state_output) != TermKind::sum ||
        !is_floating(spec(state_output).dtype))
      return false;
    const auto state_use = std::find(i->inputs.begin(), i->inputs.end(), state_input);
    if (state_use == i->inputs.end()) return false;
    const int added_term = i->inputs[state_use == i->inputs.begin() ? 1 : 0];
    if (!can_be_summed(added_term)) return false;
    add(i->op, {loop_.inputs[s], sum_over_steps(added_term)});
    set_last_result(loop_.outputs[s]);
    return true;
  }

  /// Moves the computation of an output to after the scan if it is a product with the same matrix
  /// in every step.
  bool sink_output(size_t o) {
    const int value = body_.outputs[o];
    const Instruction* i = at(value).producer;
    auto* product = i ? as<Matmul>(*i->op) : nullptr;
    if (!product || product->transpose_a || at(value).read_count != 1) return false;
    const int rows = i->inputs[0], matrix = i->inputs[1];
    if (rank(rows) != 2 || rank(matrix) != 2 || at(matrix).invariant_value < 0 ||
        !can_be_stacked(rows))
      return false;
    const int left_rows = stacked_rows(rows);
    reshaped(add(i->op, {left_rows, at(matrix).invariant_value}),
             outer_spec(loop_.outputs[o]).shape);
    set_last_result(loop_.outputs[o]);
    return true;
  }

  Instruction remaining_loop() const {
    Instruction loop = loop_;
    Scan scan = scan_;
    Program body = body_;
    const auto results = loop.outputs.begin() + static_cast<ptrdiff_t>(is_moved_.size());
    loop.outputs.insert(results, new_outputs_.begin(), new_outputs_.end());
    for (size_t o = is_moved_.size(); o-- > 0;) {
      if (!is_moved_[o]) continue;
      const auto index = static_cast<ptrdiff_t>(o);
      if (o < state_count()) {
        if (scan.keep_states)
          loop.outputs.erase(loop.outputs.begin() + static_cast<ptrdiff_t>(body.outputs.size()) +
                             index);
        body.inputs.erase(body.inputs.begin() + index),
            loop.inputs.erase(loop.inputs.begin() + index);
        --scan.states;
      }
      body.outputs.erase(body.outputs.begin() + index),
          loop.outputs.erase(loop.outputs.begin() + index);
    }
    scan.body = std::make_shared<const Program>(std::move(body));
    loop.op = std::make_shared<const Scan>(std::move(scan));
    return loop;
  }

  Program& program_;
  const Instruction& loop_;
  const Scan scan_;  ///< the scan as it was before this pass
  Program body_;
  const std::vector<bool>& is_read_;
  std::vector<BodyValue> body_values_;  ///< indexed by value of the body
  std::vector<bool> is_moved_;          ///< indexed by result of a step: whether it was moved
  /// Values of the program that become additional outputs of the scan.
  std::vector<int> new_outputs_;
  std::vector<Instruction> after_loop_;
};

}  // namespace

bool sinking(Program& program) {
  const std::vector<bool> is_read = values_read(program);
  bool changed = false;
  std::vector<Instruction> code;
  for (Instruction& i : std::exchange(program.code, {})) {
    if (as<Scan>(*i.op))
      changed |= Sinking(program, i, is_read).run(code);
    else
      code.push_back(std::move(i));
  }
  program.code = std::move(code);
  return changed;
}

}  // namespace crescent::passes
