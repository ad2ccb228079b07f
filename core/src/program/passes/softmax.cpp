// Softmax meets crossentropy. Keras' crossentropies of probabilities divide by their sum before the logarithm; of a softmax
// the sum is 1 up to rounding, so the division, its gradient and the sum go.
//
//   %1 = softmax(%0)                   %4 = log_softmax(%0)
//   %2 = log(%1)                ->
//
//   %1 = softmax(%0)                   %1 = softmax(%0)
//   %2 = sum(%1, -1)            ->     %2 = 1
#include "program/passes/passes.h"
#include "program/passes/rewriting.h"

namespace crescent::passes {
namespace {

int join_logarithm(Rewriting& r, const Instruction& i) {
  auto* made = r.made_by<Softmax>(i.inputs[0]);
  if (op_of<Unary>(i).kind != UnaryKind::log || !made || op_of<Softmax>(*made).log) return kKeep;
  Softmax joined = op_of<Softmax>(*made);
  joined.log = true;
  return r.add(joined, {made->inputs[0]});
}

/// Half-width probabilities add up to 1 too roughly.
bool is_precise(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }

int sum_of_probabilities(Rewriting& r, const Instruction& i) {
  const auto& op = op_of<Reduce>(i);
  const int x = i.inputs[0];
  auto* softmax = r.op_that_made<Softmax>(x);
  const TensorSpec wanted = r.result(i);
  const bool sums_one_axis = op.kind == ReduceKind::sum && op.axes.size() == 1;
  if (!softmax || softmax->log || !sums_one_axis || !is_precise(wanted.dtype) || !wanted.shape.is_known()) return kKeep;
  const Shape shape = r.shape(x);
  if (shape.axis(softmax->axis) != op.axes[0] || shape[op.axes[0]] < 1) return kKeep;
  Fill ones;
  ones.shape = wanted.shape, ones.dtype = wanted.dtype, ones.value = 1;
  return r.add(ones, {});
}

constexpr RuleRow kRules[] = {{Unary::kName, join_logarithm}, {Reduce::kName, sum_of_probabilities}};

}  // namespace

bool softmax(Program& program) { return rewrite(program, kRules); }

}  // namespace crescent::passes
