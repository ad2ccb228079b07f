// Counts of true and false positives and negatives, and Precision and Recall.
#include "confusion.h"
#include "crescent/registry/registration.h"
#include "metrics.h"

namespace crescent {
namespace {

/// The results for all thresholds, as a scalar if there is a single threshold.
Tensor scalar_if_single(const Tensor& values) {
  return values.dim(0) == 1 ? ops::squeeze(values, 0) : values;
}

using CountMember = Variable Confusion::*;

struct CountRow {
  const char *name, *doc;
  CountMember counted_state;
};
const CountRow kCounts[] = {
    {"TruePositives", "Weighted number of positives that are predicted as positive.",
     &Confusion::true_positives},
    {"FalsePositives", "Weighted number of negatives that are predicted as positive.",
     &Confusion::false_positives},
    {"TrueNegatives", "Weighted number of negatives that are predicted as negative.",
     &Confusion::true_negatives},
    {"FalseNegatives", "Weighted number of positives that are predicted as negative.",
     &Confusion::false_negatives},
};

/// The metric that entry `Row` of the table kCounts describes.
template <int Row>
class ConditionCount final : public Metric {
 public:
  static void describe(Schema<ConditionCount>& s) {
    s.doc(kCounts[Row].doc)
        .field("thresholds", &ConditionCount::thresholds_,
               "A threshold or a list of thresholds in [0, 1], above which predictions are "
               "positive; 0.5 when not given.");
    describe_name(s, &ConditionCount::name_, &ConditionCount::dtype_);
  }
  void configured() override {
    options_.thresholds = thresholds_of(thresholds_, 0.5);
    confusion_.*kCounts[Row].counted_state =
        add_variable("accumulator", {static_cast<int64_t>(options_.thresholds.size())}, kSums);
  }
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override {
    count(confusion_, options_, y_true, y_pred, sample_weight);
  }
  Tensor result() const override {
    return scalar_if_single(as_result(confusion_.*kCounts[Row].counted_state));
  }

 private:
  Value thresholds_;
  ConfusionOptions options_;
  Confusion confusion_;
};

/// The base of Precision and Recall, with their options and state.
class PrecisionOrRecall : public Metric {
 public:
  Direction direction() const override { return Direction::up; }
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override {
    count(confusion_, options_, y_true, y_pred, sample_weight);
  }

 protected:
  template <class T>
  static void describe_options(Schema<T>& s) {
    s.field("thresholds", &PrecisionOrRecall::thresholds_,
            "A threshold or a list of thresholds in [0, 1], above which predictions are positive; "
            "0.5 when not given.")
        .field("top_k", &PrecisionOrRecall::top_k_,
               "Count only the k largest predictions as positive.")
        .min(1)
        .field("class_id", &PrecisionOrRecall::class_id_,
               "The class to measure; all when not given.")
        .min(0);
    describe_name(s, &PrecisionOrRecall::name_, &PrecisionOrRecall::dtype_);
  }
  void create_variables(CountMember other_count, const char* name) {
    options_.thresholds = thresholds_of(thresholds_, top_k_ ? kNoThreshold : 0.5);
    options_.top_k = top_k_, options_.class_id = class_id_;
    const Shape shape{static_cast<int64_t>(options_.thresholds.size())};
    confusion_.true_positives = add_variable("true_positives", shape, kSums);
    confusion_.*other_count = add_variable(name, shape, kSums);
  }
  Confusion confusion_;

 private:
  Value thresholds_;
  std::optional<int64_t> top_k_, class_id_;
  ConfusionOptions options_;
};

class Precision final : public PrecisionOrRecall {
 public:
  static void describe(Schema<Precision>& s) {
    s.doc("Fraction of positive predictions that are correct.");
    describe_options(s);
  }
  void configured() override { create_variables(&Confusion::false_positives, "false_positives"); }
  Tensor result() const override { return scalar_if_single(confusion_.precision()); }
};

class Recall final : public PrecisionOrRecall {
 public:
  static void describe(Schema<Recall>& s) {
    s.doc("Fraction of positives that are predicted.");
    describe_options(s);
  }
  void configured() override { create_variables(&Confusion::false_negatives, "false_negatives"); }
  Tensor result() const override { return scalar_if_single(confusion_.recall()); }
};

}  // namespace

CRESCENT_REGISTER(counts) {
  add_metric<ConditionCount<0>>(registry, kCounts[0].name);
  add_metric<ConditionCount<1>>(registry, kCounts[1].name);
  add_metric<ConditionCount<2>>(registry, kCounts[2].name);
  add_metric<ConditionCount<3>>(registry, kCounts[3].name);
  add_metric<Precision>(registry, "Precision");
  add_metric<Recall>(registry, "Recall");
}

}  // namespace crescent
