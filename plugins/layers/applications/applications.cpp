// Layers that models of keras.applications use, with the class names that files of Keras contain.
#include "crescent/plugin.h"

namespace crescent {
namespace {

/// Multiplies x by gamma, a factor for each channel (used by ConvNeXt).
class LayerScale final : public UnaryLayer {
 public:
  static void describe(Schema<LayerScale>& s) {
    s.doc("Multiplies each channel by a learned weight; used by ConvNeXt.")
        .field("init_values", &LayerScale::init_values_, "Initial value of the weights.")
        .required()
        .field("projection_dim", &LayerScale::projection_dim_, "Number of channels.")
        .required()
        .min(1);
  }
  void build(const Shape&) override {
    gamma_ = add_weight("gamma", {projection_dim_},
                        make<Initializer>("Constant", {{"value", init_values_}}));
  }
  Tensor call(const Tensor& x, const Call&) override { return x * gamma_; }

 private:
  double init_values_ = 0;
  int64_t projection_dim_ = 0;
  Variable gamma_;
};

/// In training, sets whole samples to zero at random and scales the others up (used by ConvNeXt).
class StochasticDepth final : public UnaryLayer {
 public:
  static void describe(Schema<StochasticDepth>& s) {
    s.doc(
         "Drops whole samples in training and multiplies the others by 1 / (1 - drop_path_rate) "
         "(Huang et al. 2016).")
        .field("drop_path_rate", &StochasticDepth::drop_path_rate_, "Fraction of samples to drop.")
        .required()
        .min(0)
        .max(1);
  }
  void configured() override {
    UnaryLayer::configured();
    if (drop_path_rate_ >= 1)
      fail("drop_path_rate: expected a number below 1, got ", drop_path_rate_);
    random_ = add_seed_generator({});
  }
  Tensor call(const Tensor& x, const Call& call) override {
    if (!call.training || drop_path_rate_ == 0 || !x.shape().is_known()) return x;
    Shape noise_shape(std::vector<int64_t>(size_t(x.shape().rank()), 1));
    noise_shape.set(0, x.dim(0));
    const double keep_rate = 1 - drop_path_rate_;
    return x / keep_rate * ops::floor(random_->uniform(noise_shape, 0, 1) + keep_rate);
  }

 private:
  double drop_path_rate_ = 0;
  std::optional<SeedGenerator> random_;
};

/// Computes a + scale * b (used by InceptionResNetV2).
class CustomScaleLayer final : public Layer {
 public:
  static void describe(Schema<CustomScaleLayer>& s) {
    s.doc("Adds `scale` times the second input to the first; used by InceptionResNetV2.")
        .field("scale", &CustomScaleLayer::scale_, "Factor of the second input.")
        .required();
  }
  InputCount input_count() const override { return {2, 2}; }
  Tensors call(const Tensors& inputs, const Call&) override {
    return {inputs[0] + inputs[1] * scale_};
  }

 private:
  double scale_ = 0;
};

}  // namespace

CRESCENT_PLUGIN("applications", CRESCENT_VERSION) {
  registry.add<LayerScale>("LayerScale");
  registry.add<StochasticDepth>("StochasticDepth");
  registry.add<CustomScaleLayer>("CustomScaleLayer");
}

}  // namespace crescent
