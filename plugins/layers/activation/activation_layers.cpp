// Activations with options, as layers.
#include "crescent/plugin.h"

namespace crescent {
namespace {

/// A layer of an elementwise activation; it passes masks on.
class Elementwise : public UnaryLayer {
 public:
  void configured() override {
    UnaryLayer::configured();
    set_supports_masking(true);
  }
};

class ReLU final : public Elementwise {
 public:
  static void describe(Schema<ReLU>& s) {
    s.doc(
         "Rectified linear unit: x from threshold to max_value, negative_slope * (x - threshold) "
         "below the threshold.")
        .field("max_value", &ReLU::max_value_, "Upper limit; null: none.")
        .min(0)
        .field("negative_slope", &ReLU::negative_slope_, "Slope below the threshold.")
        .min(0)
        .field("threshold", &ReLU::threshold_, "Values above the threshold pass.")
        .min(0);
  }
  void configured() override {
    Elementwise::configured();
    function_ = make<Activation>("relu", {{"negative_slope", negative_slope_},
                                          {"max_value", max_value_ ? Value(*max_value_) : Value()},
                                          {"threshold", threshold_}});
  }
  Tensor call(const Tensor& x, const Call&) override { return (*function_)(x); }

 private:
  std::shared_ptr<Activation> function_;
  std::optional<double> max_value_;
  double negative_slope_ = 0, threshold_ = 0;
};

class LeakyReLU final : public Elementwise {
 public:
  static void describe(Schema<LeakyReLU>& s) {
    s.doc("x for x > 0, else negative_slope * x.")
        .field("negative_slope", &LeakyReLU::negative_slope_, "Slope for negative x.")
        .alias("alpha")
        .min(0);
  }
  Tensor call(const Tensor& x, const Call&) override { return ops::leaky_relu(x, negative_slope_); }

 private:
  double negative_slope_ = 0.3;
};

class ThresholdedReLU final : public Elementwise {
 public:
  static void describe(Schema<ThresholdedReLU>& s) {
    s.doc("x for x > theta, else 0 (Keras 2).")
        .field("theta", &ThresholdedReLU::theta_, "Values above the threshold pass.")
        .min(0);
  }
  Tensor call(const Tensor& x, const Call&) override {
    return ops::where(ops::greater(x, theta_), x, 0);
  }

 private:
  double theta_ = 1;
};

class ELU final : public Elementwise {
 public:
  static void describe(Schema<ELU>& s) {
    s.doc("Exponential linear unit: x for x > 0, else alpha * (exp(x) - 1).")
        .field("alpha", &ELU::alpha_, "Scale for negative x.");
  }
  Tensor call(const Tensor& x, const Call&) override { return ops::elu(x, alpha_); }

 private:
  double alpha_ = 1;
};

class SoftmaxLayer final : public Elementwise {
 public:
  static void describe(Schema<SoftmaxLayer>& s) {
    s.doc("exp(x) / sum exp(x) over one or several axes; masked elements get 0.")
        .field("axis", &SoftmaxLayer::axis_, "The axis or axes.");
  }
  void configured() override {
    Elementwise::configured();
    axes_.clear();
    const List axes = axis_.is_list() ? axis_.as_list() : List{axis_};
    if (axes.empty()) fail("axis: expected at least one integer, got none");
    for (const Value& axis : axes) axes_.push_back(static_cast<int>(axis.as_int()));
  }
  Tensor call(const Tensor& x, const Call& call) override {
    const Tensor mask = call.mask();
    if (!mask) return softmax_of(x);
    check_mask(mask.shape(), x.shape());
    return ops::where(mask, softmax_of(ops::where(mask, x, masked_score(x.dtype()))), 0.0);
  }

 private:
  /// Fails unless the mask broadcasts to the shape of x.
  static void check_mask(const Shape& mask_shape, const Shape& x_shape) {
    bool mask_fits = mask_shape.rank() <= x_shape.rank();
    for (int i = 1; mask_fits && i <= mask_shape.rank(); ++i)
      mask_fits = mask_shape[-i] == 1 || mask_shape[-i] < 0 || x_shape[-i] < 0 ||
                  mask_shape[-i] == x_shape[-i];
    if (!mask_fits)
      fail("mask: expected a shape that broadcasts to that of the input, ", x_shape, ", got ",
           mask_shape);
  }
  Tensor softmax_of(const Tensor& x) const {
    if (axes_.size() == 1) return ops::softmax(x, axes_.front());
    return ops::exp(x - ops::logsumexp(x, axes_, true));
  }

  Value axis_ = -1;
  std::vector<int> axes_;
};

class PReLU final : public Elementwise {
 public:
  static void describe(Schema<PReLU>& s) {
    s.doc("x for x > 0, else alpha * x with learned alpha.")
        .field("alpha_initializer", &PReLU::initializer_, "Initializer of alpha.")
        .field("alpha_regularizer", &PReLU::regularizer_, "Penalty on alpha.")
        .field("alpha_constraint", &PReLU::constraint_, "Constraint of alpha.")
        .field("shared_axes", &PReLU::shared_axes_, "Axes (from 1) along which alpha is shared.");
  }
  void build(const Shape& input) override {
    Shape shape = input.slice(1, input.rank());
    for (int64_t axis : shared_axes_.value_or(std::vector<int64_t>{})) {
      if (axis < 1 || axis > shape.rank())
        fail("shared_axes: no axis ", axis, " in inputs of shape ", input);
      shape.set(int(axis) - 1, 1);
    }
    alpha_ =
        add_weight("alpha", shape, initializer_, {regularizer_.shared(), constraint_.shared()});
  }
  Tensor call(const Tensor& x, const Call&) override {
    return ops::relu(x) - alpha_ * ops::relu(-x);
  }

 private:
  Ref<Initializer> initializer_ = "zeros";
  Ref<Regularizer> regularizer_;
  Ref<Constraint> constraint_;
  std::optional<std::vector<int64_t>> shared_axes_;
  Variable alpha_;
};

}  // namespace

CRESCENT_PLUGIN("activation", CRESCENT_VERSION) {
  registry.add<ReLU>("ReLU");
  registry.add<LeakyReLU>("LeakyReLU");
  registry.add<ThresholdedReLU>("ThresholdedReLU");
  registry.add<ELU>("ELU");
  registry.add<PReLU>("PReLU");
  registry.add<SoftmaxLayer>("Softmax");
}

}  // namespace crescent
