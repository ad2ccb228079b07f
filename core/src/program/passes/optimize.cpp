// optimize(): the passes in order.
#include "program/passes/passes.h"
#include "program/passes/post_ops.h"

namespace crescent {
namespace {

constexpr int kMostRounds = 8;

/// What makes work for each other, until nothing changes.
void simplify(Program& program) {
  using namespace passes;
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = constants(program);
    changed |= shapes(program);
    changed |= algebra(program);
    changed |= softmax(program);
    changed |= pooling(program);
    changed |= transposes(program);
    changed |= common_subexpressions(program);
    changed |= dead_code(program);
    if (!changed) return;
  }
}

}  // namespace

namespace passes {

Program optimize(Program program, bool inference, const Capabilities& can) {
  dead_code(program);
  hoisting(program);
  scans(program, inference, can);
  simplify(program);
  while (inference && batch_norm(program)) dead_code(program);
  while (can.post_ops && epilogues(program)) dead_code(program);
  while (inference && can.post_ops && (residuals(program) || epilogues(program)))
    dead_code(program);
  if (can.moments) normalization(program);
  while (can.mixed && precision(program)) dead_code(program);
  simplify(program);
  if (can.pooled) pool_winners(program);
  dead_code(program);
  if (can.pooled && pooled_convolutions(program)) dead_code(program);
  if (can.fused) recomputation(program);
  dead_code(program);
  if (can.fused) fusion(program);
  dead_code(program);
  renumber(program);
#ifndef NDEBUG
  validate(program);
#endif
  return program;
}

Program optimize_part(Program part, const Op& whole, Capabilities can) {
  const bool has_post_ops = as<WithPostOps>(whole) || as<ConvPool>(whole);
  can.mixed = can.pooled = false;
  can.post_ops = can.post_ops && !has_post_ops;
  can.fused = can.fused && !as<Fused>(whole);
  return optimize(std::move(part), false, can);
}

}  // namespace passes

Program optimize(Program program, const OptimizeOptions& options) {
  const Device& target = options.device ? *options.device : device();
  return passes::optimize(std::move(program), options.inference, target.capabilities());
}

}  // namespace crescent
