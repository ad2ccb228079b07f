// Helpers of passes for products and convolutions with post-ops.
#pragma once
#include "compile/passes/rewriting/rules.h"
#include "crescent/device/lowered_ops.h"

namespace crescent::passes {

/// Returns the op inside a WithPostOps; returns other ops unchanged.
inline const OpPtr& base_of(const OpPtr& op) {
  auto* with = as<WithPostOps>(*op);
  return with ? with->op : op;
}
/// Returns a WithPostOps unchanged; wraps another op in a WithPostOps without post-ops.
inline WithPostOps with_post_ops(const OpPtr& op) {
  if (auto* with = as<WithPostOps>(*op)) return *with;
  WithPostOps with;
  with.op = op;
  return with;
}
/// Returns the instruction that computes the value if its op is a T, with or without post-ops; else
/// null.
template <class T>
const Instruction* product_computing(Rewriting& r, int value) {
  auto* made = r.producer(value);
  return made && made->outputs[0] == value && as<T>(*base_of(made->op)) ? made : nullptr;
}

/// Whether the op has only post-ops from this list.
inline bool has_only(const WithPostOps& op, std::initializer_list<PostOp> allowed) {
  return std::all_of(op.post.begin(), op.post.end(), [&](PostOp each) {
    return std::find(allowed.begin(), allowed.end(), each) != allowed.end();
  });
}

/// Adds a copy of the instruction that has one more post-op, and returns the result of the copy.
inline int add_post_op(Rewriting& r, const Instruction& made, PostOp post,
                       std::initializer_list<int> inputs = {}) {
  WithPostOps op = with_post_ops(made.op);
  op.post.push_back(post);
  std::vector<int> all = made.inputs;
  all.insert(all.end(), inputs.begin(), inputs.end());
  return r.add(std::move(op), std::move(all));
}

/// Returns the product or convolution that computes the value if a post-op may be added to it, else
/// null: nothing else may read its result, it must not be in mixed precision, and its post-ops must
/// be biases, adds and masks.
template <class T>
const Instruction* extendable_product(Rewriting& r, int value) {
  auto* made = product_computing<T>(r, value);
  if (!made || !r.read_once(value)) return nullptr;
  const WithPostOps op = with_post_ops(made->op);
  const bool adds_and_masks = has_only(op, {PostOp::bias, PostOp::add, PostOp::mask});
  return adds_and_masks && op.mixed == Mixed::no ? made : nullptr;
}

}  // namespace crescent::passes
