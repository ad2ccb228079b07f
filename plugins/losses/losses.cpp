// Losses: each computes a value per sample, which is the mean over the last axis unless stated
// otherwise. The formulas are those of keras.losses in Keras 3; the base class applies reduction
// and weights.
#include <numbers>

#include "crescent/registry/registration.h"
#include "losses.h"

namespace crescent {
namespace {

using namespace ops;

// ---- losses without options

using Formula = Tensor (*)(const Tensor& truth, const Tensor& prediction);

/// Replaces the labels 0 and 1 by -1 and 1 if all labels are 0 or 1.
Tensor as_signs(const Tensor& labels) {
  const Tensor is_zero = equal(labels, 0), is_one = equal(labels, 1);
  const Tensor is_binary = all(logical_or(is_zero, is_one));
  return where(is_binary, labels * 2.0 - 1.0, labels);
}

Tensor unit_vectors(const Tensor& x) {
  return x * rsqrt(maximum(sum(square(x), {-1}, true), 1e-12));
}

struct LossSpec {
  const char* name;
  const char* doc;
  Formula formula;
  std::vector<std::string> aliases;
};

const LossSpec kLosses[] = {
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
     "mean(max(1 - y_true * y_pred, 0)) for labels -1 and 1 (0 counts as -1)",
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

class NamedLossFactory final : public Factory {
 public:
  NamedLossFactory(const SchemaData& schema, Formula formula)
      : schema_(schema), formula_(formula) {}
  std::shared_ptr<Configurable> make(const Dict& options) const override {
    auto loss = std::make_shared<FormulaLoss>(formula_);
    schema_.configure(loss.get(), options);
    return loss;
  }

 private:
  SchemaData schema_;
  Formula formula_;
};

ClassInfo info_of(const LossSpec& spec) {
  const FormulaLoss defaults(spec.formula);
  Schema<FormulaLoss> schema(spec.name, &defaults);
  schema.doc(spec.doc);
  schema.keyword_only(true);
  Loss::describe_base(schema);
  ClassInfo info;
  info.kind = Loss::kKind;
  info.name = spec.name;
  info.aliases = spec.aliases;
  info.schema = schema.data();
  info.factory = std::make_shared<NamedLossFactory>(info.schema, spec.formula);
  return info;
}

// ---- losses with options

class Huber final : public Loss {
 public:
  static void describe(Schema<Huber>& s) {
    s.doc("Squared error up to delta, absolute error beyond (Huber 1964).")
        .field("delta", &Huber::delta_, "Error at which the two parts meet.")
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
    s.doc("The negative cosine similarity: -sum(l2_normalize(y_true) * l2_normalize(y_pred))")
        .field("axis", &CosineSimilarity::axis_, "Axis of the vectors.");
  }
  Tensor call(const Tensor& y_true, const Tensor& y_pred) const override {
    const auto [truth, prediction] = matched(*this, y_true, y_pred);
    return -sum(unit_vectors(move_to_last_axis(truth, axis_)) *
                    unit_vectors(move_to_last_axis(prediction, axis_)),
                {-1});
  }

 private:
  int64_t axis_ = -1;
};

}  // namespace

CRESCENT_REGISTER(losses) {
  for (const LossSpec& spec : kLosses) registry.add(info_of(spec));
  registry.add<Huber>("Huber", {"huber", "huber_loss"});
  registry.add<CosineSimilarity>("CosineSimilarity",
                                 {"cosine_similarity", "cosine_proximity", "cosine"});
}

}  // namespace crescent
