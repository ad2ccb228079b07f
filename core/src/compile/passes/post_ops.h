// Helpers of passes for products and convolutions with post-ops.
#pragma once
#include "compile/passes/rewriting/rules.h"
#include "crescent/device/lowered_ops.h"

namespace crescent::passes {

/// Returns the op inside a WithPostOps; returns other ops unchanged.
inline const OpPtr& base_of(const OpPtr& op) {
  auto* with_post_ops_op = as<WithPostOps>(*op);
  return with_post_ops_op ? with_post_ops_op->op : op;
}
/// Returns a WithPostOps unchanged; wraps another op in a WithPostOps without post-ops.
inline WithPostOps with_post_ops(const OpPtr& op) {
  if (auto* with_post_ops_op = as<WithPostOps>(*op)) return *with_post_ops_op;
  WithPostOps wrapped_op;
  wrapped_op.op = op;
  return wrapped_op;
}
/// Returns the instruction that computes the value if its op is a T, with or without post-ops; else
/// null.
template <class T>
const Instruction* product_computing(Rewriting& r, int value) {
  auto* producer = r.producer(value);
  return producer && producer->outputs[0] == value && as<T>(*base_of(producer->op)) ? producer
                                                                                    : nullptr;
}

/// Whether the op has only post-ops from this list.
inline bool has_only(const WithPostOps& op, std::initializer_list<PostOp> allowed_post_ops) {
  return std::all_of(op.post.begin(), op.post.end(), [&](PostOp post_op) {
    return std::find(allowed_post_ops.begin(), allowed_post_ops.end(), post_op) !=
           allowed_post_ops.end();
  });
}

/// Adds a copy of the instruction that has one more post-op, and returns the result of the copy.
inline int add_post_op(Rewriting& r, const Instruction& producer, PostOp post,
                       std::initializer_list<int> inputs = {}) {
  WithPostOps op = with_post_ops(producer.op);
  op.post.push_back(post);
  std::vector<int> operands = producer.inputs;
  operands.insert(operands.end(), inputs.begin(), inputs.end());
  return r.add(std::move(op), std::move(operands));
}

/// Returns the product or convolution that computes the value, or null if no post-op may be added
/// to it. A post-op may be added if only one instruction reads the value, the precision is not
/// mixed, and all post-ops so far are biases, adds and masks.
template <class T>
const Instruction* extendable_product(Rewriting& r, int value) {
  auto* producer = product_computing<T>(r, value);
  if (!producer || !r.read_once(value)) return nullptr;
  const WithPostOps op = with_post_ops(producer->op);
  const bool has_extendable_post_ops = has_only(op, {PostOp::bias, PostOp::add, PostOp::mask});
  return has_extendable_post_ops && op.mixed == Mixed::no ? producer : nullptr;
}

}  // namespace crescent::passes
