// The frame of a plot: axes with ticks and titles, and the legend.
#pragma once
#include <string>
#include <vector>

#include "scene/scene.h"
#include "scene/ticks.h"

namespace crescent::pictures {

struct LegendEntry {
  std::string label;
  size_t series = 0, color = 0;
  bool dashed = false;
};

/// The region between the axes.
struct Area {
  double left = 0, top = 0, right = 0, bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

class Frame {
 public:
  Range x, y;
  std::string title, xlabel, ylabel;
  bool whole = false;  ///< whether x are counts
  std::vector<LegendEntry> legend;
  double columns = 1000;  ///< in how many columns a scene tells points apart

  /// Chooses the area within the scene, and draws what the curves cover.
  void draw_behind(Scene& scene, const Metrics& metrics);
  /// Draws what covers the curves.
  void draw_before(Scene& scene, const Metrics& metrics) const;
  /// Where a point of the data is; only after draw_behind(). Points on the edge stay inside the
  /// cells of a terminal.
  Point at(long double x_value, long double y_value) const;
  /// Where the edge of a bar is.
  Point edge(long double x_value, long double y_value) const;

 private:
  double draw_title(Scene& scene, const Metrics& metrics) const;
  double draw_legend(Scene& scene, const Metrics& metrics, double top) const;
  void choose_area(const Scene& scene, const Metrics& metrics, double top);
  void draw_x_ticks(Scene& scene, const Metrics& metrics) const;
  void draw_y_ticks(Scene& scene, const Metrics& metrics) const;
  void draw_labels(Scene& scene, const Metrics& metrics) const;

  Area area_;
  Point inset_;  ///< of points from the edges of the area
  Ticks x_ticks_, y_ticks_;
};

}  // namespace crescent::pictures
