// Multi-head attention with projections (Vaswani et al. 2017), also with fewer heads for keys than
// for queries (Ainslie et al. 2023).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "attention.h"
#include "crescent/registry/registration.h"

namespace crescent {
namespace {

/// The equation of an EinsumDense layer that replaces the last `input_axis_count` axes of an input
/// of rank `rank` by `out` other axes.
struct Projection {
  Projection(int rank, int input_axis_count, int out) {
    std::string letters(rank + out, 'a');
    std::iota(letters.begin(), letters.end(), 'a');
    const auto kept_axis_count = static_cast<size_t>(rank - input_axis_count),
               input_axes = static_cast<size_t>(rank);
    bias_axes = letters.substr(input_axes);
    equation = concat(letters.substr(0, input_axes), ",", letters.substr(kept_axis_count), "->",
                      letters.substr(0, kept_axis_count), bias_axes);
  }
  std::string equation, bias_axes;
};

/// The base of multi-head attention layers: the options, the call, the projections, and the mask of
/// the scores.
class HeadedAttention : public AttentionLayer {
 public:
  void configured() override {
    AttentionLayer::configured();
    if (uses_flash_attention() && dropout() > 0)
      fail(
          "Dropout is not supported when flash attention is enabled. Please set dropout to 0.0 to "
          "use flash attention.");
  }
  InputCount input_count() const final {
    return {2, 3, class_name() + " should be called on query, value and optionally key"};
  }
  void build(const std::vector<Shape>& inputs) override {
    const Shape &query = inputs[0], &value = inputs[1], &key = inputs.back();
    check_shapes(query, value, key);
    query_ = project("query", query, {query_heads(), key_width()});
    key_ = project("key", key, {key_heads(), key_width()});
    const std::vector<int64_t> head_shape{query_heads(), value_width()};
    if (use_gate_) gate_ = project("gate", query, head_shape, "sigmoid");
    value_ = project("value", value, {key_heads(), value_width()});
    const Shape context_shape = query.slice(0, -1).concat(Shape(head_shape));
    output_ =
        projection("attention_output", context_shape.rank(), 2, output_widths(query), "linear");
    output_->build_for({context_shape});
  }
  Tensors call(const Tensors& inputs, const Call& call) override {
    // The inputs without their masks, which apply to scores and not to projections.
    Tensors without_masks;
    for (const Tensor& input : inputs) without_masks.push_back(input.with_mask({}));
    const bool wants_weights = call.flag("return_attention_scores");
    if (uses_flash_attention() && wants_weights)
      fail(
          "Returning attention scores is not supported when flash attention is enabled. Please "
          "disable flash attention to access attention scores.");
    const auto [context, weights] =
        attend_inputs(without_masks, mask_of_scores(inputs, call), call, wants_weights);
    const Tensor gated_context = use_gate_ ? context * (*gate_)(without_masks[0]) : context;
    const Tensor output = (*output_)(gated_context);
    return wants_weights ? Tensors{output, weights} : Tensors{output};
  }

 protected:
  template <class T>
  static void describe_call(Schema<T>& s) {
    s.input("query", 0, "The queries.")
        .input("value", 1, "The values.")
        .input("key", 2, "The keys, compared with the queries; by default the values.")
        .argument("query_mask", {},
                  "Valid steps of the query (batch, t); by default the mask of the query.")
        .argument("value_mask", {}, "Valid steps of the value (batch, s).")
        .argument("key_mask", {}, "Valid steps of the key (batch, s).")
        .argument("attention_mask", {},
                  "Which query step may attend to which key step (batch, t, s).")
        .argument("return_attention_scores", false,
                  "Return the scores (batch, heads, t, s) as a second output.")
        .argument("use_causal_mask", false, "Let step i attend only to steps up to i.");
  }
  template <class T>
  static void describe_bias(Schema<T>& s) {
    s.field("use_bias", &HeadedAttention::use_bias_, "Add a bias to the projections.");
  }
  template <class T>
  static void describe_other_options(Schema<T>& s) {
    s.field("sliding_window", &HeadedAttention::window_,
            "Attend only to steps at a distance below this; null: to all.")
        .min(1)
        .field("flash_attention", &HeadedAttention::flash_attention_,
               "true: refuse dropout and return_attention_scores, which need the whole table of "
               "scores.")
        .not_stored()
        .weight_options({{"kernel", &HeadedAttention::kernel_rules_, "each kernel"},
                         {"bias", &HeadedAttention::bias_rules_, "each bias"}},
                        &HeadedAttention::penalty_)
        .field("use_gate", &HeadedAttention::use_gate_,
               "Multiply the output of each head by a learned sigmoid of the query.")
        .property("query_dense", &HeadedAttention::query_,
                  "The layer that projects the query; nil before the attention is built.")
        .property("key_dense", &HeadedAttention::key_, "The layer that projects the key.")
        .property("value_dense", &HeadedAttention::value_, "The layer that projects the value.")
        .property("output_dense", &HeadedAttention::output_,
                  "The layer that projects the outputs of the heads.");
    describe_seed(s);
  }

  virtual int64_t query_heads() const = 0;
  virtual int64_t key_heads() const = 0;
  virtual int64_t key_width() const = 0;
  virtual int64_t value_width() const = 0;
  virtual std::vector<int64_t> output_widths(const Shape& query) const { return {query[-1]}; }
  virtual void check_shapes(const Shape& query, const Shape& value, const Shape& key) {
    for (const Shape& shape : {query, value, key})
      if (shape.rank() != 3) fail("expected inputs of shape (batch, steps, features), got ", shape);
  }
  /// The axis of time steps, to which masks apply; fails if there are several such axes.
  virtual int step_axis() const { return 1; }
  struct AttentionResult {
    Tensor context, weights;
  };
  /// Computes attention: the result has the shape (batch, t, heads, width). Also returns the
  /// weights if `wants_weights`.
  virtual AttentionResult attend_inputs(const Tensors& inputs, const ScoreMask& mask,
                                        const Call& call, bool wants_weights) const {
    return attend_projected(project_inputs(inputs), mask, call, wants_weights);
  }

  /// Applies the activity regularizer of the projections to the outputs of the layer, too.
  void penalize_outputs() { set_activity_regularizer(penalty_.shared()); }

  /// Whether the result is zero for a query that may attend to no key. In Keras a fused op gives
  /// such a query the mean of the values. Where the fused op cannot be used, Keras uses its Softmax
  /// layer, which gives zero.
  virtual bool softmax_zeroes_masked(bool wants_weights) const {
    return wants_weights || dropout() > 0;
  }

  struct ProjectedInputs {
    Tensor query, key, value;  // (batch, steps, heads, width)
  };
  ProjectedInputs project_inputs(const Tensors& inputs) const {
    return {(*query_)(inputs[0]), (*key_)(inputs.back()), (*value_)(inputs[1])};
  }
  /// Computes attention of projected inputs; a mask (batch, t, s) applies to all heads.
  AttentionResult attend_projected(const ProjectedInputs& p, ScoreMask mask, const Call& call,
                                   bool wants_weights) const {
    if (mask.allowed && mask.allowed.rank() == 3) mask.allowed = ops::expand_dims(mask.allowed, 1);
    const double scale = 1 / std::sqrt(double(key_width()));
    const AttentionOutput attention_output =
        softmax_zeroes_masked(wants_weights)
            ? attend_or_zero(p.query, p.key, p.value, mask, scale, call, wants_weights)
            : attend(p.query, p.key, p.value, mask, scale, call, wants_weights);
    return {attention_output.output, attention_output.weights};
  }

 private:
  bool uses_flash_attention() const {
    return flash_attention_.is_bool() && flash_attention_.as_bool();
  }

  LayerPtr projection(const char* name, int rank, int input_axis_count,
                      const std::vector<int64_t>& widths, const char* activation) {
    const Projection p(rank, input_axis_count, static_cast<int>(widths.size()));
    List shape(rank - input_axis_count - 1, -1);
    for (int64_t width : widths) shape.push_back(width);
    Dict options{{"name", name},
                 {"equation", p.equation},
                 {"output_shape", shape},
                 {"activation", activation},
                 {"kernel_initializer", serialize(kernel_rules_.initializer.get())},
                 {"bias_initializer", serialize(bias_rules_.initializer.get())},
                 {"kernel_regularizer", kernel_rules_.regularizer.shared()},
                 {"bias_regularizer", bias_rules_.regularizer.shared()},
                 {"activity_regularizer", penalty_.shared()},
                 {"kernel_constraint", kernel_rules_.constraint.shared()},
                 {"bias_constraint", bias_rules_.constraint.shared()},
                 {"dtype", policy().name}};
    if (use_bias_) options.set("bias_axes", p.bias_axes);
    LayerPtr layer = make<Layer>("EinsumDense", options);
    track(layer);
    return layer;
  }
  LayerPtr project(const char* name, const Shape& input, const std::vector<int64_t>& heads,
                   const char* activation = "linear") {
    LayerPtr layer = projection(name, input.rank(), 1, heads, activation);
    layer->build_for({input});
    return layer;
  }

  /// The mask of an input: the argument of the call, or the mask that the input carries.
  static Tensor mask_of(const char* argument, size_t input, const Call& call) {
    const Tensor mask_argument = call.tensor(argument);
    return mask_argument ? ops::cast(mask_argument, DType::boolean) : call.mask(input);
  }
  /// The mask of scores, whose `allowed` is (batch, t, s).
  ScoreMask mask_of_scores(const Tensors& inputs, const Call& call) const {
    Tensor mask;
    if (const Tensor input_mask = mask_of("query_mask", 0, call))
      mask = ops::expand_dims(input_mask, -1);
    if (const Tensor input_mask = mask_of("value_mask", 1, call))
      mask = conjunction(mask, ops::expand_dims(input_mask, -2));
    if (const Tensor input_mask = mask_of("key_mask", 2, call))
      mask = conjunction(mask, ops::expand_dims(input_mask, -2));
    if (window_)
      mask = conjunction(mask, window_mask(steps(inputs[0]), steps(inputs[1]), *window_));
    if (const Tensor attention_mask = call.tensor("attention_mask")) {
      if (attention_mask.rank() < 3 && !is_for_all(attention_mask.shape(), inputs))
        fail("attention_mask: expected shape (batch, t, s) or (t, s), got ",
             attention_mask.shape());
      const Tensor batch_mask =
          attention_mask.rank() == 2 ? ops::expand_dims(attention_mask, 0) : attention_mask;
      mask = conjunction(mask, ops::cast(batch_mask, DType::boolean));
    }
    const bool causal = call.flag("use_causal_mask");
    if (causal) step_axis();  // causality needs a single axis of steps
    return {mask, causal};
  }
  int64_t steps(const Tensor& x) const { return x.dim(step_axis()); }
  /// Whether a mask has the shape (t, s), so that it is the same for all samples.
  bool is_for_all(const Shape& mask, const Tensors& inputs) const {
    return mask.rank() == 2 && mask.compatible({steps(inputs[0]), steps(inputs[1])});
  }

  bool use_bias_ = true, use_gate_ = false;
  std::optional<int64_t> window_;
  Value flash_attention_;
  WeightRules kernel_rules_{"glorot_uniform"}, bias_rules_{"zeros"};
  Ref<Regularizer> penalty_;
  LayerPtr query_, key_, value_, gate_, output_;
};

class MultiHeadAttention final : public HeadedAttention {
 public:
  static void describe(Schema<MultiHeadAttention>& s) {
    s.doc(
        "Multi-head attention (Vaswani et al. 2017). Called on (query, value[, key]): (batch, t, "
        "d), (batch, s, d') -> (batch, t, d); with attention_axes the inputs may have more axes.");
    describe_call(s);
    s.field("num_heads", &MultiHeadAttention::heads_, "Number of heads.")
        .required()
        .min(1)
        .field("key_dim", &MultiHeadAttention::key_dim_, "Size of a head's query and key.")
        .required()
        .min(1)
        .field("value_dim", &MultiHeadAttention::value_dim_,
               "Size of a head's value; null: key_dim.")
        .min(1);
    describe_dropout(s);
    describe_bias(s);
    s.field("output_shape", &MultiHeadAttention::output_shape_,
            "Shape of the output at each step; null: that of the query.")
        .field("attention_axes", &MultiHeadAttention::attention_axes_,
               "Axes to attend over; null: all but the batch and the features.");
    describe_other_options(s);
  }
  void configured() override {
    HeadedAttention::configured();
    if (output_shape_ && output_shape_->empty())
      fail("output_shape: expected at least one integer, got []");
  }

 protected:
  int64_t query_heads() const override { return heads_; }
  int64_t key_heads() const override { return heads_; }
  int64_t key_width() const override { return key_dim_; }
  int64_t value_width() const override { return value_dim_.value_or(key_dim_); }
  std::vector<int64_t> output_widths(const Shape& query) const override {
    return output_shape_ ? *output_shape_ : HeadedAttention::output_widths(query);
  }
  void check_shapes(const Shape& query, const Shape& value, const Shape& key) override {
    if (query.rank() < 3) fail("expected inputs of shape (batch, steps, features), got ", query);
    if (value.rank() != query.rank() || key.rank() != query.rank() ||
        !value.slice(1, -1).compatible(key.slice(1, -1)))
      fail(
          "All dimensions of `value` and `key`, except the last one, must be equal. Received: "
          "value_shape=",
          value, " and key_shape=", key, ", query_shape=", query);
    choose_axes(query.rank());
    for (int axis : other_axes_)
      if (query[axis] >= 0 && value[axis] >= 0 && query[axis] != value[axis])
        fail("axis ", axis,
             " is not attended over: expected query and value of one size there, got ", query,
             " and ", value);
  }
  int step_axis() const override {
    if (axes_.size() != 1)
      fail("masks of steps need one attention axis, got attention_axes=", Value(*attention_axes_));
    return axes_[0];
  }
  bool softmax_zeroes_masked(bool wants_weights) const override {
    return HeadedAttention::softmax_zeroes_masked(wants_weights) || !other_axes_.empty() ||
           axes_.size() != 1;
  }
  AttentionResult attend_inputs(const Tensors& inputs, const ScoreMask& mask, const Call& call,
                                bool wants_weights) const override {
    const ProjectedInputs p = project_inputs(inputs);
    if (other_axes_.empty() && axes_.size() == 1)
      return attend_projected(p, mask, call, wants_weights);
    const Shape shape = p.query.shape().slice(0, -1).concat({value_width()}),
                scores_shape = shape_of_scores(p);
    if (!p.query.shape().is_known() || !p.key.shape().is_known())
      return {Tensor::abstract({p.query.dtype(), shape}),
              Tensor::abstract({p.query.dtype(), scores_shape})};
    const AttentionResult result = attend_projected(
        {in_fused_layout(p.query), in_fused_layout(p.key), in_fused_layout(p.value)},
        {mask_in_fused_layout(mask.allowed, scores_shape), mask.causal}, call, wants_weights);
    const Tensor context =
        ops::transpose(ops::reshape(result.context, permuted_shape(shape)), inverse_order());
    return {context, wants_weights ? ops::reshape(result.weights, scores_shape) : Tensor()};
  }

 private:
  void choose_axes(int rank) {
    axes_.clear();
    other_axes_.clear();
    if (!attention_axes_) {
      attention_axes_.emplace();
      for (int axis = 1; axis < rank - 1; ++axis) attention_axes_->push_back(axis);
    }
    for (int64_t axis : *attention_axes_) {
      const auto position = static_cast<int>(axis < 0 ? axis + rank : axis);
      if (position < 1 || position >= rank - 1)
        fail("attention_axes: expected axes between the batch and the features of ", rank,
             " axes, got ", Value(*attention_axes_));
      axes_.push_back(position);
    }
    for (int axis = 1; axis < rank - 1; ++axis)
      if (std::find(axes_.begin(), axes_.end(), axis) == axes_.end()) other_axes_.push_back(axis);
  }

  // The functions below reshape projected tensors (batch, other axes..., attention axes..., heads,
  // width) to (batch * other axes, attention axes, heads, width) for the fused op.

  std::vector<int> axis_order() const {
    std::vector<int> order{0};
    order.insert(order.end(), other_axes_.begin(), other_axes_.end());
    order.insert(order.end(), axes_.begin(), axes_.end());
    const int heads = static_cast<int>(order.size());
    order.insert(order.end(), {heads, heads + 1});
    return order;
  }
  std::vector<int> inverse_order() const {
    const std::vector<int> axes_in_order = axis_order();
    std::vector<int> inverse_axes(axes_in_order.size());
    for (size_t i = 0; i < axes_in_order.size(); ++i) inverse_axes[axes_in_order[i]] = int(i);
    return inverse_axes;
  }
  Shape permuted_shape(const Shape& shape) const {
    Shape result;
    for (int axis : axis_order()) result.append(shape[axis]);
    return result;
  }
  /// The sizes of `shape` along `axes`.
  static Shape sizes(const Shape& shape, const std::vector<int>& axes) {
    Shape result;
    for (int axis : axes) result.append(shape[axis]);
    return result;
  }
  Tensor in_fused_layout(const Tensor& x) const {
    const Shape& shape = x.shape();
    return ops::reshape(ops::transpose(x, axis_order()),
                        {shape[0] * sizes(shape, other_axes_).size(), sizes(shape, axes_).size(),
                         shape[-2], shape[-1]});
  }
  /// The shape of the scores: (batch, other axes..., heads, attention axes of the query...,
  /// attention axes of the key...).
  Shape shape_of_scores(const ProjectedInputs& p) const {
    const Shape &query = p.query.shape(), &key = p.key.shape();
    return Shape{query[0]}
        .concat(sizes(query, other_axes_))
        .concat({heads_})
        .concat(sizes(query, axes_))
        .concat(sizes(key, axes_));
  }
  /// Broadcasts a mask to the shape of the scores, and reshapes it for the fused op. As in Keras
  /// the mask may lack axes that come before the attention axes of query and key.
  Tensor mask_in_fused_layout(Tensor mask, const Shape& scores_shape) const {
    if (!mask) return mask;
    const int score_axis_count = 2 * static_cast<int>(axes_.size());
    while (mask.rank() < scores_shape.rank())
      mask = ops::expand_dims(mask, mask.rank() - score_axis_count);
    const int first_axis = scores_shape.rank() - score_axis_count;
    return ops::reshape(
        ops::broadcast_to(mask, scores_shape),
        {scores_shape.slice(0, first_axis - 1).size(), heads_,
         scores_shape.slice(first_axis, first_axis + score_axis_count / 2).size(),
         scores_shape.slice(first_axis + score_axis_count / 2, scores_shape.rank()).size()});
  }

  int64_t heads_ = 1, key_dim_ = 1;
  std::optional<int64_t> value_dim_;
  std::optional<std::vector<int64_t>> output_shape_, attention_axes_;
  std::vector<int> axes_, other_axes_;
};

class GroupedQueryAttention final : public HeadedAttention {
 public:
  static void describe(Schema<GroupedQueryAttention>& s) {
    s.doc(
        "Attention in which groups of query heads share a head of keys and values (Ainslie et al. "
        "2023). Called on (query, value[, key]): (batch, t, d), (batch, s, d') -> (batch, t, d)");
    describe_call(s);
    s.field("head_dim", &GroupedQueryAttention::width_, "Size of a head.")
        .required()
        .min(1)
        .field("num_query_heads", &GroupedQueryAttention::query_heads_, "Number of query heads.")
        .required()
        .min(1)
        .field("num_key_value_heads", &GroupedQueryAttention::key_heads_,
               "Number of key and value heads; 1: all queries share one.")
        .required()
        .min(1);
    describe_dropout(s);
    describe_bias(s);
    describe_other_options(s);
  }
  void configured() override {
    HeadedAttention::configured();
    if (query_heads_ % key_heads_ != 0)
      fail("`num_query_heads` must be divisible by `num_key_value_heads`, got ", query_heads_,
           " and ", key_heads_);
    // As in Keras, this layer penalizes its outputs; MultiHeadAttention does not.
    penalize_outputs();
  }

 protected:
  int64_t query_heads() const override { return query_heads_; }
  int64_t key_heads() const override { return key_heads_; }
  int64_t key_width() const override { return width_; }
  int64_t value_width() const override { return width_; }
  AttentionResult attend_inputs(const Tensors& inputs, const ScoreMask& mask, const Call& call,
                                bool wants_weights) const override {
    ProjectedInputs p = project_inputs(inputs);
    if (const int64_t group_size = query_heads_ / key_heads_; group_size > 1)
      for (Tensor* x : {&p.key, &p.value}) *x = ops::repeat(*x, group_size, 2);
    return attend_projected(p, mask, call, wants_weights);
  }

 private:
  int64_t width_ = 1, query_heads_ = 1, key_heads_ = 1;
};

}  // namespace

CRESCENT_REGISTER(multi_head) {
  registry.add<MultiHeadAttention>("MultiHeadAttention");
  registry.add<GroupedQueryAttention>("GroupedQueryAttention", {"GroupQueryAttention"});
}

}  // namespace crescent
