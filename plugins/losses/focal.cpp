// Focal cross-entropies (Lin et al. 2017), which weight samples by (1 - p)^gamma, so that samples
// with good predictions count less.
#include "crescent/registry/registration.h"
#include "losses.h"

namespace crescent {
namespace {

using namespace ops;

/// The base of both focal losses, with their options.
class Focal : public Loss {
 protected:
  template <class T>
  static void describe_focal(Schema<T>& s) {
    s.field("gamma", &Focal::gamma_,
            "Focus on hard samples: the larger, the less easy samples count.")
        .field("from_logits", &Focal::from_logits_,
               "Predictions are logits instead of probabilities.")
        .field("label_smoothing", &Focal::label_smoothing_,
               "Moves labels towards a uniform distribution by this fraction.")
        .min(0)
        .max(1)
        .field("axis", &Focal::axis_, "Axis of the classes.");
  }
  /// Smooths the targets by the option label_smoothing, for `classes` classes.
  Tensor smooth_labels(const Tensor& truth, int64_t classes) const {
    if (label_smoothing_ == 0) return truth;
    return truth * (1 - label_smoothing_) + label_smoothing_ / double(classes);
  }

  double gamma_ = 2, label_smoothing_ = 0;
  bool from_logits_ = false;
  int64_t axis_ = -1;
};

class BinaryFocalCrossentropy final : public Focal {
 public:
  static void describe(Schema<BinaryFocalCrossentropy>& s) {
    s.doc("Binary cross-entropy times (1 - p of the true class)^gamma (Lin et al. 2017).")
        .field("apply_class_balancing", &BinaryFocalCrossentropy::apply_class_balancing_,
               "Weight class 1 by alpha and class 0 by 1 - alpha.")
        .field("alpha", &BinaryFocalCrossentropy::alpha_, "Weight of class 1.");
    describe_focal(s);
  }
  bool binary_targets() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const auto [labels, prediction] = matched(*this, y_true, y_pred);
    const Tensor truth = smooth_labels(labels, 2);
    const Tensor p = from_logits_ ? sigmoid(prediction) : prediction;
    const Tensor clipped_p = clip(p, kEpsilon, 1 - kEpsilon);
    const Tensor entropy = -(truth * log(clipped_p) + (1.0 - truth) * log(1.0 - clipped_p));
    const Tensor true_class_probability = truth * p + (1.0 - truth) * (1.0 - p);
    Tensor values = power(1.0 - true_class_probability, gamma_) * entropy;
    if (apply_class_balancing_) values = (truth * alpha_ + (1.0 - truth) * (1 - alpha_)) * values;
    return mean(values, {int(axis_)});
  }

 private:
  bool apply_class_balancing_ = false;
  double alpha_ = 0.25;
};

class CategoricalFocalCrossentropy final : public Focal {
 public:
  static void describe(Schema<CategoricalFocalCrossentropy>& s) {
    s.doc("-sum(alpha * y_true * (1 - p)^gamma * log(p)) for one-hot labels (Lin et al. 2017).")
        .field("alpha", &CategoricalFocalCrossentropy::alpha_,
               "Weight of the classes: one number, or one for each class.");
    describe_focal(s);
  }
  void configured() override {
    Focal::configured();
    class_weights_ =
        alpha_.is_number() ? Tensor::scalar(alpha_.as_float()) : Codec<Tensor>::decode(alpha_);
    if (class_weights_.rank() > 1) fail("alpha: expected a number or a list of them, got ", alpha_);
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const auto [labels, prediction] = matched(*this, y_true, y_pred);
    const int axis = int(axis_);
    const Tensor truth = smooth_labels(labels, prediction.dim(-1));
    const Tensor p = from_logits_ ? softmax(prediction, axis) : prediction;
    const Tensor probabilities = clip(p / sum(p, {axis}, true), kEpsilon, 1 - kEpsilon);
    if (class_weights_.rank() == 1 && class_weights_.dim(0) != prediction.dim(-1))
      fail("alpha: expected a number for each of ", prediction.dim(-1), " classes, got ",
           class_weights_.dim(0));
    const Tensor weights = cast(class_weights_, prediction.dtype());
    return sum(weights * power(1.0 - probabilities, gamma_) * -truth * log(probabilities), {axis});
  }

 private:
  Value alpha_ = 0.25;
  Tensor class_weights_;
};

}  // namespace

CRESCENT_REGISTER(focal) {
  registry.add<BinaryFocalCrossentropy>("BinaryFocalCrossentropy", {"binary_focal_crossentropy"});
  registry.add<CategoricalFocalCrossentropy>("CategoricalFocalCrossentropy",
                                             {"categorical_focal_crossentropy"});
}

}  // namespace crescent
