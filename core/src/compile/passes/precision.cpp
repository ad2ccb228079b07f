// Precision: a product of bfloat16 can read float32 operands and write a float32 result. Weights
// are thus rounded inside the product, and gradients of weights reach the optimizer unrounded.
// Likewise only those rows of an embedding table that are looked up are rounded, and the gradient
// of the table is summed in float32.
//
//   %2 = cast(%1, bfloat16)
//   %3 = matmul(%0, %2)         ->     %5 = matmul(%0, %1; to float32)
//   %4 = cast(%3, float32)
#include "compile/passes/passes.h"
#include "compile/passes/post_ops.h"
#include "compile/passes/rounding.h"

namespace crescent::passes {
namespace {

int merge_operand_casts(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  if (!as<Matmul>(*base_of(i.op)) || i.outputs.size() > 1) return kKeep;
  WithPostOps op = with_post_ops(i.op);
  if (r.result(i).dtype != DType::bfloat16 && op.mixed == Mixed::no) return kKeep;
  std::vector<int> inputs = i.inputs;
  for (size_t side = 0; side < 2; ++side) inputs[side] = unrounded(r, inputs[side]);
  if (inputs == i.inputs) return kKeep;
  if (op.mixed == Mixed::no) op.mixed = Mixed::to_bfloat16;
  return r.add(std::move(op), std::move(inputs));
}

template <class T>
int with_float32_result(Rewriting& r, int value) {
  auto* producer = product_computing<T>(r, value);
  if (!producer || producer->outputs.size() > 1 || !r.read_once(value)) return kKeep;
  WithPostOps op = with_post_ops(producer->op);
  op.mixed = Mixed::to_float32;
  return r.add(std::move(op), producer->inputs);
}

int merge_result_cast(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  const int x = i.inputs[0];
  if (r.dtype(x) != DType::bfloat16 || r.result(i).dtype != DType::float32) return kKeep;
  auto* reshape = r.producer_as<Reshape>(x);
  const int product_value = reshape && r.read_once(x) ? reshape->inputs[0] : x;
  int y = with_float32_result<Matmul>(r, product_value);
  if (y == kKeep) y = with_float32_result<ConvBackwardKernel>(r, product_value);
  return y == kKeep ? kKeep : r.reshaped(y, r.result(i).shape);
}

int round_gathered_elements(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  if (r.result(i).shape.size() >= r.shape(m['x']).size()) return kKeep;
  return r.add(m.call(1).op, {r.add(i.op, {m['x'], m['i']})});
}

int sum_in_wider_dtype(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  if (!is_floating(r.dtype(i.inputs[0])) || !r.read_once(i.inputs[0])) return kKeep;
  if (size_of(r.result(i).dtype) <= size_of(r.dtype(i.inputs[0]))) return kKeep;
  return r.add(m.call(1).op, {m['i'], r.add(i.op, {m['x']})});
}

constexpr Condition kRounded{"to bfloat16, of operands that were rounded from float32"};
constexpr Condition kWidened{"from bfloat16 to float32, of a product that nobody else reads"};
constexpr Condition kFewerElements{"fewer elements are gathered than x has"};
constexpr Condition kWiderDType{"to a wider float, of sums that nobody else reads"};

constexpr RewriteRule kPrecisionRules[] = {
    {"matmul(x, y)", "matmul(x, y; to bfloat16)", kRounded, merge_operand_casts, Digits::rounded},
    {"with_post_ops(...)", "with_post_ops(...; to bfloat16)", kRounded, merge_operand_casts,
     Digits::rounded},
    {"cast(x)", "x to float32", kWidened, merge_result_cast, Digits::rounded},
    {"gather(cast(x), i)", "cast(gather(x, i))", kFewerElements, round_gathered_elements},
    {"cast(scatter_add(i, x))", "scatter_add(i, cast(x))", kWiderDType, sum_in_wider_dtype,
     Digits::rounded},
};

}  // namespace

const RuleTable& precision_rules() {
  static const RuleTable table("precision", kPrecisionRules);
  return table;
}

bool precision(Program& program) { return precision_rules().rewrite(program); }

}  // namespace crescent::passes
