// Multi-head attention: softmax(query . key) . value, and its gradient.
#include "crescent/ops/random.h"
#include "program/support.h"

namespace crescent {
namespace {

/// Swaps axes 1 and 2: (batch, steps, heads, width) <-> (batch, heads, steps, width).
Tensor swap_heads(const Tensor& x) { return ops::transpose(x, {0, 2, 1, 3}); }

/// The mask (1, 1, queries, keys) with which query i attends only to keys up to i.
Tensor causal_mask(int64_t queries, int64_t keys) {
  return ops::greater_equal(ops::reshape(ops::arange(queries), {1, 1, queries, 1}),
                            ops::reshape(ops::arange(keys), {1, 1, 1, keys}));
}

/// The scores (b,h,t,s) of queries (b,t,h,d) and keys (b,s,h,d): their scaled products, or a very
/// negative number where the mask is false.
Tensor scores(const Tensor& query, const Tensor& key, const Tensor& mask, double scale) {
  const Tensor x = ops::matmul(swap_heads(query) * scale, swap_heads(key), false, true);
  return mask ? ops::where(mask, x, masked_score(x.dtype())) : x;
}

/// The number of inputs without the random state, which is the last input of an op with dropout.
size_t input_count_without_state(size_t input_count, double dropout) {
  return input_count - (dropout > 0 ? 1 : 0);
}

/// The attention mask of an op. It is the input after the first `other_input_count` inputs, if the
/// op has such an input, and it is combined with a causal mask if the op is causal.
template <class O>
Tensor mask_of(const O& op, std::span<const Tensor> in, size_t other_input_count) {
  const bool has_mask = input_count_without_state(in.size(), op.dropout) > other_input_count;
  const Tensor mask_input = has_mask ? in[other_input_count] : Tensor();
  if (!op.causal) return mask_input;
  const Tensor earlier_keys = causal_mask(in[0].dim(1), in[1].dim(1));
  return mask_input ? ops::logical_and(mask_input, earlier_keys) : earlier_keys;
}

/// The dropout mask of the attention weights (b,h,t,s), which is true for the weights that stay. It
/// is drawn from the random state that is the op's last input. An empty Tensor without dropout.
template <class O>
Tensor dropout_mask(const O& op, std::span<const Tensor> in, const Shape& weights_shape) {
  if (op.dropout <= 0) return {};
  const int64_t row_end = op.first_row + weights_shape[0];
  Random random_op;
  random_op.shape = weights_shape;
  random_op.shape.set(0, row_end);
  return ops::greater_equal(
      ops::slice_axis(apply1(random_op, {in.back()}), 0, op.first_row, row_end), op.dropout);
}

/// Sets x to 0 where `keep_mask` is false and divides the other elements by 1 - dropout.
Tensor apply_dropout(const Tensor& x, const Tensor& keep_mask, double dropout) {
  return keep_mask ? ops::where(keep_mask, x * (1 / (1 - dropout)), 0) : x;
}

[[noreturn]] void fail_shapes(std::span<const TensorSpec> in, const char* reason) {
  fail("attention: shapes ", shapes_text(in), " do not fit: ", reason);
}

void check_mask(const TensorSpec& mask, const Shape& scores_shape) {
  if (mask.dtype != DType::boolean) fail("attention: expected a mask of bool, got ", mask.dtype);
  if (mask.shape.rank() != 4 ||
      !broadcast_shapes(mask.shape, scores_shape, "attention").compatible(scores_shape)) {
    fail("attention: a mask of shape ", mask.shape, " does not fit scores of shape ", scores_shape);
  }
}

/// Checks the operands and returns the shape of the scores.
template <class O>
Shape check_operands(const O& op, std::span<const TensorSpec> in, size_t other_input_count) {
  const std::span<const TensorSpec> operands = in.first(3);
  const Shape &query = in[0].shape, &key = in[1].shape, &value = in[2].shape;
  expect_floating("attention", in[0].dtype);
  for (const TensorSpec& x : operands) {
    if (x.shape.rank() != 4) fail_shapes(operands, "expected (batch, steps, heads, width)");
    if (x.dtype != in[0].dtype)
      fail("attention: dtypes ", in[0].dtype, " and ", x.dtype, " differ");
  }
  if (!key.compatible({query[0], key[1], query[2], query[3]}))
    fail_shapes(operands, "keys need the queries' batch, heads and width");
  if (!value.compatible({key[0], key[1], key[2], value[3]}))
    fail_shapes(operands, "expected a value for each key");
  if (key[1] == 0) fail_shapes(operands, "nothing to attend to");
  const Shape scores_shape{query[0], query[2], query[1], key[1]};
  if (input_count_without_state(in.size(), op.dropout) > other_input_count)
    check_mask(in[other_input_count], scores_shape);
  if (op.dropout > 0 && in.back() != TensorSpec{DType::int64, {2}})
    fail("attention: dropout needs the state of a draw, int64(2), got ", in.back());
  return scores_shape;
}

}  // namespace

TensorSpecs Attention::infer(std::span<const TensorSpec> in) const {
  const Shape shape = check_operands(*this, in, 3), query = in[0].shape;
  const DType statistics = statistics_dtype(in[0].dtype);
  return {{in[0].dtype, query.slice(0, 3).concat({in[2].shape[3]})},
          {statistics, shape.slice(0, 3).concat({2})}};
}

Tensors Attention::decompose(std::span<const Tensor> in) const {
  const Tensor x = scores(in[0], in[1], mask_of(*this, in, 3), scale),
               maximum = ops::max(x, {-1}, true);
  const Tensor exponentials = ops::exp(x - maximum),
               exponential_sum = ops::sum(exponentials, {-1}, true);
  const Tensor statistics = ops::concatenate(Tensors{maximum, exponential_sum}, -1);
  const Tensor weights =
      apply_dropout(exponentials / exponential_sum, dropout_mask(*this, in, x.shape()), dropout);
  return {swap_heads(ops::matmul(weights, swap_heads(in[2]))),
          ops::cast(statistics, statistics_dtype(x.dtype()))};
}

Tensors Attention::vjp(const Vjp& v) const {
  AttentionBackward op;
  op.scale = scale, op.causal = causal, op.dropout = dropout, op.first_row = first_row;
  Tensors inputs{v.inputs[0], v.inputs[1], v.inputs[2], v.outputs[0], v.outputs[1], v.gradients[0]};
  inputs.insert(inputs.end(), v.inputs.begin() + 3, v.inputs.end());
  Tensors result = crescent::apply(std::make_shared<const AttentionBackward>(op), inputs);
  result.resize(v.inputs.size());
  return result;
}

TensorSpecs AttentionBackward::infer(std::span<const TensorSpec> in) const {
  check_operands(*this, in, 6);
  return {in[0], in[1], in[2]};
}

Tensors AttentionBackward::decompose(std::span<const Tensor> in) const {
  const Tensor mask = mask_of(*this, in, 6),
               weights = ops::softmax(scores(in[0], in[1], mask, scale));
  const Tensor query = swap_heads(in[0]), key = swap_heads(in[1]), value = swap_heads(in[2]),
               dy = swap_heads(in[5]);
  const Tensor keep_mask = dropout_mask(*this, in, weights.shape());
  const Tensor dweights = apply_dropout(ops::matmul(dy, value, false, true), keep_mask, dropout);
  const Tensor dlogits = weights * (dweights - ops::sum(dweights * weights, {-1}, true)) * scale;
  const Tensor dscores = mask ? ops::where(mask, dlogits, 0) : dlogits;
  return {swap_heads(ops::matmul(dscores, key)), swap_heads(ops::matmul(dscores, query, true)),
          swap_heads(ops::matmul(apply_dropout(weights, keep_mask, dropout), dy, true))};
}

namespace ops {
namespace {

/// Casts query, key and value to a common dtype, and applies the attention op to them and to the
/// tensors of `other_inputs` that are not empty.
Tensor attend(Attention op, const Tensor& query, const Tensor& key, const Tensor& value,
              std::initializer_list<Tensor> other_inputs) {
  const DType dtype = promote(promote(as_floating(query).dtype(), key.dtype()), value.dtype());
  Tensors inputs{cast(query, dtype), cast(key, dtype), cast(value, dtype)};
  for (const Tensor& other_input : other_inputs)
    if (other_input) inputs.push_back(other_input);
  return crescent::apply(std::make_shared<const Attention>(op), inputs)[0];
}

}  // namespace

Tensor dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                             const Tensor& mask, double scale, bool causal) {
  Attention op;
  op.scale = scale, op.causal = causal;
  return attend(op, query, key, value, {mask});
}

Tensor dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                             const Tensor& mask, double scale, bool causal, double dropout,
                             const SeedGenerator& random) {
  const Shape shape{query.dim(0), query.dim(2), query.dim(1), key.dim(1)};
  Attention op;
  op.scale = scale, op.causal = causal;
  if (dropout <= 0 || !shape.is_known()) return attend(op, query, key, value, {mask});
  if (const auto draw_state = random.draw_state(shape)) {
    op.dropout = dropout, op.first_row = draw_state->first_row;
    return attend(op, query, key, value, {mask, draw_state->state});
  }
  Tensors inputs{query, key, value};
  if (mask) inputs.push_back(mask);
  const Tensor allowed_mask = mask_of(op, inputs, 3);
  const Tensor weights = attention_weights(query, key, allowed_mask, scale);
  const Tensor keep_mask = greater_equal(random.uniform(shape), dropout);
  return swap_heads(matmul(apply_dropout(weights, keep_mask, dropout), swap_heads(value)));
}

Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& mask, double scale) {
  return softmax(scores(query, key, mask, scale));
}

}  // namespace ops
}  // namespace crescent
