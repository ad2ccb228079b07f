// Joins two steps of a schedule: the gradient of a weight is a product a'b, and the gradient of its
// bias is the sum of the rows of b. The product reads b anyway, so one step computes both.
#include <algorithm>

#include "executor/readers.h"
#include "executor/schedule.h"

namespace crescent::cpu {
namespace {

/// If `step` sums over its first axes, returns the product of the sizes of the remaining axes; 0
/// for any other step.
int64_t summed_columns(const Schedule& schedule, const Step& step) {
  const auto* sum = dynamic_cast<const Reduce*>(step.op.get());
  if (!sum || sum->kind != ReduceKind::sum || sum->axes.empty() ||
      sum->axes.back() + 1 != static_cast<int>(sum->axes.size()))
    return 0;
  const Shape& shape = schedule.values[step.inputs[0]].shape;
  return shape.slice(sum->axes.back() + 1, shape.rank()).size();
}

class ColumnSumJoiner {
 public:
  explicit ColumnSumJoiner(Schedule& schedule)
      : schedule_(schedule), readers_(schedule), products_(schedule.values.size()) {
    for (size_t s = schedule.prepack_steps; s < schedule.steps.size(); ++s)
      if (step(s).inputs.size() >= 2) products_of(step(s).inputs[1]).push_back(s);
  }

  void join() {
    for (size_t s = schedule_.prepack_steps; s < schedule_.steps.size(); ++s) join(s);
    drop_joined(schedule_);
  }

 private:
  Step& step(size_t s) { return schedule_.steps[s]; }
  /// The indices of the steps that may be products a'b whose operand b is `value`.
  std::vector<size_t>& products_of(int value) { return products_[schedule_.root(value)]; }

  void join(size_t sum) {
    const int64_t columns = summed_columns(schedule_, step(sum));
    if (columns == 0) return;
    const int result = step(sum).outputs[0];
    for (size_t product : products_of(step(sum).inputs[0])) {
      Step& product_step = step(product);
      if (product == sum || !product_step.kernel || is_read_between(result, sum, product)) continue;
      if (!product_step.kernel->sum_columns(columns, static_cast<int>(product_step.outputs.size())))
        continue;
      product_step.outputs.push_back(result);
      step(sum) = Step{};
      return;
    }
  }
  bool is_read_between(int value, size_t sum, size_t product) {
    const std::vector<size_t>& readers = readers_.of(value);
    return std::any_of(readers.begin(), readers.end(),
                       [&](size_t s) { return s > sum && s <= product && step(s).kernel; });
  }

  Schedule& schedule_;
  const Readers readers_;
  /// For each root value (Schedule::root), the indices of the products a'b whose operand b it is.
  std::vector<std::vector<size_t>> products_;
};

}  // namespace

void join_column_sums(Schedule& schedule) { ColumnSumJoiner(schedule).join(); }

}  // namespace crescent::cpu
