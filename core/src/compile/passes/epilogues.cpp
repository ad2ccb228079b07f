// Epilogues: bias and activation of a product or convolution are applied while its result is in
// cache. A reshape in between, as after a product over sequences or before a split into heads,
// moves after them. A product also adds a residual connection or a second gradient of the same
// value to its result, and applies the mask of the relu whose gradient it computes.
//
//   %3 = matmul(%0, %1)                %5 = matmul + bias + relu(%0, %1, %2)
//   %4 = add(%3, %2)            ->
//   %5 = relu(%4)
//
// A convolution that computes a gradient also applies the mask of the relu that comes next:
//
//   %3 = conv_backward_data(%0, %1)    %5 = conv_backward_data + mask(%0, %1, %2)
//   %4 = greater(%2, 0)         ->
//   %5 = select(%4, %3, 0)
//
// A convolution itself adds an array to its result, as in a residual block:
//
//   %4 = conv + bias(%0, %1, %2)       %5 = conv + bias + add(%0, %1, %2, %3)
//   %5 = add(%4, %3)            ->
#include <algorithm>
#include <optional>

#include "compile/passes/channels.h"
#include "compile/passes/passes.h"
#include "compile/passes/post_ops.h"

namespace crescent::passes {
namespace {

/// Returns the operand of a reshape that nothing else reads, or the value itself.
int before_reshape(Rewriting& r, int value) {
  auto* reshape = r.producer_as<Reshape>(value);
  return reshape && r.read_once(value) ? reshape->inputs[0] : value;
}

/// Whether `bias` has one number per channel of the product. x is the result of the product,
/// possibly reshaped so that its last axes together are the channels.
bool is_bias(Rewriting& r, int bias, int x, int product) {
  const TensorSpec spec = r.spec(x);
  const Shape shape = r.shape(product);
  if (shape.rank() == 0 || !spec.shape.is_known()) return false;
  for (int axes = 1; axes <= spec.shape.rank(); ++axes) {
    if (!is_per_channel(r, bias, spec, axes)) continue;
    return spec.shape.slice(-axes, spec.shape.rank()).size() == shape[-1];
  }
  return false;
}

/// Inserts a bias as the first post-op. Returns kKeep if a matrix product already has a post-op
/// other than PostOp::add, or if a convolution already has any post-op.
template <class T>
int with_bias(Rewriting& r, int value, int bias) {
  auto* producer = extendable_product<T>(r, value);
  if (!producer) return kKeep;
  WithPostOps op = with_post_ops(producer->op);
  const bool may_merge = std::is_same_v<T, Matmul> ? has_only(op, {PostOp::add}) : op.post.empty();
  if (!may_merge) return kKeep;
  op.post.insert(op.post.begin(), PostOp::bias);
  std::vector<int> inputs = producer->inputs;
  inputs.insert(inputs.begin() + 2, as_channels(r, bias));
  return r.add(std::move(op), std::move(inputs));
}

int merge_bias(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  const TensorSpec result = r.result(i);
  for (auto [x, bias] :
       {std::pair(i.inputs[0], i.inputs[1]), std::pair(i.inputs[1], i.inputs[0])}) {
    const int product_value = before_reshape(r, x);
    if (!(r.spec(x) == result) || !is_bias(r, bias, x, product_value)) continue;
    int y = with_bias<Matmul>(r, product_value, bias);
    if (y == kKeep) y = with_bias<Conv>(r, product_value, bias);
    if (y != kKeep) return r.reshaped(y, result.shape);
  }
  return kKeep;
}

std::optional<PostOp> activation_of(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::relu:
      return PostOp::relu;
    case UnaryKind::sigmoid:
      return PostOp::sigmoid;
    case UnaryKind::tanh:
      return PostOp::tanh;
    default:
      return {};
  }
}

int merge_activation(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  const std::optional<PostOp> activation = activation_of(op_of<Unary>(i).kind);
  const TensorSpec result = r.result(i);
  if (!activation || !is_floating(result.dtype)) return kKeep;
  const int value = before_reshape(r, i.inputs[0]);
  auto* producer = extendable_product<Matmul>(r, value);
  if (!producer) producer = extendable_product<Conv>(r, value);
  return producer ? r.reshaped(add_post_op(r, *producer, *activation), result.shape) : kKeep;
}

/// Merges the mask of a relu into the convolution. float16 and bfloat16 are excluded, because for
/// them reading a stored mask is cheaper than reading y again.
int mask_convolution(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  const int y = m['y'];
  auto* producer = r.producer_as<ConvBackwardData>(i.inputs[1]);
  if (!producer || !r.read_once(i.inputs[1]) || size_of(r.dtype(y)) < 4) return kKeep;
  if (!(r.spec(y) == r.result(i)) || !(r.spec(i.inputs[1]) == r.result(i))) return kKeep;
  return add_post_op(r, *producer, PostOp::mask, {y});
}

/// Adds `post_op` (add or mask) with `operand` to the product whose result, possibly reshaped, is
/// x. A product has at most one such post-op.
int with_operand_post_op(Rewriting& r, int x, int operand, PostOp post_op) {
  const int value = before_reshape(r, x);
  auto* producer = extendable_product<Matmul>(r, value);
  if (!producer || !is_floating(r.dtype(x)) || !(r.spec(operand) == r.spec(x))) return kKeep;
  const bool may_merge = post_op == PostOp::add
                             ? has_only(with_post_ops(producer->op), {PostOp::bias})
                             : with_post_ops(producer->op).post.empty();
  if (!may_merge) return kKeep;
  const int y = add_post_op(r, *producer, post_op, {r.reshaped(operand, r.shape(value))});
  return r.reshaped(y, r.shape(x));
}

/// Replaces a sum of a product and another tensor by a product with the post-op add. If an operand
/// is the result of an elementwise op that nothing else reads, the fusion pass instead computes
/// that op and the sum in one pass over memory, as in the update of an optimizer.
int merge_sum(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  auto is_fused = [&](int x) {
    return r.read_once(x) && r.producer(x) && is_elementwise(*r.producer(x)->op);
  };
  if (op_of<Binary>(i).kind != BinaryKind::add || is_fused(i.inputs[0]) || is_fused(i.inputs[1]))
    return kKeep;
  const int y = with_operand_post_op(r, i.inputs[1], i.inputs[0], PostOp::add);
  return y == kKeep ? with_operand_post_op(r, i.inputs[0], i.inputs[1], PostOp::add) : y;
}

int mask_product(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  if (!(r.spec(m['z']) == r.result(i))) return kKeep;
  return with_operand_post_op(r, m['z'], m['y'], PostOp::mask);
}

int with_residual(Rewriting& r, int y, int residual) {
  auto* producer = extendable_product<Conv>(r, y);
  const bool may_merge = producer && has_only(with_post_ops(producer->op), {PostOp::bias});
  return may_merge && r.spec(y) == r.spec(residual)
             ? add_post_op(r, *producer, PostOp::add, {residual})
             : kKeep;
}

/// Replaces a sum of the results of two convolutions: the later convolution adds the result of the
/// earlier one by the post-op add. Sums of half-width floats are left to the fusion pass.
int merge_residual(Rewriting& r, const Match& m) {
  const Instruction& i = m.call();
  if (op_of<Binary>(i).kind != BinaryKind::add || size_of(r.result(i).dtype) < 4) return kKeep;
  const auto [first, last] = std::minmax(i.inputs[0], i.inputs[1]);
  const int y = with_residual(r, last, first);
  return y == kKeep ? with_residual(r, first, last) : y;
}

constexpr Condition kBias{
    "x is a product or convolution, perhaps reshaped, that nobody else reads; b has a number a "
    "channel"};
constexpr Condition kSum{
    "x is a product that nobody else reads, y has its shape; neither is elementwise work"};
constexpr Condition kActivation{"of floats; x is a product or convolution that nobody else reads"};
constexpr Condition kMaskedGradient{
    "nobody else reads the gradient; float32 or float64, all of one shape"};
constexpr Condition kMaskedProduct{
    "z is a product to which nothing was done and that nobody else reads, y has its shape"};
constexpr Condition kResidual{
    "the later one is a convolution with at most a bias that nobody else reads"};

constexpr RewriteRule kEpilogueRules[] = {
    {"add(x, b)", "x + bias", kBias, merge_bias, Digits::rounded},
    {"add(x, y)", "x + add", kSum, merge_sum, Digits::rounded},
    {"relu(x)", "x + relu", kActivation, merge_activation, Digits::rounded},
    {"sigmoid(x)", "x + sigmoid", kActivation, merge_activation, Digits::rounded},
    {"tanh(x)", "x + tanh", kActivation, merge_activation, Digits::rounded},
    {"select(greater(y, 0), conv_backward_data(...), 0)", "conv_backward_data + mask",
     kMaskedGradient, mask_convolution, Digits::rounded},
    {"select(greater(y, 0), z, 0)", "z + mask", kMaskedProduct, mask_product, Digits::rounded},
};
constexpr RewriteRule kResidualRules[] = {
    {"add(x, y)", "convolution + add", kResidual, merge_residual, Digits::rounded}};

}  // namespace

const RuleTable& epilogue_rules() {
  static const RuleTable table("epilogues", kEpilogueRules);
  return table;
}

const RuleTable& residual_rules() {
  static const RuleTable table("residuals", kResidualRules);
  return table;
}

bool epilogues(Program& program) { return epilogue_rules().rewrite(program); }
bool residuals(Program& program) { return residual_rules().rewrite(program); }

}  // namespace crescent::passes
