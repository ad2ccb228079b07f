#include "mean_metrics.h"

#include "crescent/registry/registration.h"

namespace crescent {
namespace {

using namespace ops;

/// The mean over all axes but the first.
Tensor mean_per_sample(const Tensor& x) {
  if (x.rank() <= 1) return x;
  Axes axes;
  for (int i = 1; i < x.rank(); ++i) axes.push_back(i);
  return mean(x, axes);
}

/// The mean of values; as in Keras the second argument of update_state(values, sample_weight) is
/// the weight.
class Mean final : public MeanMetric {
 public:
  static void describe(Schema<Mean>& s) {
    s.doc("The weighted mean of the given values.");
    describe_name(s, &Mean::name_, &Mean::dtype_);
  }
  void update_state(const Tensor& values, const Tensor& second_argument,
                    const Tensor& third_argument) override {
    MeanMetric::update_state(values, {}, third_argument ? third_argument : second_argument);
  }

 protected:
  Tensor values(const Tensor& values, const Tensor&) const override { return values; }
};

class Sum final : public Metric {
 public:
  static void describe(Schema<Sum>& s) {
    s.doc("The weighted sum of the given values.");
    describe_name(s, &Sum::name_, &Sum::dtype_);
  }
  Sum() : total_(add_variable("total", {}, kSums)) {}
  void update_state(const Tensor& raw_values, const Tensor& second_argument,
                    const Tensor& third_argument) override {
    Tensor values = cast(raw_values, DType::float32);
    Tensor weight = third_argument ? third_argument : second_argument;
    if (weight) {
      weight = cast(weight, DType::float32);
      while (weight.rank() < values.rank()) weight = expand_dims(weight, -1);
      values = values * weight;
    }
    total_.assign_add(sum(values));
  }
  Tensor result() const override { return as_result(total_); }

 private:
  Variable total_;
};

class RootMeanSquaredError final : public DirectedMean<Direction::down> {
 public:
  static void describe(Schema<RootMeanSquaredError>& s) {
    s.doc("The square root of the mean squared error.");
    describe_name(s, &RootMeanSquaredError::name_, &RootMeanSquaredError::dtype_);
  }
  /// Ignores the mask of y_pred, as in Keras, where the squared errors have none.
  void update_state(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight) override {
    need_predictions(y_pred);
    MeanMetric::update_state(y_true, y_pred.with_mask({}), sample_weight);
  }
  Tensor result() const override { return sqrt(MeanMetric::result()); }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    Tensor truth = cast(y_true, y_pred.dtype()), prediction = y_pred;
    match_ranks(truth, prediction);
    return square(prediction - truth);
  }
};

class CosineSimilarity final : public DirectedMean<Direction::up> {
 public:
  static void describe(Schema<CosineSimilarity>& s) {
    s.doc("The mean cosine similarity of labels and predictions.");
    describe_name(s, &CosineSimilarity::name_, &CosineSimilarity::dtype_);
    s.field("axis", &CosineSimilarity::axis_, "Axis of the vectors.");
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    return -make<Loss>("CosineSimilarity", {{"axis", axis_}})->call(y_true, y_pred);
  }

 private:
  int64_t axis_ = -1;
};

/// The mean of the results of a function of labels and predictions.
class MeanMetricWrapper final : public MeanMetric {
 public:
  static void describe(Schema<MeanMetricWrapper>& s) {
    s.doc("The mean of a function of labels and predictions.")
        .field("fn", &MeanMetricWrapper::fn_,
               "The name of a loss, or a function of (y_true, y_pred).")
        .kind(Loss::kKind)
        .required();
    describe_name(s, &MeanMetricWrapper::name_, &MeanMetricWrapper::dtype_);
  }
  /// Whether lower or higher values are better: lower if the function is a loss of a plugin,
  /// unknown if the function or class was defined in Lua.
  Direction direction() const override {
    return fn_ && fn_->info() && fn_->info()->origin != "Lua" ? Direction::down
                                                              : Direction::unknown;
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    if (!fn_) fail("expected a function as fn, got none");
    return fn_->call(y_true, y_pred);
  }

 private:
  Ref<Loss> fn_;
};

// ---- metrics that are the mean of a loss

struct LossRow {
  const char* name;          // of the metric's class
  const char* loss;          // the name of the loss class
  const char* default_name;  // the default of the option `name`
  std::vector<std::string> aliases;
};
const LossRow kLossRows[] = {
    {"MeanSquaredError",
     "MeanSquaredError",
     "mean_squared_error",
     {"mse", "MSE", "mean_squared_error"}},
    {"MeanAbsoluteError",
     "MeanAbsoluteError",
     "mean_absolute_error",
     {"mae", "MAE", "mean_absolute_error"}},
    {"MeanAbsolutePercentageError",
     "MeanAbsolutePercentageError",
     "mean_absolute_percentage_error",
     {"mape", "MAPE", "mean_absolute_percentage_error"}},
    {"MeanSquaredLogarithmicError",
     "MeanSquaredLogarithmicError",
     "mean_squared_logarithmic_error",
     {"msle", "MSLE", "mean_squared_logarithmic_error"}},
    {"Hinge", "Hinge", "hinge", {"hinge"}},
    {"SquaredHinge", "SquaredHinge", "squared_hinge", {"squared_hinge"}},
    {"CategoricalHinge", "CategoricalHinge", "categorical_hinge", {"categorical_hinge"}},
    {"KLDivergence",
     "KLDivergence",
     "kl_divergence",
     {"kld", "KLD", "kl_divergence", "kullback_leibler_divergence"}},
    {"Poisson", "Poisson", "poisson", {"poisson"}},
    {"LogCoshError", "LogCosh", "logcosh", {"logcosh", "log_cosh"}},
};
constexpr int kLossCount = std::size(kLossRows);

template <int Row>
class LossMetric final : public DirectedMean<Direction::down> {
 public:
  static void describe(Schema<LossMetric>& s) {
    s.doc(concat("The mean of the loss ", kLossRows[Row].loss, "."));
    describe_name(s, &LossMetric::name_, &LossMetric::dtype_);
  }
  void configured() override {
    if (name_.empty()) name_ = kLossRows[Row].default_name;
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    return loss_->call(y_true, y_pred);
  }

 private:
  Ref<Loss> loss_ = kLossRows[Row].loss;
};

template <int... Rows>
void add_loss_metrics(Registry& registry, std::integer_sequence<int, Rows...>) {
  (add_metric<LossMetric<Rows>>(registry, kLossRows[Rows].name, kLossRows[Rows].aliases), ...);
}

class BinaryCrossentropy final : public DirectedMean<Direction::down> {
 public:
  static void describe(Schema<BinaryCrossentropy>& s) {
    s.doc("The mean of BinaryCrossentropy.");
    describe_name(s, &BinaryCrossentropy::name_, &BinaryCrossentropy::dtype_);
    s.field("from_logits", &BinaryCrossentropy::from_logits_, "Predictions are logits.")
        .field("label_smoothing", &BinaryCrossentropy::label_smoothing_,
               "Moves labels towards 0.5 by this fraction.")
        .min(0)
        .max(1);
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    return make<Loss>("BinaryCrossentropy",
                      {{"from_logits", from_logits_}, {"label_smoothing", label_smoothing_}})
        ->call(y_true, y_pred);
  }

 private:
  bool from_logits_ = false;
  double label_smoothing_ = 0;
};

class CategoricalCrossentropy final : public DirectedMean<Direction::down> {
 public:
  static void describe(Schema<CategoricalCrossentropy>& s) {
    s.doc("The mean of CategoricalCrossentropy.");
    describe_name(s, &CategoricalCrossentropy::name_, &CategoricalCrossentropy::dtype_);
    s.field("from_logits", &CategoricalCrossentropy::from_logits_, "Predictions are logits.")
        .field("label_smoothing", &CategoricalCrossentropy::label_smoothing_,
               "Moves labels towards 1 / classes by this fraction.")
        .min(0)
        .max(1)
        .field("axis", &CategoricalCrossentropy::axis_, "Axis of the classes.");
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    const Dict options{
        {"from_logits", from_logits_}, {"label_smoothing", label_smoothing_}, {"axis", axis_}};
    return make<Loss>("CategoricalCrossentropy", options)->call(y_true, y_pred);
  }

 private:
  bool from_logits_ = false;
  double label_smoothing_ = 0;
  int64_t axis_ = -1;
};

class SparseCategoricalCrossentropy final : public DirectedMean<Direction::down> {
 public:
  static void describe(Schema<SparseCategoricalCrossentropy>& s) {
    s.doc("The mean of SparseCategoricalCrossentropy.");
    describe_name(s, &SparseCategoricalCrossentropy::name_, &SparseCategoricalCrossentropy::dtype_);
    s.field("from_logits", &SparseCategoricalCrossentropy::from_logits_, "Predictions are logits.")
        .field("ignore_class", &SparseCategoricalCrossentropy::ignore_class_,
               "A class whose samples are ignored.")
        .field("axis", &SparseCategoricalCrossentropy::axis_, "Axis of the classes.");
  }

 protected:
  Tensor values(const Tensor& y_true, const Tensor& y_pred) const override {
    Dict options{{"from_logits", from_logits_}, {"axis", axis_}};
    if (ignore_class_) options.set("ignore_class", *ignore_class_);
    return make<Loss>("SparseCategoricalCrossentropy", options)->call(y_true, y_pred);
  }

 private:
  bool from_logits_ = false;
  std::optional<int64_t> ignore_class_;
  int64_t axis_ = -1;
};

}  // namespace

void MeanMetric::update_state(const Tensor& y_true, const Tensor& y_pred,
                              const Tensor& sample_weight) {
  const Tensor value = values(y_true, y_pred);
  Tensor weight = sample_weight ? cast(sample_weight, DType::float32) : sample_weight;
  const auto apply_mask = [&](const Tensor& mask) {
    const Tensor mask_weights = cast(mask, DType::float32);
    weight = weight ? mask_weights * weight : mask_weights;
  };
  if (y_pred && y_pred.mask()) apply_mask(y_pred.mask());
  // as in Keras, the mask of the values is only used if there are weights
  if (weight && value.mask()) apply_mask(value.mask());
  accumulate(cast(value, DType::float32), weight);
}

void MeanMetric::accumulate(Tensor values, Tensor weight) {
  if (!weight) {
    total_.assign_add(sum(mean_per_sample(values)));
    count_.assign_add(Tensor(values.rank() == 0 ? 1.0 : double(values.dim(0))));
    return;
  }
  match_ranks(values, weight);
  if (values.rank() > weight.rank()) {
    Axes extra_axes;
    for (int i = weight.rank(); i < values.rank(); ++i) extra_axes.push_back(i);
    values = mean(values, extra_axes);
  }
  values = values * weight;
  total_.assign_add(sum(mean_per_sample(values)));
  count_.assign_add(sum(mean_per_sample(broadcast_to(weight, values.shape()))));
}

CRESCENT_REGISTER(mean_metrics) {
  add_metric<Mean>(registry, "Mean");
  add_metric<Sum>(registry, "Sum");
  add_metric<RootMeanSquaredError>(registry, "RootMeanSquaredError", {"rmse"});
  add_metric<CosineSimilarity>(registry, "CosineSimilarity", {"cosine_proximity", "cosine"});
  add_metric<MeanMetricWrapper>(registry, "MeanMetricWrapper");
  add_metric<BinaryCrossentropy>(registry, "BinaryCrossentropy", {"bce"});
  add_metric<CategoricalCrossentropy>(registry, "CategoricalCrossentropy", {"cce"});
  add_metric<SparseCategoricalCrossentropy>(registry, "SparseCategoricalCrossentropy", {"scce"});
  add_loss_metrics(registry, std::make_integer_sequence<int, kLossCount>{});
}

}  // namespace crescent
