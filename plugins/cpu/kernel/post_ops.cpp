#include "kernel/post_ops.h"

#include <utility>

namespace crescent::cpu {
namespace {

const WithPostOps* with_post_ops(const Op& op) {
  return op.name() == WithPostOps::kName ? static_cast<const WithPostOps*>(&op) : nullptr;
}

/// The rank of a post-op in the order in which kernels apply post-ops.
int rank_of(PostOp post) {
  switch (post) {
    case PostOp::bias:
      return 0;
    case PostOp::add:
    case PostOp::mask:
      return 1;
    case PostOp::relu:
    case PostOp::sigmoid:
    case PostOp::tanh:
      return 2;
    case PostOp::moments:
      break;
  }
  return 3;
}

}  // namespace

const Op& base_of(const Op& op) {
  auto* wrapper = with_post_ops(op);
  return wrapper ? *wrapper->op : op;
}

PostOps::PostOps(const Op& op) {
  auto* wrapper = with_post_ops(op);
  if (!wrapper) return;
  mixed = wrapper->mixed;
  for (int last_rank = -1; PostOp post : wrapper->post) {
    is_supported = is_supported && rank_of(post) > std::exchange(last_rank, rank_of(post));
    if (post == PostOp::bias) has_bias = true;
    if (post == PostOp::add) combine = Combine::add;
    if (post == PostOp::mask) combine = Combine::mask;
    if (post == PostOp::relu) activation = ActivationKind::relu;
    if (post == PostOp::sigmoid) activation = ActivationKind::sigmoid;
    if (post == PostOp::tanh) activation = ActivationKind::tanh;
    if (post == PostOp::moments) has_moments = true;
  }
  const std::string_view base = wrapper->op->name();
  const bool is_forward = base == Conv::kName, is_product = base == Matmul::kName;
  const bool is_sum = has_bias || combine == Combine::add || activation != ActivationKind::none;
  const bool is_masked = combine == Combine::mask;
  is_supported = is_supported && (!has_moments || is_forward) &&
                 (!is_sum || is_forward || is_product) &&
                 (!is_masked || (!is_forward && !has_bias));
}

}  // namespace crescent::cpu
