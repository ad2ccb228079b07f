// Softmax: merges it with a logarithm and simplifies its gradient.
//
//   %1 = softmax(%0)                   %4 = log_softmax(%0)
//   %2 = log(%1)                ->
//
// Keras' crossentropies of probabilities divide by the sum of the probabilities before the
// logarithm. The gradient through that sum is equal for all classes, and such a term cancels in the
// gradient of softmax, because the probabilities p sum to 1:
//
//   %4 = add(%3, %2 (n, 1))            %5 = multiply(%3, p)
//   %5 = multiply(%4, p)        ->     %6 = sum(%5, -1)
//   %6 = sum(%5, -1)                   %7 = subtract(%3, %6)
//   %7 = subtract(%4, %6)
//
// The division itself stays, so that the loss has the digits of Keras.
#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rules.h"

namespace crescent::passes {
namespace {

constexpr Condition kProbabilities{
    "of probabilities, not of their logarithms",
    [](const Rewriting&, const Match& m) { return !m.op<Softmax>(1).log; }};

int join_logarithm(Rewriting& r, const Match& m) {
  Softmax log_softmax = m.op<Softmax>(1);
  log_softmax.log = true;
  return r.add(log_softmax, {m['x']});
}

/// Whether the rules apply to the dtype. They do not apply to float16 and bfloat16, in which the
/// sum of probabilities differs too much from 1.
bool is_precise(DType dtype) { return dtype == DType::float32 || dtype == DType::float64; }

/// Whether the shape, in a broadcast to `rank` axes, has size 1 along this axis or lacks the axis.
bool has_size_1(const Shape& shape, int axis, int rank) {
  const int source_axis = axis - (rank - shape.rank());
  return source_axis < 0 || shape[source_axis] == 1;
}

constexpr Condition kUniformTerm{
    "the sum is over the axis of the softmax and keeps it, y is the same along it, x is as large "
    "as the result; float32 or float64",
    [](const Rewriting& r, const Match& m) {
      const TensorSpec result = r.result(m.call());
      const auto& sum = m.op<Reduce>(2);
      const auto& softmax = m.op<Softmax>(5);
      return is_precise(result.dtype) && sum.keepdims && sum.axes.size() == 1 && !softmax.log &&
             result.shape.axis(softmax.axis) == sum.axes[0] && r.spec(m['x']) == result &&
             r.result(m.call(5)) == result &&
             has_size_1(r.shape(m['y']), sum.axes[0], result.shape.rank());
    }};

int drop_uniform_term(Rewriting& r, const Match& m) {
  const int weighted_x = r.add_binary(BinaryKind::multiply, m['x'], m.call(5).outputs[0]);
  return r.add_binary(BinaryKind::subtract, m['x'], r.add(m.call(2).op, {weighted_x}));
}

constexpr RewriteRule kSoftmaxRules[] = {
    {"log(softmax(x))", "log_softmax(x)", kProbabilities, join_logarithm, Digits::rounded},
    {"subtract(add(x, y), sum(multiply(add(x, y), softmax(z))))",
     "subtract(x, sum(multiply(x, softmax(z))))", kUniformTerm, drop_uniform_term, Digits::rounded},
};

}  // namespace

const RuleTable& softmax_rules() {
  static const RuleTable table("softmax", kSoftmaxRules);
  return table;
}

bool softmax(Program& program) { return softmax_rules().rewrite(program); }

}  // namespace crescent::passes
