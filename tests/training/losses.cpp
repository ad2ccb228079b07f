// Every loss compared with its formula on plain numbers, one row each.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

using Row = std::vector<double>;
constexpr double kEpsilon = 1e-7;

double mean_of(const Row& t, const Row& p, double (*f)(double t, double p)) {
  double sum = 0;
  for (size_t i = 0; i < t.size(); ++i) sum += f(t[i], p[i]);
  return sum / double(t.size());
}
double clipped(double p) { return std::min(std::max(p, kEpsilon), 1 - kEpsilon); }
double entropy(double t, double p) {
  return -(t * std::log(clipped(p)) + (1 - t) * std::log(1 - clipped(p)));
}
double normalized_at(const Row& p, size_t i) {
  return p[i] / std::accumulate(p.begin(), p.end(), 0.0);
}
double dot(const Row& a, const Row& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

struct Formula {
  const char* name;
  Dict options;
  double (*of)(const Row& t, const Row& p);
  bool class_numbers = false;  ///< targets are class numbers, given as {number}
};

const Formula kFormulas[] = {
    {"MeanSquaredError",
     {},
     [](const Row& t, const Row& p) {
       return mean_of(t, p, [](double a, double b) { return (a - b) * (a - b); });
     }},
    {"MeanAbsoluteError",
     {},
     [](const Row& t, const Row& p) {
       return mean_of(t, p, [](double a, double b) { return std::abs(a - b); });
     }},
    {"MeanAbsolutePercentageError",
     {},
     [](const Row& t, const Row& p) {
       return 100 * mean_of(t, p, [](double a, double b) {
                return std::abs(a - b) / std::max(std::abs(a), kEpsilon);
              });
     }},
    {"MeanSquaredLogarithmicError",
     {},
     [](const Row& t, const Row& p) {
       return mean_of(t, p, [](double a, double b) {
         return std::pow(std::log(std::max(a, kEpsilon) + 1) - std::log(std::max(b, kEpsilon) + 1),
                         2);
       });
     }},
    {"Hinge",
     {},
     [](const Row& t, const Row& p) {
       return mean_of(t, p, [](double a, double b) { return std::max(1 - (2 * a - 1) * b, 0.0); });
     }},
    {"SquaredHinge",
     {},
     [](const Row& t, const Row& p) {
       return mean_of(t, p, [](double a, double b) {
         return std::pow(std::max(1 - (2 * a - 1) * b, 0.0), 2);
       });
     }},
    {"CategoricalHinge",
     {},
     [](const Row& t, const Row& p) {
       double largest_wrong = -INFINITY;
       for (size_t i = 0; i < t.size(); ++i)
         largest_wrong = std::max(largest_wrong, (1 - t[i]) * p[i]);
       return std::max(0.0, largest_wrong - dot(t, p) + 1);
     }},
    {"LogCosh",
     {},
     [](const Row& t, const Row& p) {
       return mean_of(t, p, [](double a, double b) { return std::log(std::cosh(b - a)); });
     }},
    {"Poisson",
     {},
     [](const Row& t, const Row& p) {
       return mean_of(t, p, [](double a, double b) { return b - a * std::log(b + kEpsilon); });
     }},
    {"KLDivergence",
     {},
     [](const Row& t, const Row& p) {
       double sum = 0;
       for (size_t i = 0; i < t.size(); ++i) {
         const double a = std::max(t[i], kEpsilon);
         sum += a * std::log(a / p[i]);
       }
       return sum;
     }},
    {"Huber",
     {{"delta", 0.25}},
     [](const Row& t, const Row& p) {
       return mean_of(t, p, [](double a, double b) {
         const double e = std::abs(a - b);
         return e <= 0.25 ? e * e / 2 : 0.25 * e - 0.25 * 0.25 / 2;
       });
     }},
    {"CosineSimilarity",
     {},
     [](const Row& t, const Row& p) { return -dot(t, p) / std::sqrt(dot(t, t) * dot(p, p)); }},
    {"BinaryCrossentropy",
     {{"label_smoothing", 0.2}},
     [](const Row& t, const Row& p) {
       return mean_of(t, p, [](double a, double b) { return entropy(a * 0.8 + 0.1, b); });
     }},
    {"BinaryFocalCrossentropy",
     {{"gamma", 3}, {"alpha", 0.3}, {"apply_class_balancing", true}},
     [](const Row& t, const Row& p) {
       return mean_of(t, p, [](double a, double b) {
         const double right_probability = a * b + (1 - a) * (1 - b),
                      weight = a * 0.3 + (1 - a) * 0.7;
         return weight * std::pow(1 - right_probability, 3) * entropy(a, b);
       });
     }},
    {"CategoricalCrossentropy",
     {{"label_smoothing", 0.3}},
     [](const Row& t, const Row& p) {
       double sum = 0;
       for (size_t i = 0; i < t.size(); ++i)
         sum -= (t[i] * 0.7 + 0.3 / double(t.size())) * std::log(normalized_at(p, i));
       return sum;
     }},
    {"CategoricalFocalCrossentropy",
     {{"gamma", 1.5}},
     [](const Row& t, const Row& p) {
       double sum = 0;
       for (size_t i = 0; i < t.size(); ++i)
         sum -=
             0.25 * std::pow(1 - normalized_at(p, i), 1.5) * t[i] * std::log(normalized_at(p, i));
       return sum;
     }},
    {"SparseCategoricalCrossentropy",
     {},
     [](const Row& t, const Row& p) { return -std::log(normalized_at(p, size_t(t[0]))); },
     true},
    {"Crossentropy",
     {},
     [](const Row& t, const Row& p) { return -std::log(normalized_at(p, size_t(t[0]))); },
     true},
    {"CategoricalGeneralizedCrossEntropy",
     {{"q", 0.7}},
     [](const Row& t, const Row& p) { return (1 - std::pow(p[size_t(t[0])], 0.7)) / 0.7; },
     true},
    {"Dice",
     {{"axis", List{1}}},
     [](const Row& t, const Row& p) {
       const Row ones(t.size(), 1);
       return 1 - 2 * dot(t, p) / (dot(t, ones) + dot(p, ones) + kEpsilon);
     }},
    {"Tversky",
     {{"alpha", 0.3}, {"beta", 0.6}, {"axis", List{1}}},
     [](const Row& t, const Row& p) {
       const Row ones(t.size(), 1);
       const double true_positives = dot(t, p), false_negatives = dot(t, ones) - true_positives,
                    false_alarms = dot(p, ones) - true_positives;
       return 1 - true_positives /
                      (true_positives + 0.3 * false_negatives + 0.6 * false_alarms + kEpsilon);
     }},
};

const std::vector<Row> kTruth{{1, 0, 0}, {0, 0, 1}}, kPredicted{{0.7, 0.2, 0.4}, {0.15, 0.3, 0.9}};
const std::vector<Row> kNumbers{{0}, {2}};

Tensor tensor(const std::vector<Row>& rows) {
  std::vector<float> values;
  for (const Row& row : rows) values.insert(values.end(), row.begin(), row.end());
  return Tensor::from(values, {int64_t(rows.size()), int64_t(rows[0].size())});
}

double log_sum_exp(const Row& values) {
  double sum = 0;
  for (const double v : values) sum += std::exp(v);
  return std::log(sum);
}

}  // namespace

TEST_CASE("losses are what their formulas say, eager and compiled") {
  for (const Formula& formula : kFormulas) {
    INFO(formula.name);
    Dict options = formula.options;
    options.set("reduction", "none");
    const auto loss = make<Loss>(formula.name, options);
    const std::vector<Row>& truth = formula.class_numbers ? kNumbers : kTruth;
    const Tensor got = (*loss)(tensor(truth), tensor(kPredicted));
    const Function compiled([&](const Tensors& x) { return Tensors{(*loss)(x[0], x[1])}; });
    const Tensor compiled_result = compiled({tensor(truth), tensor(kPredicted)})[0];
    REQUIRE(got.shape() == Shape{2});
    for (size_t i = 0; i < 2; ++i) {
      const double want = formula.of(truth[i], kPredicted[i]);
      CHECK(got.to_vector()[i] == Approx(want).epsilon(2e-5));
      CHECK(compiled_result.to_vector()[i] == Approx(want).epsilon(2e-5));
    }
  }
}

TEST_CASE("every loss has a formula here") {
  std::vector<std::string> tested{"Circle", "CTC"};  // these have tests of their own below
  for (const Formula& formula : kFormulas) tested.push_back(formula.name);
  for (const std::string& name : registry().names("loss"))
    CHECK(std::count(tested.begin(), tested.end(), name) == 1);
}

TEST_CASE("reductions and weights") {
  const Tensor t = tensor({{0}, {0}, {0}}), p = tensor({{1}, {2}, {3}});
  const Tensor weights = Tensor::from(std::vector<float>{1, 0, 3}, {3});
  auto value = [&](const char* reduction, const Tensor& w) {
    return (*make<Loss>("MeanSquaredError", {{"reduction", reduction}}))(t, p, w).item();
  };
  CHECK(value("sum", {}) == 14);
  CHECK(value("sum", weights) == 28);
  CHECK(value("sum_over_batch_size", weights) == Approx(28 / 3.0));
  CHECK(value("mean", {}) == Approx(14 / 3.0));
  CHECK(value("mean_with_sample_weight", weights) == Approx(28 / 4.0));
  // The divisor is the sum of the given weights, even if each is broadcast over several elements.
  const Tensor rows = ops::reshape(tensor({{1}, {2}, {3}, {0}}), {2, 2, 1});
  CHECK((*make<Loss>("MeanSquaredError", {{"reduction", "mean_with_sample_weight"}}))(
            rows * 0.0, rows, tensor({{1}, {3}}))
            .item() == Approx((1 + 4 + 27) / 4.0));
  const Tensor masked = p.with_mask(ops::greater(ops::squeeze(p, 1), 1.5));
  CHECK((*make<Loss>("MeanSquaredError"))(t, masked).item() == Approx((4 + 9) / 2.0));
  // A loss with one value for the whole batch is multiplied by each weight, which gives one value
  // per weight.
  const auto dice = make<Loss>("Dice", {{"reduction", "none"}});
  CHECK((*dice)(t, p, weights).to_vector() == std::vector<double>{1, 0, 3});
}

TEST_CASE("one column of classes gives the number that it gives, with a warning") {
  const auto loss = make<Loss>("CategoricalCrossentropy");
  const Tensor truth = Tensor::full({3, 1}, 1), p = Tensor::full({3, 1}, 0.4);
  CHECK((*loss)(truth, p).item() == Approx(0).margin(1e-6));
  CHECK((*make<Loss>("CategoricalCrossentropy", {{"from_logits", true}}))(truth, p).item() == 0);
}

TEST_CASE("targets that are no shares of 1 have the gradient of their loss") {
  // The derivative of -sum(t log softmax(z)) with respect to z is softmax(z) sum(t) - t; tested
  // with rows of no class and of two classes.
  const Tensor truth = Tensor::from(std::vector<float>{0, 0, 1, 1}, {2, 2}),
               z = Tensor::from(std::vector<float>{0, 0, 0, 0}, {2, 2});
  const auto loss =
      make<Loss>("CategoricalCrossentropy", {{"from_logits", true}, {"reduction", "sum"}});
  const auto gradient = [&](const Tensors& x) {
    GradientTape tape;
    tape.watch(x[0]);
    return tape.gradient((*loss)(truth, x[0]), x);
  };
  const std::vector<double> zero_gradient(4, 0);
  CHECK(gradient({z})[0].to_vector() == zero_gradient);
  CHECK(Function(gradient)({z})[0].to_vector() == zero_gradient);
}

TEST_CASE("logits of 0 have the gradient of their loss") {
  // The derivative of -t log(sigmoid(x)) - (1 - t) log(1 - sigmoid(x)) with respect to x is
  // sigmoid(x) - t.
  const Tensor truth = Tensor::from(std::vector<float>{0, 1, 0.25f, 0, 1}, {1, 5}),
               x = Tensor::from(std::vector<float>{0, 0, 0, 30, -30}, {1, 5});
  const auto loss = make<Loss>("BinaryCrossentropy", {{"from_logits", true}, {"reduction", "sum"}});
  const auto gradient = [&](const Tensors& in) {
    GradientTape tape;
    tape.watch(in[0]);
    return tape.gradient((*loss)(truth, in[0]) * 5.0, in);
  };
  const std::vector<double> wanted{0.5, -0.5, 0.25, 1, -1};
  CHECK(gradient({x})[0].to_vector() == wanted);
  CHECK(Function(gradient)({x})[0].to_vector() == wanted);
}

TEST_CASE("circle loss compares every pair") {
  const std::vector<Row> x{{1, 0}, {0.8, 0.6}, {0, 1}, {-0.6, 0.8}};
  const Row labels{0, 0, 1, 1};
  Row want;
  for (size_t i = 0; i < 4; ++i) {
    Row same_class, other_class;
    for (size_t j = 0; j < 4; ++j) {
      const double distance = std::max(1 - dot(x[i], x[j]), 0.0);
      if (labels[i] == labels[j] && i != j)
        same_class.push_back(-8 * std::max(0.4 + distance, 0.0) * (0.4 - distance));
      if (labels[i] != labels[j])
        other_class.push_back(8 * std::max(1.4 - distance, 0.0) * (0.6 - distance));
    }
    want.push_back(std::log1p(std::exp(log_sum_exp(same_class) + log_sum_exp(other_class))));
  }
  const auto circle = make<Loss>("Circle", {{"gamma", 8}, {"reduction", "sum"}});
  const Tensor classes = Tensor::from(std::vector<int32_t>{0, 0, 1, 1}, {4});
  const double total = std::accumulate(want.begin(), want.end(), 0.0);
  CHECK((*circle)(classes, tensor(x)).item() == Approx(total).epsilon(1e-4));
  // No two samples have the same class, so the loss is 0.
  const Tensor distinct_classes = Tensor::from(std::vector<int32_t>{0, 1, 2, 3}, {4});
  CHECK((*circle)(distinct_classes, tensor(x)).item() == 0);
}

TEST_CASE("CTC sums over every way to spread the labels over time") {
  constexpr int kTimeSteps = 4, kClasses = 3;
  const std::vector<std::vector<int32_t>> labels{{1, 2, 0}, {1, 1, 0}, {2, 0, 0}};
  const Tensor logits = SeedGenerator(5).normal({3, kTimeSteps, kClasses});
  const std::vector<double> values = logits.to_vector();
  std::vector<int32_t> flat_labels;
  for (const auto& row : labels) flat_labels.insert(flat_labels.end(), row.begin(), row.end());
  const auto ctc = make<Loss>("CTC", {{"reduction", "none"}});
  const Tensor y_true = Tensor::from(flat_labels, {3, 3});
  const std::vector<double> got = (*ctc)(y_true, logits).to_vector();
  for (size_t row = 0; row < 3; ++row) {
    std::vector<int> wanted;
    for (const int32_t label : labels[row])
      if (label != 0) wanted.push_back(label);
    double probability = 0;
    // Sums over all paths: every class at each of the four time steps.
    for (int path_code = 0; path_code < 81; ++path_code) {
      std::vector<int> path, collapsed_path;
      double log_p = 0;
      for (int t = 0, remaining_code = path_code; t < kTimeSteps; ++t, remaining_code /= kClasses) {
        const int c = remaining_code % kClasses;
        const double* at = &values[(row * kTimeSteps + size_t(t)) * kClasses];
        log_p += at[c] - log_sum_exp({at[0], at[1], at[2]});
        if (c != 0 && (path.empty() || path.back() != c)) collapsed_path.push_back(c);
        path.push_back(c);
      }
      if (collapsed_path == wanted) probability += std::exp(log_p);
    }
    CHECK(got[row] == Approx(-std::log(probability)).epsilon(1e-4));
  }
  // Compares the gradient in a random direction with a finite difference.
  GradientTape tape;
  tape.watch(logits);
  const Tensor loss = ops::sum((*ctc)(y_true, logits));
  const Tensor gradient = tape.gradient(loss, std::span<const Tensor>(&logits, 1))[0];
  const Tensor direction = SeedGenerator(6).normal(logits.shape());
  auto loss_at = [&](double step) {
    return ops::sum((*ctc)(y_true, logits + direction * step)).item();
  };
  CHECK(ops::sum(gradient * direction).item() ==
        Approx((loss_at(1e-2) - loss_at(-1e-2)) / 2e-2).epsilon(1e-2));
  CHECK_THROWS_WITH((*ctc)(tensor(kTruth), tensor(kPredicted)), Contains("Logits `y_pred`"));
}

TEST_CASE("smoothed labels share out over the last axis, whichever axis has the classes") {
  const Tensor truth = Tensor::from(std::vector<float>{1, 0, 1, 0, 1, 0}, {1, 2, 3});
  const Tensor predicted = Tensor::from(std::vector<float>{.5, .25, .75, .5, .75, .25}, {1, 2, 3});
  for (const char* name : {"CategoricalCrossentropy", "CategoricalFocalCrossentropy"}) {
    const Dict axis_options{{"axis", 1}};
    Dict smoothing_options = axis_options;
    smoothing_options.set("label_smoothing", 0.3);
    const auto got = make<Loss>(name, smoothing_options)->call(truth, predicted).to_vector();
    const auto want =
        make<Loss>(name, axis_options)->call(truth * 0.7 + 0.1, predicted).to_vector();
    for (size_t i = 0; i < 3; ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-6));
  }
}
