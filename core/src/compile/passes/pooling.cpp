// Pooling: ops after the gradient of a pooling move before it, where there are fewer elements.
//
// The gradient of max pooling reaches only the maximum of each window, so a relu before the pooling
// lets it through where that maximum is positive:
//
//   %3 = pool_backward(%0, %2)         %6 = pool(%0)               computed in the forward pass
//   %4 = greater(%0, 0)         ->     %7 = select(greater(%6, 0), %2, 0)
//   %5 = select(%4, %3, 0)             %5 = pool_backward(%0, %7)
//
// Every element of the gradient reaches one pixel, so the sum over all pixels (the gradient of a
// bias) is the sum of the gradient:
//
//   %4 = sum(pool_backward(%0, %2))    ->     %4 = sum(%2)
#include <numeric>

#include "compile/passes/passes.h"
#include "compile/passes/rewriting/rules.h"

namespace crescent::passes {
namespace {

constexpr Condition kOnlyReaderOfGradient{
    "max pooling, whose gradient nobody else reads", [](const Rewriting& r, const Match& m) {
      return m.op<PoolBackward>(2).max && r.read_once(m.call(2).outputs[0]);
    }};

int mask_before_pooling(Rewriting& r, const Match& m) {
  const auto& op = m.op<PoolBackward>(2);
  Pool forward_pool;
  forward_pool.max = true, forward_pool.window = op.window, forward_pool.spec = op.spec;
  const int zero = r.add_scalar(0, r.dtype(m['x']));
  const int positive_mask = r.add_binary(BinaryKind::greater, r.add(forward_pool, {m['x']}), zero);
  return r.add(m.call(2).op, {m['x'], r.add(Select{}, {positive_mask, m['g'], zero})});
}

/// Whether every window overlaps the image.
bool all_windows_overlap_image(const PoolBackward& op) {
  for (size_t a = 0; a < op.window.size(); ++a) {
    if (op.spec.pad_before[a] >= op.window[a] || op.spec.pad_after[a] >= op.window[a]) return false;
  }
  return true;
}

constexpr Condition kAllPixels{
    "over all axes but the last, and no window lies outside of the image",
    [](const Rewriting& r, const Match& m) {
      std::vector<int> all_but_channels(r.result(m.call(1)).shape.rank() - 1);
      std::iota(all_but_channels.begin(), all_but_channels.end(), 0);
      return m.op<Reduce>().axes == all_but_channels &&
             all_windows_overlap_image(m.op<PoolBackward>(1));
    }};

int sum_before_pooling(Rewriting& r, const Match& m) { return r.add(m.call().op, {m['g']}); }

constexpr RewriteRule kPoolingRules[] = {
    {"select(greater(x, 0), pool_backward(x, g), 0)",
     "pool_backward(x, select(greater(pool(x), 0), g, 0))", kOnlyReaderOfGradient,
     mask_before_pooling},
    {"sum(pool_backward(x, g))", "sum(g)", kAllPixels, sum_before_pooling, Digits::rounded},
    {"sum(pool_backward(g))", "sum(g)", kAllPixels, sum_before_pooling, Digits::rounded},
};

}  // namespace

const RuleTable& pooling_rules() {
  static const RuleTable table("pooling", kPoolingRules);
  return table;
}

bool pooling(Program& program) { return pooling_rules().rewrite(program); }

}  // namespace crescent::passes
