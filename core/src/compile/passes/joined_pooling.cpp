// Max pooling joined with its neighbours. The pooling outputs the index of the maximum of each
// window, so that its gradient need not read the images again:
//
//   %1 = pool(%0)                           %1, %4 = pool_argmax(%0)
//   %3 = pool_backward(%0, %2)      ->      %3 = pool_argmax_backward(%4, %2)
//
// A convolution stores only the maxima if only a max pooling reads its result:
//
//   %2 = conv(%0, %1)
//   %3 = pool(%2)                   ->      %3 = conv_pool(%0, %1)
#include "compile/passes/passes.h"
#include "compile/passes/post_ops.h"

namespace crescent::passes {
namespace {

/// Whether the index of an element within the window fits in a byte.
bool index_fits_in_byte(const std::vector<int64_t>& window) {
  int64_t window_size = 1;
  for (int64_t n : window) window_size *= n;
  return window_size <= 256;
}

/// Whether `gradient` belongs to a max pooling with the windows of `forward_pooling`.
bool is_gradient_of(const PoolBackward& gradient, const Op& forward_pooling) {
  if (auto* argmax_op = as<PoolArgmax>(forward_pooling))
    return argmax_op->window == gradient.window && argmax_op->spec == gradient.spec;
  auto* pool = as<Pool>(forward_pooling);
  return pool && pool->max && pool->window == gradient.window && pool->spec == gradient.spec;
}

/// The pooling whose gradient the instruction computes, or null.
Instruction* forward_of(Program& program, const Instruction& gradient) {
  for (Instruction& i : program.code) {
    if (&i == &gradient) break;
    if (is_gradient_of(op_of<PoolBackward>(gradient), *i.op) && i.inputs[0] == gradient.inputs[0])
      return &i;
  }
  return nullptr;
}

/// Returns the argmax indices of a pooling; a Pool op is first replaced by a PoolArgmax, which
/// outputs them as its second result.
int argmax_indices_of(Program& program, Instruction& forward_pooling) {
  if (auto* pool = as<Pool>(*forward_pooling.op)) {
    auto op = std::make_shared<PoolArgmax>();
    op->window = pool->window, op->spec = pool->spec;
    forward_pooling.op = std::move(op);
    forward_pooling.outputs.push_back(
        program.add_value({DType::uint8, program.values[forward_pooling.outputs[0]].shape}));
  }
  return forward_pooling.outputs[1];
}

/// The number of reads of each value, including outputs and variables.
std::vector<int> count_reads(const Program& program) {
  std::vector<int> read_counts(program.values.size());
  auto count_read = [&](int value) { ++read_counts[value]; };
  for (const Instruction& i : program.code) {
    for (int value : i.inputs) count_read(value);
  }
  for (int value : program.outputs) count_read(value);
  for (const Program::Binding& b : program.variables) {
    if (b.result >= 0) count_read(b.result);
  }
  return read_counts;
}

}  // namespace

bool pool_argmax(Program& program) {
  bool changed = false;
  for (Instruction& i : program.code) {
    auto* gradient = as<PoolBackward>(*i.op);
    if (!gradient || !gradient->max || !index_fits_in_byte(gradient->window)) continue;
    Instruction* forward_instruction = forward_of(program, i);
    if (!forward_instruction) continue;
    auto op = std::make_shared<PoolArgmaxBackward>();
    op->window = gradient->window, op->spec = gradient->spec, op->input = gradient->input;
    i.op = std::move(op), i.inputs[0] = argmax_indices_of(program, *forward_instruction);
    changed = true;
  }
  return changed;
}

bool pooled_convolutions(Program& program) {
  const std::vector<int> read_counts = count_reads(program);
  std::vector<const Instruction*> producers(program.values.size());
  bool changed = false;
  for (Instruction& i : program.code) {
    for (int value : i.outputs) producers[value] = &i;
    auto* pool = as<Pool>(*i.op);
    if (!(pool && pool->max) && !as<PoolArgmax>(*i.op)) continue;
    const Instruction* producer = producers[i.inputs[0]];
    if (!producer || !as<Conv>(*base_of(producer->op)) || read_counts[i.inputs[0]] > 1) continue;
    const WithPostOps conv = with_post_ops(producer->op);
    if (conv.has(PostOp::moments) || conv.has(PostOp::add)) continue;
    auto op = std::make_shared<ConvPool>();
    op->conv = producer->op, op->pool = i.op;
    i.op = std::move(op), i.inputs = producer->inputs;
    changed = true;
  }
  return changed;
}

}  // namespace crescent::passes
