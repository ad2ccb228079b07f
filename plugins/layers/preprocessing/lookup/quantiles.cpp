#include "quantiles.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace crescent {
namespace {

/// Interpolates linearly at x between the points (xs[i], ys[i]); xs is sorted.
double interpolate(double x, const std::vector<float>& xs, const std::vector<float>& ys) {
  const auto next_point = std::upper_bound(xs.begin(), xs.end(), x);
  if (next_point == xs.begin()) return ys.front();
  const auto i = static_cast<size_t>(next_point - xs.begin()) - 1;
  if (next_point == xs.end() || xs[i] == x) return ys[i];
  const double slope = (double(ys[i + 1]) - ys[i]) / (double(xs[i + 1]) - xs[i]);
  return slope * (x - xs[i]) + ys[i];
}

/// The fractions epsilon, 2 * epsilon, ... up to 1.
std::vector<double> quantile_levels(double epsilon) {
  std::vector<double> levels(static_cast<size_t>(std::ceil(1 / epsilon)));
  for (size_t i = 0; i < levels.size(); ++i) levels[i] = epsilon + static_cast<double>(i) * epsilon;
  return levels;
}

Summary compress_summary(const Summary& summary, double epsilon) {
  if (static_cast<double>(summary.values.size()) * epsilon < 1) return summary;
  std::vector<float> cumulative_weights(summary.weights.size()), cumulative_share;
  std::partial_sum(summary.weights.begin(), summary.weights.end(), cumulative_weights.begin());
  for (float weight : cumulative_weights)
    cumulative_share.push_back(weight / cumulative_weights.back());
  Summary result;
  double last_weight = 0;
  for (double level : quantile_levels(epsilon)) {
    const double weight = interpolate(level, cumulative_share, cumulative_weights);
    result.values.push_back(
        static_cast<float>(interpolate(level, cumulative_share, summary.values)));
    result.weights.push_back(static_cast<float>(weight - last_weight));
    last_weight = weight;
  }
  return result;
}

}  // namespace

Summary summary_of(std::vector<float> values, double epsilon) {
  std::sort(values.begin(), values.end(), [](float a, float b) {
    return a < b || (std::isnan(b) && !std::isnan(a));  // NaN is sorted to the end, as in NumPy
  });
  const double step = std::max(static_cast<double>(values.size()) / (1 / epsilon), 1.0);
  Summary result;
  for (auto i = static_cast<size_t>(step - 1); i < values.size(); i += static_cast<size_t>(step))
    result.values.push_back(values[i]);
  result.weights.assign(result.values.size(), static_cast<float>(step));
  return result;
}

Summary merge_summaries(const Summary& newer, const Summary& older, double epsilon) {
  Summary joined_summary = newer;
  joined_summary.values.insert(joined_summary.values.end(), older.values.begin(),
                               older.values.end());
  joined_summary.weights.insert(joined_summary.weights.end(), older.weights.begin(),
                                older.weights.end());
  std::vector<size_t> sorted_indices(joined_summary.values.size());
  std::iota(sorted_indices.begin(), sorted_indices.end(), size_t{0});
  std::stable_sort(sorted_indices.begin(), sorted_indices.end(), [&](size_t a, size_t b) {
    return joined_summary.values[a] < joined_summary.values[b];
  });
  Summary sorted_summary;
  for (size_t i : sorted_indices) {
    sorted_summary.values.push_back(joined_summary.values[i]);
    sorted_summary.weights.push_back(joined_summary.weights[i]);
  }
  return compress_summary(sorted_summary, epsilon);
}

std::vector<double> boundaries_of(const Summary& summary, int64_t bins) {
  const Summary result = compress_summary(summary, 1.0 / static_cast<double>(bins));
  if (result.values.empty()) return {};
  return {result.values.begin(), result.values.end() - 1};
}

}  // namespace crescent
