#include "validation/evaluator.h"

#include <algorithm>
#include <cmath>

#include "crescent/device/lowering.h"
#include "crescent/program/gradient.h"
#include "crescent/system/interrupt.h"
#include "validation/rules/rules.h"

namespace crescent::validation {
namespace {

using Instruction = Program::Instruction;

Rule rule_of(const Op& op) {
  static const auto* rules = [] {
    auto* table = new std::unordered_map<std::string_view, Rule>;
    for (auto rule_table :
         {elementwise_rules(), movement_rules(), indexing_rules(), reduction_rules(),
          product_rules(), convolution_rules(), pooling_rules()})
      for (const OpRule& row : rule_table) table->emplace(row.op, row.rule);
    return table;
  }();
  const auto entry = rules->find(op.name());
  return entry == rules->end() ? nullptr : entry->second;
}

bool is_number(const TensorSpec& spec) {
  return spec.dtype != DType::complex64 && spec.dtype != DType::string;
}

/// Whether inputs and outputs are exact integers or strings. If so, the op is run itself, because
/// its results are exact.
bool is_exact(std::span<const BoundedPtr> inputs, const TensorSpecs& outputs) {
  return std::none_of(outputs.begin(), outputs.end(),
                      [](const TensorSpec& spec) { return is_floating(spec.dtype); }) &&
         std::all_of(inputs.begin(), inputs.end(), [](const BoundedPtr& x) {
           return !x->is_real() && x->spec.dtype != DType::complex64 && x->is_exact();
         });
}

std::vector<Bounded> run_op(const OpPtr& op, std::span<const BoundedPtr> inputs,
                            Rounding rounding) {
  const NoTrace no_trace;
  const NoGradient no_gradient;
  Tensors arguments;
  for (const BoundedPtr& x : inputs) arguments.push_back(rounded(*x));
  std::vector<Bounded> results;
  for (const Tensor& result : crescent::apply(op, arguments))
    results.push_back(Bounded::of(result, rounding));
  return results;
}

std::vector<Bounded> all_undecided(const TensorSpecs& specs) {
  std::vector<Bounded> results;
  for (const TensorSpec& spec : specs) results.push_back(Bounded::undecided(spec));
  return results;
}

/// Row `i` of x along the leading axis.
Bounded row(const Bounded& x, int64_t i) {
  const Shape& shape = x.spec.shape;
  Bounded y{{x.spec.dtype, shape.slice(1, shape.rank())}, {}, {}, {}, {}};
  const auto size = static_cast<std::ptrdiff_t>(y.size()), first = size * i;
  const auto copy_row = [&](const auto& from, auto& to) {
    if (!from.empty()) to.assign(from.begin() + first, from.begin() + first + size);
  };
  copy_row(x.real, y.real), copy_row(x.whole, y.whole), copy_row(x.bound, y.bound);
  if (x.opaque) y.opaque = x.opaque.view_rows(i, 1).view(y.spec.shape);
  return y;
}

void put_row(const Bounded& x, int64_t i, Bounded& y) {
  const auto first = static_cast<std::ptrdiff_t>(x.size()) * i;
  std::copy(x.real.begin(), x.real.end(), y.real.begin() + (y.is_real() ? first : 0));
  std::copy(x.whole.begin(), x.whole.end(), y.whole.begin() + (y.is_whole() ? first : 0));
  if (x.bound.empty()) return;
  if (y.bound.empty()) y.bound.assign(y.size(), 0);
  std::copy(x.bound.begin(), x.bound.end(), y.bound.begin() + first);
}

/// For each value, the last instruction that reads it; outputs and new values of variables count as
/// read after the last instruction.
std::vector<size_t> last_reads(const Program& program) {
  std::vector<size_t> result(program.values.size(), 0);
  for (size_t i = 0; i < program.code.size(); ++i)
    for (int value : program.code[i].inputs) result[value] = i;
  for (int value : program.outputs) result[value] = program.code.size();
  for (const Program::Binding& b : program.variables)
    if (b.result >= 0) result[b.result] = program.code.size();
  return result;
}

/// The instructions that depend on constants alone. The constant folding pass computes them in
/// their own dtypes, and so does the evaluator when it compares two programs.
class Constants {
 public:
  explicit Constants(const Program& program) : is_constant_(program.values.size(), false) {
    for (const Program::Constant& c : program.constants) mark(c.value);
  }
  bool contains(const Instruction& i) {
    if (i.op->effect() > Effect::check || i.op->name() == Scan::kName) return false;
    for (int value : i.inputs)
      if (!is_constant_[value]) return false;
    for (int value : i.outputs) mark(value);
    return true;
  }

 private:
  void mark(int value) { is_constant_[value] = true; }
  std::vector<bool> is_constant_;
};

}  // namespace

std::vector<BoundedPtr> Evaluator::run(const Program& program, const InitialValues& initial_values,
                                       bool keep_all) {
  Values values(program.values.size());
  for (size_t i = 0; i < program.inputs.size(); ++i)
    values[program.inputs[i]] = initial_values.inputs[i];
  for (const Program::Binding& b : program.variables)
    values[b.value] = initial_values.of(b.variable);
  interpret(program, values, keep_all, Role::whole);
  return values;
}

/// A constant in a decomposition, such as 1 / n, gets an error bound if it has many digits, because
/// it was rounded, while a pass that rewrites the op may use the exact number.
Bounded Evaluator::constant(const Tensor& tensor, Role role) const {
  Bounded value = Bounded::of(tensor, rounding_);
  if (rounding_ != Rounding::float64 || role != Role::decomposed) return value;
  const double u = unit_roundoff(tensor.dtype(), Rounding::own);
  for (size_t i = 0; i < value.real.size(); ++i)
    if (rounded_to(value.real[i], DType::bfloat16) != value.real[i])
      value.widen(i, u * std::abs(value.real[i]));
  return value;
}

void Evaluator::interpret(const Program& program, Values& values, bool keep_all, Role role) {
  const auto value_at = [&](int value) -> BoundedPtr& { return values[value]; };
  for (const Program::Constant& c : program.constants)
    value_at(c.value) = std::make_shared<const Bounded>(constant(c.tensor, role));
  const std::vector<size_t> last_read_at = last_reads(program);
  Constants constants(program);
  for (size_t i = 0; i < program.code.size(); ++i) {
    if (interrupted()) throw Interrupted("validate: interrupted");
    const Instruction& instruction = program.code[i];
    Values inputs;
    for (int value : instruction.inputs) inputs.push_back(value_at(value));
    const bool is_constant = constants.contains(instruction);
    std::vector<Bounded> results =
        is_constant && rounding_ == Rounding::float64 && role != Role::decomposed
            ? run_op(instruction.op, inputs, rounding_)
            : compute(instruction.op, inputs, program.specs_of(instruction.outputs));
    for (size_t o = 0; o < results.size(); ++o) {
      results[o].mark_undecided(rounding_);
      BoundedPtr& result = value_at(instruction.outputs[o]);
      result = std::make_shared<const Bounded>(std::move(results[o]));
      if (role == Role::whole && observer_) observer_(instruction, instruction.outputs[o], result);
    }
    for (int value : instruction.inputs)
      if (!keep_all && last_read_at[value] == i) value_at(value).reset();
  }
}

Evaluator::Values Evaluator::run_subprogram(const Program& subprogram,
                                            std::span<const BoundedPtr> inputs, Role role) {
  Values values(subprogram.values.size());
  for (size_t i = 0; i < inputs.size(); ++i) values[subprogram.inputs[i]] = inputs[i];
  interpret(subprogram, values, false, role);
  Values outputs;
  for (int value : subprogram.outputs) outputs.push_back(values[value]);
  return outputs;
}

std::vector<Bounded> Evaluator::compute(const OpPtr& op, std::span<const BoundedPtr> inputs,
                                        const TensorSpecs& outputs) {
  if (auto* call = dynamic_cast<const HostCall*>(op.get()))
    return compute(call->op(), inputs, outputs);
  if (auto* loop = dynamic_cast<const Scan*>(op.get())) return scan(*loop, inputs, outputs);
  const bool is_random = op->name() == Random::kName;
  if (op->effect() >= Effect::state && !is_random) return all_undecided(outputs);
  if (is_random || is_exact(inputs, outputs)) return run_op(op, inputs, rounding_);
  const bool has_numbers = std::all_of(outputs.begin(), outputs.end(), is_number) &&
                           std::all_of(inputs.begin(), inputs.end(),
                                       [](const BoundedPtr& x) { return is_number(x->spec); });
  if (const Rule rule = has_numbers ? rule_of(*op) : nullptr)
    return rule({*op, inputs, outputs, rounding_});
  TensorSpecs specs;
  for (const BoundedPtr& x : inputs) specs.push_back(x->spec);
  bool has_no_decomposition = false;
  const NoGradient no_gradient;
  const Program decomposition = trace(
      [&](const Tensors& abstract_inputs) {
        Tensors results = op->decompose(abstract_inputs);
        has_no_decomposition = results.empty();
        return results;
      },
      specs);
  if (has_no_decomposition) return sample(op, inputs, outputs, rounding_);
  std::vector<Bounded> results;
  for (const BoundedPtr& result : run_subprogram(decomposition, inputs, Role::decomposed))
    results.push_back(*result);
  return results;
}

std::vector<Bounded> Evaluator::scan(const Scan& op, std::span<const BoundedPtr> inputs,
                                     const TensorSpecs& outputs) {
  const auto state_count = static_cast<size_t>(op.states),
             first_captured = state_count + static_cast<size_t>(op.sequences);
  Values state_values(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(state_count));
  const int64_t steps = inputs[state_count]->spec.shape[0];
  const size_t step_output_count = op.body->outputs.size() - state_count;
  std::vector<Bounded> stacked_results;
  for (size_t o = state_count; o < outputs.size(); ++o)
    stacked_results.push_back(Bounded::zeros(outputs[o]));
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t t = op.reverse ? steps - 1 - i : i;
    Values arguments = state_values;
    for (size_t q = state_count; q < first_captured; ++q)
      arguments.push_back(std::make_shared<const Bounded>(row(*inputs[q], t)));
    arguments.insert(arguments.end(), inputs.begin() + static_cast<std::ptrdiff_t>(first_captured),
                     inputs.end());
    for (size_t s = 0; op.keep_states && s < state_count; ++s)
      put_row(*state_values[s], t, stacked_results[step_output_count + s]);
    const Values results = run_subprogram(*op.body, arguments, Role::body);
    for (size_t s = 0; s < state_count; ++s) state_values[s] = results[s];
    for (size_t o = 0; o < step_output_count; ++o)
      put_row(*results[state_count + o], t, stacked_results[o]);
  }
  std::vector<Bounded> results;
  for (const BoundedPtr& state : state_values) results.push_back(*state);
  std::move(stacked_results.begin(), stacked_results.end(), std::back_inserter(results));
  return results;
}

std::string text_of(const Program& program, const Instruction& instruction) {
  const auto list = [&](const std::vector<int>& values) {
    std::string text;
    for (int value : values) {
      const TensorSpec& spec = program.values[value];
      if (!text.empty()) text += ", ";
      if (spec.dtype != DType::float32) text += concat(spec.dtype, " ");
      std::string dims_text;
      for (int64_t dim : spec.shape) dims_text += concat(dims_text.empty() ? "" : "x", dim);
      text += dims_text.empty() ? "scalar" : dims_text;
    }
    return text;
  };
  return concat(instruction.op->label(), " ", list(instruction.inputs), " -> ",
                list(instruction.outputs));
}

}  // namespace crescent::validation
