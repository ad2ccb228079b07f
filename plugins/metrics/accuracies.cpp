// Accuracies: fractions of correct predictions.
#include <algorithm>

#include "crescent/registry/registration.h"
#include "mean_metrics.h"

namespace crescent {
namespace {

using namespace ops;

Tensor as_float(const Tensor& condition) { return cast(condition, DType::float32); }

/// The class numbers in labels, without a last axis of size 1; predictions must have one column per
/// class.
Tensor class_numbers(const Tensor& labels, const Tensor& predictions) {
  const bool is_column =
      labels.rank() == predictions.rank() && labels.rank() > 0 && labels.dim(-1) == 1;
  return cast(is_column ? squeeze(labels, labels.rank() - 1) : labels, DType::int64);
}

/// For each label, whether it is among the classes with the k largest predictions (..., classes).
Tensor is_among_best(const Tensor& labels, const Tensor& predictions, int64_t k) {
  if (predictions.rank() <= 2) return as_float(in_top_k(labels, predictions, k));
  const Tensor rows = reshape(predictions, {-1, predictions.dim(-1)});
  return as_float(reshape(in_top_k(reshape(labels, {-1}), rows, k), labels.shape()));
}

Tensor binary_hits(const Tensor& y_true, const Tensor& y_pred, double threshold) {
  Tensor truth = cast(y_true, y_pred.dtype()), prediction = y_pred;
  match_ranks(truth, prediction);
  return as_float(equal(truth, cast(greater(prediction, threshold), y_pred.dtype())));
}
Tensor categorical_hits(const Tensor& y_true, const Tensor& y_pred) {
  return as_float(equal(argmax(y_true, -1), argmax(y_pred, -1)));
}
Tensor sparse_hits(const Tensor& y_true, const Tensor& y_pred) {
  return as_float(equal(class_numbers(y_true, y_pred), argmax(y_pred, -1)));
}

class Accuracy final : public DirectedMean<Direction::up> {
 public:
  static void describe(Schema<Accuracy>& s) {
    s.doc("Fraction of predictions that equal the labels.");
    describe_name(s, &Accuracy::name_, &Accuracy::dtype_);
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    Tensor truth = cast(y_true, y_pred.dtype()), prediction = y_pred;
    match_ranks(truth, prediction);
    return as_float(equal(truth, prediction));
  }
};

class BinaryAccuracy final : public DirectedMean<Direction::up> {
 public:
  static void describe(Schema<BinaryAccuracy>& s) {
    s.doc("Fraction of predictions on the correct side of the threshold.");
    describe_name(s, &BinaryAccuracy::name_, &BinaryAccuracy::dtype_);
    s.field("threshold", &BinaryAccuracy::threshold_, "Predictions above it are class 1.")
        .min(0)
        .max(1);
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    return binary_hits(y_true, y_pred, threshold_);
  }

 private:
  double threshold_ = 0.5;
};

class CategoricalAccuracy final : public DirectedMean<Direction::up> {
 public:
  static void describe(Schema<CategoricalAccuracy>& s) {
    s.doc("Fraction of samples whose largest prediction is at the class of the one-hot label.");
    describe_name(s, &CategoricalAccuracy::name_, &CategoricalAccuracy::dtype_);
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    return categorical_hits(y_true, y_pred);
  }
};

class SparseCategoricalAccuracy final : public DirectedMean<Direction::up> {
 public:
  static void describe(Schema<SparseCategoricalAccuracy>& s) {
    s.doc("Fraction of samples whose largest prediction is at the class number.");
    describe_name(s, &SparseCategoricalAccuracy::name_, &SparseCategoricalAccuracy::dtype_);
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    return sparse_hits(y_true, y_pred);
  }
};

/// The metric with the name "accuracy" in compile(), if the loss does not determine which accuracy
/// to use: chooses one by the shapes of labels and predictions.
class FittingAccuracy final : public DirectedMean<Direction::up> {
 public:
  static void describe(Schema<FittingAccuracy>& s) {
    s.doc(
        "The accuracy that fits the shapes: binary for one column, sparse for class numbers, else "
        "categorical.");
    describe_name(s, &FittingAccuracy::name_, &FittingAccuracy::dtype_);
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    if (y_pred.rank() > 0 && y_pred.dim(-1) == 1) return binary_hits(y_true, y_pred, 0.5);
    const bool are_numbers = y_true.rank() < y_pred.rank() || y_true.dim(-1) == 1;
    return are_numbers ? sparse_hits(y_true, y_pred) : categorical_hits(y_true, y_pred);
  }
};

class TopKCategoricalAccuracy final : public DirectedMean<Direction::up> {
 public:
  static void describe(Schema<TopKCategoricalAccuracy>& s) {
    s.doc("Fraction of samples whose one-hot label is among the k largest predictions.")
        .field("k", &TopKCategoricalAccuracy::k_, "Number of predictions to consider.")
        .min(1);
    describe_name(s, &TopKCategoricalAccuracy::name_, &TopKCategoricalAccuracy::dtype_);
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    return is_among_best(argmax(y_true, -1), y_pred, k_);
  }

 private:
  int64_t k_ = 5;
};

class SparseTopKCategoricalAccuracy final : public DirectedMean<Direction::up> {
 public:
  static void describe(Schema<SparseTopKCategoricalAccuracy>& s) {
    s.doc("Fraction of samples whose class number is among the k largest predictions.")
        .field("k", &SparseTopKCategoricalAccuracy::k_, "Number of predictions to consider.")
        .min(1);
    describe_name(s, &SparseTopKCategoricalAccuracy::name_, &SparseTopKCategoricalAccuracy::dtype_);
    s.field("from_sorted_ids", &SparseTopKCategoricalAccuracy::from_sorted_ids_,
            "Predictions are class numbers, best first.");
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    const Tensor labels = class_numbers(y_true, y_pred);
    if (!from_sorted_ids_) return is_among_best(labels, y_pred, k_);
    const Tensor best_classes = slice_axis(y_pred, -1, 0, std::min(k_, y_pred.dim(-1)));
    return as_float(any(equal(cast(best_classes, DType::int64), expand_dims(labels, -1)), {-1}));
  }

 private:
  int64_t k_ = 5;
  bool from_sorted_ids_ = false;
};

}  // namespace

CRESCENT_REGISTER(accuracies) {
  add_metric<Accuracy>(registry, "Accuracy");
  add_metric<BinaryAccuracy>(registry, "BinaryAccuracy");
  add_metric<CategoricalAccuracy>(registry, "CategoricalAccuracy");
  add_metric<SparseCategoricalAccuracy>(registry, "SparseCategoricalAccuracy");
  add_metric<FittingAccuracy>(registry, "FittingAccuracy");
  add_metric<TopKCategoricalAccuracy>(registry, "TopKCategoricalAccuracy");
  add_metric<SparseTopKCategoricalAccuracy>(registry, "SparseTopKCategoricalAccuracy");
}

}  // namespace crescent
