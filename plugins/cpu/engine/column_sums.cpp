// Joins two steps: where a bias was added to a product, the gradient of the weight is a product a'b
// and that of the bias the sum of the rows of b. The product reads b anyway and makes both.
#include <algorithm>

#include "engine/lower.h"

namespace crescent::cpu {
namespace {

bool has(const Lowered& program, const std::vector<int>& values, int value) {
  return std::any_of(values.begin(), values.end(),
                     [&](int v) { return program.root(v) == program.root(value); });
}

/// The columns that are left where `step` sums over all others; 0 when it does something else.
int64_t summed_columns(const Lowered& program, const Step& step) {
  const auto* sum = dynamic_cast<const Reduce*>(step.op.get());
  if (!sum || sum->kind != ReduceKind::sum || sum->axes.empty() ||
      sum->axes.back() + 1 != static_cast<int>(sum->axes.size()))
    return 0;
  const Shape& shape = program.values[static_cast<size_t>(step.inputs[0])].shape;
  return shape.slice(sum->axes.back() + 1, shape.rank()).size();
}

bool join(Lowered& program, size_t sum, size_t product, int64_t columns) {
  Step &from = program.steps[sum], &to = program.steps[product];
  if (sum == product || to.inputs.size() < 2 ||
      program.root(to.inputs[1]) != program.root(from.inputs[0]))
    return false;
  for (size_t s = sum + 1; s <= product; ++s) {
    if (has(program, program.steps[s].inputs, from.outputs[0])) return false;
  }
  if (!to.kernel->sum_columns(columns, static_cast<int>(to.outputs.size()))) return false;
  to.outputs.push_back(from.outputs[0]);
  program.steps.erase(program.steps.begin() + static_cast<ptrdiff_t>(sum));
  return true;
}

}  // namespace

void join_column_sums(Lowered& program) {
  for (size_t s = program.prologue; s < program.steps.size();) {
    const int64_t columns = summed_columns(program, program.steps[s]);
    bool joined = false;
    for (size_t p = program.prologue; columns > 0 && !joined && p < program.steps.size(); ++p)
      joined = join(program, s, p, columns);
    if (!joined) ++s;
  }
}

}  // namespace crescent::cpu
