// optimize(): the passes in order.
#include "program/passes/passes.h"

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

Program optimize(Program program, const OptimizeOptions& options) {
  using namespace passes;
  dead_code(program);
  hoisting(program);
  scans(program, options);
  simplify(program);
  while (options.inference && batch_norm(program)) dead_code(program);
  while (epilogues(program)) dead_code(program);
  while (options.inference && options.compounds && (residuals(program) || epilogues(program)))
    dead_code(program);
  normalization(program);
  while (options.compounds && precision(program)) dead_code(program);
  simplify(program);
  pool_winners(program);
  dead_code(program);
  if (options.compounds && pooled_convolutions(program)) dead_code(program);
  recomputation(program);
  dead_code(program);
  fusion(program);
  dead_code(program);
  renumber(program);
#ifndef NDEBUG
  validate(program);
#endif
  return program;
}

}  // namespace crescent
