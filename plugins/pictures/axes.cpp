// Figures with axes: lines, points and bars in a frame with ticks, titles and a legend.
#include <algorithm>
#include <cmath>

#include "entries.h"
#include "figure.h"
#include "histogram.h"
#include "scene/frame.h"
#include "scene/thinned.h"

namespace crescent::pictures {
namespace {

struct Series {
  std::vector<double> x, y;
  std::string label, style = "line";
  bool dashed = false;
  double gap = 0;  ///< the gap between bars, as a fraction of the width of a bar
  size_t color = 0;
  bool is_bars() const { return style == "bars"; }
};

void check_style(const Series& series) {
  const std::vector<std::string> styles{"line", "points", "bars", "histogram"};
  if (std::find(styles.begin(), styles.end(), series.style) == styles.end())
    fail("style: expected one of ", join(styles), ", got '", series.style, "'",
         did_you_mean(series.style, styles));
}

void check_bins(int64_t bins) {
  if (bins < 1 || bins > kMaxBins)
    fail("bins: expected a number from 1 to ", kMaxBins, ", got ", bins);
}

/// Converts a histogram series, in which `y` are the values to count, to a series of bars.
Series count_values(Series series, const Value& bins) {
  if (!bins.is_null()) check_bins(bins.as_int());
  Histogram histogram = histogram_of(series.y, bins.is_null() ? 0 : bins.as_int());
  series.style = "bars";
  series.x = std::move(histogram.edges);
  series.y = std::move(histogram.counts);
  return series;
}

/// The edges of bars whose centres are `centers`.
std::vector<double> edges_between(const std::vector<double>& centers) {
  if (centers.size() < 2)
    return centers.empty() ? centers : std::vector{centers[0] - 0.5, centers[0] + 0.5};
  const std::vector<long double> exact_centers(centers.begin(), centers.end());
  std::vector<double> edges{
      nearest_double(exact_centers[0] - (exact_centers[1] - exact_centers[0]) / 2)};
  for (size_t i = 1; i < exact_centers.size(); ++i)
    edges.push_back(static_cast<double>((exact_centers[i - 1] + exact_centers[i]) / 2));
  edges.push_back(nearest_double(
      exact_centers.back() + (exact_centers.back() - exact_centers[exact_centers.size() - 2]) / 2));
  return edges;
}

std::vector<double> consecutive_numbers(size_t count, double first) {
  std::vector<double> numbers(count);
  for (size_t i = 0; i < count; ++i) numbers[i] = first + static_cast<double>(i);
  return numbers;
}

Series series_from(const Dict& row, size_t series_index, double first_x) {
  Series series;
  series.y = numbers_in(row.at("y"), "y");
  series.label = text_entry(row, "label");
  series.dashed = is_set(row, "dashed");
  series.color =
      entry(row, "color").is_null() ? series_index : static_cast<size_t>(row.at("color").as_int());
  if (!entry(row, "style").is_null()) series.style = row.at("style").as_string();
  check_style(series);
  if (series.style == "histogram") return count_values(series, entry(row, "bins"));
  series.x = entry(row, "x").is_null() ? consecutive_numbers(series.y.size(), first_x)
                                       : numbers_in(row.at("x"), "x");
  if (series.x.size() != series.y.size())
    fail("expected as many x as y, ", series.y.size(), ", got ", series.x.size());
  if (series.is_bars()) series.x = edges_between(series.x), series.gap = 0.2;
  return series;
}

std::vector<Series> all_series(const Dict& figure) {
  const double first_x = entry(figure, "from").is_null() ? 0 : figure.at("from").as_float();
  std::vector<Series> result;
  for (const Value& row : figure.at("series").as_list())
    result.push_back(series_from(row.as_dict(), result.size(), first_x));
  return result;
}

/// The range of the finite values of all series.
struct Extent {
  long double min = INFINITY, max = -INFINITY;
  void include(double value) {
    min = std::min<long double>(min, value);
    max = std::max<long double>(max, value);
  }
};

/// The range of an axis. The extent gets a margin at both ends, and a larger one if it is a single
/// number; without finite numbers the range is from 0 to 1.
Range range_of(const Extent& extent, double margin) {
  if (extent.min > extent.max) return {0, 1};
  const long double size = extent.max - extent.min;
  const long double magnitude = std::max(std::abs(extent.min), std::abs(extent.max));
  if (!(size > 1e-9L * magnitude)) {
    const long double half_range = magnitude > 0 ? magnitude / 2 : 1;
    return {extent.min - half_range, extent.max + half_range};
  }
  return {extent.min - margin * size, extent.max + margin * size};
}

bool is_shown(double x, double y) { return std::isfinite(x) && std::isfinite(y); }

Frame frame_for(const std::vector<Series>& series_list, const Metrics& metrics) {
  Extent x, y;
  bool has_bars = false;
  for (const Series& series : series_list) {
    has_bars = has_bars || series.is_bars();
    if (series.is_bars() && !series.y.empty()) y.include(0);
    for (size_t i = 0; i < series.y.size(); ++i) {
      if (!is_shown(series.x[i], series.y[i])) continue;
      x.include(series.x[i]);
      if (series.is_bars()) x.include(series.x[i + 1]);
      y.include(series.y[i]);
    }
  }
  Frame frame;
  frame.x = range_of(x, metrics.in_cells || has_bars ? 0 : 0.02);
  frame.y = range_of(y, metrics.in_cells ? 0 : 0.04);
  if (has_bars && y.min == 0 && y.max > 0) frame.y.min = 0;
  return frame;
}

void draw_bars(Scene& scene, const Frame& frame, const Series& series, Color color,
               size_t series_index) {
  const double base_y = frame.bar_corner(0, 0).y;
  for (size_t i = 0; i < series.y.size(); ++i) {
    if (!is_shown(series.x[i], series.y[i])) continue;
    const Point top_corner = frame.bar_corner(series.x[i], series.y[i]),
                base_corner = frame.bar_corner(series.x[i + 1], 0);
    const double width = std::abs(base_corner.x - top_corner.x);
    scene.elements.push_back(
        Box{.at = {std::min(top_corner.x, base_corner.x) + width * series.gap / 2,
                   std::min(top_corner.y, base_y)},
            .width = width * (1 - series.gap),
            .height = std::abs(base_y - top_corner.y),
            .fill = color,
            .edge = kWhite,
            .kind = BoxKind::bar,
            .series_index = series_index});
  }
}

/// Splits a line at points with NaN or infinity. A piece that has only one point is drawn as a dot.
std::vector<std::vector<Point>> pieces_of(const Frame& frame, const Series& series) {
  std::vector<std::vector<Point>> pieces(1);
  for (size_t i = 0; i < series.y.size(); ++i) {
    if (is_shown(series.x[i], series.y[i]))
      pieces.back().push_back(frame.at(series.x[i], series.y[i]));
    else if (!pieces.back().empty())
      pieces.emplace_back();
  }
  if (pieces.back().empty()) pieces.pop_back();
  return pieces;
}

void draw_points(Scene& scene, const Frame& frame, const Series& series, Color color,
                 size_t series_index) {
  const double column_width = scene.width / frame.columns;
  for (std::vector<Point>& line_piece : pieces_of(frame, series)) {
    if (series.style == "points" || line_piece.size() == 1)
      scene.elements.push_back(Dots{.points = distinct_points(line_piece, column_width / 2),
                                    .color = color,
                                    .series_index = series_index});
    else
      scene.elements.push_back(Line{.points = thinned_line(line_piece, column_width),
                                    .color = color,
                                    .width = 1.8,
                                    .dashed = series.dashed,
                                    .series_index = series_index});
  }
}

bool has_numbers(const Series& series) {
  for (size_t i = 0; i < series.y.size(); ++i)
    if (is_shown(series.x[i], series.y[i])) return true;
  return false;
}

/// Writes in the middle of the frame that the figure has no finite numbers.
void draw_empty_notice(Scene& scene, const Frame& frame) {
  const auto middle = [](const Range& range) {
    return static_cast<double>((range.min + range.max) / 2);
  };
  scene.elements.push_back(Text{.at = frame.at(middle(frame.x), middle(frame.y)),
                                .text = "no finite numbers",
                                .anchor = Anchor::middle});
}

std::vector<LegendEntry> legend_of(const std::vector<Series>& series_list) {
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < series_list.size(); ++i)
    if (!series_list[i].label.empty())
      legend.push_back({series_list[i].label, i, series_list[i].color, series_list[i].dashed});
  return legend;
}

}  // namespace

Scene layout_axes(const Dict& figure, const Metrics& metrics, Size size) {
  const std::vector<Series> series_list = all_series(figure);
  Frame frame = frame_for(series_list, metrics);
  frame.title = text_entry(figure, "title");
  frame.xlabel = text_entry(figure, "xlabel");
  frame.ylabel = text_entry(figure, "ylabel");
  frame.has_integer_x = is_set(figure, "whole");
  frame.legend = legend_of(series_list);
  Scene scene;
  scene.width = size.width > 0 ? size.width : metrics.in_cells ? 80 : 640;
  scene.height = size.height > 0 ? size.height : metrics.in_cells ? 18 : 400;
  frame.draw_background(scene, metrics);
  for (size_t i = 0; i < series_list.size(); ++i)
    (series_list[i].is_bars() ? draw_bars : draw_points)(scene, frame, series_list[i],
                                                         series_color(series_list[i].color), i);
  frame.draw_foreground(scene, metrics);
  if (std::none_of(series_list.begin(), series_list.end(), has_numbers))
    draw_empty_notice(scene, frame);
  return scene;
}

}  // namespace crescent::pictures
