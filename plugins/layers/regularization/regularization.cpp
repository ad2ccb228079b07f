// Layers that change their input in training only, such as Dropout.
#include <cmath>

#include "crescent/plugin.h"

namespace crescent {
namespace {

/// The base of layers with the options rate and seed.
class RandomLayer : public UnaryLayer {
 public:
  void configured() override {
    UnaryLayer::configured();
    set_supports_masking(true);
    random_ = add_seed_generator(seed_);
  }

 protected:
  template <class T>
  static void describe_rate(Schema<T>& s) {
    s.field("rate", &RandomLayer::rate_, "Fraction of elements to drop.").required().min(0).max(1);
  }
  template <class T>
  static void describe_seed(Schema<T>& s) {
    s.field("seed", &RandomLayer::seed_, "Seed of the random numbers.");
  }
  /// Whether the layer changes x: in training, but not while shapes are inferred, when the batch
  /// may be unknown and nothing can be drawn.
  bool is_active(const Tensor& x, const Call& call) const {
    return call.training && rate_ > 0 && x.shape().is_known();
  }

  double rate_ = 0;
  std::optional<int64_t> seed_;
  std::optional<SeedGenerator> random_;
};

/// Sets a random fraction `rate` of the elements of x to zero and scales the others up. The random
/// numbers have the shape `noise_shape`, which is broadcast to x.
Tensor drop(const Tensor& x, const Shape& noise_shape, double rate, const SeedGenerator& random) {
  if (rate >= 1) return ops::zeros_like(x);
  const Tensor is_kept = ops::greater_equal(random.uniform(noise_shape, 0, 1), rate);
  return ops::where(is_kept, x * (1 / (1 - rate)), 0);
}

/// The base of layers with the option noise_shape, by which elements can share random numbers.
class SharedNoise : public RandomLayer {
 protected:
  template <class T>
  static void describe_options(Schema<T>& s) {
    describe_rate(s);
    s.field("noise_shape", &SharedNoise::noise_shape_,
            "Shape of the random mask, 1 for axes along which all elements are dropped together; "
            "null sizes are those of the input.");
    describe_seed(s);
  }
  void configured() override {
    RandomLayer::configured();
    for (int i = 0; noise_shape_ && i < noise_shape_->rank(); ++i)
      if ((*noise_shape_)[i] == 0)
        fail("noise_shape: expected null or positive sizes, got ", *noise_shape_);
  }
  Shape noise_shape_for(const Shape& input) const {
    if (!noise_shape_) return input;
    Shape shape = *noise_shape_;
    if (shape.rank() != input.rank())
      fail("noise_shape ", shape, " does not fit an input of shape ", input);
    for (int i = 0; i < shape.rank(); ++i)
      if (shape[i] < 0) shape.set(i, input[i]);
    return shape;
  }

 private:
  std::optional<Shape> noise_shape_;
};

class Dropout final : public SharedNoise {
 public:
  static void describe(Schema<Dropout>& s) {
    s.doc(
        "Sets a random fraction of the elements to 0 in training and multiplies the others by 1 / "
        "(1 - rate).");
    describe_options(s);
  }
  Tensor call(const Tensor& x, const Call& call) override {
    return is_active(x, call) ? drop(x, noise_shape_for(x.shape()), rate_, *random_) : x;
  }
};

/// Dropout for self-normalizing activations (selu): dropped elements get the limit of selu at minus
/// infinity; then all elements are scaled and shifted so that mean and variance stay the same.
class AlphaDropout final : public SharedNoise {
 public:
  static void describe(Schema<AlphaDropout>& s) {
    s.doc("Dropout for selu networks: keeps the mean and variance of its input in training.");
    describe_options(s);
  }
  void configured() override {
    SharedNoise::configured();
    if (rate_ >= 1) fail("rate: expected a number below 1, got ", rate_);
  }
  Tensor call(const Tensor& x, const Call& call) override {
    if (!is_active(x, call)) return x;
    constexpr double kLowest =
        -1.6732632423543772848170429916717 * 1.0507009873554804934193349852946;
    const double factor = 1 / std::sqrt((1 - rate_) * (1 + rate_ * kLowest * kLowest));
    const Tensor is_kept =
        ops::greater_equal(random_->uniform(noise_shape_for(x.shape()), 0, 1), rate_);
    return ops::where(is_kept, x, kLowest) * factor - factor * kLowest * rate_;
  }
};

/// Dropout of whole channels.
template <int Axes>
class SpatialDropout final : public RandomLayer {
 public:
  static void describe(Schema<SpatialDropout>& s) {
    s.doc("Drops whole channels in training and multiplies the others by 1 / (1 - rate).");
    describe_rate(s);
    if (Axes > 1)
      s.field("data_format", &SpatialDropout::data_format_,
              "Position of the channels: \"channels_last\" or \"channels_first\".")
          .choices({"channels_last", "channels_first"});
    describe_seed(s);
  }
  void configured() override {
    RandomLayer::configured();
    set_input_specs({InputSpec::with_ndim(Axes + 2)});
  }
  Tensor call(const Tensor& x, const Call& call) override {
    if (!is_active(x, call)) return x;
    Shape noise_shape(std::vector<int64_t>(Axes + 2, 1));
    const int channel_axis = data_format_ == "channels_first" ? 1 : Axes + 1;
    for (int axis : {0, channel_axis}) noise_shape.set(axis, x.dim(axis));
    return drop(x, noise_shape, rate_, *random_);
  }

 private:
  std::optional<std::string> data_format_ = "channels_last";
};

class GaussianDropout final : public RandomLayer {
 public:
  static void describe(Schema<GaussianDropout>& s) {
    s.doc(
        "Multiplies by normal noise of mean 1 and standard deviation sqrt(rate / (1 - rate)) in "
        "training.");
    describe_rate(s);
    describe_seed(s);
  }
  void configured() override {
    RandomLayer::configured();
    if (rate_ >= 1) fail("rate: expected a number below 1, got ", rate_);
  }
  Tensor call(const Tensor& x, const Call& call) override {
    if (!is_active(x, call)) return x;
    return x * random_->normal(x.shape(), 1, std::sqrt(rate_ / (1 - rate_)));
  }
};

class GaussianNoise final : public RandomLayer {
 public:
  static void describe(Schema<GaussianNoise>& s) {
    s.doc("Adds normal noise in training.")
        .field("stddev", &GaussianNoise::stddev_, "Standard deviation.")
        .required()
        .min(0);
    describe_seed(s);
  }
  Tensor call(const Tensor& x, const Call& call) override {
    return call.training && stddev_ > 0 && x.shape().is_known()
               ? x + random_->normal(x.shape(), 0, stddev_)
               : x;
  }

 private:
  double stddev_ = 0;
};

class ActivityRegularization final : public UnaryLayer {
 public:
  static void describe(Schema<ActivityRegularization>& s) {
    s.doc(
         "Adds the penalty l1 * sum |x| + l2 * sum x^2 of its input to the loss and returns the "
         "input unchanged.")
        .field("l1", &ActivityRegularization::l1_, "Factor of the sum of absolute values.")
        .min(0)
        .field("l2", &ActivityRegularization::l2_, "Factor of the sum of squares.")
        .min(0)
        .field("whole_batch", &ActivityRegularization::whole_batch_,
               "Sum over the batch instead of averaging over the samples, as in Keras 2.3.1.")
        .field("activity_regularizer", &ActivityRegularization::activity_regularizer_option_,
               "Refused: l1 and l2 define the penalty.")
        .not_stored();
  }
  void configured() override {
    UnaryLayer::configured();
    set_supports_masking(true);
    if (!activity_regularizer_option_.is_null())
      fail("activity_regularizer: the penalty is that of l1 and l2");
    auto penalty = make<Regularizer>("L1L2", {{"l1", l1_}, {"l2", l2_}});
    if (whole_batch_)
      penalty = make<Regularizer>("ActivityKeras2", {{"regularizer", Value(penalty)}});
    set_activity_regularizer(penalty);
  }
  Tensor call(const Tensor& x, const Call&) override { return x; }

 private:
  double l1_ = 0, l2_ = 0;
  bool whole_batch_ = false;
  Value activity_regularizer_option_;
};

}  // namespace

CRESCENT_PLUGIN("regularization", CRESCENT_VERSION) {
  registry.add<Dropout>("Dropout");
  registry.add<AlphaDropout>("AlphaDropout");
  registry.add<SpatialDropout<1>>("SpatialDropout1D");
  registry.add<SpatialDropout<2>>("SpatialDropout2D");
  registry.add<SpatialDropout<3>>("SpatialDropout3D");
  registry.add<GaussianDropout>("GaussianDropout");
  registry.add<GaussianNoise>("GaussianNoise");
  registry.add<ActivityRegularization>("ActivityRegularization");
}

}  // namespace crescent
