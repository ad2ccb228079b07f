// AUC: the area under a curve of two rates, such as ROC or precision and recall, over all
// thresholds.
#include <algorithm>

#include "confusion.h"
#include "crescent/registry/registration.h"
#include "metrics.h"

namespace crescent {
namespace {

using namespace ops;

/// The values at all thresholds except the last (all_but_last) or except the first (all_but_first).
Tensor all_but_last(const Tensor& x) { return slice_axis(x, 0, 0, x.dim(0) - 1); }
Tensor all_but_first(const Tensor& x) { return slice_axis(x, 0, 1, x.dim(0)); }

class Auc final : public Metric {
 public:
  Direction direction() const override { return Direction::up; }
  static void describe(Schema<Auc>& s) {
    s.doc("Area under the ROC, precision-recall or precision-recall-gain curve.")
        .field("num_thresholds", &Auc::num_thresholds_, "Number of points of the curve.")
        .min(2)
        .max(kMaxThresholds)
        .field("curve", &Auc::curve_, "\"ROC\", \"PR\" or \"PRGAIN\".")
        .choices({"ROC", "PR", "PRGAIN", "roc", "pr", "prgain"})
        .field("summation_method", &Auc::summation_method_,
               "How the area between two points is approximated.")
        .choices(
            {"interpolation", "minoring", "majoring", "Interpolation", "Minoring", "Majoring"});
    describe_name(s, &Auc::name_, &Auc::dtype_);
    s.field("thresholds", &Auc::threshold_option_,
            "Thresholds between 0 and 1 instead of evenly spaced ones.")
        .min(0)
        .max(1)
        .omit_null()
        .field("multi_label", &Auc::multi_label_, "Average the curves of all columns.")
        .field("num_labels", &Auc::num_labels_, "Number of columns, with multi_label.")
        .min(1)
        .field("label_weights", &Auc::label_weights_, "Weights of the columns.")
        .min(0)
        .field("from_logits", &Auc::from_logits_, "Predictions are logits.")
        .property(
            "thresholds", [](const Auc& auc) { return auc.options_.thresholds; },
            "All thresholds in ascending order, with one just below 0 and one just above 1.");
  }
  void configured() override {
    if (num_labels_ && !multi_label_)
      fail("`num_labels` is needed only when `multi_label` is True.");
    std::vector<double> inner_thresholds;
    if (threshold_option_) {
      inner_thresholds = *threshold_option_;
      std::sort(inner_thresholds.begin(), inner_thresholds.end());
      num_thresholds_ = static_cast<int64_t>(inner_thresholds.size()) + 2;
    } else {
      if (!num_thresholds_) fail("expected num_thresholds or thresholds, got neither");
      const std::vector<double> default_thresholds = even_thresholds(*num_thresholds_);
      inner_thresholds.assign(default_thresholds.begin() + 1, default_thresholds.end() - 1);
    }
    options_.thresholds = {-kEpsilon};
    options_.thresholds.insert(options_.thresholds.end(), inner_thresholds.begin(),
                               inner_thresholds.end());
    options_.thresholds.push_back(1 + kEpsilon);
    options_.multi_label = multi_label_;
    if (label_weights_ && !multi_label_) options_.label_weights = normalized_label_weights();
    if (!multi_label_ || num_labels_) create_variables(num_labels_.value_or(1));
  }
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override {
    if (multi_label_ && y_pred.rank() != 2)
      fail("`y_pred` must have rank 2 when `multi_label=True`. Found rank ", y_pred.rank(),
           ". Full shape received for `y_pred`: ", y_pred.shape());
    if (label_weights_ && static_cast<int64_t>(label_weights_->size()) != y_pred.dim(-1))
      fail("expected a weight for each of ", y_pred.dim(-1), " labels, got ",
           label_weights_->size());
    if (!confusion_.true_positives) create_variables(y_pred.dim(-1));
    count(confusion_, options_, y_true, from_logits_ ? sigmoid(y_pred) : y_pred, sample_weight);
  }
  Tensor result() const override {
    if (!confusion_.true_positives) return Tensor::scalar(0);
    const std::string curve = upper_case(curve_), method = upper_case(summation_method_);
    if (curve == "PR" && method == "INTERPOLATION")
      return mean_over_labels(as_result(interpolated_precision()));
    const auto [x, y] = curve == "ROC"  ? Curve{confusion_.fall_out(), confusion_.recall()}
                        : curve == "PR" ? Curve{confusion_.recall(), confusion_.precision()}
                                        : gain_curve();
    const Tensor height = method == "INTERPOLATION" ? (all_but_last(y) + all_but_first(y)) / 2.0
                          : method == "MINORING"    ? minimum(all_but_last(y), all_but_first(y))
                                                    : maximum(all_but_last(y), all_but_first(y));
    return mean_over_labels(as_result(sum((all_but_last(x) - all_but_first(x)) * height, {0})));
  }

 private:
  struct Curve {
    Tensor x, y;
  };

  static std::string upper_case(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
  }
  Tensor normalized_label_weights() const {
    const std::vector<float> weights(label_weights_->begin(), label_weights_->end());
    return Tensor::from(weights, {static_cast<int64_t>(weights.size())});
  }
  void create_variables(int64_t label_count) {
    const int64_t threshold_count = static_cast<int64_t>(options_.thresholds.size());
    const Shape shape = multi_label_ ? Shape{threshold_count, label_count} : Shape{threshold_count};
    confusion_.true_positives = add_variable("true_positives", shape, kSums);
    confusion_.false_positives = add_variable("false_positives", shape, kSums);
    confusion_.true_negatives = add_variable("true_negatives", shape, kSums);
    confusion_.false_negatives = add_variable("false_negatives", shape, kSums);
  }
  /// The result from the area of each label: their weighted mean. Without multi_label there is a
  /// single area.
  Tensor mean_over_labels(const Tensor& areas) const {
    if (!multi_label_) return areas;
    if (!label_weights_) return mean(areas);
    const Tensor weights = normalized_label_weights();
    return divide_no_nan(sum(areas * weights), sum(weights));
  }
  /// The area under the precision-recall curve, interpolated as by Davis and Goadrich (2006):
  /// between thresholds, true positives grow linearly with predicted positives.
  Tensor interpolated_precision() const {
    const Tensor tp = confusion_.true_positives,
                 predicted_positives = tp + confusion_.false_positives.value();
    const Tensor tp_increase = all_but_last(tp) - all_but_first(tp);
    const Tensor slope = divide_no_nan(
        tp_increase,
        maximum(all_but_last(predicted_positives) - all_but_first(predicted_positives), 0));
    const Tensor intercept = all_but_first(tp) - slope * all_but_first(predicted_positives);
    const Tensor are_positive = logical_and(greater(all_but_last(predicted_positives), 0),
                                            greater(all_but_first(predicted_positives), 0));
    const Tensor ratio = where(
        are_positive,
        divide_no_nan(all_but_last(predicted_positives), all_but_first(predicted_positives)), 1);
    const Tensor actual_positives = all_but_first(tp) + all_but_first(confusion_.false_negatives);
    return sum(
        divide_no_nan(slope * (tp_increase + intercept * log(ratio)), maximum(actual_positives, 0)),
        {0});
  }
  /// The curve of recall gain and precision gain (Flach and Kull 2015). Where there are no true
  /// positives, recall gain is 0 and precision gain is 1. Negative recall gains become 0.
  Curve gain_curve() const {
    const Tensor tp = confusion_.true_positives, fp = confusion_.false_positives,
                 tn = confusion_.true_negatives, fn = confusion_.false_negatives;
    const Tensor scale = divide_no_nan(tp + fn, tn + fp), has_no_true_positives = equal(tp, 0);
    const Tensor recall_gain = where(has_no_true_positives, 0, 1.0 - scale * divide_no_nan(fn, tp));
    return {relu(recall_gain),
            where(has_no_true_positives, 1, 1.0 - scale * divide_no_nan(fp, tp))};
  }

  std::optional<int64_t> num_thresholds_ = 200;
  std::string curve_ = "ROC", summation_method_ = "interpolation";
  std::optional<std::vector<double>> threshold_option_, label_weights_;
  bool multi_label_ = false, from_logits_ = false;
  std::optional<int64_t> num_labels_;
  ConfusionOptions options_;
  Confusion confusion_;
};

}  // namespace

CRESCENT_REGISTER(auc) { add_metric<Auc>(registry, "AUC"); }

}  // namespace crescent
