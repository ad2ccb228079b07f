// A color bar shows which colours stand for which numbers; the largest number is at the top.
#pragma once
#include "scene/scene.h"
#include "scene/ticks.h"

namespace crescent::pictures {

class ColorBar {
 public:
  /// `color` maps numbers from 0 to 1, which are positions in the range, to colours.
  ColorBar(const Range& range, Color (*color)(double share));
  /// The width of the color bar, including the gap on its left.
  double width(const Metrics& metrics) const;
  /// Draws the color bar. `at` is the upper left corner, including the gap.
  void draw(Scene& scene, const Metrics& metrics, Point at, double height) const;

 private:
  Bitmap strip() const;
  Range range_;
  Ticks ticks_;
  Color (*color_)(double share);
};

}  // namespace crescent::pictures
