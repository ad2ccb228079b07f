// Intersection over union of classes (of the sets of labels and predictions), computed from a
// confusion matrix.
#include <numeric>

#include "confusion.h"
#include "crescent/registry/registration.h"
#include "metrics.h"

namespace crescent {
namespace {

using namespace ops;

/// The base of the metrics of intersection over union: it has the confusion matrix (true class,
/// predicted class), and computes the mean over those target classes that occur.
class ClassOverlap : public Metric {
 public:
  Direction direction() const override { return Direction::up; }
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override {
    need_predictions(y_pred);
    const Tensor labels = class_numbers(y_true, sparse_y_true_);
    const Tensor truth = reshape(labels, {-1});
    const Tensor predicted_classes = reshape(class_numbers(y_pred, sparse_y_pred_), {-1});
    if (truth.size() != predicted_classes.size())
      fail("expected as many labels as predictions, got shapes ", y_true.shape(), " and ",
           y_pred.shape());
    Tensor is_counted = logical_and(is_in_range(truth), is_in_range(predicted_classes));
    if (ignore_class_) is_counted = logical_and(is_counted, not_equal(truth, *ignore_class_));
    const Tensor weights = where(is_counted, weights_of(labels, sample_weight), 0);
    const Tensor rows =
        one_hot(where(is_counted, truth, 0), num_classes_) * expand_dims(weights, 1);
    const Tensor columns = one_hot(where(is_counted, predicted_classes, 0), num_classes_);
    confusion_matrix_.assign_add(cast(matmul(rows, columns, true), confusion_matrix_.dtype()));
  }
  Tensor result() const override {
    const Tensor matrix = cast(confusion_matrix_, DType::float32);
    const Tensor intersections = sum(matrix * eye(num_classes_, num_classes_), {0});
    const Tensor unions = sum(matrix, {0}) + sum(matrix, {1}) - intersections;
    const Tensor target_indices = target_ids();
    const Tensor target_intersections = take(intersections, target_indices),
                 target_unions = take(unions, target_indices);
    const Tensor does_occur = greater(target_unions, 1e-9);
    const Tensor overlap = where(does_occur, target_intersections / (target_unions + kEpsilon), 0);
    return sum(overlap) / (sum(cast(does_occur, DType::float32)) + kEpsilon);
  }

 protected:
  /// Creates the state variables, whose sizes depend on the options.
  void create_variables() {
    for (const int64_t id : target_class_ids_)
      if (id < 0 || id >= num_classes_)
        fail("Target class id ", id, " is out of range, which is [0, ", num_classes_, ").");
    confusion_matrix_ = add_variable("total_confusion_matrix", {num_classes_, num_classes_},
                                     dtype_.value_or(DType::int32));
  }
  void target_all_classes() {
    target_class_ids_.resize(num_classes_);
    std::iota(target_class_ids_.begin(), target_class_ids_.end(), 0);
  }
  template <class T>
  static void describe_classes(Schema<T>& s) {
    s.field("num_classes", &ClassOverlap::num_classes_, "Number of classes.").required().min(1);
  }
  template <class T>
  static void describe_targets(Schema<T>& s) {
    s.field("target_class_ids", &ClassOverlap::target_class_ids_, "The classes to average over.");
  }
  template <class T>
  static void describe_ignored(Schema<T>& s) {
    describe_name(s, &ClassOverlap::name_, &ClassOverlap::dtype_);
    s.field("ignore_class", &ClassOverlap::ignore_class_, "A label that is ignored.");
  }
  template <class T>
  static void describe_sparse_truth(Schema<T>& s) {
    s.field("sparse_y_true", &ClassOverlap::sparse_y_true_, "Labels are class numbers.");
  }
  template <class T>
  static void describe_sparse_prediction(Schema<T>& s) {
    s.field("sparse_y_pred", &ClassOverlap::sparse_y_pred_, "Predictions are class numbers.")
        .field("axis", &ClassOverlap::axis_,
               "Axis of the classes, if labels or predictions are not class numbers.");
  }

  int64_t num_classes_ = 1, axis_ = -1;
  std::vector<int64_t> target_class_ids_;
  std::optional<int64_t> ignore_class_;
  bool sparse_y_true_ = true, sparse_y_pred_ = true;

 private:
  Tensor class_numbers(const Tensor& x, bool is_sparse) const {
    return cast(is_sparse ? x : argmax(x, int(axis_)), DType::int32);
  }
  /// The weight of each label in the dtype of the matrix; ones if there are no sample weights.
  Tensor weights_of(const Tensor& labels, const Tensor& sample_weight) const {
    if (!sample_weight) return ones({labels.size()});
    Tensor weights = cast(cast(sample_weight, confusion_matrix_.dtype()), DType::float32);
    while (weights.rank() < labels.rank()) weights = expand_dims(weights, -1);
    if (weights.size() != labels.size()) weights = broadcast_to(weights, labels.shape());
    return reshape(weights, {-1});
  }
  Tensor is_in_range(const Tensor& x) const {
    return logical_and(greater_equal(x, 0), less(x, num_classes_));
  }
  Tensor target_ids() const {
    const std::vector<int32_t> ids(target_class_ids_.begin(), target_class_ids_.end());
    return Tensor::from(ids, {static_cast<int64_t>(ids.size())});
  }

  Variable confusion_matrix_;
};

class Iou final : public ClassOverlap {
 public:
  static void describe(Schema<Iou>& s) {
    s.doc("Mean intersection over union of chosen classes.");
    describe_classes(s);
    describe_targets(s);
    s.required();
    describe_ignored(s);
    describe_sparse_truth(s);
    describe_sparse_prediction(s);
  }
  void configured() override { create_variables(); }
};

class MeanIou final : public ClassOverlap {
 public:
  static void describe(Schema<MeanIou>& s) {
    s.doc("Mean intersection over union of all classes.");
    describe_classes(s);
    describe_ignored(s);
    describe_sparse_truth(s);
    describe_sparse_prediction(s);
  }
  void configured() override { target_all_classes(), create_variables(); }
};

class OneHotIou final : public ClassOverlap {
 public:
  OneHotIou() { sparse_y_true_ = sparse_y_pred_ = false; }
  static void describe(Schema<OneHotIou>& s) {
    s.doc("Intersection over union of chosen classes for one-hot labels.");
    describe_classes(s);
    describe_targets(s);
    s.required();
    describe_ignored(s);
    describe_sparse_prediction(s);
  }
  void configured() override { create_variables(); }
};

class OneHotMeanIou final : public ClassOverlap {
 public:
  OneHotMeanIou() { sparse_y_true_ = sparse_y_pred_ = false; }
  static void describe(Schema<OneHotMeanIou>& s) {
    s.doc("Mean intersection over union of all classes for one-hot labels.");
    describe_classes(s);
    describe_ignored(s);
    describe_sparse_prediction(s);
  }
  void configured() override { target_all_classes(), create_variables(); }
};

class BinaryIou final : public ClassOverlap {
 public:
  BinaryIou() {
    num_classes_ = 2;
    target_class_ids_ = {0, 1};
  }
  static void describe(Schema<BinaryIou>& s) {
    s.doc("Intersection over union of two classes separated by a threshold.");
    describe_targets(s);
    s.field("threshold", &BinaryIou::threshold_, "Predictions at and above it are class 1.");
    describe_name(s, &BinaryIou::name_, &BinaryIou::dtype_);
  }
  void configured() override { create_variables(); }
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override {
    need_predictions(y_pred);
    const Tensor predicted_classes = greater_equal(cast(y_pred, DType::float32), threshold_);
    ClassOverlap::update_state(y_true, cast(predicted_classes, DType::int32), sample_weight);
  }

 private:
  double threshold_ = 0.5;
};

}  // namespace

CRESCENT_REGISTER(iou) {
  add_metric<Iou>(registry, "IoU");
  add_metric<MeanIou>(registry, "MeanIoU");
  add_metric<OneHotIou>(registry, "OneHotIoU");
  add_metric<OneHotMeanIou>(registry, "OneHotMeanIoU");
  add_metric<BinaryIou>(registry, "BinaryIoU");
}

}  // namespace crescent
