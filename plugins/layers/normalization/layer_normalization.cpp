// Layers that normalize each sample separately.
#include "crescent/registry/registration.h"
#include "normalization_layers.h"

namespace crescent {
namespace {

class LayerNormalization final : public ScaledLayer {
 public:
  static void describe(Schema<LayerNormalization>& s) {
    s.doc("Normalizes each sample by its mean and variance over the given axes (Ba et al. 2016).")
        .field("axis", &LayerNormalization::axis_, "Axis or axes to normalize over.")
        .field("epsilon", &LayerNormalization::epsilon_, "Small constant added to the variance.")
        .min(0);
    describe_center_scale(s);
    describe_initializers(s);
    describe_penalties(s);
    s.field("rms_scaling", &LayerNormalization::rms_scaling_,
            "Divide by the standard deviation and multiply by gamma without subtracting the mean; "
            "see RMSNormalization for the root mean square.");
  }
  void configured() override {
    ScaledLayer::configured();
    if (axis_.empty()) fail("axis: expected at least one integer, got none");
    if (rms_scaling_) scale_ = true, center_ = false;
    set_supports_masking(true);
    // inputs are not cast, so that the statistics of values beyond the range of float16 are
    // computed correctly
    autocast_ = false;
  }
  void build(const Shape& input) override { build_scale(dims_of(input, axes_in(input, axis_))); }
  Tensor call(const Tensor& raw_input, const Call&) override {
    const Tensor x = as_floating(raw_input, compute_dtype());
    const std::vector<int> axes = axes_in(x.shape(), axis_);
    if (axes.size() == 1 && axes[0] == x.rank() - 1 && !rms_scaling_)
      return ops::cast(ops::layer_norm(x, gamma(), beta(), epsilon_), compute_dtype());
    const Shape parameter_shape = broadcast_shape(x, axes);
    const Tensor values = at_least_float32(x), centred = values - ops::mean(values, axes, true);
    const Tensor factor = ops::rsqrt(ops::mean(ops::square(centred), axes, true) + epsilon_) *
                          ops::reshape(at_least_float32(gamma()), parameter_shape);
    const Tensor y =
        rms_scaling_ ? values * factor
                     : centred * factor + ops::reshape(at_least_float32(beta()), parameter_shape);
    return ops::cast(y, compute_dtype());
  }

 private:
  std::vector<int64_t> axis_{-1};
  double epsilon_ = 1e-3;
  bool rms_scaling_ = false;
};

class RMSNormalization final : public UnaryLayer {
 public:
  static void describe(Schema<RMSNormalization>& s) {
    s.doc(
         "Divides each sample by its root mean square over the given axes and multiplies by a "
         "learned scale (Zhang and Sennrich 2019).")
        .field("axis", &RMSNormalization::axis_, "Axis or axes to normalize over.")
        .field("epsilon", &RMSNormalization::epsilon_, "Small constant added to the mean square.")
        .min(0);
  }
  void configured() override {
    UnaryLayer::configured();
    if (axis_.empty()) fail("axis: expected at least one integer, got none");
  }
  void build(const Shape& input) override {
    scale_ = add_weight("scale", dims_of(input, axes_in(input, axis_)), WeightRules("ones"),
                        /*autocast=*/false);
  }
  Tensor call(const Tensor& raw_input, const Call&) override {
    const Tensor x = as_floating(raw_input, compute_dtype());
    const std::vector<int> axes = axes_in(x.shape(), axis_);
    const Tensor values = at_least_float32(x);
    const Tensor factor = ops::rsqrt(ops::mean(ops::square(values), axes, true) + epsilon_);
    const Tensor scale = ops::reshape(at_least_float32(scale_.value()), broadcast_shape(x, axes));
    return ops::cast(values * factor * scale, x.dtype());
  }

 private:
  std::vector<int64_t> axis_{-1};
  double epsilon_ = 1e-6;
  Variable scale_;
};

class UnitNormalization final : public UnaryLayer {
 public:
  static void describe(Schema<UnitNormalization>& s) {
    s.doc("Divides by the Euclidean norm over the given axes, so that vectors have length 1.")
        .field("axis", &UnitNormalization::axis_, "Axis or axes to normalize over.");
  }
  void configured() override {
    UnaryLayer::configured();
    if (axis_.empty()) fail("axis: expected at least one integer, got none");
    set_supports_masking(true);
  }
  /// Divides each vector by its length, or by 1e-12 if the length is smaller.
  Tensor call(const Tensor& raw_input, const Call&) override {
    const Tensor x = as_floating(raw_input, compute_dtype());
    const Tensor values = at_least_float32(x);
    const Tensor sum_of_squares = ops::sum(ops::square(values), axes_in(x.shape(), axis_), true);
    return ops::cast(values * ops::rsqrt(ops::maximum(sum_of_squares, 1e-24)), x.dtype());
  }

 private:
  std::vector<int64_t> axis_{-1};
};

}  // namespace

CRESCENT_REGISTER(layer_normalization) {
  registry.add<LayerNormalization>("LayerNormalization");
  registry.add<RMSNormalization>("RMSNormalization");
  registry.add<UnitNormalization>("UnitNormalization");
}

}  // namespace crescent
