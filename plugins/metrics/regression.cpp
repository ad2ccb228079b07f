// Metrics of regression.
#include <cmath>

#include "crescent/registry/registration.h"
#include "mean_metrics.h"
#include "metrics.h"

namespace crescent {
namespace {

using namespace ops;

class R2Score final : public Metric {
 public:
  R2Score() : sample_count_(add_variable("num_samples", {}, kSums)) {}
  static void describe(Schema<R2Score>& s) {
    s.doc("Coefficient of determination: 1 - squared error / variance of the labels.")
        .field("class_aggregation", &R2Score::class_aggregation_,
               "How the scores of columns are combined; null: they are returned separately.")
        .choices({"uniform_average", "variance_weighted_average"})
        .field("num_regressors", &R2Score::num_regressors_,
               "Number of independent variables, for the adjusted score.")
        .min(0);
    describe_name(s, &R2Score::name_, &R2Score::dtype_);
  }
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override {
    need_predictions(y_pred);
    Tensor truth = cast(y_true, DType::float32), prediction = cast(y_pred, DType::float32);
    match_ranks(truth, prediction);
    if (truth.rank() != 2 || prediction.rank() != 2)
      fail(
          "R2Score expects 2D inputs with shape (batch_size, output_dim). Received input shapes: "
          "y_pred.shape=",
          y_pred.shape(), " and y_true.shape=", y_true.shape(), ".");
    if (!count_) create_variables(prediction.dim(1));
    Tensor weights = ones_like(truth);
    if (sample_weight) {
      const Tensor weight = cast(sample_weight, DType::float32);
      weights = broadcast_to(weight.rank() == 1 ? expand_dims(weight, 1) : weight, truth.shape());
    }
    const Tensor weighted_truth = truth * weights;
    sum_.assign_add(sum(weighted_truth, {0}));
    squared_sum_.assign_add(sum(truth * weighted_truth, {0}));
    squared_error_.assign_add(sum(square(truth - prediction) * weights, {0}));
    count_.assign_add(sum(weights, {0}));
    sample_count_.assign_add(Tensor(double(truth.size())));
  }
  Direction direction() const override { return Direction::up; }
  Tensor result() const override {
    if (!count_) return Tensor::scalar(0);
    const Tensor total_squares = squared_sum_ - sum_ * (sum_ / count_);
    Tensor score = 1.0 - squared_error_ / total_squares;
    score = where(equal(abs(score), INFINITY), 0, score);
    if (class_aggregation_ == "uniform_average") score = mean(score);
    if (class_aggregation_ == "variance_weighted_average")
      score = sum(total_squares * score) / sum(total_squares);
    return as_result(num_regressors_ == 0 ? score : adjusted_score(score));
  }

 private:
  void create_variables(int64_t columns) {
    squared_sum_ = add_variable("squared_sum", {columns}, kSums);
    sum_ = add_variable("sum", {columns}, kSums);
    squared_error_ = add_variable("residual", {columns}, kSums);
    count_ = add_variable("count", {columns}, kSums);
  }
  /// The R2 score adjusted for the number of regressors; the plain score if there are too few
  /// samples.
  Tensor adjusted_score(const Tensor& score) const {
    const double regressor_count = double(num_regressors_);
    const Tensor sample_count = sample_count_,
                 degrees_of_freedom = sample_count - (regressor_count + 1);
    const Tensor has_too_few_samples = less_equal(degrees_of_freedom, 0);
    return where(has_too_few_samples, score,
                 1.0 - (1.0 - score) * (sample_count - 1.0) /
                           where(has_too_few_samples, 1, degrees_of_freedom));
  }

  std::optional<std::string> class_aggregation_ = "uniform_average";
  int64_t num_regressors_ = 0;
  Variable sample_count_, squared_sum_, sum_, squared_error_, count_;
};

/// The base of metrics that compare vectors along an axis.
class Correlation : public DirectedMean<Direction::up> {
 protected:
  template <class T>
  static void describe_correlation(Schema<T>& s) {
    describe_name(s, &Correlation::name_, &Correlation::dtype_);
    s.field("axis", &Correlation::axis_, "Axis along which values are compared.");
  }
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    Tensor truth = cast(y_true, y_pred.dtype()), prediction = y_pred;
    match_ranks(truth, prediction);
    const Tensor t = centered_values(truth), p = centered_values(prediction);
    const Axes axis{int(axis_)};
    return mean(similarity(t, p, mean(truth, axis, true) - mean(prediction, axis, true)), axis);
  }
  /// The similarity of each element, computed from labels and predictions, from which their means
  /// were subtracted, and from the distance between these means.
  virtual Tensor similarity(const Tensor& truth, const Tensor& prediction,
                            const Tensor& distance) const = 0;
  Axes axis() const { return {int(axis_)}; }

 private:
  Tensor centered_values(const Tensor& x) const { return x - mean(x, axis(), true); }
  int64_t axis_ = -1;
};

class PearsonCorrelation final : public Correlation {
 public:
  static void describe(Schema<PearsonCorrelation>& s) {
    s.doc("Pearson correlation of labels and predictions.");
    describe_correlation(s);
  }

 protected:
  Tensor similarity(const Tensor& t, const Tensor& p, const Tensor&) const override {
    return (t / ops::std(t, axis(), true)) * (p / ops::std(p, axis(), true));
  }
};

class ConcordanceCorrelation final : public Correlation {
 public:
  static void describe(Schema<ConcordanceCorrelation>& s) {
    s.doc(
        "Concordance correlation: 2 * covariance / (sum of variances + squared difference of the "
        "means).");
    describe_correlation(s);
  }

 protected:
  Tensor similarity(const Tensor& t, const Tensor& p, const Tensor& distance) const override {
    const Tensor normalizer =
        variance(t, axis(), true) + variance(p, axis(), true) + square(distance);
    return 2.0 * t * p / (normalizer + 1e-7);
  }
};

}  // namespace

CRESCENT_REGISTER(regression) {
  add_metric<R2Score>(registry, "R2Score");
  add_metric<PearsonCorrelation>(registry, "PearsonCorrelation");
  add_metric<ConcordanceCorrelation>(registry, "ConcordanceCorrelation");
}

}  // namespace crescent
