// A color bar: the meaning of colours, with numbers beside it, the largest at the top.
#pragma once
#include "scene/scene.h"
#include "scene/ticks.h"

namespace crescent::pictures {

class ColorBar {
 public:
  /// `color` maps 0 to 1 to colours.
  ColorBar(const Range& range, Color (*color)(double share));
  /// Its width, including the gap on its left.
  double width(const Metrics& metrics) const;
  /// Draws it. `at` is the upper left corner, including the gap.
  void draw(Scene& scene, const Metrics& metrics, Point at, double height) const;

 private:
  Bitmap strip() const;
  Range range_;
  Ticks ticks_;
  Color (*color_)(double share);
};

}  // namespace crescent::pictures
