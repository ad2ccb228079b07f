#include "histogram.h"

#include <algorithm>
#include <cmath>

#include "scene/ticks.h"

namespace crescent::pictures {

Histogram histogram_of(const std::vector<double>& values, int64_t bins) {
  std::vector<double> finite_values;
  for (const double value : values)
    if (std::isfinite(value)) finite_values.push_back(value);
  if (bins == 0) bins = std::clamp<int64_t>(std::llround(std::sqrt(finite_values.size())), 5, 50);
  if (finite_values.empty()) return {{0}, {}};
  const auto [min, max] = std::minmax_element(finite_values.begin(), finite_values.end());
  const long double margin = *max > *min ? 0 : std::max(0.5, std::abs(*min) / 2);
  const long double lowest_edge = *min - margin, edge_range = *max + margin - lowest_edge;
  Histogram histogram;
  histogram.counts.resize(static_cast<size_t>(bins));
  for (int64_t i = 0; i <= bins; ++i)
    histogram.edges.push_back(nearest_double(
        lowest_edge + edge_range * static_cast<long double>(i) / static_cast<long double>(bins)));
  for (const double value : finite_values) {
    const auto bin =
        static_cast<int64_t>((value - lowest_edge) / edge_range * static_cast<long double>(bins));
    ++histogram.counts[static_cast<size_t>(std::clamp<int64_t>(bin, 0, bins - 1))];
  }
  return histogram;
}

}  // namespace crescent::pictures
