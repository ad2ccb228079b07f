#include "executor/schedule.h"

#include <algorithm>

#include "executor/sliced_kernel.h"

namespace crescent::cpu {
namespace {

/// Whether the result of an op has the same bytes as its first input, in the same order, so that
/// both can share memory.
bool is_alias(const Op& op, const TensorSpecs& in, const TensorSpecs& out) {
  return op.name() == Reshape::kName || (op.name() == CheckIndices::kName && in[0] == out[0]);
}

/// Whether the step gives equal results for equal inputs and has no effect outside the program.
bool is_repeatable(const Step& step) { return !step.op || step.op->effect() <= Effect::check; }

}  // namespace

Schedule::Schedule(const Program& program, const Options& options, Pool& pool)
    : values(program.values),
      inputs(program.inputs),
      outputs(program.outputs),
      constants(program.constants) {
  roots_.resize(values.size());
  for (size_t v = 0; v < values.size(); ++v) roots_[v] = static_cast<int>(v);
  for (const Program::Binding& b : program.variables) variables.push_back({b.value, b.result});
  for (const Program::Instruction& instruction : program.code) add(instruction, options, pool);
  for (Binding& v : variables) {
    if (v.result >= 0 && root(v.result) == root(v.value)) v.result = -1;
  }
  separate_prepack_steps();
  fuse_epilogues(*this);
  join_column_sums(*this);
  join_slices(*this, options);
  join_reductions(*this);
  overlap_exchanges(*this);
}

size_t Schedule::bytes(int value) const { return static_cast<size_t>(values[value].bytes()); }

int Schedule::add_value(const TensorSpec& spec) {
  int value = static_cast<int>(values.size());
  values.push_back(spec);
  roots_.push_back(value);
  return value;
}

int Schedule::add_copy(int value) {
  int copy = add_value(values[value]);
  steps.push_back({make_copy(bytes(value)), nullptr, {value}, {copy}, 0});
  return copy;
}

TensorSpecs Schedule::specs(const std::vector<int>& list) const {
  TensorSpecs specs;
  for (int v : list) specs.push_back(values[v]);
  return specs;
}

void Schedule::add(const Program::Instruction& instruction, const Options& options, Pool& pool) {
  const Op& op = *instruction.op;
  const TensorSpecs in = specs(instruction.inputs), out = specs(instruction.outputs);
  std::vector<int> results = instruction.outputs;
  if (is_alias(op, in, out)) {
    roots_[results[0]] = root(instruction.inputs[0]);
    if (op.name() != CheckIndices::kName) return;
    results.clear();
  }
  const Request request{op, in, out, options};
  auto* scan = dynamic_cast<const Scan*>(&op);
  auto* sliced = dynamic_cast<const Sliced*>(&op);
  auto kernel = scan     ? make_scan(*scan, request, pool)
                : sliced ? make_sliced(*sliced, request)
                         : cached_or_new_kernel(request);
  if (!kernel) fail("the cpu device does not take ", op.text(), ": expected a lowered program");
  steps.push_back({std::move(kernel), instruction.op, instruction.inputs, std::move(results),
                   instruction.scope});
}

/// Moves the steps whose inputs are all stable to the front. Stable values are constants, variables
/// that the program only reads, and results of steps that were moved, unless the results take much
/// more memory than the inputs. Each stable input of the other steps is prepared if the kernel asks
/// for it (Kernel::prepare).
void Schedule::separate_prepack_steps() {
  std::vector<bool> is_stable(values.size()), is_result(values.size());
  auto mark_value = [&](std::vector<bool>& value_set, int value) { value_set[root(value)] = true; };
  auto contains_value = [&](const std::vector<bool>& value_set, int value) {
    return value_set[root(value)];
  };
  for (const Program::Constant& c : constants) mark_value(is_stable, c.value);
  for (const Binding& v : variables)
    v.result < 0 ? mark_value(is_stable, v.value) : mark_value(is_result, v.result);
  for (int value : outputs) mark_value(is_result, value);

  auto can_prepack = [&](const Step& step) {
    constexpr size_t kMaxFreeBytes = size_t{64} << 10;
    size_t input_bytes = 0, output_bytes = 0;
    for (int value : step.inputs) input_bytes += bytes(value);
    for (int value : step.outputs) output_bytes += bytes(value);
    return !step.inputs.empty() && is_repeatable(step) &&
           output_bytes <= std::max(input_bytes, kMaxFreeBytes) &&
           std::all_of(step.inputs.begin(), step.inputs.end(),
                       [&](int v) { return contains_value(is_stable, v); }) &&
           std::none_of(step.outputs.begin(), step.outputs.end(),
                        [&](int v) { return contains_value(is_result, v); });
  };
  std::vector<Step> prepack_sequence, remaining_steps;
  for (Step& step : steps) {
    const bool is_prepacked = can_prepack(step);
    if (is_prepacked) {
      for (int value : step.outputs) mark_value(is_stable, value);
    }
    (is_prepacked ? prepack_sequence : remaining_steps).push_back(std::move(step));
  }
  for (Step& step : remaining_steps) {
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      if (!contains_value(is_stable, step.inputs[i])) continue;
      InputConversion prepared = step.kernel->prepare(static_cast<int>(i));
      if (!prepared.kernel) continue;
      const int value = add_value(prepared.spec);
      prepack_sequence.push_back({std::move(prepared.kernel),
                                  nullptr,
                                  {step.inputs[i]},
                                  {value},
                                  step.scope,
                                  std::move(prepared.form)});
      step.inputs[i] = value;
    }
  }
  prepack_steps = prepack_sequence.size();
  std::move(remaining_steps.begin(), remaining_steps.end(), std::back_inserter(prepack_sequence));
  steps = std::move(prepack_sequence);
}

}  // namespace crescent::cpu
