// Metrics such as SensitivityAtSpecificity: the best value of one rate among those thresholds at
// which another rate has at least a given value.
#include "confusion.h"
#include "crescent/registry/registration.h"
#include "metrics.h"

namespace crescent {
namespace {

using Rate = Tensor (Confusion::*)() const;

struct BestMetric {
  const char *name, *doc, *option, *option_doc;
  Rate constrained_rate, best_rate;
};
const BestMetric kBestMetrics[] = {
    {"SensitivityAtSpecificity",
     "The largest sensitivity at which specificity is at least the given value.", "specificity",
     "Required specificity.", &Confusion::specificity, &Confusion::recall},
    {"SpecificityAtSensitivity",
     "The largest specificity at which sensitivity is at least the given value.", "sensitivity",
     "Required sensitivity.", &Confusion::recall, &Confusion::specificity},
    {"PrecisionAtRecall", "The largest precision at which recall is at least the given value.",
     "recall", "Required recall.", &Confusion::recall, &Confusion::precision},
    {"RecallAtPrecision", "The largest recall at which precision is at least the given value.",
     "precision", "Required precision.", &Confusion::precision, &Confusion::recall},
};

/// The metric that entry `Row` of the table kBestMetrics describes.
template <int Row>
class BestAt final : public Metric {
 public:
  static void describe(Schema<BestAt>& s) {
    s.doc(kBestMetrics[Row].doc)
        .field(kBestMetrics[Row].option, &BestAt::min_rate_, kBestMetrics[Row].option_doc)
        .required()
        .min(0)
        .max(1)
        .field("num_thresholds", &BestAt::num_thresholds_, "Number of thresholds between 0 and 1.")
        .min(1)
        .max(kMaxThresholds)
        .field("class_id", &BestAt::class_id_, "The class to measure; all when not given.")
        .min(0);
    describe_name(s, &BestAt::name_, &BestAt::dtype_);
  }
  void configured() override {
    options_.class_id = class_id_;
    options_.thresholds =
        num_thresholds_ == 1 ? std::vector<double>{0.5} : even_thresholds(num_thresholds_);
    confusion_.true_positives = add_variable("true_positives", {num_thresholds_}, kSums);
    confusion_.false_positives = add_variable("false_positives", {num_thresholds_}, kSums);
    confusion_.true_negatives = add_variable("true_negatives", {num_thresholds_}, kSums);
    confusion_.false_negatives = add_variable("false_negatives", {num_thresholds_}, kSums);
  }
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override {
    count(confusion_, options_, y_true, y_pred, sample_weight);
  }
  Direction direction() const override { return Direction::up; }
  Tensor result() const override {
    const Tensor constrained_rate = (confusion_.*kBestMetrics[Row].constrained_rate)(),
                 best_rate = (confusion_.*kBestMetrics[Row].best_rate)();
    return ops::max(ops::where(ops::greater_equal(constrained_rate, min_rate_), best_rate, 0));
  }

 private:
  double min_rate_ = 0.5;
  int64_t num_thresholds_ = 200;
  std::optional<int64_t> class_id_;
  ConfusionOptions options_;
  Confusion confusion_;
};

}  // namespace

CRESCENT_REGISTER(best_at) {
  add_metric<BestAt<0>>(registry, kBestMetrics[0].name);
  add_metric<BestAt<1>>(registry, kBestMetrics[1].name);
  add_metric<BestAt<2>>(registry, kBestMetrics[2].name);
  add_metric<BestAt<3>>(registry, kBestMetrics[3].name);
}

}  // namespace crescent
