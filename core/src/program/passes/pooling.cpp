// Pooling: what comes after its gradient is done before, on the small side.
//
// The gradient of max pooling goes to elements that are the maximum of their window, so a relu
// before the pooling lets it through where that maximum is positive:
//
//   %3 = pool_backward(%0, %2)         %6 = pool(%0)               computed in the forward pass
//   %4 = greater(%0, 0)         ->     %7 = select(greater(%6, 0), %2, 0)
//   %5 = select(%4, %3, 0)             %5 = pool_backward(%0, %7)
//
// Every element of the gradient arrives once, so the sum over all pixels (the gradient of a bias)
// needs no pixels:
//
//   %4 = sum(pool_backward(%0, %2))    ->     %4 = sum(%2)
#include <numeric>

#include "program/passes/passes.h"
#include "program/passes/rewriting.h"

namespace crescent::passes {
namespace {

bool is_positive_test(Rewriting& r, int value, int x) {
  auto* test = r.made_by<Binary>(value);
  return test && op_of<Binary>(*test).kind == BinaryKind::greater && test->inputs[0] == x &&
         r.is_uniform(test->inputs[1], 0);
}

int mask_before(Rewriting& r, const Instruction& i) {
  const int condition = i.inputs[0], gradient = i.inputs[1], otherwise = i.inputs[2];
  auto* backward = r.made_by<PoolBackward>(gradient);
  if (!backward || !r.is_uniform(otherwise, 0) || !r.read_once(gradient)) return kKeep;
  const auto& op = op_of<PoolBackward>(*backward);
  if (!op.max || !is_positive_test(r, condition, backward->inputs[0])) return kKeep;
  Pool forward;
  forward.max = true, forward.window = op.window, forward.spec = op.spec;
  const int x = backward->inputs[0], dy = backward->inputs[1];
  const int zero = r.add_scalar(0, r.dtype(x));
  const int is_open = r.add_binary(BinaryKind::greater, r.add(forward, {x}), zero);
  return r.add(backward->op, {x, r.add(Select{}, {is_open, dy, zero})});
}

/// No window lies outside of the image.
bool sees_something_everywhere(const PoolBackward& op) {
  for (size_t a = 0; a < op.window.size(); ++a) {
    if (op.spec.pad_before[a] >= op.window[a] || op.spec.pad_after[a] >= op.window[a]) return false;
  }
  return true;
}

int sum_before(Rewriting& r, const Instruction& i) {
  const auto& reduce = op_of<Reduce>(i);
  auto* backward = r.made_by<PoolBackward>(i.inputs[0]);
  if (!backward || reduce.kind != ReduceKind::sum ||
      !sees_something_everywhere(op_of<PoolBackward>(*backward)))
    return kKeep;
  std::vector<int> all_but_channels(static_cast<size_t>(r.shape(i.inputs[0]).rank() - 1));
  std::iota(all_but_channels.begin(), all_but_channels.end(), 0);
  return reduce.axes == all_but_channels ? r.add(i.op, {backward->inputs.back()}) : kKeep;
}

constexpr RuleRow kPoolingRules[] = {{Select::kName, mask_before}, {Reduce::kName, sum_before}};

}  // namespace

bool pooling(Program& program) { return rewrite(program, kPoolingRules); }

}  // namespace crescent::passes
