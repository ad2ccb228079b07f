// F-scores, which combine precision and recall of each class.
#include "crescent/registry/registration.h"
#include "metrics.h"

namespace crescent {
namespace {

using namespace ops;

class FScore : public Metric {
 public:
  Direction direction() const override { return Direction::up; }
  void configured() override {
    if (beta_ <= 0) fail("Invalid `beta` argument value. It should be > 0. Received: beta=", beta_);
    if (threshold_ && (*threshold_ <= 0 || *threshold_ > 1))
      fail(
          "Invalid `threshold` argument value. It should verify 0 < threshold <= 1. Received: "
          "threshold=",
          *threshold_);
  }
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override {
    need_predictions(y_pred);
    if (y_true.rank() != 2 || y_pred.rank() != 2)
      fail(class_name(),
           " expects 2D inputs with shape (batch_size, output_dim). Received input "
           "shapes: y_pred.shape=",
           y_pred.shape(), " and y_true.shape=", y_true.shape(), ".");
    if (!true_positives_) create_variables(y_pred.dim(1));
    const Tensor truth = cast(y_true, DType::float32),
                 predicted = predicted_positives(cast(y_pred, DType::float32));
    const Axes axes = average_ == "micro" ? Axes{} : Axes{0};
    auto add = [&](const Variable& variable, Tensor values) {
      if (sample_weight) values = values * column_weights(sample_weight);
      variable.assign_add(sum(values, axes));
    };
    add(true_positives_, predicted * truth);
    add(false_positives_, predicted * (1.0 - truth));
    add(false_negatives_, (1.0 - predicted) * truth);
    add(positives_, truth);
  }
  Tensor result() const override {
    if (!true_positives_) return Tensor::scalar(0);
    const Tensor precision =
        true_positives_ / (true_positives_ + false_positives_.value() + kEpsilon);
    const Tensor recall = true_positives_ / (true_positives_ + false_negatives_.value() + kEpsilon);
    const double beta_squared = beta_ * beta_;
    const Tensor score =
        precision * recall / (precision * beta_squared + recall + kEpsilon) * (1 + beta_squared);
    if (!average_) return as_result(score);
    if (average_ == "weighted")
      return as_result(sum(score * (positives_ / (sum(positives_) + kEpsilon))));
    return as_result(mean(score));
  }

 protected:
  template <class T>
  static void describe_average(Schema<T>& s) {
    s.field("average", &FScore::average_,
            "How the scores of classes are combined; null: they are returned separately.")
        .choices({"micro", "macro", "weighted"});
  }
  template <class T>
  static void describe_threshold(Schema<T>& s) {
    s.field("threshold", &FScore::threshold_,
            "Predictions above it are positive; null: the largest of each row is.");
    describe_name(s, &FScore::name_, &FScore::dtype_);
  }
  double beta_ = 1;

 private:
  void create_variables(int64_t class_count) {
    const Shape shape = average_ == "micro" ? Shape{} : Shape{class_count};
    true_positives_ = add_variable("true_positives", shape, kSums);
    false_positives_ = add_variable("false_positives", shape, kSums);
    false_negatives_ = add_variable("false_negatives", shape, kSums);
    positives_ = add_variable("intermediate_weights", shape, kSums);
  }
  Tensor predicted_positives(const Tensor& p) const {
    const Tensor is_positive =
        threshold_ ? greater(p, *threshold_)
                   : logical_and(greater_equal(p, max(p, {-1}, true)), greater(abs(p), 1e-9));
    return cast(is_positive, DType::float32);
  }
  static Tensor column_weights(const Tensor& sample_weight) {
    const Tensor weights = cast(sample_weight, DType::float32);
    return weights.rank() < 2 ? expand_dims(weights, -1) : weights;
  }

  std::optional<std::string> average_;
  std::optional<double> threshold_;
  Variable true_positives_, false_positives_, false_negatives_, positives_;
};

class FBetaScore final : public FScore {
 public:
  static void describe(Schema<FBetaScore>& s) {
    s.doc("(1 + beta^2) * precision * recall / (beta^2 * precision + recall)");
    describe_average(s);
    s.field("beta", &FBetaScore::beta_, "Weight of recall relative to precision.");
    describe_threshold(s);
  }
};

class F1Score final : public FScore {
 public:
  static void describe(Schema<F1Score>& s) {
    s.doc("2 * precision * recall / (precision + recall)");
    describe_average(s);
    describe_threshold(s);
  }
};

}  // namespace

CRESCENT_REGISTER(f_scores) {
  add_metric<FBetaScore>(registry, "FBetaScore");
  add_metric<F1Score>(registry, "F1Score");
}

}  // namespace crescent
