// Attention of sequences without heads: dot products (Luong et al. 2015), or the sum of tanh
// (Bahdanau et al. 2015).
#include "attention.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

/// The base of attention layers for sequences: inputs are [query, value] or [query, value, key],
/// each with a mask.
class SequenceAttention : public AttentionLayer {
 public:
  InputCount input_count() const final {
    return {2, 3,
            class_name() +
                " layer accepts inputs list of length 2 or 3, namely [query, value] or [query, "
                "value, key]"};
  }
  void build(const std::vector<Shape>& inputs) override {
    for (const Shape& shape : inputs)
      if (shape.rank() < 3 || shape.rank() != inputs[0].rank())
        fail("expected inputs of shape (batch, ..., steps, features), got ", shape);
    build_scores(inputs[0]);
  }
  Tensors call(const Tensors& inputs, const Call& call) final {
    const Tensor query = with_one_batch_axis(inputs[0], 2),
                 value = with_one_batch_axis(inputs[1], 2),
                 key = with_one_batch_axis(inputs.back(), 2);
    ScoreMask mask{{}, call.flag("use_causal_mask")};
    if (const Tensor& value_mask = call.mask(1))
      mask.allowed = ops::expand_dims(ops::expand_dims(with_one_batch_axis(value_mask, 1), 1), 1);
    const bool wants_weights = call.flag("return_attention_scores");
    const AttentionOutput attention_output =
        compute_attention(query, key, ops::expand_dims(value, 2), mask, call, wants_weights);
    const Shape batch = inputs[0].shape().slice(0, inputs[0].rank() - 2);
    Tensor output = with_batch_axes(ops::squeeze(attention_output.output, 2), batch);
    if (const Tensor& query_mask = call.mask(0))
      output = output * ops::cast(ops::expand_dims(query_mask, -1), output.dtype());
    if (!wants_weights) return {output};
    return {output, with_batch_axes(ops::squeeze(attention_output.dropped_weights, 1), batch)};
  }

 protected:
  template <class T>
  static void describe_call(Schema<T>& s) {
    s.input("query", 0, "The queries.")
        .input("value", 1, "The values.")
        .input("key", 2, "The keys, compared with the queries; by default the values.")
        .argument("return_attention_scores", false,
                  "Return the attention weights (batch, t, s) as a second output.")
        .argument("use_causal_mask", false, "Let step i attend only to steps up to i.");
  }
  /// Merges the axes before the last `kept_axis_count` ones into one.
  static Tensor with_one_batch_axis(const Tensor& x, int kept_axis_count) {
    if (x.rank() == kept_axis_count + 1) return x;
    const Shape batch = x.shape().slice(0, x.rank() - kept_axis_count);
    const Shape merged_batch{batch.is_known() ? batch.size() : -1};
    return ops::reshape(x,
                        merged_batch.concat(x.shape().slice(x.rank() - kept_axis_count, x.rank())));
  }
  /// The inverse of with_one_batch_axis(x, 2).
  static Tensor with_batch_axes(const Tensor& x, const Shape& batch) {
    return batch.rank() == 1 ? x : ops::reshape(x, batch.concat(x.shape().slice(1, x.rank())));
  }
  virtual void build_scores(const Shape& query) = 0;
  /// Computes attention of query (b,t,d), key (b,s,d) and value (b,s,1,e).
  virtual AttentionOutput compute_attention(const Tensor& query, const Tensor& key,
                                            const Tensor& value, const ScoreMask& mask,
                                            const Call& call, bool wants_weights) const = 0;
};

/// The sum query + key for each pair of a step of the query and a step of the key: (b, t, s, d).
Tensor pair_sums(const Tensor& query, const Tensor& key) {
  return ops::expand_dims(query, 2) + ops::expand_dims(key, 1);
}

class DotAttention final : public SequenceAttention {
 public:
  static void describe(Schema<DotAttention>& s) {
    s.doc(
        "Dot-product (Luong) attention: values weighted by the softmax of query-key scores. "
        "[(batch, t, d), (batch, s, e)[, (batch, s, d)]] -> (batch, t, e)");
    describe_call(s);
    s.field("use_scale", &DotAttention::use_scale_, "Multiply the scores by a learned scalar.")
        .field("score_mode", &DotAttention::score_mode_,
               "How scores are computed: \"dot\", the dot product, or \"concat\", the sum of "
               "tanh(query + key).")
        .choices({"dot", "concat"});
    describe_dropout(s);
    describe_seed(s);
  }

 protected:
  void build_scores(const Shape&) override {
    if (use_scale_) scale_ = add_weight("scale", {}, "ones");
    if (is_additive()) score_weight_ = add_weight("concat_score_weight", {}, "ones");
  }
  AttentionOutput compute_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const ScoreMask& mask, const Call& call,
                                    bool wants_weights) const override {
    if (!is_additive()) {
      const Tensor scaled_query = use_scale_ ? query * scale_ : query;
      return attend(ops::expand_dims(scaled_query, 2), ops::expand_dims(key, 2), value, mask, 1,
                    call, wants_weights);
    }
    const Tensor x = use_scale_ ? scale_ * pair_sums(query, key) : pair_sums(query, key);
    const Tensor scores = score_weight_ * ops::sum(ops::tanh(x), {-1});
    return mix(ops::expand_dims(scores, 1), value, mask, call);
  }

 private:
  bool is_additive() const { return score_mode_ == "concat"; }

  bool use_scale_ = false;
  std::string score_mode_ = "dot";
  Variable scale_, score_weight_;
};

class AdditiveAttention final : public SequenceAttention {
 public:
  static void describe(Schema<AdditiveAttention>& s) {
    s.doc(
        "Additive (Bahdanau) attention: values weighted by the softmax of sum(scale * tanh(query + "
        "key)). [(batch, t, d), (batch, s, e)[, (batch, s, d)]] -> (batch, t, e)");
    describe_call(s);
    s.field("use_scale", &AdditiveAttention::use_scale_, "Learn a scale for each feature.");
    describe_dropout(s);
    describe_seed(s);
  }

 protected:
  void build_scores(const Shape& query) override {
    if (query[-1] < 0) fail("the last dimension of the query must be known, got shape ", query);
    if (use_scale_) scale_ = add_weight("scale", {query[-1]}, "glorot_uniform");
  }
  AttentionOutput compute_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const ScoreMask& mask, const Call& call, bool) const override {
    const Tensor x = ops::tanh(pair_sums(query, key));
    const Tensor scores = ops::sum(use_scale_ ? scale_ * x : x, {-1});
    return mix(ops::expand_dims(scores, 1), value, mask, call);
  }

 private:
  bool use_scale_ = true;
  Variable scale_;
};

}  // namespace

CRESCENT_REGISTER(attention) {
  registry.add<DotAttention>("Attention");
  registry.add<AdditiveAttention>("AdditiveAttention");
}

}  // namespace crescent
