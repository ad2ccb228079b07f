// The frame of a plot: axes with ticks and titles, and the legend.
#pragma once
#include <string>
#include <vector>

#include "scene/scene.h"
#include "scene/ticks.h"

namespace crescent::pictures {

struct LegendEntry {
  std::string label;
  size_t series_index = 0, color = 0;
  bool dashed = false;
};

/// The region of the plot between the axes.
struct Area {
  double left = 0, top = 0, right = 0, bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

class Frame {
 public:
  Range x, y;
  std::string title, xlabel, ylabel;
  bool has_integer_x = false;  ///< whether x values are integers, such as epochs
  std::vector<LegendEntry> legend;
  /// The horizontal resolution: the number of columns in which points can be distinguished.
  double columns = 1000;

  /// Chooses the plot area, and draws the elements behind the curves.
  void draw_background(Scene& scene, const Metrics& metrics);
  /// Draws the elements in front of the curves.
  void draw_foreground(Scene& scene, const Metrics& metrics) const;
  /// The position of a data point; to be called after draw_background(). In a terminal, points on
  /// the edge of the plot area are moved inside.
  Point at(long double x_value, long double y_value) const;
  /// The position of a corner of a bar.
  Point bar_corner(long double x_value, long double y_value) const;

 private:
  double draw_title(Scene& scene, const Metrics& metrics) const;
  double draw_legend(Scene& scene, const Metrics& metrics, double top) const;
  void choose_area(const Scene& scene, const Metrics& metrics, double top);
  void draw_x_ticks(Scene& scene, const Metrics& metrics) const;
  void draw_y_ticks(Scene& scene, const Metrics& metrics) const;
  void draw_labels(Scene& scene, const Metrics& metrics) const;

  Area area_;
  Point inset_;  ///< distance of points from the edges of the plot area
  Ticks x_ticks_, y_ticks_;
};

}  // namespace crescent::pictures
