// Metrics compared with their formulas on plain numbers, over two updates.
#include <catch2/catch.hpp>
#include <cmath>

#include "crescent/crescent.h"

using namespace crescent;
using Catch::Contains;

namespace {

const std::vector<float> kLabels{1, 0, 1, 1, 0, 0, 1, 0};
const std::vector<float> kScores{0.9f, 0.4f, 0.35f, 0.8f, 0.6f, 0.1f, 0.55f, 0.7f};
const std::vector<float> kWeights{1, 2, 1, 0.5f, 1, 3, 2, 1};

Tensor slice_of(const std::vector<float>& values, size_t first, size_t count) {
  return Tensor::from(
      std::vector<float>(values.begin() + long(first), values.begin() + long(first + count)),
      {int64_t(count)});
}

/// The result after updates with two batches of different sizes.
Tensor after_updates(Metric& metric, bool weighted) {
  for (const auto& [first, count] : {std::pair<size_t, size_t>{0, 5}, {5, 3}})
    metric.update_state(slice_of(kLabels, first, count), slice_of(kScores, first, count),
                        weighted ? slice_of(kWeights, first, count) : Tensor());
  return metric.result();
}

struct Counts {
  double tp = 0, fp = 0, tn = 0, fn = 0;
};
Counts counts_at(double threshold, bool weighted) {
  Counts c;
  for (size_t i = 0; i < kLabels.size(); ++i) {
    const double w = weighted ? kWeights[i] : 1;
    double& count =
        kScores[i] > threshold ? (kLabels[i] > 0 ? c.tp : c.fp) : (kLabels[i] > 0 ? c.fn : c.tn);
    count += w;
  }
  return c;
}
double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

struct CountMetric {
  const char* name;
  double (*of)(const Counts&);
};
const CountMetric kCountMetrics[] = {
    {"TruePositives", [](const Counts& c) { return c.tp; }},
    {"FalsePositives", [](const Counts& c) { return c.fp; }},
    {"TrueNegatives", [](const Counts& c) { return c.tn; }},
    {"FalseNegatives", [](const Counts& c) { return c.fn; }},
    {"Precision", [](const Counts& c) { return ratio(c.tp, c.tp + c.fp); }},
    {"Recall", [](const Counts& c) { return ratio(c.tp, c.tp + c.fn); }},
};

double sensitivity(const Counts& c) { return ratio(c.tp, c.tp + c.fn); }
double specificity(const Counts& c) { return ratio(c.tn, c.tn + c.fp); }
double precision(const Counts& c) { return ratio(c.tp, c.tp + c.fp); }

struct BestMetric {
  const char *name, *option;
  double (*held)(const Counts&);
  double (*best)(const Counts&);
};
const BestMetric kBestMetrics[] = {
    {"SensitivityAtSpecificity", "specificity", specificity, sensitivity},
    {"SpecificityAtSensitivity", "sensitivity", sensitivity, specificity},
    {"PrecisionAtRecall", "recall", sensitivity, precision},
    {"RecallAtPrecision", "precision", precision, sensitivity},
};

/// The thresholds of AUC: -eps, 1 / (n - 1), ..., 1 + eps.
std::vector<double> auc_thresholds(int n) {
  std::vector<double> all{-1e-7};
  for (int i = 1; i < n - 1; ++i) all.push_back(double(i) / (n - 1));
  all.push_back(1 + 1e-7);
  return all;
}

/// The area under the curve, by trapezoids or by the lower or upper rectangles.
double area(double (*x)(const Counts&), double (*y)(const Counts&), const std::string& method,
            bool weighted) {
  const auto thresholds = auc_thresholds(21);
  double sum = 0;
  for (size_t i = 0; i + 1 < thresholds.size(); ++i) {
    const Counts a = counts_at(thresholds[i], weighted), b = counts_at(thresholds[i + 1], weighted);
    const double height = method == "interpolation" ? (y(a) + y(b)) / 2
                          : method == "minoring"    ? std::min(y(a), y(b))
                                                    : std::max(y(a), y(b));
    sum += (x(a) - x(b)) * height;
  }
  return sum;
}

Tensor rows(std::vector<float> values, int64_t columns) {
  const int64_t count = int64_t(values.size()) / columns;
  return Tensor::from(values, {count, columns});
}

}  // namespace

TEST_CASE("counts, precision and recall at one and at several thresholds") {
  for (const CountMetric& row : kCountMetrics)
    for (const bool weighted : {false, true}) {
      INFO(row.name);
      auto metric = make<Metric>(row.name);
      CHECK(after_updates(*metric, weighted).item() == Approx(row.of(counts_at(0.5, weighted))));
      metric->reset_state();
      CHECK(after_updates(*metric, weighted).item() == Approx(row.of(counts_at(0.5, weighted))));
      auto metric_of_three_thresholds =
          make<Metric>(row.name, {{"thresholds", List{0.2, 0.45, 0.75}}});
      const std::vector<double> got =
          after_updates(*metric_of_three_thresholds, weighted).to_vector();
      CHECK(got[0] == Approx(row.of(counts_at(0.2, weighted))));
      CHECK(got[2] == Approx(row.of(counts_at(0.75, weighted))));
    }
  CHECK_THROWS_WITH(make<Metric>("Recall", {{"thresholds", List{0.5, 1.5}}}),
                    Contains("Threshold values must be in [0, 1]") && Contains("1.5"));
}

TEST_CASE("one class, and the k largest") {
  const Tensor truth = rows({0, 1, 0, 1, 0, 0, 0, 0, 1}, 3),
               scores = rows({0.1f, 0.8f, 0.3f, 0.2f, 0.9f, 0.6f, 0.7f, 0.1f, 0.6f}, 3);
  auto metric_result = [&](const char* name, const Dict& options) {
    auto metric = make<Metric>(name, options);
    metric->update_state(truth, scores, {});
    return metric->result().item();
  };
  // Rows 1 and 2 predict class 1, and row 1 is right.
  CHECK(metric_result("Precision", {{"class_id", 1}}) == 0.5);
  // One of the three highest scores is right.
  CHECK(metric_result("Precision", {{"top_k", 1}}) == Approx(1 / 3.0));
  CHECK(metric_result("Recall", {{"top_k", 2}}) == Approx(2 / 3.0));     // right for rows 1 and 3
  CHECK(metric_result("Recall", {{"top_k", 2}, {"class_id", 2}}) == 1);  // right for row 3
  CHECK_THROWS_WITH(metric_result("Recall", {{"class_id", 3}}), Contains("out of range"));
}

TEST_CASE("the best rate where another holds") {
  for (const BestMetric& row : kBestMetrics)
    for (const double min_value : {0.3, 0.6, 1.0}) {
      INFO(row.name << " " << min_value);
      auto metric = make<Metric>(row.name, {{row.option, min_value}, {"num_thresholds", 51}});
      double want = 0;
      for (int i = 0; i <= 50; ++i) {
        const Counts c = counts_at(i / 50.0, true);
        if (row.held(c) >= min_value) want = std::max(want, row.best(c));
      }
      CHECK(after_updates(*metric, true).item() == Approx(want));
    }
}

TEST_CASE("predictions at a threshold are not above it, and 0 is above what is below 0") {
  const std::vector<float> truth{1, 0, 1, 0, 1, 0, 1, 0, 1, 0},
      scores{0, 0, 0.25f, 0.25f, 0.5f, 0.75f, 0.75f, 1, 1, 0};
  auto counts = [&](double threshold) {
    Counts c;
    for (size_t i = 0; i < truth.size(); ++i)
      (scores[i] > threshold ? (truth[i] > 0 ? c.tp : c.fp) : (truth[i] > 0 ? c.fn : c.tn)) += 1;
    return c;
  };
  auto result = [&](const char* name, const Dict& options) {
    auto metric = make<Metric>(name, options);
    metric->update_state(slice_of(truth, 0, 10), slice_of(scores, 0, 10), {});
    return metric->result().to_vector();
  };
  const List even{0.0, 0.25, 0.5, 0.75, 1.0}, uneven{0.0, 0.25, 0.75};
  for (const CountMetric& row : kCountMetrics)
    for (const List& thresholds : {even, uneven}) {
      const auto got = result(row.name, {{"thresholds", thresholds}});
      for (size_t i = 0; i < thresholds.size(); ++i) {
        INFO(row.name << " " << thresholds[i].as_float());
        CHECK(got[i] == Approx(row.of(counts(thresholds[i].as_float()))));
      }
    }
  double want = 0;
  const double points[] = {-1e-7, 0.25, 0.5, 0.75, 1 + 1e-7};
  for (int i = 0; i < 4; ++i) {
    const Counts a = counts(points[i]), b = counts(points[i + 1]);
    want += (a.fp - b.fp) / 5 * (a.tp + b.tp) / 5 / 2;
  }
  CHECK(result("AUC", {{"num_thresholds", 5}})[0] == Approx(want));
  CHECK(result("AUC", {{"thresholds", List{0.25, 0.5, 0.75}}})[0] == Approx(want));
}

TEST_CASE("areas under curves") {
  auto fall_out = [](const Counts& c) { return ratio(c.fp, c.fp + c.tn); };
  for (const char* method : {"interpolation", "minoring", "majoring"}) {
    const Dict roc{{"num_thresholds", 21}, {"summation_method", method}};
    CHECK(after_updates(*make<Metric>("AUC", roc), true).item() ==
          Approx(area(fall_out, sensitivity, method, true)));
    if (std::string(method) == "interpolation") continue;
    const Dict pr{{"num_thresholds", 21}, {"summation_method", method}, {"curve", "PR"}};
    CHECK(after_updates(*make<Metric>("AUC", pr), false).item() ==
          Approx(area(sensitivity, precision, method, false)));
  }
  // The area under the interpolated curve of precision over recall, as a sum over its pieces.
  double want = 0;
  const auto thresholds = auc_thresholds(21);
  for (size_t i = 0; i + 1 < thresholds.size(); ++i) {
    const Counts a = counts_at(thresholds[i], false), b = counts_at(thresholds[i + 1], false);
    const double pa = a.tp + a.fp, pb = b.tp + b.fp, slope = ratio(a.tp - b.tp, pa - pb);
    const double log_ratio = pa > 0 && pb > 0 ? std::log(pa / pb) : 0;
    want += slope * (a.tp - b.tp + (b.tp - slope * pb) * log_ratio) / (b.tp + b.fn);
  }
  CHECK(after_updates(*make<Metric>("AUC", {{"num_thresholds", 21}, {"curve", "PR"}}), false)
            .item() == Approx(want));
  // The area under the curve of precision gain over recall gain.
  auto recall_gain = [](const Counts& c) {
    return c.tp == 0 ? 0 : std::max(1 - (c.tp + c.fn) / (c.tn + c.fp) * c.fn / c.tp, 0.0);
  };
  auto precision_gain = [](const Counts& c) {
    return c.tp == 0 ? 1 : 1 - (c.tp + c.fn) / (c.tn + c.fp) * c.fp / c.tp;
  };
  CHECK(after_updates(*make<Metric>("AUC", {{"num_thresholds", 21}, {"curve", "PRGAIN"}}), true)
            .item() == Approx(area(recall_gain, precision_gain, "interpolation", true)));
  // AUC with thresholds that are given, with several labels in columns, and with logits.
  const auto auc_of_given = make<Metric>("AUC", {{"thresholds", List{0.3, 0.65}}});
  double area_of_given = 0;
  const double points[] = {-1, 0.3, 0.65, 2};
  for (int i = 0; i < 3; ++i) {
    const Counts a = counts_at(points[i], false), b = counts_at(points[i + 1], false);
    area_of_given += (fall_out(a) - fall_out(b)) * (sensitivity(a) + sensitivity(b)) / 2;
  }
  CHECK(after_updates(*auc_of_given, false).item() == Approx(area_of_given));
  const Tensor truth = rows({1, 0, 0, 1, 1, 1, 0, 0}, 2),
               scores = rows({0.9f, 0.2f, 0.4f, 0.3f, 0.6f, 0.8f, 0.5f, 0.1f}, 2);
  auto columns = make<Metric>("AUC", {{"multi_label", true}, {"label_weights", List{3, 1}}});
  columns->update_state(truth, scores, {});
  double column_areas[2];
  for (int64_t c : {0, 1}) {
    auto auc_of_column = make<Metric>("AUC");
    auc_of_column->update_state(ops::slice_axis(truth, 1, c, c + 1),
                                ops::slice_axis(scores, 1, c, c + 1), {});
    column_areas[c] = auc_of_column->result().item();
  }
  CHECK(columns->result().item() == Approx((3 * column_areas[0] + column_areas[1]) / 4));
  auto logits =
      make<Metric>("AUC", {{"from_logits", true}, {"multi_label", true}, {"num_labels", 2}});
  logits->update_state(truth, ops::log(scores / (1.0 - scores)), {});
  CHECK(logits->result().item() == Approx((column_areas[0] + column_areas[1]) / 2));
}

TEST_CASE("overlap of classes") {
  const std::vector<int32_t> t{0, 1, 2, 2, 1, 0, 7},
      p{0, 1, 1, 2, 0, 0, 1};  // 7 is no valid class and is ignored
  const Tensor truth = Tensor::from(t, {7}), guess = Tensor::from(p, {7});
  double matrix[3][3] = {};
  for (size_t i = 0; i < 6; ++i) ++matrix[t[i]][p[i]];
  auto overlap = [&](int c) {
    double union_size = -matrix[c][c];
    for (int i = 0; i < 3; ++i) union_size += matrix[c][i] + matrix[i][c];
    return matrix[c][c] / union_size;
  };
  auto metric_result = [&](const char* name, const Dict& options, const Tensor& a,
                           const Tensor& b) {
    auto metric = make<Metric>(name, options);
    metric->update_state(a, b, {});
    metric->update_state(a, b, {});
    return metric->result().item();
  };
  const double mean = (overlap(0) + overlap(1) + overlap(2)) / 3;
  CHECK(metric_result("MeanIoU", {{"num_classes", 3}}, truth, guess) == Approx(mean));
  CHECK(metric_result("IoU", {{"num_classes", 3}, {"target_class_ids", List{0, 2}}}, truth,
                      guess) == Approx((overlap(0) + overlap(2)) / 2));
  const Tensor six = ops::slice_axis(truth, 0, 0, 6), guesses = ops::slice_axis(guess, 0, 0, 6);
  const Tensor one_hot = ops::one_hot(six, 3), scores = ops::one_hot(guesses, 3) * 0.9;
  CHECK(metric_result("OneHotMeanIoU", {{"num_classes", 3}}, one_hot, scores) == Approx(mean));
  CHECK(metric_result("OneHotIoU", {{"num_classes", 3}, {"target_class_ids", List{1}}}, one_hot,
                      scores) == Approx(overlap(1)));
  const Counts c = counts_at(0.5, false);
  CHECK(metric_result("BinaryIoU", {{"target_class_ids", List{1}}}, Tensor::from(kLabels, {8}),
                      Tensor::from(kScores, {8})) == Approx(c.tp / (c.tp + c.fp + c.fn)));
  CHECK(metric_result("BinaryIoU", {}, Tensor::from(kLabels, {8}), Tensor::from(kScores, {8})) ==
        Approx((c.tp / (c.tp + c.fp + c.fn) + c.tn / (c.tn + c.fp + c.fn)) / 2));
  CHECK_THROWS_WITH(make<Metric>("IoU", {{"num_classes", 3}, {"target_class_ids", List{3}}}),
                    Contains("Target class id 3 is out of range, which is [0, 3)."));
}

TEST_CASE("F-scores of classes and their averages") {
  const Tensor truth = rows({1, 0, 0, 1, 1, 0, 0, 1}, 2),
               scores = rows({0.9f, 0.2f, 0.6f, 0.3f, 0.2f, 0.7f, 0.4f, 0.8f}, 2);
  double f[2], positives[2] = {2, 2}, tp[2] = {}, fp[2] = {}, fn[2] = {};
  const std::vector<double> t = truth.to_vector(), s = scores.to_vector();
  for (size_t i = 0; i < t.size(); ++i) {
    const bool is_positive = t[i] > 0, is_predicted = s[i] > 0.5;
    tp[i % 2] += is_positive && is_predicted, fp[i % 2] += !is_positive && is_predicted,
        fn[i % 2] += is_positive && !is_predicted;
  }
  auto score = [](double a, double b, double c) {
    const double p = ratio(a, a + b), r = ratio(a, a + c);
    return ratio(5 * p * r, 4 * p + r);
  };
  for (int c : {0, 1}) f[c] = score(tp[c], fp[c], fn[c]);
  auto metric_result = [&](Value average) {
    Dict options{{"beta", 2.0}, {"threshold", 0.5}};
    options.set("average", std::move(average));
    auto metric = make<Metric>("FBetaScore", options);
    metric->update_state(truth, scores, {});
    return metric->result();
  };
  CHECK(metric_result({}).to_vector()[0] == Approx(f[0]));
  CHECK(metric_result({}).to_vector()[1] == Approx(f[1]));
  CHECK(metric_result("macro").item() == Approx((f[0] + f[1]) / 2));
  CHECK(metric_result("weighted").item() ==
        Approx((f[0] * positives[0] + f[1] * positives[1]) / 4));
  CHECK(metric_result("micro").item() ==
        Approx(score(tp[0] + tp[1], fp[0] + fp[1], fn[0] + fn[1])));
  // Without a threshold, the largest score of each row counts as predicted.
  auto metric_of_best = make<Metric>("F1Score", {{"average", "macro"}});
  metric_of_best->update_state(rows({1, 0, 0, 1}, 2), rows({0.3f, 0.1f, 0.2f, 0.4f}, 2), {});
  CHECK(metric_of_best->result().item() == Approx(1));
  CHECK_THROWS_WITH(make<Metric>("F1Score", {{"threshold", 2.0}}),
                    Contains("It should verify 0 < threshold <= 1"));
}

TEST_CASE("numbers that follow others") {
  const std::vector<float> t{1, 5, 2, 3, 4, 9}, p{1.5f, 4, 2, 5, 3, 8};
  const Tensor truth = rows(t, 2), guess = rows(p, 2);
  double residual[2] = {}, sum[2] = {}, squares[2] = {};
  for (size_t i = 0; i < 6; ++i) {
    residual[i % 2] += (t[i] - p[i]) * (t[i] - p[i]);
    sum[i % 2] += t[i], squares[i % 2] += t[i] * t[i];
  }
  double r2[2], total[2];
  for (int c : {0, 1}) {
    total[c] = squares[c] - sum[c] * sum[c] / 3;
    r2[c] = 1 - residual[c] / total[c];
  }
  auto metric_result = [&](const char* name, const Dict& options) {
    auto metric = make<Metric>(name, options);
    metric->update_state(truth, guess, {});
    return metric->result().item();
  };
  const double mean = (r2[0] + r2[1]) / 2;
  CHECK(metric_result("R2Score", {}) == Approx(mean));
  CHECK(metric_result("R2Score", {{"class_aggregation", "variance_weighted_average"}}) ==
        Approx((r2[0] * total[0] + r2[1] * total[1]) / (total[0] + total[1])));
  CHECK(metric_result("R2Score", {{"num_regressors", 2}}) ==
        Approx(1 - (1 - mean) * (6 - 1) / (6 - 2 - 1)));

  double at = 0, ap = 0, tt = 0, pp = 0, tp = 0;
  for (size_t i : {0, 2, 4}) at += t[i] / 3, ap += p[i] / 3;
  for (size_t i : {0, 2, 4})
    tt += std::pow(t[i] - at, 2) / 3, pp += std::pow(p[i] - ap, 2) / 3,
        tp += (t[i] - at) * (p[i] - ap) / 3;
  const Tensor first = ops::transpose(ops::slice_axis(truth, 1, 0, 1)),
               other = ops::transpose(ops::slice_axis(guess, 1, 0, 1));
  auto of_row = [&](const char* name) {
    auto metric = make<Metric>(name);
    metric->update_state(first, other, {});
    return metric->result().item();
  };
  CHECK(of_row("PearsonCorrelation") == Approx(tp / std::sqrt(tt * pp)));
  CHECK(of_row("ConcordanceCorrelation") == Approx(2 * tp / (tt + pp + (at - ap) * (at - ap))));
}

TEST_CASE("means of losses and shares of right answers") {
  const Tensor t = rows({0, 1, 0, 1, 0, 0}, 3), p = rows({0.2f, 0.5f, 0.3f, 0.1f, 0.3f, 0.6f}, 3);
  const Tensor weights = Tensor::from(std::vector<float>{1, 3}, {2});
  for (const char* name :
       {"MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
        "MeanSquaredLogarithmicError", "Hinge", "SquaredHinge", "CategoricalHinge", "KLDivergence",
        "Poisson", "BinaryCrossentropy", "CategoricalCrossentropy"}) {
    INFO(name);
    const std::vector<double> values = make<Loss>(name)->call(t, p).to_vector();
    auto metric = make<Metric>(name);
    metric->update_state(t, p, weights);
    CHECK(metric->result().item() == Approx((values[0] + 3 * values[1]) / 4));
    auto wrapper = make<Metric>("MeanMetricWrapper", {{"fn", name}});
    wrapper->update_state(t, p, weights);
    CHECK(wrapper->result().item() == metric->result().item());
  }
  auto metric_result = [&](const char* name, const Tensor& a, const Tensor& b,
                           const Dict& options = {}) {
    auto metric = make<Metric>(name, options);
    metric->update_state(a, b, weights);
    return metric->result().item();
  };
  const Tensor numbers = Tensor::from(std::vector<int32_t>{1, 0}, {2});
  CHECK(metric_result("CategoricalAccuracy", t, p) == 0.25);
  CHECK(metric_result("SparseCategoricalAccuracy", numbers, p) == 0.25);
  CHECK(metric_result("FittingAccuracy", t, p) == 0.25);
  CHECK(metric_result("FittingAccuracy", numbers, p) == 0.25);
  CHECK(metric_result("TopKCategoricalAccuracy", t, p, {{"k", 2}}) == 0.25);
  CHECK(metric_result("SparseTopKCategoricalAccuracy", numbers, p, {{"k", 3}}) == 1);
  const Tensor sorted_scores = rows({2, 1, 0, 2, 1, 0}, 3);
  CHECK(metric_result("SparseTopKCategoricalAccuracy", numbers, sorted_scores,
                      {{"k", 2}, {"from_sorted_ids", true}}) == 0.25);
  CHECK(metric_result("BinaryAccuracy", t, p, {{"threshold", 0.4}}) ==
        Approx((1 * 1 + 3 * (1 / 3.0)) / 4));
  CHECK(metric_result("Accuracy", t, ops::round(p)) == Approx((2 / 3.0 + 3 * (1 / 3.0)) / 4));
  CHECK(metric_result("SparseCategoricalCrossentropy", numbers, p) ==
        Approx((-std::log(0.5) - 3 * std::log(0.1)) / 4));
  CHECK(metric_result("RootMeanSquaredError", t, p) ==
        Approx(std::sqrt((0.38 / 3 + 3 * (0.81 + 0.09 + 0.36) / 3) / 4)));
  CHECK(metric_result("LogCoshError", t, p) ==
        Approx(metric_result("MeanMetricWrapper", t, p, {{"fn", "log_cosh"}})));
  CHECK(metric_result("CosineSimilarity", t, p) ==
        Approx((0.5 / std::sqrt(0.38) + 3 * 0.1 / std::sqrt(0.46)) / 4));
  auto sum = make<Metric>("Sum"), mean = make<Metric>("Mean");
  const Tensor v = Tensor::from(std::vector<float>{2, 5}, {2});
  sum->update_state(v, {}, weights), mean->update_state(v, {}, weights);
  CHECK(sum->result().item() == 17);
  CHECK(mean->result().item() == 17 / 4.0);
  auto second_mean = make<Metric>("Mean");
  second_mean->update_state(v, weights, {});  // a second argument without a third one is the weight
  CHECK(second_mean->result().item() == 17 / 4.0);
}

TEST_CASE("metrics are found by the snake case of their class names") {
  CHECK(get<Metric>("auc")->class_name() == "AUC");
  CHECK(get<Metric>("precision")->class_name() == "Precision");
  CHECK(get<Metric>("binary_io_u")->class_name() == "BinaryIoU");
  CHECK(get<Metric>("accuracy")->class_name() == "Accuracy");
}

TEST_CASE("counts at all thresholds are part of the compiled step") {
  auto model = Sequential::make(
      {make<Layer>("Dense", {{"units", 1}, {"activation", "sigmoid"}, {"input_shape", List{3}}})});
  model->compile({{"loss", "binary_crossentropy"},
                  {"metrics", List{"AUC", "Precision", Dict{{"class_name", "F1Score"}}, "huber"}}});
  const Tensor x = SeedGenerator(1).normal({40, 3});
  const Tensor y = ops::cast(ops::greater(ops::sum(x, {1}, true), 0), DType::float32);
  const auto history = model->fit({x}, {y}, {{"verbose", 0}, {"epochs", 2}, {"batch_size", 16}});
  auto auc = make<Metric>("AUC");
  auto f1 = make<Metric>("F1Score");
  const NamedValues values = model->evaluate({x}, {y}, {{"verbose", 0}});
  const Tensor p = model->predict({x}, {{"verbose", 0}})[0];
  auc->update_state(y, p, {}), f1->update_state(y, p, {});
  CHECK(values[1].second == Approx(auc->result().item()));
  CHECK(values[3].second == Approx(f1->result().item()));
  CHECK(history->at("AUC").size() == 2);
  // The metric has one result for each class.
  const Tensor targets_of_both = ops::concatenate(Tensors{y, 1.0 - y}, 1);
  auto two_unit_model =
      Sequential::make({make<Layer>("Dense", {{"units", 2}, {"input_shape", List{3}}})});
  two_unit_model->compile({{"loss", "mse"}, {"metrics", List{Dict{{"class_name", "F1Score"}}}}});
  const NamedValues metric_values =
      two_unit_model->evaluate({x}, {targets_of_both}, {{"verbose", 0}});
  CHECK(metric_values[1].first == "f1_score[0]");
  CHECK(metric_values[2].first == "f1_score[1]");
}

TEST_CASE("the root of squared errors has no mask in Keras 3, and that of y_pred in Keras 2") {
  auto model = Sequential::make(
      {make<Layer>("Masking", {{"mask_value", 0.0}, {"input_shape", List{3, 1}}})});
  const Tensor x = Tensor::from<float>({1, 0, 5, 2, 2, 0}, {2, 3, 1}), y = ops::ones({2, 3, 1});
  const auto results = [&](bool as_weights) {
    model->compile({{"loss", "mse"},
                    {"metrics", List{Dict{{"class_name", "RootMeanSquaredError"}}, "mse"}},
                    {"mask_as_weights", as_weights}});
    const NamedValues values = model->evaluate({x}, {y}, {{"verbose", 0}});
    return std::vector<double>{values[1].second, values[2].second};
  };
  // The squared errors are 0, (1), 16, 1, 1, (1), where those of masked steps are in parentheses.
  const double mse_of_all_steps = 20.0 / 6, mse_of_valid_steps = 18.0 / 4;
  CHECK(results(false)[0] == Approx(std::sqrt(mse_of_all_steps)));
  CHECK(results(false)[1] == Approx(mse_of_valid_steps));
  CHECK(results(true)[0] == Approx(std::sqrt(mse_of_valid_steps)));
  CHECK(results(true)[1] == Approx(mse_of_valid_steps));
}
