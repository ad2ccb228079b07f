// Sparklines: a series as bars without axes, in one line of text.
#include <algorithm>
#include <cmath>

#include "entries.h"
#include "figure.h"
#include "scene/ticks.h"

namespace crescent::pictures {
namespace {

/// Reduces the values to `count` values, each the mean of adjacent values; NaN and infinity are
/// ignored.
std::vector<double> downsample_values(const std::vector<double>& values, size_t count) {
  std::vector<double> means(count);
  for (size_t i = 0; i < count; ++i) {
    long double sum = 0, finite_count = 0;
    for (size_t k = i * values.size() / count; k < (i + 1) * values.size() / count; ++k)
      if (std::isfinite(values[k])) sum += values[k], ++finite_count;
    means[i] = static_cast<double>(sum / finite_count);
  }
  return means;
}

}  // namespace

Scene layout_sparkline(const Dict& figure, const Metrics& metrics, Size size) {
  std::vector<double> values = numbers_in(figure.at("values"), "values");
  const double bar_width = metrics.in_cells ? 1 : 6;
  const auto max_count = static_cast<size_t>(size.width > 0 ? size.width / bar_width : 1e6);
  values = downsample_values(values, std::min(values.size(), std::max<size_t>(max_count, 1)));
  double min = INFINITY, max = -INFINITY;
  for (const double value : values)
    if (std::isfinite(value)) min = std::min(min, value), max = std::max(max, value);
  Scene scene{bar_width * static_cast<double>(values.size()), metrics.line_height, {}};
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    const double share = max > min ? Range{min, max}.share(values[i]) : 0.5;
    const double height = metrics.line_height * (1 + 7 * share) / 8;
    scene.elements.push_back(
        Box{.at = {bar_width * static_cast<double>(i), metrics.line_height - height},
            .width = bar_width,
            .height = height,
            .fill = series_color(0),
            .kind = BoxKind::bar});
  }
  return scene;
}

}  // namespace crescent::pictures
