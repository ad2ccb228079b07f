// What the colours of fields mean: a bar with numbers beside it, the greatest above.
#pragma once
#include "scene/scene.h"
#include "scene/ticks.h"

namespace crescent::pictures {

class ColorBar {
 public:
  /// `color` gives the colours for 0 to 1.
  ColorBar(const Range& range, Color (*color)(double share));
  /// The width that it needs, with the gap before it.
  double width(const Metrics& metrics) const;
  /// Draws it from its left upper corner, the gap before it included.
  void draw(Scene& scene, const Metrics& metrics, Point at, double height) const;

 private:
  Bitmap strip() const;
  Range range_;
  Ticks ticks_;
  Color (*color_)(double share);
};

}  // namespace crescent::pictures
