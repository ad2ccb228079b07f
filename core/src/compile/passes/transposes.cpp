// Transposes around products: kernels read and write matrices in either order.
//
//   %2 = transpose(%1, [1, 0])         %3 = matmul(%0, %1, transpose_b)
//   %3 = matmul(%0, %2)         ->
#include <utility>

#include "compile/passes/passes.h"
#include "compile/passes/post_ops.h"

namespace crescent::passes {
namespace {

/// Whether only the last two axes are swapped.
bool swaps_matrices(const Transpose& op) {
  const int rank = static_cast<int>(op.axes.size());
  for (int i = 0; i + 2 < rank; ++i) {
    if (op.axes[i] != i) return false;
  }
  return rank >= 2 && op.axes[rank - 2] == rank - 1;
}

const Instruction* matrix_transpose_before(Rewriting& r, int value) {
  auto* producer = r.producer_as<Transpose>(value);
  return producer && swaps_matrices(op_of<Transpose>(*producer)) ? producer : nullptr;
}

/// Adds a copy of the instruction with another matmul and other operands.
int with_product(Rewriting& r, const Instruction& i, const Matmul& matmul,
                 std::vector<int> inputs) {
  if (as<Matmul>(*i.op)) return r.add(matmul, std::move(inputs));
  WithPostOps op = with_post_ops(i.op);
  op.op = std::make_shared<const Matmul>(matmul);
  return r.add(std::move(op), std::move(inputs));
}

int transpose_operands(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  auto* product = as<Matmul>(*base_of(i.op));
  if (!product || i.outputs.size() > 1) return kKeep;
  Matmul op = *product;
  std::vector<int> inputs = i.inputs;
  bool* flags[] = {&op.transpose_a, &op.transpose_b};
  for (size_t side = 0; side < 2; ++side) {
    auto* matrix_transpose = matrix_transpose_before(r, inputs[side]);
    if (!matrix_transpose) continue;
    inputs[side] = matrix_transpose->inputs[0];
    *flags[side] = !*flags[side];
  }
  return inputs == i.inputs ? kKeep : with_product(r, i, op, std::move(inputs));
}

/// Rewrites (a b)^T to b^T a^T.
int transpose_result(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  const int x = i.inputs[0];
  auto* producer = product_computing<Matmul>(r, x);
  if (!producer || !swaps_matrices(op_of<Transpose>(i)) || !r.read_once(x)) return kKeep;
  const bool has_equal_ranks =
      r.shape(producer->inputs[0]).rank() == r.shape(producer->inputs[1]).rank();
  if (producer->inputs.size() > 2 || producer->outputs.size() > 1 || !has_equal_ranks) return kKeep;
  Matmul op = *as<Matmul>(*base_of(producer->op));
  op.transpose_a = !std::exchange(op.transpose_b, !op.transpose_a);
  return with_product(r, *producer, op, {producer->inputs[1], producer->inputs[0]});
}

constexpr Condition kSwapsMatrices{"the last two axes of an operand change places"};
constexpr Condition kNoOtherOrder{
    "the last two axes change places, nobody else reads the product, and nothing was added to it"};

constexpr RewriteRule kTransposeRules[] = {
    {"matmul(x, y)", "matmul(untransposed x, untransposed y)", kSwapsMatrices, transpose_operands,
     Digits::rounded},
    {"with_post_ops(...)", "with_post_ops(untransposed ...)", kSwapsMatrices, transpose_operands,
     Digits::rounded},
    {"transpose(x)", "matmul(b, a) for x = matmul(a, b)", kNoOtherOrder, transpose_result,
     Digits::rounded},
};

}  // namespace

const RuleTable& transpose_rules() {
  static const RuleTable table("transposes", kTransposeRules);
  return table;
}

bool transposes(Program& program) { return transpose_rules().rewrite(program); }

}  // namespace crescent::passes
