// optimize(): the passes in order.
#include <array>

#include "program/passes/passes.h"
#include "program/passes/post_ops.h"

namespace crescent {
namespace {

constexpr size_t kMostRounds = 8;

/// What makes work for each other, in turn, until none of them has any.
void simplify(Program& program) {
  using namespace passes;
  constexpr std::array kPasses = {
      constants, shapes, algebra, softmax, pooling, transposes, common_subexpressions, dead_code};
  size_t idle = 0;  // passes in a row that changed nothing
  for (size_t turn = 0; idle < kPasses.size() && turn < kMostRounds * kPasses.size(); ++turn)
    idle = kPasses[turn % kPasses.size()](program) ? 0 : idle + 1;
}

}  // namespace

namespace passes {

Program optimize(Program program, bool inference, const Capabilities& can) {
  dead_code(program);
  hoisting(program);
  sinking(program);
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
