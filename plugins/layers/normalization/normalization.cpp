// Batch and layer normalisation. Under mixed precision statistics and parameters stay as wide as
// the variables.
#include <algorithm>

#include "crescent/plugin.h"

namespace crescent {
namespace {

/// gamma and beta: options both layers share.
class ScaledLayer : public UnaryLayer {
 protected:
  template <class T>
  static void describe_center_scale(Schema<T>& s) {
    s.field("center", &ScaledLayer::center_, "Add beta.")
        .field("scale", &ScaledLayer::scale_, "Multiply by gamma.");
  }
  template <class T>
  static void describe_initializers(Schema<T>& s) {
    s.initializers(kScaleWeights<T>);
  }
  template <class T>
  static void describe_penalties(Schema<T>& s) {
    s.regularizers(kScaleWeights<T>).constraints(kScaleWeights<T>);
  }
  void build_scale(const Shape& shape) {
    if (scale_) gamma_ = add_weight("gamma", shape, gamma_rules_, /*autocast=*/false);
    if (center_) beta_ = add_weight("beta", shape, beta_rules_, /*autocast=*/false);
    neutral_ = shape;
  }
  Tensor gamma() const { return scale_ ? gamma_.value() : ops::ones(neutral_, variable_dtype()); }
  Tensor beta() const { return center_ ? beta_.value() : ops::zeros(neutral_, variable_dtype()); }

  bool center_ = true, scale_ = true;
  WeightRules beta_rules_{"zeros"}, gamma_rules_{"ones"};
  Variable gamma_, beta_;
  Shape neutral_;

 private:
  template <class T>
  static constexpr NamedWeight<T, WeightRules> kScaleWeights[] = {
      {"beta", &ScaledLayer::beta_rules_, "beta"}, {"gamma", &ScaledLayer::gamma_rules_, "gamma"}};
};

class BatchNormalization final : public ScaledLayer {
 public:
  static void describe(Schema<BatchNormalization>& s) {
    s.doc(
         "Normalises each channel by the batch's mean and variance in training, by moving averages "
         "otherwise.")
        .field("axis", &BatchNormalization::axis_, "Axis of the channels.")
        .field("momentum", &BatchNormalization::momentum_, "Momentum of the moving averages.")
        .min(0)
        .max(1)
        .field("epsilon", &BatchNormalization::epsilon_, "Added to the variance.")
        .min(0);
    describe_center_scale(s);
    describe_initializers(s);
    s.field("moving_mean_initializer", &BatchNormalization::mean_initializer_,
            "How the moving mean starts.")
        .field("moving_variance_initializer", &BatchNormalization::variance_initializer_,
               "How the moving variance starts.");
    describe_penalties(s);
    s.field("synchronized", &BatchNormalization::synchronized_, "Statistics over several machines.")
        .not_stored()
        .field("renorm", &BatchNormalization::renorm_, "Batch renormalisation (not supported).")
        .not_stored()
        .field("renorm_momentum", &BatchNormalization::renorm_momentum_, "Ignored without renorm.")
        .not_stored();
  }
  void configured() override {
    ScaledLayer::configured();
    if (renorm_) fail("renorm=true is not supported");
    set_supports_masking(true);
  }
  void build(const Shape& input) override {
    const int axis = channel_axis(input);
    if (input[axis] < 0)
      fail("Axis ", Value(axis_), " of the input must have a known size, got shape ", input);
    const Shape shape{input[axis]};
    build_scale(shape);
    mean_ = add_weight("moving_mean", shape, mean_initializer_, {.trainable = false});
    variance_ = add_weight("moving_variance", shape, variance_initializer_, {.trainable = false});
    set_input_specs({InputSpec::with_ndim(input.rank()).axis(axis, input[axis])});
  }
  /// A frozen layer runs as in inference (Keras 3).
  Tensor call(const Tensor& x, const Call& call) override {
    const int axis = channel_axis(x.shape()), last = x.rank() - 1;
    const Tensor input = axis == last ? x : ops::swap_axes(x, axis, last);
    const Tensor y = call.training && trainable() ? train(input, call.mask())
                                                  : normalize(input, mean_, variance_);
    return axis == last ? y : ops::swap_axes(y, axis, last);
  }

 private:
  int channel_axis(const Shape& shape) const {
    if (axis_.size() != 1) fail("axis: expected one integer, got ", Value(axis_));
    return shape.axis(int(axis_[0]));
  }
  Tensor normalize(const Tensor& x, const Tensor& mean, const Tensor& variance) const {
    const Tensor factor = ops::rsqrt(variance + epsilon_) * gamma();
    return ops::cast(x * factor + (beta() - mean * factor), x.dtype());
  }
  Tensor train(const Tensor& x, const Tensor& mask) {
    if (mask) return train_masked(x, mask);
    const ops::Moments moments = ops::batch_norm_train(x, gamma(), beta(), epsilon_);
    move_averages(moments.mean, moments.variance);
    return moments.y;
  }
  /// Moments over the steps that count.
  Tensor train_masked(const Tensor& x, const Tensor& mask) {
    Tensor weights = ops::cast(mask, mean_.dtype());
    while (weights.rank() < x.rank()) weights = ops::expand_dims(weights, -1);
    ops::Axes axes;
    for (int i = 0; i < x.rank() - 1; ++i) axes.push_back(i);
    const Tensor wide = ops::broadcast_to(weights, x.shape());
    const Tensor count = ops::sum(wide, axes) + 1e-7;
    const Tensor mean = ops::sum(x * wide, axes) / count;
    const Tensor variance = ops::sum(ops::square(x - mean) * wide, axes) / count;
    move_averages(mean, variance);
    return normalize(x, mean, variance);
  }
  void move_averages(const Tensor& mean, const Tensor& variance) {
    mean_.assign(mean_ * momentum_ + ops::stop_gradient(mean) * (1 - momentum_));
    variance_.assign(variance_ * momentum_ + ops::stop_gradient(variance) * (1 - momentum_));
  }

  std::vector<int64_t> axis_{-1};
  double momentum_ = 0.99, epsilon_ = 1e-3, renorm_momentum_ = 0.99;
  bool synchronized_ = false, renorm_ = false;
  Ref<Initializer> mean_initializer_ = "zeros", variance_initializer_ = "ones";
  Variable mean_, variance_;
};

class LayerNormalization final : public ScaledLayer {
 public:
  static void describe(Schema<LayerNormalization>& s) {
    s.doc("Normalises each sample over the given axes.")
        .field("axis", &LayerNormalization::axis_, "Axis or axes.")
        .field("epsilon", &LayerNormalization::epsilon_, "Added to the variance.")
        .min(0);
    describe_center_scale(s);
    describe_initializers(s);
    describe_penalties(s);
    s.field("rms_scaling", &LayerNormalization::rms_scaling_,
            "Divide by the root mean square (not supported).")
        .not_stored();
  }
  void configured() override {
    ScaledLayer::configured();
    if (rms_scaling_) fail("rms_scaling=true is not supported");
    if (axis_.empty()) fail("axis: expected at least one integer, got none");
    set_supports_masking(true);
  }
  void build(const Shape& input) override {
    Shape shape;
    for (int axis : axes_of(input)) shape.append(input[axis]);
    if (!shape.is_known())
      fail("the normalised axes ", Value(axis_), " must have known sizes, got shape ", input);
    build_scale(shape);
  }
  Tensor call(const Tensor& x, const Call&) override {
    const std::vector<int> axes = axes_of(x.shape());
    if (axes.size() == 1 && axes[0] == x.rank() - 1)
      return ops::layer_norm(x, gamma(), beta(), epsilon_);
    Shape wide;
    for (int i = 0; i < x.rank(); ++i)
      wide.append(std::find(axes.begin(), axes.end(), i) == axes.end() ? 1 : x.dim(i));
    const Tensor values = ops::cast(x, variable_dtype()),
                 centred = values - ops::mean(values, axes, true);
    const Tensor y = centred * ops::rsqrt(ops::mean(ops::square(centred), axes, true) + epsilon_);
    return ops::cast(y * ops::reshape(gamma(), wide) + ops::reshape(beta(), wide), x.dtype());
  }

 private:
  std::vector<int> axes_of(const Shape& shape) const {
    std::vector<int> axes;
    for (int64_t axis : axis_) axes.push_back(shape.axis(int(axis)));
    std::sort(axes.begin(), axes.end());
    return axes;
  }
  std::vector<int64_t> axis_{-1};
  double epsilon_ = 1e-3;
  bool rms_scaling_ = false;
};

}  // namespace

CRESCENT_PLUGIN("normalization", CRESCENT_VERSION) {
  registry.add<BatchNormalization>("BatchNormalization");
  registry.add<LayerNormalization>("LayerNormalization");
}

}  // namespace crescent
