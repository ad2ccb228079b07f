// Max pooling joined with what is around it. It tells which element of each window was the
// greatest, and its gradient goes there without looking at the images again:
//
//   %1 = pool(%0)                           %1, %4 = pool(%0; winners)
//   %3 = pool_backward(%0, %2)      ->      %3 = pool_backward(%4, %2; winners)
//
// Of a convolution that nobody else reads only the greatest elements are stored:
//
//   %2 = conv(%0, %1)
//   %3 = pool(%2)                   ->      %3 = conv_pool(%0, %1)
#include "program/passes/passes.h"
#include "program/passes/rewriting.h"

namespace crescent::passes {
namespace {

/// A number of an element of the window is a byte.
bool is_small(const std::vector<int64_t>& window) {
  int64_t size = 1;
  for (int64_t n : window) size *= n;
  return size <= 256;
}

/// The pooling that the gradient belongs to, or null.
Instruction* forward_of(Program& program, const Instruction& gradient) {
  const auto& op = op_of<PoolBackward>(gradient);
  for (Instruction& i : program.code) {
    if (&i == &gradient) break;
    auto* pool = as<Pool>(*i.op);
    if (pool && pool->max && i.inputs[0] == gradient.inputs[0] && pool->window == op.window &&
        pool->spec == op.spec)
      return &i;
  }
  return nullptr;
}

/// Which elements won, as a result of the pooling.
int winners_of(Program& program, Instruction& forward) {
  if (!op_of<Pool>(forward).winners) {
    auto op = std::make_shared<Pool>(op_of<Pool>(forward));
    op->winners = true;
    forward.op = std::move(op);
    forward.outputs.push_back(program.add_value(
        {DType::uint8, program.values[static_cast<size_t>(forward.outputs[0])].shape}));
  }
  return forward.outputs[1];
}

/// How many read the value, outputs and variables included.
std::vector<int> count_reads(const Program& program) {
  std::vector<int> reads(program.values.size());
  auto read = [&](int value) { ++reads[static_cast<size_t>(value)]; };
  for (const Instruction& i : program.code) {
    for (int value : i.inputs) read(value);
  }
  for (int value : program.outputs) read(value);
  for (const Program::Binding& b : program.variables) {
    if (b.result >= 0) read(b.result);
  }
  return reads;
}

}  // namespace

bool pool_winners(Program& program) {
  bool changed = false;
  for (Instruction& i : program.code) {
    auto* gradient = as<PoolBackward>(*i.op);
    if (!gradient || !gradient->max || gradient->winners || !is_small(gradient->window)) continue;
    Instruction* forward = forward_of(program, i);
    if (!forward) continue;
    auto op = std::make_shared<PoolBackward>(*gradient);
    op->winners = true;
    i.op = std::move(op), i.inputs[0] = winners_of(program, *forward);
    changed = true;
  }
  return changed;
}

bool pooled_convolutions(Program& program) {
  const std::vector<int> reads = count_reads(program);
  std::vector<const Instruction*> makers(program.values.size());
  bool changed = false;
  for (Instruction& i : program.code) {
    for (int value : i.outputs) makers[static_cast<size_t>(value)] = &i;
    auto* pool = as<Pool>(*i.op);
    const Instruction* maker =
        pool && pool->max ? makers[static_cast<size_t>(i.inputs[0])] : nullptr;
    auto* conv = maker ? as<Conv>(*maker->op) : nullptr;
    if (!conv || conv->moments || conv->residual || reads[static_cast<size_t>(i.inputs[0])] > 1)
      continue;
    auto op = std::make_shared<ConvPool>();
    op->conv = *conv, op->pool = *pool;
    i.op = std::move(op), i.inputs = maker->inputs;
    changed = true;
  }
  return changed;
}

}  // namespace crescent::passes
