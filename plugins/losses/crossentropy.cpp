// Cross-entropies for two classes, for one-hot targets and for targets that are class numbers.
#include <utility>

#include "crescent/registry/registration.h"
#include "losses.h"

namespace crescent {
namespace {

using namespace ops;

class BinaryCrossentropy final : public Loss {
 public:
  static void describe(Schema<BinaryCrossentropy>& s) {
    s.doc("-mean(y_true * log(p) + (1 - y_true) * log(1 - p))")
        .field("from_logits", &BinaryCrossentropy::from_logits_,
               "Predictions are logits instead of probabilities.")
        .field("label_smoothing", &BinaryCrossentropy::label_smoothing_,
               "Moves labels towards 0.5 by this fraction.")
        .min(0)
        .max(1)
        .field("axis", &BinaryCrossentropy::axis_, "Axis to average over.");
  }
  bool binary_targets() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    auto [truth, p] = matched(*this, y_true, y_pred);
    if (label_smoothing_ > 0) truth = truth * (1 - label_smoothing_) + 0.5 * label_smoothing_;
    return mean(from_logits_ ? loss_of_logits(truth, p) : loss_of_probabilities(truth, p),
                {int(axis_)});
  }

 private:
  /// The cross-entropy of logits x. Its gradient is also right at x = 0, where many models start:
  /// there the gradient of relu is 0 and that of softplus is 1/2.
  static Tensor loss_of_logits(const Tensor& truth, const Tensor& x) {
    return relu(x) - x * truth + softplus(where(greater(x, 0), -x, x));
  }
  static Tensor loss_of_probabilities(const Tensor& truth, const Tensor& prediction) {
    const Tensor p = clip(prediction, kEpsilon, 1 - kEpsilon);
    return -(truth * log(p) + (1.0 - truth) * log(1.0 - p));
  }

  bool from_logits_ = false;
  double label_smoothing_ = 0;
  int64_t axis_ = -1;
};

/// The logarithms of probabilities, which are normalized over the last axis and clipped.
Tensor log_probabilities(const Tensor& p) {
  return log(clip(p / sum(p, {-1}, true), kEpsilon, 1 - kEpsilon));
}

class CategoricalCrossentropy final : public Loss {
 public:
  static void describe(Schema<CategoricalCrossentropy>& s) {
    s.doc("-sum(y_true * log(p)) for one-hot labels or probabilities.")
        .field("from_logits", &CategoricalCrossentropy::from_logits_,
               "Predictions are logits instead of probabilities.")
        .field("label_smoothing", &CategoricalCrossentropy::label_smoothing_,
               "Moves labels towards 1 / classes by this fraction.")
        .min(0)
        .max(1)
        .field("axis", &CategoricalCrossentropy::axis_, "Axis of the classes.");
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const Tensor p = move_to_last_axis(y_pred, axis_);
    Tensor truth = move_to_last_axis(cast(y_true, y_pred.dtype()), axis_);
    if (!truth.shape().compatible(p.shape()))
      fail("categorical_crossentropy: targets must be shaped like predictions, got ",
           y_true.shape(), " and ", y_pred.shape(),
           "; for class numbers use sparse_categorical_crossentropy");
    if (p.dim(-1) == 1 && !std::exchange(has_warned_, true))
      warn(
          "In loss categorical_crossentropy, expected y_pred.shape to be (batch_size, num_classes) "
          "with num_classes > 1. Received: y_pred.shape=",
          y_pred.shape(), ". Consider using 'binary_crossentropy' if you only have 2 classes.");
    // as in Keras, smoothing uses the size of the last axis even if `axis` is another one
    if (label_smoothing_ > 0)
      truth = truth * (1 - label_smoothing_) + label_smoothing_ / double(y_true.dim(-1));
    return from_logits_ ? softmax_cross_entropy(p, truth)
                        : -sum(truth * log_probabilities(p), {-1});
  }

 private:
  bool from_logits_ = false;
  double label_smoothing_ = 0;
  int64_t axis_ = -1;
  mutable bool has_warned_ = false;
};

class SparseCategoricalCrossentropy final : public Loss {
 public:
  static void describe(Schema<SparseCategoricalCrossentropy>& s) {
    s.doc("-log(p of the true class) for class numbers from 0 to classes - 1.")
        .field("from_logits", &SparseCategoricalCrossentropy::from_logits_,
               "Predictions are logits instead of probabilities.")
        .field("ignore_class", &SparseCategoricalCrossentropy::ignore_class_,
               "A class whose samples are ignored.")
        .field("axis", &SparseCategoricalCrossentropy::axis_, "Axis of the classes.");
  }
  bool sparse_targets() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const Tensor p = move_to_last_axis(y_pred, axis_);
    const Tensor labels = class_numbers(*this, y_true, p);
    if (!ignore_class_) return values(p, labels);
    const Tensor is_valid = not_equal(labels, *ignore_class_);
    return where(is_valid, values(p, where(is_valid, labels, 0)), 0).with_mask(is_valid);
  }

 private:
  Tensor values(const Tensor& p, const Tensor& labels) const {
    if (from_logits_) return sparse_softmax_cross_entropy(p, labels);
    const Tensor classes = check_indices(labels, p.dim(-1), "label", concat(p.dim(-1), " classes"));
    return -sum(one_hot(classes, p.dim(-1), p.dtype()) * log_probabilities(p), {-1});
  }

  bool from_logits_ = false;
  std::optional<int64_t> ignore_class_;
  int64_t axis_ = -1;
};

class CategoricalGeneralizedCrossEntropy final : public Loss {
 public:
  static void describe(Schema<CategoricalGeneralizedCrossEntropy>& s) {
    s.doc(
         "(1 - p^q) / q for p of the true class, robust to wrong labels (Zhang and Sabuncu 2018); "
         "y_true are class numbers.")
        .field("q", &CategoricalGeneralizedCrossEntropy::q_,
               "From 0 (cross-entropy) to 1 (mean absolute error).");
  }
  void configured() override {
    if (q_ <= 0 || q_ >= 1) fail("q must be in the range (0, 1), got ", q_);
  }
  bool sparse_targets() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& p) const override {
    const Tensor labels = class_numbers(*this, y_true, p);
    const Tensor classes = check_indices(labels, p.dim(-1), "label", concat(p.dim(-1), " classes"));
    const Tensor true_class_probability = sum(p * one_hot(classes, p.dim(-1), p.dtype()), {-1});
    return (1.0 - power(true_class_probability, q_)) / q_;
  }

 private:
  double q_ = 0.5;
};

/// The loss with the name "crossentropy" in compile(): chooses a cross-entropy by the shapes of
/// targets and predictions.
class Crossentropy final : public Loss {
 public:
  static void describe(Schema<Crossentropy>& s) {
    s.doc(
        "The cross-entropy that fits the shapes: binary for one column, sparse for class numbers, "
        "else categorical.");
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    if (y_pred.rank() > 0 && y_pred.dim(-1) == 1) return binary_->call(y_true, y_pred);
    return (are_class_numbers(y_true, y_pred) ? sparse_ : categorical_)->call(y_true, y_pred);
  }

 private:
  Ref<Loss> binary_ = "BinaryCrossentropy", sparse_ = "SparseCategoricalCrossentropy",
            categorical_ = "CategoricalCrossentropy";
};

}  // namespace

CRESCENT_REGISTER(crossentropies) {
  registry.add<BinaryCrossentropy>("BinaryCrossentropy", {"binary_crossentropy", "bce", "BCE"});
  registry.add<CategoricalCrossentropy>("CategoricalCrossentropy",
                                        {"categorical_crossentropy", "cce"});
  registry.add<SparseCategoricalCrossentropy>("SparseCategoricalCrossentropy",
                                              {"sparse_categorical_crossentropy", "scce"});
  registry.add<CategoricalGeneralizedCrossEntropy>("CategoricalGeneralizedCrossEntropy",
                                                   {"categorical_generalized_cross_entropy"});
  registry.add<Crossentropy>("Crossentropy", {"crossentropy", "ce", "CE"});
}

}  // namespace crescent
