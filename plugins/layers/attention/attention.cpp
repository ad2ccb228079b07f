#include "attention.h"

namespace crescent {
namespace {

/// Swaps the axes of steps and heads: (b,t,h,d) <-> (b,h,t,d).
Tensor swap_heads(const Tensor& x) { return ops::transpose(x, {0, 2, 1, 3}); }

/// The mask (1, rows, columns) with the elements compare(row, column).
template <class F>
Tensor comparison_mask(int64_t rows, int64_t columns, F&& compare) {
  if (rows < 0 || columns < 0) return Tensor::abstract({DType::boolean, {1, rows, columns}});
  const Tensor row = ops::expand_dims(ops::arange(rows), 1),
               column = ops::expand_dims(ops::arange(columns), 0);
  return ops::expand_dims(compare(row, column), 0);
}

}  // namespace

Tensor causal_mask(int64_t t, int64_t s) {
  return comparison_mask(t, s, [](const Tensor& row, const Tensor& column) {
    return ops::greater_equal(row, column);
  });
}

Tensor window_mask(int64_t t, int64_t s, int64_t width) {
  return comparison_mask(t, s, [width](const Tensor& row, const Tensor& column) {
    return ops::less(ops::abs(row - column), width);
  });
}

Tensor conjunction(const Tensor& a, const Tensor& b) {
  if (!a || !b) return a ? a : b;
  return ops::logical_and(a, b);
}

Tensor ScoreMask::as_tensor(int64_t query_count, int64_t key_count) const {
  return causal ? conjunction(allowed, causal_mask(query_count, key_count)) : allowed;
}

void AttentionLayer::configured() {
  Layer::configured();
  set_supports_masking(true);
  random_ = add_seed_generator(seed_);
}

Tensors AttentionLayer::compute_mask(const Tensors&, const Tensors& masks, const Tensors& outputs) {
  Tensors result(outputs.size());
  if (!masks.empty()) result[0] = masks[0];
  return result;
}

AttentionLayer::AttentionOutput AttentionLayer::attend(const Tensor& query, const Tensor& key,
                                                       const Tensor& value, const ScoreMask& mask,
                                                       double scale, const Call& call,
                                                       bool wants_weights) const {
  const double rate = drops(call) ? dropout_ : 0;
  if (!wants_weights && rate < 1) {
    const Tensor output = ops::dot_product_attention(query, key, value, mask.allowed, scale,
                                                     mask.causal, rate, *random_);
    return {output, {}, {}};
  }
  const Tensor allowed_pairs = mask.as_tensor(query.dim(1), key.dim(1));
  return mix_weights(ops::attention_weights(query, key, allowed_pairs, scale), value, call);
}

AttentionLayer::AttentionOutput AttentionLayer::attend_or_zero(
    const Tensor& query, const Tensor& key, const Tensor& value, const ScoreMask& mask,
    double scale, const Call& call, bool wants_weights) const {
  AttentionOutput result = attend(query, key, value, mask, scale, call, wants_weights);
  if (!mask.allowed) return result;  // a query may attend to a key, if only causality limits it
  const Tensor attends_any_key =
      ops::any(mask.as_tensor(query.dim(1), key.dim(1)), {-1}, /*keepdims=*/true);
  result.output = ops::where(swap_heads(attends_any_key), result.output, 0);
  for (Tensor* weights : {&result.weights, &result.dropped_weights})
    if (*weights) *weights = ops::where(attends_any_key, *weights, 0);
  return result;
}

AttentionLayer::AttentionOutput AttentionLayer::mix(const Tensor& scores, const Tensor& value,
                                                    const ScoreMask& mask, const Call& call) const {
  const Tensor allowed_pairs = mask.as_tensor(scores.dim(2), scores.dim(3));
  const Tensor masked_scores =
      allowed_pairs ? ops::where(allowed_pairs, scores, scores + masked_score(scores.dtype()))
                    : scores;
  return mix_weights(ops::softmax(masked_scores), value, call);
}

AttentionLayer::AttentionOutput AttentionLayer::mix_weights(const Tensor& weights,
                                                            const Tensor& value,
                                                            const Call& call) const {
  Tensor dropped_weights = weights;
  if (drops(call) && dropout_ >= 1) {
    dropped_weights = ops::zeros_like(weights);
  } else if (drops(call) && weights.shape().is_known()) {
    const Tensor is_kept = ops::greater_equal(random_->uniform(weights.shape(), 0, 1), dropout_);
    dropped_weights = ops::where(is_kept, weights * (1 / (1 - dropout_)), 0);
  }
  return {swap_heads(ops::matmul(dropped_weights, swap_heads(value))), weights, dropped_weights};
}

}  // namespace crescent
