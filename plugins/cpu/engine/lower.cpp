#include "engine/lower.h"

#include <algorithm>

namespace crescent::cpu {
namespace {

/// The result is the same bytes in the same order.
bool is_alias(const Op& op, const TensorSpecs& in, const TensorSpecs& out) {
  std::string_view name = op.name();
  if (name == "reshape" || name == "stop_gradient") return true;
  if (name == "cast" || name == "broadcast_to" || name == CheckIndices::kName)
    return in[0] == out[0];
  return false;
}

bool is_empty(const TensorSpec& spec) { return spec.shape.size() == 0; }

}  // namespace

Lowered::Lowered(const Program& program, const Options& options, Pool& pool)
    : values(program.values),
      inputs(program.inputs),
      outputs(program.outputs),
      constants(program.constants) {
  alias_.resize(values.size());
  for (size_t v = 0; v < values.size(); ++v) alias_[v] = static_cast<int>(v);
  for (const Program::Binding& b : program.variables) variables.push_back({b.value, b.result});
  for (const Program::Instruction& instruction : program.code) lower(instruction, options, pool);
  for (Binding& v : variables) {
    if (v.result >= 0 && root(v.result) == root(v.value)) v.result = -1;
  }
  put_checks_first(*this);
  separate_prologue();
  join_followers(*this);
  join_column_sums(*this);
}

int Lowered::root(int value) const {
  while (alias_[static_cast<size_t>(value)] != value) value = alias_[static_cast<size_t>(value)];
  return value;
}

size_t Lowered::bytes(int value) const {
  const TensorSpec& spec = values[static_cast<size_t>(value)];
  return static_cast<size_t>(spec.shape.size()) * size_of(spec.dtype);
}

int Lowered::add_value(const TensorSpec& spec) {
  int value = static_cast<int>(values.size());
  values.push_back(spec);
  alias_.push_back(value);
  return value;
}

int Lowered::add_copy(int value) {
  int copy = add_value(values[static_cast<size_t>(value)]);
  steps.push_back({make_copy(bytes(value)), nullptr, {value}, {copy}, 0});
  return copy;
}

TensorSpecs Lowered::specs(const std::vector<int>& list) const {
  TensorSpecs specs;
  for (int v : list) specs.push_back(values[static_cast<size_t>(v)]);
  return specs;
}

void Lowered::lower(const Program::Instruction& instruction, const Options& options, Pool& pool) {
  const Op& op = *instruction.op;
  TensorSpecs in = specs(instruction.inputs), out = specs(instruction.outputs);
  if (is_alias(op, in, out)) {
    alias_[static_cast<size_t>(instruction.outputs[0])] = instruction.inputs[0];
    if (op.name() == CheckIndices::kName)
      steps.push_back({make_kernel({op, in, out, options}),
                       instruction.op,
                       instruction.inputs,
                       {},
                       instruction.scope});
    return;
  }
  if (std::all_of(out.begin(), out.end(), is_empty)) {
    steps.push_back({make_nothing(), instruction.op, instruction.inputs, instruction.outputs,
                     instruction.scope});
    return;
  }
  const bool sums_nothing =
      std::any_of(in.begin(), in.end(), is_empty) && op.name() != Fused::kName;
  if (sums_nothing && splice_decomposed(instruction, options, pool)) return;
  Request request{op, in, out, options};
  auto* scan = dynamic_cast<const Scan*>(&op);
  auto kernel = scan ? make_scan(*scan, request, pool) : make_kernel(request);
  if (!kernel && splice_decomposed(instruction, options, pool)) return;
  if (!kernel) kernel = make_computed(instruction.op, request);
  if (!kernel) {
    std::string text;
    for (const TensorSpec& spec : in) text += (text.empty() ? "" : ", ") + to_text(spec);
    fail("the cpu device has no way to run ", op.name(), " on (", text, ")");
  }
  steps.push_back({std::move(kernel), instruction.op, instruction.inputs, instruction.outputs,
                   instruction.scope});
}

bool Lowered::splice_decomposed(const Program::Instruction& instruction, const Options& options,
                                Pool& pool) {
  bool simple = false;
  Program part = trace(
      [&](const Tensors& in) {
        Tensors out = instruction.op->decompose(in);
        simple = out.empty();
        return out;
      },
      specs(instruction.inputs));
  if (simple) return false;
  part =
      optimize(std::move(part), {.compounds = false});  // what is taken apart is not to come back

  std::vector<int> here(part.values.size(), -1);  // value of the part -> value of the whole
  for (size_t i = 0; i < part.inputs.size(); ++i)
    here[static_cast<size_t>(part.inputs[i])] = instruction.inputs[i];
  for (size_t v = 0; v < here.size(); ++v) {
    if (here[v] < 0) here[v] = add_value(part.values[v]);
  }
  auto translated = [&](std::vector<int> list) {
    for (int& v : list) v = here[static_cast<size_t>(v)];
    return list;
  };
  for (const Program::Constant& c : part.constants)
    constants.push_back({here[static_cast<size_t>(c.value)], c.tensor});
  for (const Program::Instruction& i : part.code) {
    lower({i.op, translated(i.inputs), translated(i.outputs), instruction.scope}, options, pool);
  }
  for (size_t o = 0; o < part.outputs.size(); ++o) {
    alias_[static_cast<size_t>(instruction.outputs[o])] =
        here[static_cast<size_t>(part.outputs[o])];
  }
  return true;
}

/// What steps make of stable values is stable too, and is kept, unless that takes much more memory
/// than what it is made of. The steps that remain may have their stable inputs prepared.
void Lowered::separate_prologue() {
  std::vector<bool> is_stable(values.size()), is_result(values.size());
  auto mark = [&](std::vector<bool>& set, int value) {
    set[static_cast<size_t>(root(value))] = true;
  };
  auto has = [&](const std::vector<bool>& set, int value) {
    return set[static_cast<size_t>(root(value))];
  };
  for (const Program::Constant& c : constants) mark(is_stable, c.value);
  for (const Binding& v : variables)
    v.result < 0 ? mark(is_stable, v.value) : mark(is_result, v.result);
  for (int value : outputs) mark(is_result, value);

  auto belongs = [&](const Step& step) {
    constexpr size_t kLittle = size_t{64} << 10;
    size_t read = 0, made = 0;
    for (int value : step.inputs) read += bytes(value);
    for (int value : step.outputs) made += bytes(value);
    return !step.inputs.empty() && made <= std::max(read, kLittle) &&
           std::all_of(step.inputs.begin(), step.inputs.end(),
                       [&](int v) { return has(is_stable, v); }) &&
           std::none_of(step.outputs.begin(), step.outputs.end(),
                        [&](int v) { return has(is_result, v); });
  };
  std::vector<Step> before, after;
  for (Step& step : steps) {
    const bool stays = belongs(step);
    if (stays) {
      for (int value : step.outputs) mark(is_stable, value);
    }
    (stays ? before : after).push_back(std::move(step));
  }
  for (Step& step : after) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (!has(is_stable, step.inputs[i])) continue;
      Prepared prepared = step.kernel->prepare(static_cast<int>(i));
      if (!prepared.kernel) continue;
      const int value = add_value(prepared.spec);
      before.push_back({std::move(prepared.kernel),
                        nullptr,
                        {step.inputs[i]},
                        {value},
                        step.scope,
                        std::move(prepared.form)});
      step.inputs[i] = value;
    }
  }
  prologue = before.size();
  std::move(after.begin(), after.end(), std::back_inserter(before));
  steps = std::move(before);
}

}  // namespace crescent::cpu
