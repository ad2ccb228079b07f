// Losses: values per sample, the mean over the last axis unless said. Formulas are Keras 3's
// (reference: keras.ops and keras.losses); reduction and weights are in the base class.
#include <numbers>

#include "crescent/plugin.h"

namespace crescent {
namespace {

using namespace ops;
constexpr double kEpsilon = 1e-7;

/// Targets in the dtype of the predictions, both of one rank. Elements are compared one by one, so
/// the shapes must agree.
struct Pair {
  Tensor truth, prediction;
};

Pair matched(const Loss& loss, const Tensor& y_true, const Tensor& y_pred) {
  Pair pair{cast(y_true, y_pred.dtype()), y_pred};
  match_ranks(pair.truth, pair.prediction);
  if (!pair.truth.shape().compatible(pair.prediction.shape()))
    fail("A target array with shape ", y_true.shape(), " was passed for an output of shape ",
         y_pred.shape(), " while using as loss `", to_snake_case(loss.class_name()),
         "`. This loss expects targets to have the same shape as the output.");
  return pair;
}

// ---- losses without options: a row each

using Formula = Tensor (*)(const Tensor& truth, const Tensor& prediction);

/// Labels 0 and 1 become -1 and 1 when there are no others.
Tensor as_signs(const Tensor& labels) {
  const Tensor zeros = equal(labels, 0), ones = equal(labels, 1);
  const Tensor binary = all(logical_or(zeros, ones));
  return where(binary, labels * 2.0 - 1.0, labels);
}

Tensor unit(const Tensor& x) { return x * rsqrt(maximum(sum(square(x), {-1}, true), 1e-12)); }

struct Row {
  const char* name;
  const char* doc;
  Formula formula;
  std::vector<std::string> aliases;
};

const Row kRows[] = {
    {"MeanSquaredError",
     "mean((y_pred - y_true)^2)",
     [](const Tensor& t, const Tensor& p) { return mean(square(p - t), {-1}); },
     {"mse", "MSE", "mean_squared_error"}},
    {"MeanAbsoluteError",
     "mean(|y_pred - y_true|)",
     [](const Tensor& t, const Tensor& p) { return mean(abs(p - t), {-1}); },
     {"mae", "MAE", "mean_absolute_error"}},
    {"MeanAbsolutePercentageError",
     "100 * mean(|y_true - y_pred| / max(|y_true|, eps))",
     [](const Tensor& t, const Tensor& p) {
       return 100.0 * mean(abs((t - p) / maximum(abs(t), kEpsilon)), {-1});
     },
     {"mape", "MAPE", "mean_absolute_percentage_error"}},
    {"MeanSquaredLogarithmicError",
     "mean((log(y_pred + 1) - log(y_true + 1))^2), values below eps raised to it",
     [](const Tensor& t, const Tensor& p) {
       return mean(square(log(maximum(p, kEpsilon) + 1.0) - log(maximum(t, kEpsilon) + 1.0)), {-1});
     },
     {"msle", "MSLE", "mean_squared_logarithmic_error"}},
    {"Hinge",
     "mean(max(1 - y_true * y_pred, 0)), labels -1 and 1 (or 0 and 1)",
     [](const Tensor& t, const Tensor& p) { return mean(relu(1.0 - as_signs(t) * p), {-1}); },
     {"hinge"}},
    {"SquaredHinge",
     "mean(max(1 - y_true * y_pred, 0)^2)",
     [](const Tensor& t, const Tensor& p) {
       return mean(square(relu(1.0 - as_signs(t) * p)), {-1});
     },
     {"squared_hinge"}},
    {"CategoricalHinge",
     "max(0, max((1 - y_true) * y_pred) - sum(y_true * y_pred) + 1)",
     [](const Tensor& t, const Tensor& p) {
       return relu(max((1.0 - t) * p, {-1}) - sum(t * p, {-1}) + 1.0);
     },
     {"categorical_hinge"}},
    {"LogCosh",
     "mean(log(cosh(y_pred - y_true)))",
     [](const Tensor& t, const Tensor& p) {
       const Tensor d = p - t;
       return mean(d + softplus(d * -2.0) - std::numbers::ln2, {-1});
     },
     {"log_cosh", "logcosh"}},
    {"Poisson",
     "mean(y_pred - y_true * log(y_pred + eps))",
     [](const Tensor& t, const Tensor& p) { return mean(p - t * log(p + kEpsilon), {-1}); },
     {"poisson"}},
    {"KLDivergence",
     "sum(y_true * log(y_true / y_pred)), both clipped to [eps, 1]",
     [](const Tensor& t, const Tensor& p) {
       const Tensor truth = clip(t, kEpsilon, 1);
       return sum(truth * log(truth / clip(p, kEpsilon, 1)), {-1});
     },
     {"kld", "KLD", "kl_divergence", "kullback_leibler_divergence"}},
};

class FormulaLoss final : public Loss {
 public:
  explicit FormulaLoss(Formula formula) : formula_(formula) {}
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const auto [truth, prediction] = matched(*this, y_true, y_pred);
    return formula_(truth, prediction);
  }
  Dict get_config() const override { return info()->schema.read(this); }

 private:
  Formula formula_;
};

class RowFactory final : public Factory {
 public:
  RowFactory(const SchemaData& schema, Formula formula) : schema_(schema), formula_(formula) {}
  std::shared_ptr<Configurable> make(const Dict& options) const override {
    auto loss = std::make_shared<FormulaLoss>(formula_);
    schema_.configure(loss.get(), options);
    return loss;
  }

 private:
  SchemaData schema_;
  Formula formula_;
};

ClassInfo info_of(const Row& row) {
  Schema<FormulaLoss> schema(row.name);
  schema.doc(row.doc);
  schema.keyword_only(true);
  Loss::describe_base(schema);
  ClassInfo info;
  info.kind = Loss::kKind;
  info.name = row.name;
  info.aliases = row.aliases;
  info.schema = schema.data();
  info.factory = std::make_shared<RowFactory>(info.schema, row.formula);
  return info;
}

// ---- losses with options

class Huber final : public Loss {
 public:
  static void describe(Schema<Huber>& s) {
    s.doc("Squared error up to delta, linear beyond.")
        .field("delta", &Huber::delta_, "Where the two parts meet.")
        .min(0);
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const auto [truth, prediction] = matched(*this, y_true, y_pred);
    const Tensor error = abs(prediction - truth);
    return mean(where(less_equal(error, delta_), 0.5 * square(error),
                      delta_ * error - 0.5 * delta_ * delta_),
                {-1});
  }

 private:
  double delta_ = 1;
};

class CosineSimilarity final : public Loss {
 public:
  static void describe(Schema<CosineSimilarity>& s) {
    s.doc("-sum of unit vectors' product.")
        .field("axis", &CosineSimilarity::axis_, "Axis of the vectors.");
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    auto [truth, prediction] = matched(*this, y_true, y_pred);
    if (truth.shape().axis(int(axis_)) != truth.rank() - 1) {
      truth = swap_axes(truth, int(axis_), -1);
      prediction = swap_axes(prediction, int(axis_), -1);
    }
    return -sum(unit(truth) * unit(prediction), {-1});
  }

 private:
  int64_t axis_ = -1;
};

class BinaryCrossentropy final : public Loss {
 public:
  static void describe(Schema<BinaryCrossentropy>& s) {
    s.doc("-mean(y_true * log(p) + (1 - y_true) * log(1 - p))")
        .field("from_logits", &BinaryCrossentropy::from_logits_,
               "Predictions are logits, not probabilities.")
        .field("label_smoothing", &BinaryCrossentropy::label_smoothing_,
               "Moves labels towards 0.5.")
        .min(0)
        .max(1)
        .field("axis", &BinaryCrossentropy::axis_, "Axis of the mean.");
  }
  bool binary_targets() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    auto [truth, p] = matched(*this, y_true, y_pred);
    if (label_smoothing_ > 0) truth = truth * (1 - label_smoothing_) + 0.5 * label_smoothing_;
    return mean(from_logits_ ? of_logits(truth, p) : of_probabilities(truth, p), {int(axis_)});
  }

 private:
  static Tensor of_logits(const Tensor& truth, const Tensor& x) {
    return relu(x) - x * truth + softplus(-abs(x));
  }
  static Tensor of_probabilities(const Tensor& truth, const Tensor& prediction) {
    const Tensor p = clip(prediction, kEpsilon, 1 - kEpsilon);
    return -(truth * log(p) + (1.0 - truth) * log(1.0 - p));
  }

  bool from_logits_ = false;
  double label_smoothing_ = 0;
  int64_t axis_ = -1;
};

/// log of clipped, normalised probabilities over the last axis.
Tensor log_probabilities(const Tensor& p) {
  return log(clip(p / sum(p, {-1}, true), kEpsilon, 1 - kEpsilon));
}

Tensor last_axis(const Tensor& x, int64_t axis) {
  return x.shape().axis(int(axis)) == x.rank() - 1 ? x : swap_axes(x, int(axis), -1);
}

class CategoricalCrossentropy final : public Loss {
 public:
  static void describe(Schema<CategoricalCrossentropy>& s) {
    s.doc("-sum(y_true * log(p)) with y_true one-hot or probabilities.")
        .field("from_logits", &CategoricalCrossentropy::from_logits_,
               "Predictions are logits, not probabilities.")
        .field("label_smoothing", &CategoricalCrossentropy::label_smoothing_,
               "Moves labels towards 1 / classes.")
        .min(0)
        .max(1)
        .field("axis", &CategoricalCrossentropy::axis_, "Axis of the classes.");
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const Tensor p = last_axis(y_pred, axis_);
    Tensor truth = last_axis(cast(y_true, y_pred.dtype()), axis_);
    if (!truth.shape().compatible(p.shape()))
      fail("categorical_crossentropy: targets must be shaped like predictions, got ",
           y_true.shape(), " and ", y_pred.shape(),
           "; for class numbers use sparse_categorical_crossentropy");
    if (p.dim(-1) == 1)
      fail("You are passing a target array of shape ", y_true.shape(),
           " while using as loss `categorical_crossentropy`, which expects one column a class (at "
           "least 2)");
    if (label_smoothing_ > 0)
      truth = truth * (1 - label_smoothing_) + label_smoothing_ / double(p.dim(-1));
    return from_logits_ ? softmax_cross_entropy(p, truth)
                        : -sum(truth * log_probabilities(p), {-1});
  }

 private:
  bool from_logits_ = false;
  double label_smoothing_ = 0;
  int64_t axis_ = -1;
};

class SparseCategoricalCrossentropy final : public Loss {
 public:
  static void describe(Schema<SparseCategoricalCrossentropy>& s) {
    s.doc("-log(p of the true class) with y_true class numbers, 0 to classes - 1.")
        .field("from_logits", &SparseCategoricalCrossentropy::from_logits_,
               "Predictions are logits, not probabilities.")
        .field("ignore_class", &SparseCategoricalCrossentropy::ignore_class_,
               "Samples of this class do not count.")
        .field("axis", &SparseCategoricalCrossentropy::axis_, "Axis of the classes.");
  }
  bool sparse_targets() const override { return true; }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const Tensor p = last_axis(y_pred, axis_);
    const Tensor labels = class_numbers(y_true, p);
    if (!ignore_class_) return values(p, labels);
    const Tensor valid = not_equal(labels, double(*ignore_class_));
    return where(valid, values(p, where(valid, labels, 0)), 0).with_mask(valid);
  }

 private:
  /// Labels without a last axis of 1.
  static Tensor class_numbers(const Tensor& y_true, const Tensor& p) {
    Tensor labels = y_true;
    if (labels.rank() == p.rank() && labels.dim(-1) == 1)
      labels = squeeze(labels, labels.rank() - 1);
    if (labels.rank() != p.rank() - 1 || !labels.shape().compatible(p.shape().slice(0, -1)))
      fail("sparse_categorical_crossentropy: expected class numbers of shape ",
           p.shape().slice(0, -1), " for predictions of shape ", p.shape(), ", got ",
           y_true.shape(), "; for one-hot targets use categorical_crossentropy");
    return labels;
  }
  Tensor values(const Tensor& p, const Tensor& labels) const {
    if (from_logits_) return sparse_softmax_cross_entropy(p, labels);
    const Tensor classes = check_indices(labels, p.dim(-1), "label", concat(p.dim(-1), " classes"));
    return -sum(one_hot(classes, p.dim(-1), p.dtype()) * log_probabilities(p), {-1});
  }

  bool from_logits_ = false;
  std::optional<int64_t> ignore_class_;
  int64_t axis_ = -1;
};

}  // namespace

CRESCENT_PLUGIN("losses", CRESCENT_VERSION) {
  for (const Row& row : kRows) registry.add(info_of(row));
  registry.add<Huber>("Huber", {"huber", "huber_loss"});
  registry.add<CosineSimilarity>("CosineSimilarity",
                                 {"cosine_similarity", "cosine_proximity", "cosine"});
  registry.add<BinaryCrossentropy>("BinaryCrossentropy", {"binary_crossentropy", "bce", "BCE"});
  registry.add<CategoricalCrossentropy>("CategoricalCrossentropy",
                                        {"categorical_crossentropy", "cce"});
  registry.add<SparseCategoricalCrossentropy>("SparseCategoricalCrossentropy",
                                              {"sparse_categorical_crossentropy", "scce"});
}

}  // namespace crescent
