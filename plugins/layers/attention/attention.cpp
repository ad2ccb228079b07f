// Multi-head attention (Vaswani et al. 2017), with Keras' weights: query, key, value and output
// projections.
#include <cmath>

#include "crescent/plugin.h"

namespace crescent {
namespace {

class MultiHeadAttention final : public Layer {
 public:
  static void describe(Schema<MultiHeadAttention>& s) {
    s.doc(
         "Attention of several heads. Called on (query, value[, key]): (batch, t, d), (batch, s, "
         "d') -> (batch, t, d).")
        .input("query", 0, "What asks.")
        .input("value", 1, "What is asked.")
        .input("key", 2, "What the query is compared with; not given: the value.")
        .argument("query_mask", {},
                  "Steps of the query that count: (batch, t); not given: the query's own mask.")
        .argument("value_mask", {}, "Steps of the value that count: (batch, s).")
        .argument("key_mask", {}, "Steps of the key that count: (batch, s).")
        .argument("attention_mask", {}, "Which step may see which: (batch, t, s).")
        .argument("return_attention_scores", false,
                  "The scores (batch, heads, t, s) as second output.")
        .argument("use_causal_mask", false, "Step i sees steps up to i.")
        .field("num_heads", &MultiHeadAttention::heads_, "Number of heads.")
        .required()
        .min(1)
        .field("key_dim", &MultiHeadAttention::key_dim_, "Width of a head's query and key.")
        .required()
        .min(1)
        .field("value_dim", &MultiHeadAttention::value_dim_,
               "Width of a head's value; null: key_dim.")
        .field("dropout", &MultiHeadAttention::dropout_, "Share of attention dropped in training.")
        .min(0)
        .max(1)
        .field("use_bias", &MultiHeadAttention::use_bias_, "Projections have a bias.")
        .field("output_shape", &MultiHeadAttention::output_shape_,
               "Width of the output; null: as the query.")
        .field("attention_axes", &MultiHeadAttention::attention_axes_,
               "Axes attended over; only the second is supported.")
        .weight_options({{"kernel", &MultiHeadAttention::kernel_rules_, "each kernel"},
                         {"bias", &MultiHeadAttention::bias_rules_, "each bias"}},
                        &MultiHeadAttention::activity_regularizer_)
        .field("seed", &MultiHeadAttention::seed_, "Fixes the dropout.")
        .field("use_gate", &MultiHeadAttention::use_gate_, "Gated attention (not supported).")
        .not_stored();
  }
  void configured() override {
    Layer::configured();
    if (use_gate_) fail("use_gate=true is not supported");
    if (attention_axes_ && *attention_axes_ != std::vector<int64_t>{1})
      fail("attention_axes: only 1 is supported, got ", Value(*attention_axes_));
    if (output_shape_ && output_shape_->size() != 1)
      fail("output_shape: expected one integer, got ", Value(*output_shape_));
    set_supports_masking(true);
    set_activity_regularizer(activity_regularizer_.shared());
    random_ = add_seed_generator(seed_);
  }
  InputCount input_count() const override {
    return {2, 3, "MultiHeadAttention should be called on query, value and optionally key"};
  }
  void build(const std::vector<Shape>& inputs) override {
    const Shape &query = inputs[0], &value = inputs[1], &key = inputs.back();
    for (const Shape& shape : inputs)
      if (shape.rank() != 3) fail("expected inputs of shape (batch, steps, features), got ", shape);
    query_ = project("query", query, key_dim_);
    key_ = project("key", key, key_dim_);
    value_ = project("value", value, value_width());
    const int64_t width = output_shape_ ? output_shape_->front() : query[-1];
    output_ = projection("attention_output", "abcd,cde->abe", {-1, width}, "e");
    output_->build_for({Shape{query[0], query[1], heads_, value_width()}});
  }
  Tensors call(const Tensors& inputs, const Call& call) override {
    const Tensor query = (*query_)(inputs[0]), key = (*key_)(inputs.back()),
                 value = (*value_)(inputs[1]);
    const Tensor mask = combined_mask(inputs, call);
    const double scale = 1 / std::sqrt(double(key_dim_));
    const bool is_wanted = call.flag("return_attention_scores");
    if (!is_wanted && !drops(call))
      return {(*output_)(ops::dot_product_attention(query, key, value, mask, scale))};
    const Tensor scores = ops::attention_weights(query, key, mask, scale);  // (batch, heads, t, s)
    const Tensor result =
        (*output_)(swap_heads(ops::matmul(dropped(scores, call), swap_heads(value))));
    return is_wanted ? Tensors{result, scores} : Tensors{result};
  }
  Tensors compute_mask(const Tensors&, const Tensors& masks, const Tensors& outputs) override {
    Tensors result(outputs.size());
    if (!masks.empty()) result[0] = masks[0];
    return result;
  }

 private:
  int64_t value_width() const { return value_dim_.value_or(key_dim_); }
  /// (batch, t, heads, k) <-> (batch, heads, t, k).
  static Tensor swap_heads(const Tensor& x) { return ops::transpose(x, {0, 2, 1, 3}); }

  LayerPtr projection(const char* name, const char* equation, const List& output_shape,
                      const char* bias_axes) {
    Dict options{{"name", name},
                 {"equation", equation},
                 {"output_shape", output_shape},
                 {"kernel_initializer", serialize(kernel_rules_.initializer.get())},
                 {"bias_initializer", serialize(bias_rules_.initializer.get())},
                 {"kernel_regularizer", kernel_rules_.regularizer.shared()},
                 {"bias_regularizer", bias_rules_.regularizer.shared()},
                 {"kernel_constraint", kernel_rules_.constraint.shared()},
                 {"bias_constraint", bias_rules_.constraint.shared()},
                 {"dtype", policy().name}};
    if (use_bias_) options.set("bias_axes", bias_axes);
    LayerPtr layer = make<Layer>("EinsumDense", options);
    track(layer);
    return layer;
  }
  LayerPtr project(const char* name, const Shape& input, int64_t width) {
    LayerPtr layer = projection(name, "abc,cde->abde", {-1, heads_, width}, "de");
    layer->build_for({input});
    return layer;
  }

  /// The mask of an input as it was given, else the one that came with it.
  static Tensor mask_of(const char* argument, size_t input, const Call& call) {
    const Tensor given = call.tensor(argument);
    return given ? ops::cast(given, DType::boolean) : call.mask(input);
  }
  /// True where attention is allowed, broadcast to (batch, 1, t, s); no tensor: everywhere.
  Tensor combined_mask(const Tensors& inputs, const Call& call) const {
    Tensor all;
    auto combine = [&](const Tensor& mask) { all = all ? ops::logical_and(all, mask) : mask; };
    if (const Tensor mask = mask_of("query_mask", 0, call)) combine(ops::expand_dims(mask, 2));
    if (const Tensor mask = mask_of("value_mask", 1, call)) combine(ops::expand_dims(mask, 1));
    if (const Tensor mask = mask_of("key_mask", 2, call)) combine(ops::expand_dims(mask, 1));
    if (const Tensor mask = call.tensor("attention_mask")) {
      if (mask.rank() != 3)
        fail("attention_mask: expected shape (batch, t, s), got ", mask.shape());
      combine(ops::cast(mask, DType::boolean));
    }
    if (call.flag("use_causal_mask")) combine(causal_mask(inputs[0].dim(1), inputs[1].dim(1)));
    return all ? ops::expand_dims(all, 1) : all;
  }
  /// (1, t, s): step i sees steps up to i.
  static Tensor causal_mask(int64_t t, int64_t s) {
    if (t < 0 || s < 0) return Tensor::abstract({DType::boolean, {1, t, s}});
    const Tensor rows = ops::expand_dims(ops::arange(t), 1),
                 columns = ops::expand_dims(ops::arange(s), 0);
    return ops::expand_dims(ops::greater_equal(rows, columns), 0);
  }
  bool drops(const Call& call) const { return call.training && dropout_ > 0; }
  Tensor dropped(const Tensor& scores, const Call& call) const {
    if (!drops(call) || !scores.shape().is_known()) return scores;
    const Tensor kept = ops::greater_equal(random_->uniform(scores.shape(), 0, 1), dropout_);
    return ops::where(kept, scores * (1 / (1 - dropout_)), 0);
  }

  int64_t heads_ = 1, key_dim_ = 1;
  std::optional<int64_t> value_dim_, seed_;
  double dropout_ = 0;
  bool use_bias_ = true, use_gate_ = false;
  std::optional<std::vector<int64_t>> output_shape_, attention_axes_;
  WeightRules kernel_rules_{"glorot_uniform"}, bias_rules_{"zeros"};
  Ref<Regularizer> activity_regularizer_;
  std::optional<SeedGenerator> random_;
  LayerPtr query_, key_, value_, output_;
};

}  // namespace

CRESCENT_PLUGIN("attention", CRESCENT_VERSION) {
  registry.add<MultiHeadAttention>("MultiHeadAttention");
}

}  // namespace crescent
